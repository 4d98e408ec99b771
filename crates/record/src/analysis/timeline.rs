//! The run second by second: the ticks of all machines added up, each decoded once.

use super::cells::Cells;
use super::facts::{Facts, client_faults, ratio, sum_of};
use super::times::{Belief, percentile};
use crate::summary::Second;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum};
use plimsoll_stats::Tally;

/// A second of the timeline, and what other parts of the analysis need to know of it.
pub(super) struct Moment {
    pub second: Second,
    pub p95_ns: Option<u64>,
    /// Times that were finished or cut off in it.
    pub samples: u64,
    /// Those that were finished.
    pub answered: u64,
    pub sent: u64,
    pub in_flight_ns: u64,
    pub users_ns: u64,
    pub connect_ns: u64,
    /// Connections open at its end, as the counters say.
    pub open: i64,
}

/// What has been opened and not closed, from the first tick on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Standing {
    connections: i64,
    streams: i64,
}

/// One per tick that any machine has, in order.
pub(super) fn moments(facts: &Facts) -> Vec<Moment> {
    moments_from(facts, &mut Standing::default())
}

/// The same where `open` stood before the first of them.
pub(super) fn moments_from(facts: &Facts, open: &mut Standing) -> Vec<Moment> {
    let mut ticks: Vec<u32> = facts.machines.iter().flat_map(|m| m.origin.ticks.keys().copied()).collect();
    ticks.sort_unstable();
    ticks.dedup();
    ticks.into_iter().map(|tick| moment(facts, tick, open)).collect()
}

fn moment(facts: &Facts, tick: u32, open: &mut Standing) -> Moment {
    let mut sum: Option<(Tally, Tally)> = None;
    // A machine that stopped within the tick makes it shorter, unless another one went on.
    let mut to_ns = 0;
    for machine in &facts.machines {
        let Some(row) = machine.origin.ticks.get(&tick) else { continue };
        to_ns = to_ns.max(machine.plan().tick_bounds_ns(tick).1.min(machine.elapsed_ns));
        let (run, all) = (row.run(), row.all());
        match &mut sum {
            None => sum = Some((run, all)),
            Some((run_sum, all_sum)) => {
                run_sum.merge(&run);
                all_sum.merge(&all);
            }
        }
    }
    let (run, all) =
        sum.unwrap_or_else(|| (Tally::on_demand(Default::default()), Tally::on_demand(Default::default())));
    let from_ns = facts.plan.tick_bounds_ns(tick).0;
    let length_ns = to_ns.saturating_sub(from_ns);
    let length_s = length_ns as f64 / 1e9;
    let per_s = |n: u64| ratio(n as f64, length_s);
    let (exact, bounds) = (all.hist(SeriesHist::Response), all.hist(SeriesHist::ResponseCensored));
    let (service, service_bounds) = (all.hist(SeriesHist::Service), all.hist(SeriesHist::ServiceCensored));
    // Within one second there is no telling how long the rest took: the last second's cut-off times count like
    // others.
    let p = |q| percentile(exact, bounds, q, Belief::LikeTheOthers).map(|c| c.value);
    let service_p = |q| percentile(service, service_bounds, q, Belief::LikeTheOthers).map(|c| c.value);
    let closed = [RunSum::ClosedByServer, RunSum::ClosedByUs, RunSum::ClosedByFault].map(|id| run.of(id));
    open.connections = open
        .connections
        .saturating_add_unsigned(run.of(RunSum::ConnOpened))
        .saturating_sub_unsigned(sum_of(closed));
    // The account of a stream is closed when it ends, and also at the stop while it stands.
    open.streams = open
        .streams
        .saturating_add_unsigned(all.sum(SeriesSum::Streams))
        .saturating_add_unsigned(all.sum(SeriesSum::StreamsOpenAtStop))
        .saturating_sub_unsigned(all.hist(SeriesHist::StreamLife).count());
    Moment {
        second: Second {
            tick,
            from_s: from_ns as f64 / 1e9,
            length_s,
            warmup: facts.plan.is_warmup(tick),
            offered_rate_per_s: facts.is_open().then(|| per_s(run.of(RunSum::Arrivals))),
            achieved_rate_per_s: per_s(all.sum(SeriesSum::Finished)),
            requests: all.sum(SeriesSum::Finished),
            errors: all.sum(SeriesSum::Failed),
            client_faults: client_faults(&all),
            p50_ns: p(0.5),
            p90_ns: p(0.9),
            p99_ns: p(0.99),
            max_ns: exact.max().max(bounds.max()),
            service_p50_ns: service_p(0.5),
            service_p99_ns: service_p(0.99),
            in_flight: ratio(run.of(RunSum::InFlightNs) as f64, length_ns as f64),
            users: ratio(run.of(RunSum::UsersNs) as f64, length_ns as f64),
            bytes_in: all.sum(SeriesSum::BytesIn),
            bytes_out: all.sum(SeriesSum::BytesOut),
            connections_opened: run.of(RunSum::ConnOpened),
            lateness_p99_ns: run.spread(RunHist::Lateness).quantile(0.99),
            retransmits: run.of(RunSum::Retransmits),
            events: facts.has_streams().then(|| all.sum(SeriesSum::Events)),
            streams_open: facts.has_streams().then(|| open.streams.max(0) as u64),
        },
        p95_ns: p(0.95),
        samples: exact.count().saturating_add(bounds.count()),
        answered: exact.count(),
        sent: all.sum(SeriesSum::Sent),
        in_flight_ns: run.of(RunSum::InFlightNs),
        users_ns: run.of(RunSum::UsersNs),
        connect_ns: u64::try_from(run.spread(RunHist::Connect).sum()).unwrap_or(u64::MAX),
        open: open.connections,
    }
}

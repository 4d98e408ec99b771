//! The run second by second: the ticks of all machines added up, each decoded once.

use super::cells::Cells;
use super::facts::{Facts, client_faults, has_streams, ratio, sum_of};
use super::times::{Belief, Marks};
use crate::summary::Second;
use plimsoll_plan::answer::Statuses;
use plimsoll_plan::metric::{
    RunHist, RunPeak, RunSum, SeriesHist, SeriesSum, StreamHist, StreamSum, status_id,
};
use plimsoll_plan::{Fault, Outline, Side};
use plimsoll_record::event::Tick;
use plimsoll_record::record::{Served, TickRow, requests_total};
use plimsoll_stats::{Hist, Tally};

/// A second of the timeline, and what other parts of the analysis need to know of it.
pub(crate) struct Moment {
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
    /// Whether requests succeeded in it, and when.
    pub served: Served,
    /// Failures by class, client's left out, and the statuses among them.
    pub faults: Vec<(Fault, u64)>,
    pub failed_statuses: Vec<(u16, u64)>,
    pub longest_event_gap_ns: Option<u64>,
    /// Of all workers together.
    pub stalled_ns: u64,
}

/// What has been opened and not closed, from the first tick on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Standing {
    connections: i64,
    streams: i64,
}

/// A tick of all machines, or several ticks in a row, added up.
#[derive(Debug, Clone)]
pub(crate) struct Sum {
    pub first: u32,
    pub from_ns: u64,
    /// Length of the ticks that are there.
    pub length_ns: u64,
    pub run: Tally,
    pub all: Tally,
    /// Most arrivals that waited at once, at most: a worker knows its own peak.
    pub waiting_peak: u64,
}

impl Sum {
    /// One tick of a machine that ran for `elapsed_ns`.
    pub fn of(plan: &Outline, tick: u32, row: &TickRow, elapsed_ns: u64) -> Sum {
        Sum::from_parts(plan, tick, row.run(), row.all(), elapsed_ns)
    }

    /// The same of a tick as the engine hands it over, before it is kept.
    pub fn of_tick(plan: &Outline, tick: &Tick, elapsed_ns: u64) -> Sum {
        let interval = &tick.interval;
        let all = requests_total(plan, &tick.opened, interval);
        Sum::from_parts(plan, interval.tick, interval.run.clone(), all, elapsed_ns)
    }

    fn from_parts(plan: &Outline, tick: u32, run: Tally, all: Tally, elapsed_ns: u64) -> Sum {
        let (from_ns, to_ns) = plan.tick_bounds_ns(tick);
        let waiting_peak = run.peak(RunPeak::ArrivalsQueued).saturating_mul(u64::from(plan.workers.max(1)));
        // A machine that stopped within the tick makes it shorter.
        let length_ns = to_ns.min(elapsed_ns).saturating_sub(from_ns);
        Sum { first: tick, from_ns, length_ns, run, all, waiting_peak }
    }

    /// Adds the same tick of another machine; a machine that ran longer extends it.
    fn merge(&mut self, other: &Sum) {
        self.run.merge(&other.run);
        self.all.merge(&other.all);
        self.length_ns = self.length_ns.max(other.length_ns);
        self.waiting_peak = self.waiting_peak.saturating_add(other.waiting_peak);
    }

    /// Adds the next tick.
    pub fn then(&mut self, next: &Sum) {
        self.run.merge(&next.run);
        self.all.merge(&next.all);
        self.length_ns = self.length_ns.saturating_add(next.length_ns);
        self.waiting_peak = self.waiting_peak.max(next.waiting_peak);
    }
}

/// The ticks that any machine has, in order.
pub(super) fn ticks(facts: &Facts) -> Vec<u32> {
    let mut ticks: Vec<u32> = facts.machines.iter().flat_map(|m| m.origin.ticks.keys().copied()).collect();
    ticks.sort_unstable();
    ticks.dedup();
    ticks
}

/// One per tick that any machine has, in order; `open` stood before the first of them.
pub(super) fn moments_from(facts: &Facts, open: &mut Standing) -> Vec<Moment> {
    moments_with(facts, open, |_, _| {})
}

/// The same, and shows each tick: decoding is what takes the time.
pub(super) fn moments_seen(facts: &Facts, see: impl FnMut(&Sum, &Moment)) -> Vec<Moment> {
    moments_with(facts, &mut Standing::default(), see)
}

fn moments_with(facts: &Facts, open: &mut Standing, mut see: impl FnMut(&Sum, &Moment)) -> Vec<Moment> {
    let mut moments = Vec::new();
    for tick in ticks(facts) {
        let rows = facts
            .machines
            .iter()
            .filter_map(|m| m.origin.ticks.get(&tick).map(|row| Sum::of(m.plan(), tick, row, m.elapsed_ns)));
        let sum = rows.reduce(|mut sum, other| {
            sum.merge(&other);
            sum
        });
        if let Some(mut sum) = sum {
            sum.from_ns = facts.plan.tick_bounds_ns(tick).0;
            let moment = moment(&facts.plan, &sum, open);
            see(&sum, &moment);
            moments.push(moment);
        }
    }
    moments
}

/// What the summary says of some ticks. `open` goes from one to the next.
pub(crate) fn moment(plan: &Outline, sum: &Sum, open: &mut Standing) -> Moment {
    let (run, all, length_ns) = (&sum.run, &sum.all, sum.length_ns);
    let length_s = length_ns as f64 / 1e9;
    let per_s = |n: u64| ratio(n as f64, length_s);
    let has_streams = has_streams(plan);
    let (exact, bounds) = (all.hist(SeriesHist::Response), all.hist(SeriesHist::ResponseCensored));
    let (service, service_bounds) = (all.hist(SeriesHist::Service), all.hist(SeriesHist::ServiceCensored));
    // Within one second there is no telling how long the rest took: the last second's cut-off times count like
    // others.
    let mut marks = Marks::default();
    let samples = exact.count().saturating_add(bounds.count());
    let mut p = |name, q| marks.percentile(name, exact, bounds, q, Belief::LikeTheOthers);
    let (p50_ns, p90_ns) = (p("p50_ns", 0.5), p("p90_ns", 0.9));
    let (p95_ns, p99_ns) = (p("p95_ns", 0.95), p("p99_ns", 0.99));
    let max_ns = marks.longest("max_ns", exact, bounds, Belief::LikeTheOthers);
    let mut service_p = |name, q| marks.percentile(name, service, service_bounds, q, Belief::LikeTheOthers);
    let (service_p50_ns, service_p99_ns) =
        (service_p("service_p50_ns", 0.5), service_p("service_p99_ns", 0.99));
    let nothing = Hist::on_demand();
    let late = run.spread(RunHist::ScheduleLag);
    let schedule_lag_p99_ns =
        marks.percentile("schedule_lag_p99_ns", late, &nothing, 0.99, Belief::LikeTheOthers);
    let closed =
        [RunSum::ClosedByServer, RunSum::ClosedByClient, RunSum::ClosedAfterError].map(|id| run.of(id));
    open.connections = open
        .connections
        .saturating_add_unsigned(run.of(RunSum::ConnOpened))
        .saturating_sub_unsigned(sum_of(closed));
    // The account of a stream is closed when it ends, and also at the stop while it stands.
    open.streams = open
        .streams
        .saturating_add_unsigned(all.sum(StreamSum::Streams))
        .saturating_add_unsigned(all.sum(StreamSum::OpenAtEnd))
        .saturating_sub_unsigned(all.hist(StreamHist::StreamLife).count());
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    Moment {
        second: Second {
            tick: sum.first,
            from_s: sum.from_ns as f64 / 1e9,
            length_s,
            is_warmup: plan.is_warmup(sum.first),
            offered_rate_per_s: plan.load.is_open().then(|| per_s(run.of(RunSum::Arrivals))),
            achieved_rate_per_s: per_s(all.answered()),
            requests: all.sum(SeriesSum::Finished),
            errors: all.sum(SeriesSum::Failed),
            client_faults: client_faults(all),
            p50_ns,
            p90_ns,
            p99_ns,
            max_ns,
            service_p50_ns,
            service_p99_ns,
            in_flight: ratio(run.of(RunSum::InFlightNs) as f64, length_ns as f64),
            users: ratio(run.of(RunSum::UsersNs) as f64, length_ns as f64),
            bytes_in: all.sum(SeriesSum::BytesIn),
            bytes_out: all.sum(SeriesSum::BytesOut),
            connections_opened: run.of(RunSum::ConnOpened),
            schedule_lag_p99_ns,
            retransmits: run.of(RunSum::Retransmits),
            events: has_streams.then(|| all.sum(StreamSum::Events)),
            streams_open: has_streams.then(|| open.streams.max(0) as u64),
            p95_ns,
            good_rate_per_s: per_s(all.sum(SeriesSum::Finished).saturating_sub(all.sum(SeriesSum::Failed))),
            connections_open: open.connections.max(0) as u64,
            waiting_peak: plan.load.is_open().then_some(sum.waiting_peak),
            busy_ratio: share(run.of(RunSum::BusyNs), run.of(RunSum::WallNs)),
            samples,
            lower_bounds: marks.lower_bounds,
            few_samples: marks.few_samples,
        },
        p95_ns,
        samples,
        answered: exact.count(),
        sent: all.sum(SeriesSum::Sent),
        in_flight_ns: run.of(RunSum::InFlightNs),
        users_ns: run.of(RunSum::UsersNs),
        connect_ns: u64::try_from(run.spread(RunHist::Connect).sum()).unwrap_or(u64::MAX),
        open: open.connections,
        served: Served::of(all),
        faults: faults(all),
        failed_statuses: failed_statuses(all),
        longest_event_gap_ns: all.hist(StreamHist::EventGap).max(),
        stalled_ns: run.of(RunSum::StalledNs),
    }
}

fn faults(all: &Tally) -> Vec<(Fault, u64)> {
    let counted = Fault::ALL.iter().filter(|fault| fault.side() != Side::Client);
    counted.map(|fault| (*fault, all.fault(*fault))).filter(|(_, n)| *n > 0).collect()
}

/// Those that are failures unless the plan expects them.
fn failed_statuses(all: &Tally) -> Vec<(u16, u64)> {
    if all.fault(Fault::Status) == 0 {
        return Vec::new();
    }
    let count = |status: u16| all.sums.get(status_id(status)).copied().unwrap_or(0);
    let unusual = (100..600).filter(|status| !Statuses::usual(*status));
    unusual.map(|status| (status, count(status))).filter(|(_, n)| *n > 0).collect()
}

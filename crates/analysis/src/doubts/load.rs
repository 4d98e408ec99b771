//! Was the load what was asked for, and does the load model show what the service did?

use super::Inputs;
use crate::bounds::missed_arrivals;
use crate::caution::Evidence;
use crate::cells::Cells;
use crate::coordinated_omission::omitted_stalls;
use crate::facts::sum_of;
use crate::little::{is_close, users_time};
use crate::offered::queues_in_service;
use crate::summary::Caution;
use plimsoll_plan::Outline;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist};
use plimsoll_stats::samples_needed;

/// The open model: on time, and all of it.
pub(super) fn sending(e: &Inputs, has_growing_backlog: bool, into: &mut Vec<Caution>) {
    into.extend(offered_rate_missed(e));
    into.extend(late_sends(e));
    into.extend(client_connection_limit(e, has_growing_backlog));
}

fn offered_rate_missed(e: &Inputs) -> Option<Caution> {
    let missed = missed_arrivals(e.facts, e.demand, e.client, e.limits)?;
    let evidence = Evidence::ArrivalsNotSent {
        unsent_count: missed.number,
        asked_count: missed.asked.round() as u64,
        unsent_ratio: missed.number as f64 / missed.asked,
        worker_ratio: missed.no_room,
    };
    Some(evidence.raise())
}

fn late_sends(e: &Inputs) -> Option<Caution> {
    let late_ns = e.client.schedule_lag.p99_ns?;
    let response_ns = e.response.p99_ns?;
    // A p99 that is not printed proves nothing either; the load generator's own clock reports stalls.
    if e.client.schedule_lag.count < samples_needed(0.99) {
        return None;
    }
    let is_late = late_ns > e.limits.late_ns && late_ns as f64 > response_ns as f64 * e.limits.late_share;
    is_late
        .then(|| Evidence::LateSends { schedule_lag_p99_ns: late_ns, response_p99_ns: response_ns }.raise())
}

fn client_connection_limit(e: &Inputs, has_growing_backlog: bool) -> Option<Caution> {
    let offered = e.demand.offered.as_ref()?;
    let never = e.facts.run.of(RunSum::ArrivalsNotStarted);
    let cap: u64 = sum_of(e.facts.machines.iter().map(|m| arrivals_connections(m.plan())));
    // An arrival counts as queued once it gets its connection; if the service hangs, none does.
    let is_queued =
        offered.arrivals_queued > 0 || (never > 0 && e.facts.run.of(RunSum::InFlightAtEnd) >= cap);
    // Without file descriptors or ports for them, the allowed connections were never reached, which another caution
    // reports.
    if !is_queued || e.facts.client_faults() > 0 {
        return None;
    }
    // Twice as many as today, and twice as many as are in use at the offered rate (N = X R).
    let streams = u64::from(e.facts.plan.link.streams.max(1));
    let needed = offered.rate_per_s * e.facts.all.hist(SeriesHist::Service).mean().unwrap_or(0.0) / 1e9;
    let most = arrivals_connections(&e.facts.plan).max(needed.ceil() as u64);
    let suggested = (most / streams).max(1).saturating_mul(2);
    let evidence = Evidence::ConnectionsFull {
        queued_count: offered.arrivals_queued,
        unstarted_count: never,
        peak_count: e.client.connections.peak,
        limit_count: cap,
        wait_p99_ns: e.facts.run.spread(RunHist::ConnWait).quantile(0.99),
        streams_count: match e.facts.plan.link.is_http2 {
            true => e.facts.plan.link.streams.into(),
            false => 1,
        },
        suggested_count: suggested,
        has_growing_backlog: has_growing_backlog && is_service_full(e),
    };
    Some(evidence.raise())
}

/// Returns whether work waits in the service, or nothing is known of it. Otherwise, the connections are its limit, and
/// more of them help.
fn is_service_full(e: &Inputs) -> bool {
    let service = e.facts.all.hist(SeriesHist::Service);
    service.min().zip(service.quantile(0.5)).is_none_or(|(min, p50)| queues_in_service(min, p50))
}

/// The most connections that arrivals may use; users of the closed model have their own.
fn arrivals_connections(plan: &Outline) -> u64 {
    let open = plan.workloads.iter().filter(|workload| workload.load.is_open());
    if plan.workloads.is_empty() {
        plan.connections.into()
    } else {
        open.map(|workload| u64::from(workload.connections)).sum()
    }
}

/// N = X R must hold in every model; otherwise a clock or a counter is wrong.
fn in_flight_differs(e: &Inputs) -> Option<Caution> {
    // A stream's time is its own account, which begins with the head: no second opinion.
    if e.facts.has_streams() {
        return None;
    }
    let law = &e.client.littles_law;
    let (measured, computed) = (law.in_flight_mean, law.in_flight_computed);
    let differs = !is_close(measured, computed, e.limits);
    (differs && e.facts.finished() >= 100)
        .then(|| Evidence::InFlightDiffers { measured_mean: measured, computed_mean: computed }.raise())
}

/// The closed model: what it hides, and whether its users were always in a request.
pub(super) fn model(e: &Inputs, into: &mut Vec<Caution>) {
    into.extend(in_flight_differs(e));
    if e.facts.is_open() {
        return;
    }
    let mut times = e.facts.all.hist(SeriesHist::Response).clone();
    // Users spent their time in those that were cut off too.
    times.merge(e.facts.all.hist(SeriesHist::ResponseCensored));
    let users = users_time(e.facts, e.moments);
    if let Some(omitted) = omitted_stalls(e.facts, &times, e.limits) {
        let evidence = Evidence::StallsHidden {
            slow_above_ns: omitted.above_ns,
            slow_count: omitted.slow,
            slow_ratio: omitted.of_requests,
            time_ratio: omitted.of_time,
            longest_ns: omitted.longest_ns,
            arrivals_p99_ns: omitted.arrivals_p99_ns,
            p99_ns: times.quantile(0.99).unwrap_or(0),
            is_scripted: e.facts.is_scripted(),
        };
        into.push(evidence.raise());
    }
    if let Some(time) = users
        && time.unexplained > e.limits.users_outside
    {
        let (outside_ratio, unexplained_ratio) = (time.outside, time.unexplained);
        into.push(Evidence::UsersOutside { outside_ratio, unexplained_ratio }.raise());
    }
}

//! Was the load what was asked for, and does the load model show what the service did?

use super::Evidence;
use crate::blind_spot::blind_spot;
use crate::bounds::missed_arrivals;
use crate::caution::Kind;
use crate::cells::Cells;
use crate::facts::sum_of;
use crate::little::{is_close, users_time};
use crate::summary::Caution;
use plimsoll_plan::Outline;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist};
use plimsoll_plan::phrase::{count, counted, duration_ns, ratio};
use plimsoll_stats::samples_needed;

/// The open model: on time, and all of it.
pub(super) fn sending(e: &Evidence, into: &mut Vec<Caution>) {
    into.extend(offered_not_sent(e));
    into.extend(late_sends(e));
    into.extend(connection_cap(e));
}

fn offered_not_sent(e: &Evidence) -> Option<Caution> {
    let missed = missed_arrivals(e.facts, e.demand, e.client, e.limits)?;
    let share = ratio(missed.number as f64 / missed.asked);
    let cpu = missed.no_room.map_or(String::new(), |worker| {
        format!("; a worker was busy or waiting for a CPU {} of the time", ratio(worker.min(1.0)))
    });
    Some(Kind::OfferedNotSent.raise(format!(
        "{} of {} arrivals ({share}) were not sent, and the target does not explain it{cpu}",
        count(missed.number),
        count(missed.asked.round() as u64)
    )))
}

fn late_sends(e: &Evidence) -> Option<Caution> {
    let late_ns = e.client.lateness.p99_ns?;
    let response_ns = e.response.p99_ns?;
    // A p99 that is not printed proves nothing either; a generator that stood still is told by its own clock.
    if e.client.lateness.count < samples_needed(0.99) {
        return None;
    }
    let is_late = late_ns > e.limits.late_ns && late_ns as f64 > response_ns as f64 * e.limits.late_share;
    is_late.then(|| {
        Kind::LateSends.raise(format!(
            "1 % of the sends were {} or more behind their instant, {} of the response p99 of {}",
            duration_ns(late_ns),
            ratio(late_ns as f64 / response_ns as f64),
            duration_ns(response_ns)
        ))
    })
}

fn connection_cap(e: &Evidence) -> Option<Caution> {
    let offered = e.demand.offered.as_ref()?;
    let never = e.facts.run.of(RunSum::NeverStarted);
    let cap: u64 = sum_of(e.facts.machines.iter().map(|m| arrivals_connections(m.plan())));
    // An arrival counts as starved when it gets its connection at last; behind a service that hangs none ever does.
    let starved = offered.starved > 0 || (never > 0 && e.facts.run.of(RunSum::InFlightAtStop) >= cap);
    // Without a descriptor or a port for them the connections allowed were never reached: another caution's matter.
    if !starved || e.facts.client_faults() > 0 {
        return None;
    }
    let wait = e.facts.run.spread(RunHist::ConnWait).quantile(0.99);
    let wait = wait.map_or(String::new(), |w| format!(", p99 of the wait {}", duration_ns(w)));
    let never = match never {
        0 => String::new(),
        n => format!("; {} had none at the stop", count(n)),
    };
    // Each worker has its share of them, and the share of one may be in use while another has room.
    let peak = e.client.connections.peak;
    let found = match peak > 0 && peak < cap {
        true => format!("none free on its worker (at most {} of {} open at once)", count(peak), count(cap)),
        false => format!("all {} in use", counted(cap, "connection")),
    };
    let mut caution = Kind::ConnectionCapHit.raise(format!(
        "{} found {found} and waited{wait}{never}; the response times include the wait",
        counted(offered.starved, "arrival")
    ));
    // To be typed, so without commas.
    caution.advice = format!(
        "raise `-c` (to {}, say) if clients of the real service do not share so few connections",
        arrivals_connections(&e.facts.plan) * 2
    );
    Some(caution)
}

/// The most connections that arrivals may use; users of the closed model have their own.
fn arrivals_connections(plan: &Outline) -> u64 {
    let open = plan.lanes.iter().filter(|lane| lane.load.is_open());
    if plan.lanes.is_empty() {
        plan.connections.into()
    } else {
        open.map(|lane| u64::from(lane.connections)).sum()
    }
}

/// N = X R must hold whatever the model; where it does not, a clock or a counter is wrong.
fn in_flight_differs(e: &Evidence) -> Option<Caution> {
    // A stream's time is its own account, which begins with the head: no second opinion.
    if e.facts.has_streams() {
        return None;
    }
    let law = &e.client.littles_law;
    let (measured, computed) = (law.in_flight_mean, law.rate_times_service_time);
    let differs = !is_close(measured, computed, e.limits);
    (differs && e.facts.finished() >= 100).then(|| {
        let mut caution = Kind::LittlesLaw.raise(format!(
            "{measured:.1} requests were in flight by the clock, {computed:.1} by rate times service time"
        ));
        caution.title = "N = X R does not hold".into();
        caution.advice = "rates and times of this run contradict each other: do not rely on either".into();
        caution
    })
}

/// The closed model: what it hides, and whether its users were always in a request.
pub(super) fn model(e: &Evidence, into: &mut Vec<Caution>) {
    into.extend(in_flight_differs(e));
    if e.facts.is_open() {
        return;
    }
    let mut times = e.facts.all.hist(SeriesHist::Response).clone();
    // Users spent their time in those that were cut off too.
    times.merge(e.facts.all.hist(SeriesHist::ResponseCensored));
    let users = users_time(e.facts, e.moments);
    if let Some(spot) = blind_spot(e.facts, &times, e.limits) {
        // Users of a script spend time that is no request's.
        let whose = if e.facts.is_scripted() { "time that users waited" } else { "users' time" };
        into.push(Kind::ClosedModelBlindSpot.raise(format!(
            "{} of the requests ({}, each above {}) took {} of the {whose}: all users waited at once, for up to {}; \
             1 of 100 arrivals that do not wait for each other would meet {} or more, and p99 says {}",
            ratio(spot.of_requests),
            count(spot.slow),
            duration_ns(spot.above_ns),
            ratio(spot.of_time),
            duration_ns(spot.longest_ns),
            duration_ns(spot.arrivals_p99_ns),
            duration_ns(times.quantile(0.99).unwrap_or(0))
        )));
    }
    if let Some(time) = users
        && time.unexplained > e.limits.users_outside
    {
        into.push(Kind::LittlesLaw.raise(format!(
            "the users spent {} of their time outside requests, {} more than connecting explains",
            ratio(time.outside),
            ratio(time.unexplained)
        )));
    }
}

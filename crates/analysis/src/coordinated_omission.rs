//! What a closed model hides (coordinated omission): while the service stalls, its users wait and send nothing, so
//! that a stall of a second is a handful of samples among a million.
//!
//! A histogram alone cannot tell such a stall from requests that are slow one by one, which an open model would show
//! just as rarely. So the engine notes each stall in which all users of a worker waited, and only what arrivals at
//! random moments would meet of those counts: slow answers of single requests, and the few milliseconds for which any
//! machine holds a process up, hide nothing.

use super::cells::Cells;
use super::facts::{Facts, Machine, ratio};
use crate::caution::CautionLimits;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, RunSum};
use plimsoll_record::event::WorkerTimes;
use plimsoll_stats::Hist;

/// The time that users spent in slow requests is at most this many times what the stalls explain.
const ONE_BY_ONE: f64 = 1.5;

/// Stalls that the percentiles do not show.
#[derive(Debug, Clone, Copy)]
pub(super) struct OmittedStalls {
    /// Slow: longer than this.
    pub above_ns: u64,
    pub slow: u64,
    /// Their share of all requests.
    pub of_requests: f64,
    /// Their share of all users' time.
    pub of_time: f64,
    /// The longest stall.
    pub longest_ns: u64,
    /// What one in a hundred arrivals that do not wait for the service would wait for, for the stalls alone.
    pub arrivals_p99_ns: u64,
}

/// Stalls that were long enough, as (length, how many), and the time of all workers in which they lay, ns.
pub(super) fn stalls(facts: &Facts, least_ns: u64) -> (Vec<(f64, f64)>, f64) {
    let all = facts.run.spread(RunHist::ServiceStall).buckets().filter(|(low, _, _)| *low >= least_ns);
    let each = all.map(|(low, high, n)| (f64::midpoint(low as f64, high as f64), n as f64)).collect();
    (each, pulses(facts, |pulse| pulse.wall_ns))
}

/// Added up over all workers.
pub(super) fn pulses(facts: &Facts, of: fn(&WorkerTimes) -> u64) -> f64 {
    facts.machines.iter().flat_map(|m| &m.origin.workers).map(|pulse| of(pulse) as f64).sum()
}

/// Mean number of users of the closed model; 0 in the open one.
pub(super) fn users(facts: &Facts) -> f64 {
    let of = |m: &Machine| ratio(m.origin.totals.run.of(RunSum::UsersNs) as f64, m.rated_ns as f64);
    facts.machines.iter().map(of).sum()
}

/// The time above which an arrival at a random moment waits with this probability. One that meets a stall of D waits
/// for its rest, so stalls D_i within T make `P(wait > x) = sum(max(0, D_i - x)) / T`.
pub(super) fn arrivals_wait_ns(stalls: &[(f64, f64)], whole_ns: f64, probability: f64) -> u64 {
    let beyond = |x: f64| stalls.iter().map(|(length, n)| (length - x).max(0.0) * n).sum::<f64>();
    let wanted = whole_ns * probability;
    let (mut low, mut high) = (0.0, stalls.iter().map(|(length, _)| *length).fold(0.0, f64::max));
    if whole_ns <= 0.0 || beyond(0.0) <= wanted {
        return 0;
    }
    // Falls from beyond(0) to 0; 60 halvings of an hour are less than a nanosecond.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if beyond(middle) > wanted { low = middle } else { high = middle }
    }
    low as u64
}

/// `times`: the response times of all requests, those cut off included. `None`: nothing is hidden.
pub(super) fn omitted_stalls(facts: &Facts, times: &Hist, doubts: &CautionLimits) -> Option<OmittedStalls> {
    let median = times.quantile(0.5)?;
    let above_ns =
        ((median as f64 * doubts.slow_medians) as u64).max(median.saturating_add(doubts.slow_more_ns));
    let slow = times.count_above(above_ns);
    let total_ns = times.sum() as f64;
    // With one user a worker, its slow request and a stall of the service look alike.
    let workers = facts.machines.iter().map(|m| m.origin.workers.len()).sum::<usize>() as f64;
    let users = users(facts);
    // Timeouts that users waited for together are reported as timeouts.
    if facts.all.fault(Fault::Timeout).saturating_mul(10) > slow {
        return None;
    }
    if slow == 0 || total_ns <= 0.0 || facts.has_streams() || users < workers * doubts.stall_users {
        return None;
    }
    let (found, whole_ns) = stalls(facts, above_ns);
    // What the machine took from the workers they could not hear.
    let silent_ns: f64 = found.iter().map(|(length, n)| length * n).sum();
    if silent_ns <= pulses(facts, |pulse| pulse.cpu_wait_ns) {
        return None;
    }
    let slow_ns: f64 = times
        .buckets()
        .filter(|(low, _, _)| *low > above_ns)
        .map(|(low, high, n)| f64::midpoint(low as f64, high as f64) * n as f64)
        .sum();
    // All sat in it from its beginning to its end. Where requests are slow one by one, stalls cover less of that.
    if slow_ns > silent_ns * users / workers.max(1.0) * ONE_BY_ONE {
        return None;
    }
    let p99_ns = times.quantile(0.99)?;
    let arrivals_p99_ns = arrivals_wait_ns(&found, whole_ns, 0.01);
    let is_material = arrivals_p99_ns as f64 >= p99_ns as f64 * doubts.stall_hidden
        && arrivals_p99_ns >= p99_ns.saturating_add(doubts.slow_more_ns);
    if !is_material {
        return None;
    }
    Some(OmittedStalls {
        above_ns,
        slow,
        of_requests: ratio(slow as f64, times.count() as f64),
        of_time: (slow_ns / total_ns).min(1.0),
        longest_ns: facts.run.spread(RunHist::ServiceStall).max().unwrap_or(0),
        arrivals_p99_ns,
    })
}

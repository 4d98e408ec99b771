//! What a closed model hides: while the service stalls, its users wait and send nothing, so that a stall of a second
//! is a handful of samples among a million. The users' time, unlike their number of requests, shows it.

use crate::caution::Doubts;
use plimsoll_stats::Hist;

/// Slow requests that hardly count and take long.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlindSpot {
    /// Slow: longer than this.
    pub above_ns: u64,
    pub slow: u64,
    /// Their share of all requests.
    pub of_requests: f64,
    /// Their share of all users' time; if all users were held up together, also the chance that an arrival at a random
    /// moment, which does not wait for the service, meets such a stall. A histogram cannot tell whether they were.
    pub of_time: f64,
}

/// From the histogram alone. `None`: nothing is hidden.
pub(super) fn blind_spot(times: &Hist, doubts: &Doubts) -> Option<BlindSpot> {
    let median = times.quantile(0.5)?;
    let above_ns =
        ((median as f64 * doubts.slow_medians) as u64).max(median.saturating_add(doubts.slow_more_ns));
    let slow = times.count_above(above_ns);
    let total_ns = times.sum() as f64;
    if slow == 0 || total_ns <= 0.0 {
        return None;
    }
    let slow_ns: f64 = times
        .buckets()
        .filter(|(low, _, _)| *low > above_ns)
        .map(|(low, high, n)| f64::midpoint(low as f64, high as f64) * n as f64)
        .sum();
    let of_time = (slow_ns / total_ns).min(1.0);
    let of_requests = slow as f64 / times.count() as f64;
    let hidden = of_time >= doubts.slow_time && of_requests * doubts.slow_hidden <= of_time;
    hidden.then_some(BlindSpot { above_ns, slow, of_requests, of_time })
}

//! rewrk, by `src/results.rs`: one request in flight on each connection; mean, deviation, and extremes are of all
//! samples, without requests that failed, which it lists by kind. A line of its percentile table is the mean of the
//! samples above that percentile, not a percentile.

use crate::tools::definitions::{Counted, Definitions, PLAIN};

pub const REWRK: Definitions = Definitions {
    name: "rewrk",
    window: 0.10,
    times_of: Counted::Successes,
    is_silent_on_success: true,
    errors_are_requests: false,
    layout: &["benchmarking ", "latencies:", "avg stdev min max", "req/sec: ", "transfer rate: "],
    ..PLAIN
};

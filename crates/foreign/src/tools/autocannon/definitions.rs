//! autocannon, by `lib/run.js` and `lib/printResult.js`: times are whole milliseconds before they are averaged; the
//! rate is the mean of one sample per second, and the count is printed with three digits. It counts what was sent
//! (since version 5), which may be more than what was answered, if there were errors. These have no time. Responses
//! with another status than 2xx have their own count, which includes 1xx and 3xx.

use crate::model::Measure;
use crate::tools::definitions::{Counted, Definitions, InFlight, PLAIN};

pub const AUTOCANNON: Definitions = Definitions {
    name: "autocannon",
    in_flight: InFlight::Several("the rate is a mean of samples, and the times are whole milliseconds"),
    is_busy: false,
    window: 0.15,
    rate_is_sampled: true,
    times_of: Counted::Successes,
    is_silent_on_success: true,
    errors_are_requests: false,
    records_whole_ms: true,
    layout: &["running ", "connections", "stat ", "latency ", "req/sec ", "bytes/sec ", " requests in "],
    command: Some(&[("-c", Measure::Users), ("--connections", Measure::Users)]),
    ..PLAIN
};

//! bombardier, by `bombardier.go`: `Reqs/sec` is the mean of samples of the rate, not count / duration; the duration is
//! the planned one. Each connection has one request in flight, and sends the next one at once unless a rate was set, so
//! Little's law holds for count / duration. Statuses are of the responses, `others` are requests without one. Its
//! percentiles are of a histogram of whole microseconds.

use crate::model::Measure;
use crate::tools::definitions::{Counted, Definitions, PLAIN};

pub const BOMBARDIER: Definitions = Definitions {
    name: "bombardier",
    grace_s: 30.0,
    window: 0.15,
    rate_is_sampled: true,
    rate_counts: Counted::Unknown,
    is_silent_on_success: true,
    // `internal/test_info.go`: the square of each key of the histogram is added once.
    deviation_of_distinct: true,
    layout: &[
        "bombarding ",
        "statistics avg stdev max",
        "reqs/sec ",
        "latency ",
        "http codes:",
        "1xx - ",
        "others - ",
        "throughput: ",
    ],
    command: Some(&[("-c", Measure::Users)]),
    ..PLAIN
};

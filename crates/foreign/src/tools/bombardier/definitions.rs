//! bombardier, by `bombardier.go`: `Reqs/sec` is the mean of samples of the rate, not count / duration; the duration is
//! the planned one; statuses are of the responses, `others` are requests without one. Its percentiles are of a
//! histogram of whole microseconds.

use crate::model::Measure;
use crate::tools::definitions::{Counted, Definitions, InFlight, PLAIN};

pub const BOMBARDIER: Definitions = Definitions {
    name: "bombardier",
    in_flight: InFlight::Several("the rate is a mean of samples, not count / duration"),
    is_busy: false,
    grace_s: 30.0,
    window: 0.15,
    rate_is_sampled: true,
    rate_counts: Counted::Unknown,
    is_silent_on_success: true,
    command: Some(&[("-c", Measure::Users)]),
    ..PLAIN
};

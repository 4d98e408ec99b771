//! Locust, by `stats.py`: times are whole milliseconds, percentiles have two digits (from 100 ms steps of 10 ms, from
//! 1 s steps of 100 ms), and the rate of a row is count / time of the whole test. A user may pause, and tasks may send
//! several requests at once. Failures are requests, and their times are in the distribution.

use crate::tools::definitions::{Definitions, InFlight, PLAIN};

pub const LOCUST: Definitions = Definitions {
    name: "Locust",
    users: "users",
    in_flight: InFlight::Several("a task may send several requests at once"),
    is_busy: false,
    window: 0.10,
    layout: &["type name # reqs", "aggregated", "response time percentiles (approximated)"],
    ..PLAIN
};

//! oha, by `printer.rs` and `result_data.rs`: `Success rate` is the share of requests with any response, among those
//! that were not cut off by the end of the run; times are of requests with a response; the rate counts every result.

use crate::tools::definitions::{Counted, Definitions, PLAIN};

pub const OHA: Definitions = Definitions {
    name: "oha",
    rate_counts: Counted::Unknown,
    times_of: Counted::Successes,
    is_silent_on_success: true,
    counts_bodies_only: true,
    layout: &[
        "summary:",
        "success rate: ",
        "total: ",
        "slowest: ",
        "fastest: ",
        "average: ",
        "requests/sec: ",
        "response time histogram:",
        "response time distribution:",
        "details (average, fastest, slowest)",
        "status code distribution:",
    ],
    ..PLAIN
};

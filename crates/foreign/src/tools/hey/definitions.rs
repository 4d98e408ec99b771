//! hey, by `requester/report.go`: the rate counts every result, failed ones as well; times are only of requests with a
//! response, and at most a million are kept. `Size/request` is the total divided by all responses, cut to whole bytes.
//!
//! `DNS+dialup` prints the average time to connect, and then the fastest and slowest of the whole request: a mistake of
//! hey's (all versions up to 0.1.5), so that the pair is not a range of that average.

use crate::tools::definitions::{Counted, Definitions, PLAIN};

pub const HEY: Definitions = Definitions {
    name: "hey",
    users: "workers",
    rate_counts: Counted::Unknown,
    times_of: Counted::Successes,
    is_silent_on_success: true,
    counts_bodies_only: true,
    layout: &[
        "summary:",
        "total: ",
        "slowest: ",
        "fastest: ",
        "average: ",
        "requests/sec: ",
        "response time histogram:",
        "latency distribution:",
        "details (average, fastest, slowest):",
        "status code distribution:",
    ],
    ..PLAIN
};

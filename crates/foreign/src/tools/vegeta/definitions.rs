//! vegeta, by `lib/metrics.go`: `rate` is requests per second of the attack, `throughput` is successes per second of
//! attack and wait; a success is a status of 200 to 399; total = attack + wait. Requests in flight at the end of the
//! attack may take the timeout, 30 s by default.

use crate::tools::definitions::{Counted, Definitions, InFlight, PLAIN};

pub const VEGETA: Definitions = Definitions {
    name: "vegeta",
    users: "workers",
    in_flight: InFlight::Open,
    is_busy: false,
    grace_s: 30.0,
    rate_counts: Counted::Successes,
    is_silent_on_success: true,
    counts_bodies_only: true,
    layout: &[
        "requests [total, rate",
        "duration [total, attack, wait]",
        "latencies [",
        "bytes in [total, mean]",
        "bytes out [total, mean]",
        "success [ratio]",
        "status codes [code:count]",
    ],
    ..PLAIN
};

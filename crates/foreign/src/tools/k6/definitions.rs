//! k6, by its `metrics` package and summaries: `http_req_duration` is sending, waiting, and receiving, without the
//! connect. Requests in flight at the end may take `gracefulStop`, 30 s by default.

use crate::tools::definitions::{Definitions, InFlight, PLAIN};

pub const K6: Definitions = Definitions {
    name: "k6",
    users: "virtual users",
    in_flight: InFlight::Several("`http.batch` sends several requests of one user at once"),
    is_busy: false,
    grace_s: 30.0,
    window: 0.05,
    layout: &[
        "http req duration",
        "http reqs",
        "http req failed",
        "iterations",
        "iteration duration",
        "vus",
        "vus max",
        "data received",
        "data sent",
    ],
    ..PLAIN
};

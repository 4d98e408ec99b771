//! `ab`, by `ab.c` of httpd 2.4: `Time per request (mean)` is concurrency x duration / requests; the measured mean is
//! that of `Total`, which begins with the connect. `Failed requests` counts responses of another length than the first;
//! another status than 2xx is not a failure. Its deviation divides by n - 1.

use crate::model::Measure;
use crate::tools::definitions::{Definitions, PLAIN};

pub const AB: Definitions = Definitions {
    name: "ab",
    users: "concurrent requests",
    connect_is_inside: true,
    deviation_of_sample: true,
    bytes_are_of_bodies: true,
    layout: &[
        "concurrency level: ",
        "time taken for tests: ",
        "complete requests: ",
        "failed requests: ",
        "total transferred: ",
        "html transferred: ",
        "requests per second: ",
        "time per request: ",
        "(mean, across all concurrent requests)",
        "transfer rate: ",
        "connection times (ms)",
        "total: ",
    ],
    command: Some(&[("-c", Measure::Users)]),
    ..PLAIN
};

//! wrk and wrk2, by `wrk.c` and `stats.c` of both.
//!
//! wrk has one request in flight on each connection, and adds samples to its times for every response that took longer
//! than twice the expected interval (`stats_correct`). A connection is opened once; `connect` errors count sockets
//! that could not be made. `Non-2xx or 3xx` and socket errors are printed only when there were any, and a response
//! after the timeout is a request and a timeout without a time.
//!
//! wrk2 sends by a schedule (`-R`), counts from the intended send, and keeps an HDR histogram of three digits: the
//! largest value of its spectrum is the upper end of a bucket and may exceed `Max`.

use crate::model::Measure;
use crate::tools::definitions::{Definitions, InFlight, PLAIN};

pub const WRK: Definitions = Definitions {
    name: "wrk",
    in_flight: InFlight::OneCorrected,
    is_silent_on_success: true,
    errors_are_requests: false,
    deviation_of_sample: true,
    connects_once: true,
    layout: &[
        "running ",
        "threads and ",
        "thread stats avg stdev max +/- stdev",
        "latency ",
        "req/sec ",
        " requests in ",
        "requests/sec: ",
        "transfer/sec: ",
    ],
    command: Some(&[
        ("-c", Measure::Users),
        ("--connections", Measure::Users),
        ("-t", Measure::GeneratorThreads),
        ("--threads", Measure::GeneratorThreads),
    ]),
    ..PLAIN
};

pub const WRK2: Definitions = Definitions {
    name: "wrk2",
    in_flight: InFlight::Open,
    is_busy: false,
    deviation_of_sample: false,
    ..WRK
};

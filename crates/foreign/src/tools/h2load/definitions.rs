//! h2load, by `h2load.cc` of nghttp2: a client has up to `-m` streams in flight, so clients are not a bound. `failed`
//! counts responses with a status of an error and requests without a response, `errored` the latter alone; the rate
//! counts successes of the measurement period; done = succeeded + failed, unless requests are abandoned with their
//! connection: these failed without being done. Statuses are of the responses. Times are of requests with a response
//! (`sample_req_stat` when a stream ends well).

use crate::model::Measure;
use crate::tools::definitions::{Counted, Definitions, InFlight, PLAIN};

pub const H2LOAD: Definitions = Definitions {
    name: "h2load",
    users: "clients",
    in_flight: InFlight::Open,
    is_busy: false,
    rate_counts: Counted::Unknown,
    times_of: Counted::Successes,
    layout: &[
        "finished in ",
        "requests: ",
        "status codes: ",
        "traffic: ",
        "min max ",
        "time for request: ",
        "time for connect: ",
        "time to 1st byte: ",
        "req/s : ",
    ],
    command: Some(&[("-c", Measure::Users), ("--clients", Measure::Users), ("-n", Measure::Requests)]),
    ..PLAIN
};

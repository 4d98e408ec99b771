//! Gatling, by its `charts` module: OK + KO = total in every line; times are of all requests, in whole milliseconds;
//! percentiles come from a t-digest, so neighbors may differ by little from exact ones. The mean rate is count divided
//! by duration in whole seconds. Users arrive by a schedule.

use crate::tools::definitions::{Definitions, InFlight, PLAIN};

pub const GATLING: Definitions = Definitions {
    name: "Gatling",
    users: "virtual users",
    in_flight: InFlight::Open,
    is_busy: false,
    window: 0.05,
    layout: &[
        "global information",
        "request count ",
        "min response time ",
        "max response time ",
        "mean response time ",
        "mean ",
        "response time distribution",
    ],
    ..PLAIN
};

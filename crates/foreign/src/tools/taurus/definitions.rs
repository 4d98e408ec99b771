//! Taurus (`bzt`), its final statistics. What it runs decides about users and pauses. `throughput` in its file is a
//! number of samples, and times are seconds with three digits.

use crate::tools::definitions::{Definitions, InFlight, PLAIN};

pub const TAURUS: Definitions = Definitions {
    name: "Taurus",
    users: "users",
    in_flight: InFlight::Several("the tool behind Taurus decides what a user sends at once"),
    is_busy: false,
    window: 0.10,
    ..PLAIN
};

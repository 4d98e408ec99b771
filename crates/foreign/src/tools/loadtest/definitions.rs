//! loadtest, by `lib/latency.js` of versions 2 to 8: completed requests include failed ones, percentiles are cut to
//! whole milliseconds. With `--rps` the clients send by a schedule. Since version 7, it runs on several cores, each
//! with all clients, and prints the clients of one.

use crate::tools::definitions::{Definitions, PLAIN};

pub const LOADTEST: Definitions = Definitions {
    name: "loadtest",
    users: "clients",
    layout: &[
        "target url: ",
        "completed requests: ",
        "total errors: ",
        "total time: ",
        "mean latency: ",
        "requests served within a certain time",
        "100% ",
    ],
    ..PLAIN
};

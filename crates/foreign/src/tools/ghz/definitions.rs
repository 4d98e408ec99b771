//! ghz, by `printer/templates.go` and `runner/report.go`: the layout of hey with a line `Count:` and statuses of gRPC;
//! times are of all calls, the rate is count / total, edges of the histogram are in milliseconds.

use crate::tools::definitions::{Definitions, InFlight, PLAIN};

pub const GHZ: Definitions = Definitions {
    name: "ghz",
    users: "workers",
    in_flight: InFlight::Several("calls of one worker may overlap on its connection"),
    is_busy: false,
    is_silent_on_success: true,
    ..PLAIN
};

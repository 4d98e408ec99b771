//! Artillery, by its `ssms` metrics: a summary counts requests and responses of all virtual users, which arrive by a
//! schedule; times come from a sketch with 1% error; `http.request_rate` is a mean of the rates of periods.

use crate::tools::definitions::{Counted, Definitions, InFlight, PLAIN};

pub const ARTILLERY: Definitions = Definitions {
    name: "Artillery",
    users: "virtual users",
    in_flight: InFlight::Open,
    is_busy: false,
    window: 0.5,
    times_of: Counted::Successes,
    is_silent_on_success: true,
    ..PLAIN
};

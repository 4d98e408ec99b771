//! JMeter, by its `Calculator`, `Summariser`, and report generator: times begin with the connect; a transaction
//! controller is a sample around those of its children; each label's rate is over the window of that label.
//! Percentiles of the HTML report come from the last 20,000 samples of a label unless `statistic_window` was changed.

use crate::tools::definitions::{Definitions, InFlight, PLAIN};

pub const JMETER: Definitions = Definitions {
    name: "JMeter",
    users: "threads",
    in_flight: InFlight::Several(
        "transaction controllers count the time of their children again, and embedded resources are loaded in parallel",
    ),
    is_busy: false,
    window: 0.05,
    connect_is_inside: true,
    rates_of_own_windows: true,
    records_whole_ms: true,
    layout: &["summary = ", " in ", "avg: ", "min: ", "max: ", "err: "],
    ..PLAIN
};

/// Samples of each label that the HTML report keeps for percentiles.
pub const WINDOW: usize = 20_000;

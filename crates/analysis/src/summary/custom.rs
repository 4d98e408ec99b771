//! What user-defined metrics say.

use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum number of series of one metric in a report; more would be unreadable.
pub const SERIES_TOLD: usize = 1_000;

/// A user-defined metric: all of its series added up, and each by its labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CustomMetric {
    pub name: String,
    #[serde(flatten)]
    pub figures: CustomFigures,
    /// Those with labels, the most values first; at most [`SERIES_TOLD`] of them.
    pub series: Vec<CustomSeries>,
    /// How many more there are.
    pub series_left_out: usize,
}

/// One of its series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CustomSeries {
    pub labels: BTreeMap<String, String>,
    #[serde(flatten)]
    pub figures: CustomFigures,
}

/// Values by kind of metric, in the unit of the program that defined it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CustomFigures {
    Counter {
        total: f64,
        /// Per second of the measured part.
        rate_per_s: f64,
    },
    Gauge {
        values: u64,
        /// Set last, over all machines, by their clocks.
        last: Option<f64>,
        min: Option<f64>,
        max: Option<f64>,
    },
    Rate {
        values: u64,
        true_values: u64,
        ratio: Option<f64>,
    },
    Trend {
        values: u64,
        min: Option<f64>,
        mean: Option<f64>,
        p50: Option<f64>,
        p90: Option<f64>,
        p95: Option<f64>,
        p99: Option<f64>,
        max: Option<f64>,
    },
}

//! Evidence that a resource was saturated: numbers, and the one place that turns them into words.

use plimsoll_plan::phrase::{count, quantity, ratio, watched};
use plimsoll_plan::watch::Unit;
use serde::Serialize;

/// The numbers that say so. In JSON: the fields of the variant, as the `figures` of the resource; what is not known is
/// left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Saturation {
    /// It refused, or dropped, what came.
    Refusals {
        /// The number that counts them: `listen overflows`.
        metric: String,
        refused_count: u64,
        /// Samples, one a second, in which it refused some, and all of them.
        held_s: u64,
        measured_s: u64,
        peak_per_s: f64,
        /// When, from the start of the run.
        peak_at_s: f64,
    },
    /// A control group that its quota held back.
    Throttling {
        /// Share of its periods.
        throttled_ratio: f64,
        held_s: u64,
        measured_s: u64,
    },
    /// Use at or near a limit.
    Usage {
        unit: Unit,
        mean: f64,
        limit: f64,
        /// The share of the limit above which it counts as reached.
        reached_from_ratio: f64,
        /// Seconds in which it was, and all of them.
        held_s: u64,
        measured_s: u64,
        /// CPUs that the load generator itself took, where both share them.
        #[serde(skip_serializing_if = "Option::is_none")]
        load_generator_cores: Option<f64>,
    },
}

impl Saturation {
    /// One fragment.
    pub fn text(&self) -> String {
        match self {
            Saturation::Refusals { metric, refused_count, held_s, measured_s, peak_per_s, peak_at_s } => {
                format!(
                    "{} {metric}, in {held_s} of {measured_s} s, most of them ({}/s) at {} s",
                    count(*refused_count),
                    quantity(*peak_per_s),
                    quantity(*peak_at_s)
                )
            }
            Saturation::Throttling { throttled_ratio, held_s, measured_s } => {
                format!(
                    "throttled in {} of its periods, in {held_s} of {measured_s} s",
                    ratio(*throttled_ratio)
                )
            }
            Saturation::Usage {
                unit,
                mean,
                limit,
                reached_from_ratio,
                held_s,
                measured_s,
                load_generator_cores,
            } => {
                let own = load_generator_cores.map_or(String::new(), |cores| {
                    format!(", of which the load generator took {}", watched(cores, Unit::Cores))
                });
                format!(
                    "mean {} of {} ({}), at least {} of it in {held_s} of {measured_s} s{own}",
                    watched(*mean, *unit),
                    watched(*limit, *unit),
                    ratio(mean / limit),
                    ratio(*reached_from_ratio)
                )
            }
        }
    }
}

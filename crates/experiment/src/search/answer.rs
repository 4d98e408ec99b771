//! The result of a search as a document: field names are public JSON and never renamed.

use super::limits::Limited;
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::Generator;
use plimsoll_analysis::summary::{Bottleneck, Quantile, Severity, Standing};
use plimsoll_plan::experiment::Purpose;
use serde::{Serialize, Serializer};

/// The result of a search. Levels are arrivals per second, or users if `is_users` is true.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    pub style: Style,
    pub is_users: bool,
    /// `None`: see `refusal`.
    pub capacity: Option<Capacity>,
    /// Why there is no capacity, or why its interval is wider than requested (code `max_time_reached`).
    pub refusal: Option<Refusal>,
    /// A sentence that can be quoted on its own.
    pub sentence: String,
    pub shape: Shape,
    /// The figures that show the shape: the largest change from one level to the next near the capacity.
    pub rise: Option<Rise>,
    pub knee: Option<Knee>,
    /// Median of the unloaded response time in ns.
    pub unloaded_p50_ns: Option<u64>,
    /// The requested half width, as a ratio.
    pub precision_ratio: f64,
    /// The thresholds that decided the search.
    pub thresholds: Vec<String>,
    /// Thresholds that the search ignored: any low load misses a minimum rate or count.
    pub skipped_thresholds: Vec<String>,
    /// Thresholds of the author that the result of a ladder misses: with its own rule, a ladder ignores them.
    pub missed_thresholds: Vec<String>,
    /// The bottleneck of the service, if there are monitors.
    pub bottleneck: Option<Bottleneck>,
    /// The runs that determine the result, and their cautions; `None` if there are none.
    pub deciding_runs: Option<Deciding>,
    /// Levels in rising order, with repeats pooled.
    pub curve: Vec<Point>,
    /// Every run, in order.
    pub steps: Vec<StepRow>,
    /// Duration of all runs with their warm-ups and rests, in seconds.
    pub elapsed_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    Search,
    Ladder,
}

/// The highest load that meets the thresholds.
#[derive(Debug, Clone, Serialize)]
pub struct Capacity {
    pub rate_per_s: Option<f64>,
    pub users: Option<f64>,
    /// In the same unit, see `interval_kind`.
    pub interval: [f64; 2],
    pub interval_kind: IntervalKind,
    /// Whether the search ended before a level was missed: because of the highest allowed level, the time, or a limit
    /// outside of the service.
    pub is_lower_bound: bool,
    /// How it was found.
    pub basis: String,
    /// The threshold that is crossed first.
    pub limiting_threshold: Option<String>,
}

/// The meaning of the two ends of a capacity's interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalKind {
    /// A 95% confidence interval of the capacity.
    #[serde(rename = "confidence_95")]
    Confidence95,
    /// The last level that was met and the first one that was missed; the levels in between were not tested.
    Bracket,
}

impl Capacity {
    pub fn level(&self) -> f64 {
        self.rate_per_s.or(self.users).unwrap_or(0.0)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refusal {
    /// As its stable code.
    #[serde(rename = "code")]
    pub kind: RefusalKind,
    pub sentence: String,
}

macro_rules! refusals {
    ($($(#[$meta:meta])* $kind:ident = $code:literal;)*) => {
        /// Why there is no result, or a wider interval than requested.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum RefusalKind { $($(#[$meta])* $kind,)* }

        impl RefusalKind {
            /// Returns the stable name in JSON.
            pub const fn code(self) -> &'static str { match self { $(RefusalKind::$kind => $code,)* } }
        }
    };
}

refusals! {
    /// Runs contradict each other and could not be rerun.
    Contradicted = "contradicted";
    GeneratorLimited = "generator_limited";
    /// The network was the bottleneck.
    NetworkSaturated = "network_saturated";
    NothingMet = "nothing_met";
    /// A ladder ended at its first level.
    EndedAtFirstStep = "ended_at_first_step";
    RunIncomplete = "run_incomplete";
    /// A single user received no successful responses.
    BaselineFailed = "baseline_failed";
    /// The search reached its maximum time.
    MaxTimeReached = "max_time_reached";
    /// No level separates met from missed.
    Unsettled = "unsettled";
    StopWhenNeedsArrivals = "stop_when_needs_arrivals";
}

impl Serialize for RefusalKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// How the service behaves above its capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Latency rises with the load, without a large step between levels.
    Gradual,
    /// Latency or errors jump within a few percent of load.
    Cliff,
    /// Latency or errors jump between two levels that are farther apart; the levels in between were not tested.
    Jump,
    /// Throughput falls as the load rises.
    Retrograde,
    /// Nothing changes up to the highest level.
    Flat,
    Unknown,
}

/// The change of a figure from one level to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rise {
    pub from_level: f64,
    pub to_level: f64,
    /// `p50`, `p99`, or `error_rate`.
    pub figure: &'static str,
    /// In ns; for errors, a ratio.
    pub from_value: f64,
    pub to_value: f64,
}

/// The runs near the capacity: without them, the result would differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Deciding {
    pub runs: usize,
    /// The worst values of these runs.
    pub generator: Generator,
    /// The most severe first, then those raised by the most runs.
    pub cautions: Vec<Raised>,
}

/// A caution raised by several runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Raised {
    #[serde(rename = "code")]
    pub kind: Kind,
    pub severity: Severity,
    pub title: String,
    /// From the first run that raised it.
    pub evidence: String,
    pub runs: usize,
}

/// The last level at which the median is within twice the unloaded median.
///
/// This is a rule instead of a curvature (Satopaa et al. 2011, Kneedle), because curvature depends on the sampled
/// range, and a search samples densely only near its result.
#[derive(Debug, Clone, Serialize)]
pub struct Knee {
    pub level: f64,
    pub p50_ns: u64,
    pub method: &'static str,
}

/// A percentile with its 95% confidence interval in ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reading {
    pub value_ns: u64,
    pub low_ns: Option<u64>,
    pub high_ns: Option<u64>,
    /// At least 10 / (1 - q) samples; with fewer, texts print a dash.
    pub has_enough_samples: bool,
}

impl Reading {
    /// Returns the value as it may be shown.
    pub fn quantile(&self) -> Quantile {
        Quantile::of(Some(self.value_ns), false, self.has_enough_samples)
    }
}

/// A level of the curve.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    pub level: f64,
    pub runs: u32,
    /// Runs that met all thresholds, and runs whose limit lies within the uncertainty of their figures.
    pub met_runs: u32,
    pub undecided_runs: u32,
    /// The result of all its runs together.
    pub standing: Standing,
    pub offered_rate_per_s: Option<f64>,
    pub achieved_rate_per_s: f64,
    pub p50: Option<Reading>,
    pub p99: Option<Reading>,
    pub error_ratio: f64,
    /// 95% confidence interval (Wilson 1927).
    pub error_interval: [f64; 2],
}

/// One run of the search.
#[derive(Debug, Clone, Serialize)]
pub struct StepRow {
    pub run_index: u32,
    pub level: f64,
    pub purpose: Purpose,
    pub cooldown_s: f64,
    pub warmup_s: f64,
    pub length_s: f64,
    pub offered_rate_per_s: Option<f64>,
    pub achieved_rate_per_s: f64,
    pub p50: Option<Reading>,
    pub p99: Option<Reading>,
    pub requests: u64,
    pub errors: u64,
    pub error_ratio: f64,
    pub error_interval: [f64; 2],
    /// Whether the figures are within the limits, with or without certainty.
    pub is_met: bool,
    /// The result that is certain.
    pub standing: Standing,
    /// The missed thresholds, each with its observed value: `response_time p99 < 60ms (observed 1.98 s)`.
    pub missed_thresholds: Vec<String>,
    /// The thresholds whose limit lies within the uncertainty of the observed value, in the same form.
    pub undecided_thresholds: Vec<String>,
    /// Distance from the nearest limit as a share of it, at most 0.75 in either direction; negative if missed.
    pub margin: Option<f64>,
    pub is_unstable: bool,
    /// The codes of its cautions.
    pub cautions: Vec<Kind>,
    /// A limit outside of the service; such a step is excluded. If all connections are in use during an overload, the
    /// service is the cause, and it is only a caution.
    pub limited_by: Option<Limited>,
}

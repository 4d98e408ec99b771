//! What a search found, as one document: field names are public JSON, added to and never renamed.

use super::limits::Limited;
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::Generator;
use plimsoll_analysis::summary::{Bottleneck, Quantile, Severity, Standing};
use plimsoll_plan::experiment::Purpose;
use serde::{Serialize, Serializer};

/// The end of a search. Levels are arrivals per second, or users when `users` is true.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    pub style: Style,
    pub is_users: bool,
    /// `None`: see `refusal`.
    pub capacity: Option<Capacity>,
    /// Why there is no capacity, or why its interval is wider than was asked for (code `max_time_reached`).
    pub refusal: Option<Refusal>,
    /// May be quoted.
    pub sentence: String,
    pub shape: Shape,
    /// The figures that say so: what changed most from a level to the next one near the answer.
    pub rise: Option<Rise>,
    pub knee: Option<Knee>,
    /// Median of the unloaded response time, ns.
    pub unloaded_p50_ns: Option<u64>,
    /// Half width that was asked for, a ratio.
    pub precision_ratio: f64,
    /// The thresholds that the search was held against.
    pub thresholds: Vec<String>,
    /// Those that it was not: more of a rate or a count is missed by any low load.
    pub skipped_thresholds: Vec<String>,
    /// What ran out on the service's side, when monitors know it.
    pub bottleneck: Option<Bottleneck>,
    /// The runs that the answer rests on, and what they say against themselves; `None`: there is none.
    pub deciding_runs: Option<Deciding>,
    /// Levels in rising order, repeats pooled.
    pub curve: Vec<Point>,
    /// Every run, in order.
    pub steps: Vec<StepRow>,
    /// All runs with their warm-ups and rests, s.
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
    /// Where the service ends was not seen: the cap on the level, the time, or something that is not the service ended
    /// the search before a level was missed.
    pub is_lower_bound: bool,
    /// How it was found.
    pub basis: String,
    /// The threshold that is crossed first.
    pub limiting_threshold: Option<String>,
}

/// What the two ends of a capacity's interval are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalKind {
    /// A 95% interval of the capacity.
    #[serde(rename = "confidence_95")]
    Confidence95,
    /// The last level that was met and the first that was missed: nothing is known between the two.
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
        /// Why there is no answer, or a wider one than was asked for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum RefusalKind { $($(#[$meta])* $kind,)* }

        impl RefusalKind {
            /// The stable name in JSON.
            pub const fn code(self) -> &'static str { match self { $(RefusalKind::$kind => $code,)* } }
        }
    };
}

refusals! {
    /// Runs contradict each other, and could not be made again.
    Contradicted = "contradicted";
    GeneratorLimited = "generator_limited";
    /// The way to the target was the limit.
    NetworkSaturated = "network_saturated";
    NothingMet = "nothing_met";
    /// A ladder ended where it began.
    EndedAtFirstStep = "ended_at_first_step";
    RunIncomplete = "run_incomplete";
    /// One user alone got no answers.
    BaselineFailed = "baseline_failed";
    /// The time was over.
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
    /// Times climb with the load, from no level to the next by much.
    Gradual,
    /// Times or errors jump within a few per cent of load.
    Cliff,
    /// Times or errors jump between two levels that are further apart: what lies between was not run.
    Jump,
    /// More load gets fewer answers.
    Retrograde,
    /// Nothing changes up to the highest level.
    Flat,
    Unknown,
}

/// What a figure did from one level to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rise {
    pub from_level: f64,
    pub to_level: f64,
    /// `p50`, `p99` or `error_rate`.
    pub figure: &'static str,
    /// ns, of errors a ratio.
    pub from_value: f64,
    pub to_value: f64,
}

/// The runs near the answer: those that the answer would be another without.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Deciding {
    pub runs: usize,
    /// The worst of these runs.
    pub generator: Generator,
    /// The heaviest first, then what most of them raised.
    pub cautions: Vec<Raised>,
}

/// A caution of several runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Raised {
    #[serde(rename = "code")]
    pub kind: Kind,
    pub severity: Severity,
    pub title: String,
    /// Of the first run that raised it.
    pub evidence: String,
    pub runs: usize,
}

/// The last level at which the median is within twice the unloaded one.
///
/// A rule instead of a curvature (Satopaa et al. 2011, Kneedle): curvature moves with the range that was sampled, and a
/// search samples densely near its answer only.
#[derive(Debug, Clone, Serialize)]
pub struct Knee {
    pub level: f64,
    pub p50_ns: u64,
    pub method: &'static str,
}

/// A percentile with its 95% interval, ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reading {
    pub value_ns: u64,
    pub low_ns: Option<u64>,
    pub high_ns: Option<u64>,
    /// At least 10 / (1 - q) samples; with fewer, texts print a dash.
    pub has_enough_samples: bool,
}

impl Reading {
    /// As it may be shown.
    pub fn quantile(&self) -> Quantile {
        Quantile::of(Some(self.value_ns), false, self.has_enough_samples)
    }
}

/// A level of the curve.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    pub level: f64,
    pub runs: u32,
    /// Runs that met all thresholds, and those that decide nothing: the limit lies within what they may be.
    pub met_runs: u32,
    pub undecided_runs: u32,
    /// Of all its runs together.
    pub standing: Standing,
    pub offered_rate_per_s: Option<f64>,
    pub achieved_rate_per_s: f64,
    pub p50: Option<Reading>,
    pub p99: Option<Reading>,
    pub error_ratio: f64,
    /// 95% interval (Wilson 1927).
    pub error_interval: [f64; 2],
}

/// A run of the search.
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
    /// The figures are inside the limits, sure or not.
    pub is_met: bool,
    /// What is sure.
    pub standing: Standing,
    /// The thresholds that were missed, each with what was observed: `response_time p99 < 60ms (observed 1.98 s)`.
    pub missed_thresholds: Vec<String>,
    /// The thresholds whose limit lies within what was observed, likewise.
    pub undecided_thresholds: Vec<String>,
    /// Distance from the nearest limit as a share of it, at most 0.75 either way; negative outside.
    pub margin: Option<f64>,
    pub is_unstable: bool,
    /// Its cautions, as their codes.
    pub cautions: Vec<Kind>,
    /// Something else than the service; such a step does not count. Full connections in an overload are the service's
    /// own, and only a caution.
    pub limited_by: Option<Limited>,
}

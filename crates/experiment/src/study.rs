//! Analyses over several runs of one experiment: curves, knees, scaling, and what stood at its limit. One run shows a
//! rate; only its neighbours show whether that was the service, the link, the distance or the load generator.
//!
//! Everything is a pure function of [`Digest`]s; the types are the public JSON of a sweep.

mod cells;
pub mod clusters;
mod curve;
mod knee;
mod laws;
mod link;
mod pool;
mod scaling;
mod sentence;
mod series;
mod steady;
mod tails;
pub(super) mod watched;

pub use clusters::{Cluster, Delay, clusters};
pub use series::{Drift, Periodic, RunCourse, Shift};
pub use steady::{Steady, steady_from, without_beginning};

use plimsoll_analysis::digest::{Digest, Seen};
use plimsoll_analysis::summary::{Bottleneck, Quantile};
use plimsoll_plan::experiment::Setting;
use serde::Serialize;

/// What is asked of a study.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudyAsked {
    /// A run with a shorter measured part is no valid cell, ns.
    pub min_duration_ns: u64,
    /// Leave the beginning of each run up to its steady state out.
    pub trim_to_steady_state: bool,
    /// Of the resampling.
    pub seed: u64,
}

impl Default for StudyAsked {
    fn default() -> Self {
        Self { min_duration_ns: 0, trim_to_steady_state: false, seed: 1 }
    }
}

/// The runs of an experiment, analysed.
#[derive(Debug, Clone, Serialize)]
pub struct Study {
    /// Of the experiment; of the first run when there is none.
    pub name: String,
    /// What was found, in one sentence that may be quoted; empty where no run counts.
    pub sentence: String,
    pub runs: usize,
    /// Names of the settings, in the order of every row.
    pub parameters: Vec<String>,
    pub table: Vec<CellRow>,
    pub curves: Vec<Curve>,
    pub scaling: Vec<Scaling>,
    /// Of runs that are long enough to have a course.
    pub stability: Vec<RunCourse>,
    pub findings: Vec<Finding>,
}

/// Something that the numbers of several runs say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Stable: `network_saturated`.
    pub code: &'static str,
    /// One sentence that may be quoted.
    pub sentence: String,
    /// The numbers that say so.
    pub evidence: String,
    pub advice: String,
}

/// A value with its 95% interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Estimate {
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The true value is this or more: times were cut off.
    pub is_lower_bound: bool,
    /// A percentile with fewer samples than 10 / (1 - q): texts print a dash.
    pub has_too_few_samples: bool,
}

impl Estimate {
    /// A time as it may be shown.
    pub fn quantile(&self) -> Quantile {
        let value_ns = self.value.map(|ns| ns.round().max(0.0) as u64);
        Quantile::of(value_ns, self.is_lower_bound, !self.has_too_few_samples)
    }

    /// The larger distance to a bound, as a share of the value.
    pub fn half_width_ratio(&self) -> Option<f64> {
        let value = self.value.filter(|v| *v > 0.0)?;
        Some((self.high? - value).max(value - self.low?) / value)
    }
}

/// Where the intervals of a row come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Differences between three or more repeats, Student's t; of two, where their runs are too short to be resampled,
    /// with its one degree of freedom: wide, and true.
    Runs,
    /// Resampled stretches of one or two runs: what a run differs from the next is not in it.
    Blocks,
    /// One run, too short to be resampled.
    None,
}

/// One cell of the matrix, its repeats pooled.
#[derive(Debug, Clone, Serialize)]
pub struct CellRow {
    pub settings: Vec<Setting>,
    /// Users or arrivals per second.
    pub level: f64,
    pub is_users: bool,
    /// Runs of which the figures are made.
    pub repeats: usize,
    /// Runs that were left out, and why. When all were, the figures are made of them and `valid` is false.
    pub excluded_runs: Vec<ExcludedRun>,
    pub is_valid: bool,
    pub basis: Basis,
    pub measured_s: f64,
    pub requests: u64,
    pub errors: u64,
    pub offered_rate_per_s: Option<f64>,
    /// Finished iterations per second, what an offered rate is held against; failures included, as in `rate_per_s`.
    pub iterations_per_s: f64,
    pub rate_per_s: Estimate,
    pub error_ratio: Estimate,
    /// Response times.
    pub mean_ns: Estimate,
    pub p50_ns: Estimate,
    pub p90_ns: Estimate,
    pub p95_ns: Estimate,
    pub p99_ns: Estimate,
    /// Mean requests in flight, measured.
    pub in_flight: f64,
    pub bytes_in_per_s: f64,
    pub rtt_min_ns: Option<u64>,
    pub service_p50_ns: Option<u64>,
    pub first_byte_mean_ns: Option<f64>,
    pub body_mean_ns: Option<f64>,
    pub little: LittleRow,
    /// Bunches of times a retransmission timer apart.
    pub clusters: Vec<Cluster>,
    /// What monitors saw: the mean of the runs' means, the highest of their peaks.
    pub monitor_metrics: Vec<Seen>,
    /// What stood at its limit; `None` without monitors.
    pub bottleneck: Option<Bottleneck>,
    /// What the runs were held against; empty without thresholds.
    pub thresholds: Vec<CellThreshold>,
}

/// A threshold over the repeats of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CellThreshold {
    pub text: String,
    /// Nobody wrote it: it goes without saying.
    pub is_default: bool,
    /// Runs that were held against it, and those of them that missed it.
    pub runs: usize,
    pub missed_runs: usize,
}

impl CellThreshold {
    /// Most runs missed it.
    pub fn is_missed(&self) -> bool {
        2 * self.missed_runs > self.runs
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExcludedRun {
    pub name: String,
    pub repeat: u32,
    pub reason: String,
}

/// N = X R held against the users (or, in the open model and under a ramp, the measured requests in flight).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LittleRow {
    pub in_flight_mean: f64,
    pub in_flight_computed: f64,
    /// (n - X R) / n: the share of the users' time that no request accounts for; negative when there is too much.
    pub missing_ratio: f64,
    /// The same per request, ns.
    pub missing_per_request_ns: f64,
    /// A run found no reason for it: neither thinking nor connecting nor the pause after a failure.
    pub is_unexplained: bool,
}

/// Cells that differ in one numeric setting only.
#[derive(Debug, Clone, Serialize)]
pub struct Curve {
    /// What its cells have in common.
    pub settings: Vec<Setting>,
    pub parameter: String,
    pub kind: AxisKind,
    pub points: Vec<CurvePoint>,
    pub usl: UslFit,
    pub knee: Knee,
    pub saturation: Option<Saturation>,
    /// The level with the highest rate, where the last one has a lower rate by more than the intervals allow.
    pub retrograde_from: Option<f64>,
    /// What stood at its limit from the knee on; `None` without monitors, or without a knee.
    pub bottleneck: Option<Bottleneck>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisKind {
    /// Users, connections.
    Concurrency,
    /// Arrivals per second.
    Rate,
    Other,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct CurvePoint {
    pub parameter_value: f64,
    /// Index in the table.
    pub row: usize,
    pub rate_per_s: f64,
    pub mean_ns: Option<f64>,
    pub p99_ns: Option<f64>,
    /// What the fitted law gives here.
    pub usl_rate_per_s: Option<f64>,
}

/// The universal scalability law for a curve, or why not.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum UslFit {
    Fit {
        /// Requests per second of one user.
        lambda: f64,
        lambda_band: [f64; 2],
        sigma: f64,
        sigma_band: [f64; 2],
        kappa: f64,
        kappa_band: [f64; 2],
        r2: f64,
        residual_ratio: f64,
        peak: Option<UslPeak>,
        /// The law over the measured levels, for pictures.
        line: Vec<UslPoint>,
        sentence: String,
    },
    Unfit {
        reason: String,
    },
}

/// The law at a level, with the 95% band of the law itself: single runs scatter more widely.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UslPoint {
    pub users: f64,
    pub rate_per_s: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UslPeak {
    pub users: f64,
    pub users_band: [f64; 2],
    pub rate_per_s: f64,
    /// Beyond 1.5 times the largest level that was measured.
    pub is_extrapolated: bool,
}

/// Where more load begins to cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Knee {
    /// On the axis; `None`: none is claimed.
    pub level: Option<f64>,
    /// `asymptotes` or `kneedle`.
    pub method: &'static str,
    pub sentence: String,
}

/// From `from` on the rate no longer rises, and times grow with the users.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Saturation {
    pub from_level: f64,
    pub rate_per_s: f64,
    /// Slope of log time against log users; 1 is pure queueing.
    pub time_exponent: f64,
    /// What stands at its limit is the link.
    pub is_link: bool,
}

/// How the rate follows the number of servers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scaling {
    pub parameter: String,
    pub settings: Vec<Setting>,
    pub steps: Vec<ScalingStep>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScalingStep {
    pub parameter_value: f64,
    /// Highest rate over the loads.
    pub rate_per_s: f64,
    /// X_n / X_first.
    pub speedup: f64,
    /// (X_n / n) / (X_first / first), with its 95% interval.
    pub efficiency: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// Analyses the runs of an experiment, in any order. A run without a cell is one at its own level.
pub fn study(digests: &[Digest], asked: &StudyAsked) -> Study {
    let mut findings = Vec::new();
    let cut: Vec<Digest>;
    let digests = if asked.trim_to_steady_state {
        steady::findings(digests, &mut findings);
        cut = digests.iter().cloned().map(without_beginning).collect();
        &cut
    } else {
        digests
    };
    let (axes, table) = cells::table(digests, asked);
    cells::findings(&table, &mut findings);
    let mut curves = curve::curves(&axes, &table);
    link::findings(&table, &mut curves, &mut findings);
    curve::findings(&curves, &mut findings);
    watched::findings(&table, &mut curves, &mut findings);
    let scaling = scaling::scaling(&axes, &table);
    scaling::findings(&scaling, &mut findings);
    for curve in &curves {
        laws::findings(curve, &table, &mut findings);
    }
    tails::findings(&table, &curves, &mut findings);
    let courses: Vec<RunCourse> = digests.iter().filter_map(series::course).collect();
    series::findings(&courses, &mut findings);
    let experiment = digests.iter().find_map(|d| d.cell.as_ref().map(|cell| cell.experiment.clone()));
    let name = experiment.or_else(|| digests.first().map(|d| d.name.clone())).unwrap_or_default();
    let sentence = sentence::sentence(&table, &curves, &scaling);
    let axes = axes.names();
    Study {
        name,
        sentence,
        runs: digests.len(),
        parameters: axes,
        table,
        curves,
        scaling,
        stability: courses,
        findings,
    }
}

impl CellRow {
    /// The value of an axis, if the cell sets it.
    pub fn setting(&self, axis: &str) -> Option<&str> {
        self.settings.iter().find(|s| s.parameter == axis).map(|s| s.value.as_str())
    }
}

/// `variant node, payload large`; empty for nothing.
pub fn settings_text(settings: &[Setting]) -> String {
    settings.iter().map(|s| format!("{} {}", s.parameter, s.value)).collect::<Vec<_>>().join(", ")
}

/// How a list of levels is told: the first few and the last.
fn levels_text(levels: &[f64]) -> String {
    let shown: Vec<String> = levels.iter().map(|x| level_text(*x)).collect();
    match shown.len() {
        0 => String::new(),
        1 => shown[0].clone(),
        n if n <= 5 => format!("{} and {}", shown[..n - 1].join(", "), shown[n - 1]),
        n => format!("{}, {}, ... {}", shown[0], shown[1], shown[n - 1]),
    }
}

/// A level of an axis without zeros behind the point: `10`, not `10.0`.
pub fn level_text(x: f64) -> String {
    let text = plimsoll_plan::phrase::quantity(x);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

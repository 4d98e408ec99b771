//! Analyses over several runs of one experiment: curves, knees, scaling, and bottlenecks. A single run shows only a
//! throughput; its neighbors show whether the limit was the service, the network, the distance, or the load
//! generator.
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

/// Options of a study.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudyAsked {
    /// A run with a shorter measurement period is not valid, in ns.
    pub min_duration_ns: u64,
    /// Exclude the start of each run, up to its steady state.
    pub trim_to_steady_state: bool,
    /// Seed of the resampling.
    pub seed: u64,
}

impl Default for StudyAsked {
    fn default() -> Self {
        Self { min_duration_ns: 0, trim_to_steady_state: false, seed: 1 }
    }
}

/// The analysis of the runs of an experiment.
#[derive(Debug, Clone, Serialize)]
pub struct Study {
    /// The name of the experiment; without one, of the first run.
    pub name: String,
    /// The result in one sentence that can be quoted on its own; empty if no run is valid.
    pub sentence: String,
    pub runs: usize,
    /// Names of the settings, in the order of every row.
    pub parameters: Vec<String>,
    pub table: Vec<CellRow>,
    pub curves: Vec<Curve>,
    pub scaling: Vec<Scaling>,
    /// Runs that are long enough for a timeline.
    pub stability: Vec<RunCourse>,
    pub findings: Vec<Finding>,
}

/// A finding from the numbers of several runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// A stable code such as `network_saturated`.
    pub code: &'static str,
    /// A sentence that can be quoted on its own.
    pub sentence: String,
    /// The numbers that show it.
    pub evidence: String,
    pub advice: String,
}

/// A value with its 95% confidence interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Estimate {
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The true value may be larger, because of timeouts.
    pub is_lower_bound: bool,
    /// A percentile with fewer samples than 10 / (1 - q): texts print a dash.
    pub has_too_few_samples: bool,
}

impl Estimate {
    /// Returns a time as it may be shown.
    pub fn quantile(&self) -> Quantile {
        let value_ns = self.value.map(|ns| ns.round().max(0.0) as u64);
        Quantile::of(value_ns, self.is_lower_bound, !self.has_too_few_samples)
    }

    /// Returns the larger distance to a bound, as a share of the value.
    pub fn half_width_ratio(&self) -> Option<f64> {
        let value = self.value.filter(|v| *v > 0.0)?;
        Some((self.high? - value).max(value - self.low?) / value)
    }
}

/// The source of the intervals of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Differences between three or more repeats, by Student's t; between two repeats if they are too short to be
    /// resampled, with one degree of freedom: wide, but correct.
    Runs,
    /// Resampled stretches of one or two runs, without the variation between runs.
    Blocks,
    /// One run that is too short to be resampled.
    None,
}

/// One cell, with its repeats pooled.
#[derive(Debug, Clone, Serialize)]
pub struct CellRow {
    pub settings: Vec<Setting>,
    /// Users or arrivals per second.
    pub level: f64,
    pub is_users: bool,
    /// Runs in the figures.
    pub repeats: usize,
    /// Excluded runs and the reasons. If all are excluded, the figures are made from them, and `is_valid` is false.
    pub excluded_runs: Vec<ExcludedRun>,
    pub is_valid: bool,
    pub basis: Basis,
    pub measured_s: f64,
    pub requests: u64,
    pub errors: u64,
    pub offered_rate_per_s: Option<f64>,
    /// Completed iterations per second, to compare with the offered rate; includes failures, as `rate_per_s` does.
    pub iterations_per_s: f64,
    pub rate_per_s: Estimate,
    pub error_ratio: Estimate,
    /// Response times.
    pub mean_ns: Estimate,
    pub p50_ns: Estimate,
    pub p90_ns: Estimate,
    pub p95_ns: Estimate,
    pub p99_ns: Estimate,
    /// Measured mean of requests in flight.
    pub in_flight: f64,
    pub bytes_in_per_s: f64,
    pub rtt_min_ns: Option<u64>,
    pub service_p50_ns: Option<u64>,
    pub first_byte_mean_ns: Option<f64>,
    pub body_mean_ns: Option<f64>,
    pub little: LittleRow,
    /// Clusters of times at retransmission timeouts.
    pub clusters: Vec<Cluster>,
    /// Monitored metrics: the mean of the runs' means, and the highest of their peaks.
    pub monitor_metrics: Vec<Seen>,
    /// The bottleneck; `None` without monitors.
    pub bottleneck: Option<Bottleneck>,
    /// The thresholds of the runs; may be empty.
    pub thresholds: Vec<CellThreshold>,
}

/// A threshold over the repeats of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CellThreshold {
    pub text: String,
    /// A default threshold, which the author did not set.
    pub is_default: bool,
    /// Runs with this threshold, and how many of them missed it.
    pub runs: usize,
    pub missed_runs: usize,
}

impl CellThreshold {
    /// Whether most runs missed it.
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

/// Little's law, N = X R, compared with the users (in the open model and with a changing load: with the measured
/// requests in flight).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LittleRow {
    pub in_flight_mean: f64,
    pub in_flight_computed: f64,
    /// (n - X R) / n: the share of the users' time outside requests; negative if requests took more time than there
    /// was.
    pub missing_ratio: f64,
    /// The same per request, in ns.
    pub missing_per_request_ns: f64,
    /// A run has no explanation for it: neither think time, connecting, nor the pause after a failure.
    pub is_unexplained: bool,
}

/// Cells that differ only in one numeric setting.
#[derive(Debug, Clone, Serialize)]
pub struct Curve {
    /// The settings that its cells share.
    pub settings: Vec<Setting>,
    pub parameter: String,
    pub kind: AxisKind,
    pub points: Vec<CurvePoint>,
    pub usl: UslFit,
    pub knee: Knee,
    pub saturation: Option<Saturation>,
    /// The level with the highest throughput, if that of the last level is certainly lower.
    pub retrograde_from: Option<f64>,
    /// The bottleneck from the knee up; `None` without monitors, or without a knee.
    pub bottleneck: Option<Bottleneck>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisKind {
    /// Users or connections.
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
    /// The value of the fitted law.
    pub usl_rate_per_s: Option<f64>,
}

/// The fit of the universal scalability law (USL) to a curve, or why there is none.
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
        /// The law over the measured levels, for charts.
        line: Vec<UslPoint>,
        sentence: String,
    },
    Unfit {
        reason: String,
    },
}

/// The law at a level, with its 95% band; single runs vary more.
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
    /// Beyond 1.5 times the largest measured level.
    pub is_extrapolated: bool,
}

/// The point at which more load starts to cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Knee {
    /// Value of the parameter; `None` if there is no knee.
    pub level: Option<f64>,
    /// `asymptotes` or `kneedle`.
    pub method: &'static str,
    pub sentence: String,
}

/// Saturation: from `from_level` up, throughput no longer rises, and times grow with the users.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Saturation {
    pub from_level: f64,
    pub rate_per_s: f64,
    /// Slope of log time over log users; 1 is pure queueing.
    pub time_exponent: f64,
    /// The network is the bottleneck.
    pub is_link: bool,
}

/// Throughput as a function of the number of servers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scaling {
    pub parameter: String,
    pub settings: Vec<Setting>,
    pub steps: Vec<ScalingStep>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScalingStep {
    pub parameter_value: f64,
    /// Highest throughput over the loads.
    pub rate_per_s: f64,
    /// X_n / X_first.
    pub speedup: f64,
    /// (X_n / n) / (X_first / first), with its 95% confidence interval.
    pub efficiency: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// Analyzes the runs of an experiment, in any order. A run without a cell counts as a cell at its own level.
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
    /// Returns the value of a parameter, if the cell sets it.
    pub fn setting(&self, axis: &str) -> Option<&str> {
        self.settings.iter().find(|s| s.parameter == axis).map(|s| s.value.as_str())
    }
}

/// `variant node, payload large`; empty without settings.
pub fn settings_text(settings: &[Setting]) -> String {
    settings.iter().map(|s| format!("{} {}", s.parameter, s.value)).collect::<Vec<_>>().join(", ")
}

/// Lists levels: the first few and the last.
fn levels_text(levels: &[f64]) -> String {
    let shown: Vec<String> = levels.iter().map(|x| level_text(*x)).collect();
    match shown.len() {
        0 => String::new(),
        1 => shown[0].clone(),
        2 => shown.join(" and "),
        n if n <= 5 => format!("{}, and {}", shown[..n - 1].join(", "), shown[n - 1]),
        n => format!("{}, {}, …, {}", shown[0], shown[1], shown[n - 1]),
    }
}

/// A level without trailing zeros: `10`, not `10.0`.
pub fn level_text(x: f64) -> String {
    let text = plimsoll_plan::phrase::quantity(x);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

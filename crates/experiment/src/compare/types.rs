//! Options and results of a comparison: the document of `--json`.

use plimsoll_analysis::digest::Digest;
use plimsoll_analysis::picture::Spectrum;
use plimsoll_analysis::summary::Severity;
use plimsoll_plan::experiment::{Figure, Setting};
use plimsoll_plan::threshold::FigureUnit;
use plimsoll_plan::watch::Unit;
use serde::{Deserialize, Serialize};

/// Increases when a field changes its meaning.
pub const SCHEMA_VERSION: u32 = 2;

/// The code of the caution that the round trip hides the service times of the sides.
pub const RTT_BOUND: &str = "rtt_bound";

/// A figure, and the limit for its difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// As written.
    pub text: String,
    #[serde(skip)]
    pub figure: Figure,
    /// A ratio; for errors, a difference of ratios. Has a sign.
    pub limit: f64,
    /// Whether the difference must be below the limit rather than above it.
    pub below: bool,
}

/// One side of a comparison: all of its runs.
#[derive(Debug, Clone)]
pub struct Side {
    pub name: String,
    pub runs: Vec<Digest>,
}

/// Options of a comparison.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// Compared quantiles of response time and service time, 0..1.
    pub quantiles: Vec<f64>,
    /// The smallest difference of interest, as a ratio.
    pub min_difference_ratio: f64,
    /// The same for the error ratio, which is compared by its difference.
    pub min_error_difference_ratio: f64,
    /// Confidence of the intervals, and 1 - the probability of any wrong `faster` or `slower` among all figures.
    pub confidence: f64,
    /// Seed of the resampling: equal seeds give equal results.
    pub seed: u64,
    /// Rules that set another smallest difference of interest for their figures; the first rule for a figure counts.
    pub tolerance: Vec<Rule>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions {
            quantiles: vec![0.5, 0.9, 0.99],
            min_difference_ratio: 0.05,
            min_error_difference_ratio: 0.001,
            confidence: 0.95,
            seed: 1,
            tolerance: Vec::new(),
        }
    }
}

/// The result: `compare --json` prints one document for each pair.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    pub schema_version: u32,
    pub a: SideFacts,
    pub b: SideFacts,
    /// Settings that both sides share; empty outside of a sweep.
    pub settings: Vec<Setting>,
    pub verdict: Overall,
    /// A sentence that can be quoted on its own.
    pub sentence: String,
    /// The figure in the sentence, which the reasons explain; `None` if it has none.
    pub headline: Option<String>,
    pub figures: Vec<Compared>,
    /// Number of p-values that were adjusted together: the figures of all comparisons made at once.
    pub p_values_count: usize,
    pub doubts: Vec<Doubt>,
    pub min_difference_ratio: f64,
    pub min_error_difference_ratio: f64,
    pub confidence: f64,
    pub seed: u64,
    /// Peaks of monitored CPU and memory. They have no interval: a peak is one second of one run.
    pub peaks: Vec<Peaks>,
    /// Mean response times of the requests that both sides have, the largest change first. They have no interval and
    /// decide nothing: they show where to look.
    pub requests: Vec<Moved>,
    /// Whole distributions of A and B, with the runs of each side merged; `None` if a side has no times. Only charts
    /// use them.
    #[serde(skip)]
    pub spectra: Option<Box<[Spectrum; 2]>>,
}

/// The peaks of a monitored metric on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Peaks {
    /// For example, `api cpu peak`.
    pub metric: String,
    pub unit: Unit,
    pub a: Option<f64>,
    pub b: Option<f64>,
}

/// A request on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moved {
    pub name: String,
    /// Mean response times in ns.
    pub a_mean_ns: f64,
    pub b_mean_ns: f64,
    pub a_samples: u64,
    pub b_samples: u64,
}

impl Moved {
    /// Returns (b - a) / a.
    pub fn difference(&self) -> f64 {
        self.b_mean_ns / self.a_mean_ns - 1.0
    }
}

/// The size of a side.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct SideFacts {
    pub name: String,
    pub runs: usize,
    pub requests: u64,
    pub measured_s: f64,
    pub target: String,
}

/// A figure of both sides.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// `throughput`, `error_rate`, `response_time mean`, `response_time p99`, or `service_time p99`.
    pub figure: String,
    #[serde(skip)]
    pub kind: Figure,
    pub unit: FigureUnit,
    /// From the merged histograms of all runs; `None` if nothing was measured.
    pub a: Option<f64>,
    pub b: Option<f64>,
    /// Whether timeouts make the figure a lower bound.
    pub a_is_lower_bound: bool,
    pub b_is_lower_bound: bool,
    pub scale: Scale,
    /// (b - a) / a, or b - a for errors; `None` if undefined.
    pub difference: Option<f64>,
    /// The confidence interval of the difference, for this figure alone.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The same, widened by the possible effects of the load generator on either side. Verdicts and gates use it.
    /// Without such cautions it equals `low` and `high`.
    pub widened_low: Option<f64>,
    pub widened_high: Option<f64>,
    /// The difference is certain, but no larger than the possible effect of the load generator.
    pub is_doubtful: bool,
    /// Two-sided p-value of the hypothesis that both sides are equal.
    pub p: Option<f64>,
    /// After Holm's adjustment, over `p_values_count` values.
    pub p_adjusted: Option<f64>,
    pub verdict: Verdict,
    /// Upper bound of the difference in either direction; `None` for a difference that is named.
    pub difference_bound: Option<f64>,
    /// Additional repeats of each side that would settle `inconclusive`, if difference and variation stay the same;
    /// `None` if it is settled or would take more than 500.
    pub more_repeats: Option<u32>,
    pub basis: Basis,
}

impl Compared {
    /// Whether this is the error rate, without errors on either side.
    pub fn is_spotless(&self) -> bool {
        self.kind == Figure::ErrorRate && self.a == Some(0.0) && self.b == Some(0.0)
    }

    /// Whether there are too few samples: a percentile without enough of them, or no errors among so few requests that
    /// a relevant error rate may be hidden.
    pub fn has_too_few(&self) -> bool {
        self.basis == Basis::Nothing
            || (self.verdict == Verdict::Inconclusive && self.is_spotless() && !self.is_doubtful)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// The difference is a share of `a`.
    Ratio,
    /// The difference of two ratios.
    Points,
}

/// The verdict on one figure, in words that suit the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Faster,
    Slower,
    Higher,
    Lower,
    Fewer,
    More,
    Equivalent,
    Inconclusive,
}

impl Verdict {
    /// Whether B is worse than A.
    pub fn is_worse(self) -> bool {
        matches!(self, Verdict::Slower | Verdict::Lower | Verdict::More)
    }

    /// Whether B is better than A.
    pub fn is_better(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Higher | Verdict::Fewer)
    }
}

/// The verdict on B compared with A, over all figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Overall {
    Faster,
    Slower,
    /// Only the errors differ.
    FewerErrors,
    MoreErrors,
    /// Better in one figure, worse in another.
    Mixed,
    Equivalent,
    Inconclusive,
}

/// The variation that determines the width of the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Differences of interleaved repeats.
    Pairs,
    /// Runs of each side separately.
    Runs,
    /// A side has only one run: the deviation between runs is assumed.
    Assumed,
    /// Nothing was measured, or too little for this figure.
    Nothing,
}

/// A reason to trust the result less.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Doubt {
    /// A stable code such as `one_run`.
    pub code: &'static str,
    /// `Inconclusive` makes the whole verdict inconclusive.
    pub severity: Severity,
    /// Title, evidence, and action as one text.
    pub sentence: String,
    /// What was seen, without numbers.
    #[serde(skip)]
    pub title: &'static str,
    /// The numbers, and why they matter.
    #[serde(skip)]
    pub evidence: String,
    /// What to do.
    #[serde(skip)]
    pub action: &'static str,
}

impl Doubt {
    pub fn new(
        code: &'static str,
        severity: Severity,
        title: &'static str,
        evidence: String,
        action: &'static str,
    ) -> Doubt {
        let sentence = format!("{title}: {evidence} → {action}");
        Doubt { code, severity, sentence, title, evidence, action }
    }

    /// Title and evidence.
    pub fn finding(&self) -> String {
        format!("{}: {}", self.title, self.evidence)
    }
}

impl Comparison {
    /// Returns the figure with this name.
    pub fn figure(&self, name: &str) -> Option<&Compared> {
        self.figures.iter().find(|row| row.figure == name)
    }

    /// Returns the figure in the sentence.
    pub fn headline(&self) -> Option<&Compared> {
        self.figure(self.headline.as_deref()?)
    }

    /// Returns short names of both sides, for sentences and narrow columns.
    pub fn short_names(&self) -> [&str; 2] {
        short_names(&self.a.name, &self.b.name)
    }

    /// Returns the first caution that prevents a verdict.
    pub fn blocking(&self) -> Option<&Doubt> {
        self.doubts.iter().find(|doubt| doubt.severity == Severity::Inconclusive)
    }
}

/// Shortens paths to file names if these differ; keeps everything else.
pub(super) fn short_names<'a>(a: &'a str, b: &'a str) -> [&'a str; 2] {
    let is_path = |name: &str| name.contains('/') && !name.contains(", ");
    let short = [a, b].map(|name| match name.trim_end_matches('/').rsplit_once('/') {
        Some((_, file)) if is_path(name) && !file.is_empty() => file,
        _ => name,
    });
    if short[0] == short[1] { [a, b] } else { short }
}

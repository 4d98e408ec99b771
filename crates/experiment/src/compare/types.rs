//! What is asked of a comparison and what it answers: the document behind `--json`.

use plimsoll_analysis::digest::Digest;
use plimsoll_analysis::picture::Spectrum;
use plimsoll_analysis::summary::Severity;
use plimsoll_plan::experiment::{Figure, Setting};
use plimsoll_plan::threshold::FigureUnit;
use plimsoll_plan::watch::Unit;
use serde::{Deserialize, Serialize};

/// Raised when a field changes its meaning.
pub const SCHEMA_VERSION: u32 = 2;

/// The way to the target hides what the sides need.
pub const RTT_BOUND: &str = "rtt_bound";

/// One figure and how far B may lie from A.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// As it was written.
    pub text: String,
    #[serde(skip)]
    pub figure: Figure,
    /// A ratio, of errors a difference of ratios; with its sign.
    pub limit: f64,
    /// The difference must be below the limit rather than above it.
    pub below: bool,
}

/// One side of a comparison: all runs of one thing.
#[derive(Debug, Clone)]
pub struct Side {
    pub name: String,
    pub runs: Vec<Digest>,
}

/// How a comparison is made.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// Quantiles, 0..1, that are compared of the response time and of the service time.
    pub quantiles: Vec<f64>,
    /// The smallest difference worth naming, a ratio.
    pub min_difference_ratio: f64,
    /// The same for the error ratio, which is compared by its difference.
    pub min_error_difference_ratio: f64,
    /// Of the intervals, and 1 - the probability of a wrong `faster` or `slower` in all figures together.
    pub confidence: f64,
    /// Of the resampling: equal seeds give equal answers.
    pub seed: u64,
    /// Figures whose differences are worth naming from another size on: the limit of the first rule that names the
    /// figure takes the place of `worth`.
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

/// The answer: what `compare --json` prints, one document for each pair.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    pub schema_version: u32,
    pub a: SideFacts,
    pub b: SideFacts,
    /// The settings that both sides have; empty outside of a sweep.
    pub settings: Vec<Setting>,
    pub verdict: Overall,
    /// One sentence that may be quoted.
    pub sentence: String,
    /// The figure that the sentence names, and that reasons are told of; `None`: it names none.
    pub headline: Option<String>,
    pub figures: Vec<Compared>,
    /// How many p-values were adjusted together: the figures of all comparisons made at once.
    pub p_values_count: usize,
    pub doubts: Vec<Doubt>,
    pub min_difference_ratio: f64,
    pub min_error_difference_ratio: f64,
    pub confidence: f64,
    pub seed: u64,
    /// Peaks of CPU and memory of what was watched. They have no interval: a peak is one second of one run.
    pub peaks: Vec<Peaks>,
    /// Mean response times of the requests that both sides have, the one that moved furthest first. They have no
    /// interval and decide nothing: they say where to look.
    pub requests: Vec<Moved>,
    /// Whole distributions of A and B, the runs of each side merged as for the figures; `None`: one of them has no
    /// times. Only charts show them: a document has the figures.
    #[serde(skip)]
    pub spectra: Option<Box<[Spectrum; 2]>>,
}

/// One number of what was watched, of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Peaks {
    /// `api cpu peak`
    pub metric: String,
    pub unit: Unit,
    pub a: Option<f64>,
    pub b: Option<f64>,
}

/// One request of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moved {
    pub name: String,
    /// Mean response times, ns.
    pub a_mean_ns: f64,
    pub b_mean_ns: f64,
    pub a_samples: u64,
    pub b_samples: u64,
}

impl Moved {
    /// (b - a) / a.
    pub fn difference(&self) -> f64 {
        self.b_mean_ns / self.a_mean_ns - 1.0
    }
}

/// What stands behind a side.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct SideFacts {
    pub name: String,
    pub runs: usize,
    pub requests: u64,
    pub measured_s: f64,
    pub target: String,
}

/// One figure of both sides.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// `throughput`, `error_rate`, `response_time mean`, `response_time p99`, `service_time p99`.
    pub figure: String,
    #[serde(skip)]
    pub kind: Figure,
    pub unit: FigureUnit,
    /// From the merged histograms of all runs; `None`: nothing was measured.
    pub a: Option<f64>,
    pub b: Option<f64>,
    /// Cut-off times make the figure a lower bound.
    pub a_is_lower_bound: bool,
    pub b_is_lower_bound: bool,
    pub scale: Scale,
    /// (b - a) / a, or b - a for errors; `None` when it cannot be formed.
    pub difference: Option<f64>,
    /// The interval of the difference, of `confidence`, for this figure alone.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The same, widened by all that the load generator may have done to either side: what a verdict and a gate are
    /// held against. Without such doubts they are `low` and `high`.
    pub widened_low: Option<f64>,
    pub widened_high: Option<f64>,
    /// The difference is certain, and no larger than what the load generator may have done.
    pub is_doubtful: bool,
    /// Of "there is no difference", two-sided.
    pub p: Option<f64>,
    /// After Holm, over `p_values_count` of them.
    pub p_adjusted: Option<f64>,
    pub verdict: Verdict,
    /// "No difference larger than this", either way; `None` for a difference that is named.
    pub difference_bound: Option<f64>,
    /// Repeats of each side, beyond those there are, after which `inconclusive` would be settled if the difference and
    /// the spread stay as they are; `None`: it is settled, or more than 500 would be needed.
    pub more_repeats: Option<u32>,
    pub basis: Basis,
}

impl Compared {
    /// The share of errors where neither side has any.
    pub fn is_spotless(&self) -> bool {
        self.kind == Figure::ErrorRate && self.a == Some(0.0) && self.b == Some(0.0)
    }

    /// Too few samples to say anything: a percentile without enough of them, or no errors at all among so few requests
    /// that a share worth naming may hide there.
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

/// Of one figure; the words are those that the figure takes.
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
    /// B is worse than A.
    pub fn is_worse(self) -> bool {
        matches!(self, Verdict::Slower | Verdict::Lower | Verdict::More)
    }

    /// B is better than A.
    pub fn is_better(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Higher | Verdict::Fewer)
    }
}

/// Of B against A, all figures together.
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

/// Which spread decided the width of the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Differences of interleaved repeats.
    Pairs,
    /// Runs of each side on their own.
    Runs,
    /// A side has one run: the deviation between runs is assumed.
    Assumed,
    /// Nothing was measured, or too little for this figure.
    Nothing,
}

/// Why the answer may mean less than it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Doubt {
    /// Stable: `one_run`.
    pub code: &'static str,
    /// `inconclusive` makes the whole verdict `inconclusive`.
    pub severity: Severity,
    pub sentence: String,
}

impl Comparison {
    /// The figure of this name.
    pub fn figure(&self, name: &str) -> Option<&Compared> {
        self.figures.iter().find(|row| row.figure == name)
    }

    /// The figure that the sentence names.
    pub fn headline(&self) -> Option<&Compared> {
        self.figure(self.headline.as_deref()?)
    }

    /// What both sides are called in sentences and where there is little room.
    pub fn short_names(&self) -> [&str; 2] {
        short_names(&self.a.name, &self.b.name)
    }

    /// The first doubt that forbids any conclusion.
    pub fn blocking(&self) -> Option<&Doubt> {
        self.doubts.iter().find(|doubt| doubt.severity == Severity::Inconclusive)
    }
}

/// Paths by the names of their files, where these differ; everything else whole.
pub(super) fn short_names<'a>(a: &'a str, b: &'a str) -> [&'a str; 2] {
    let is_path = |name: &str| name.contains('/') && !name.contains(", ");
    let short = [a, b].map(|name| match name.trim_end_matches('/').rsplit_once('/') {
        Some((_, file)) if is_path(name) && !file.is_empty() => file,
        _ => name,
    });
    if short[0] == short[1] { [a, b] } else { short }
}

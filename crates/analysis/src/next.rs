//! Reasons for the verdict and next steps, as values with their numbers, in the order in which you would check them:
//! whether the service was up, which resource was saturated, what failed, what was slow.
//!
//! This module decides what is reported; the sentences are written where numbers become text.

mod failures;
mod outage;
mod reasons;
mod steps;
mod when;

pub use failures::{Failed, Failures, MostFrequent};
pub use when::{Burst, LoadRise, SlowSinceRise, SlowSpikes, load_rise};

use crate::cause::{Cause, Claim};
use crate::caution::Kind;
use crate::summary::{
    Caution, Outage, PartAvailability, PartKind, SaturatedResource, Severity, Summary, ThresholdResult,
};
use plimsoll_plan::Fault;
use plimsoll_plan::failure_example::FailureExample;
use serde::Serialize;

/// Reasons of a verdict and steps after it.
#[derive(Debug, Clone, Serialize)]
pub struct Next<'a> {
    pub reasons: Vec<Reason<'a>>,
    pub steps: Vec<Step<'a>>,
}

impl<'a> Next<'a> {
    pub fn of(s: &'a Summary) -> Next<'a> {
        Next { reasons: reasons::reasons(s), steps: steps::steps(s) }
    }
}

/// Why the result is what it is.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", content = "evidence", rename_all = "snake_case")]
pub enum Reason<'a> {
    /// The service, or a part of it, was gone.
    Outage(Gone<'a>),
    /// A caution that leaves the run inconclusive.
    Doubt {
        caution: Kind,
        severity: Severity,
        #[serde(skip)]
        row: &'a Caution,
    },
    /// Inconclusive without a caution that says why.
    GeneratorInDoubt,
    Cause {
        cause: &'static str,
        certainty: Claim,
        #[serde(skip)]
        row: &'a Cause,
    },
    /// A pass with little evidence.
    LittleEvidence {
        requests: u64,
        measured_s: f64,
        /// Not only its length is small.
        #[serde(skip)]
        has_few_requests: bool,
    },
    Failures(Failures<'a>),
    /// It was slow from when the load rose.
    SlowSinceRise(SlowSinceRise),
    /// The time is lost in a few moments.
    Spikes(SlowSpikes),
    /// The threshold that was nearest to being missed.
    ClosestThreshold(Closest<'a>),
    /// What an example of the failures said: often the cause itself.
    Answer {
        status: u16,
        request: &'a str,
        #[serde(skip)]
        sample: &'a FailureExample,
    },
    /// The request that failed most, where it failed more often than the others.
    FailingRequest {
        request: &'a str,
        failed_requests: u64,
        requests: u64,
        error_ratio: f64,
    },
    /// The check that failed most.
    FailedCheck {
        check: &'a str,
        request: &'a str,
        failures: u64,
        evaluations: u64,
        /// Whether there is a threshold on checks.
        is_judged: bool,
    },
    /// The service did not reach the offered rate.
    NotKeptUp {
        arrivals: u64,
        arrivals_queued: u64,
        arrivals_not_started: u64,
        /// Requests that failed without a response, which are not part of the achieved load.
        no_response: u64,
        in_flight_at_end: u64,
    },
    SlowestRequest {
        request: &'a str,
        p99_ns: u64,
        samples: u64,
    },
    /// Which part of the time is the longest.
    LongestPhase {
        phase: Phase,
        p99_ns: u64,
        samples: u64,
    },
}

/// What one does with such a result.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", content = "evidence", rename_all = "snake_case")]
pub enum Step<'a> {
    /// See what was the matter when it was gone.
    LookAtOutage(Gone<'a>),
    RunAgainAndCompare,
    RunToTheEnd,
    /// What a caution advises that leaves the run inconclusive.
    FollowAdvice {
        caution: Kind,
        #[serde(skip)]
        row: &'a Caution,
    },
    ReadGeneratorHealth,
    /// A saturated resource.
    Relieve {
        resource: &'a str,
        relief: Relief,
    },
    /// What the first cause asks for.
    FollowCause {
        cause: &'static str,
        #[serde(skip)]
        row: &'a Cause,
    },
    /// Where one looks first for this kind of failure, no guess at the cause.
    FixFailures {
        class: Fault,
        /// The most frequent status that says that something failed.
        status: Option<&'a str>,
    },
    HoldAnswerAgainstCheck,
    FindWhatIsSlow(Slow),
    /// Look for the rate that it holds.
    FindRate(Slow),
    SeeThreshold,
    /// What a caution advises of a run that passed.
    HeedCaution {
        caution: Kind,
        #[serde(skip)]
        row: &'a Caution,
    },
    /// Look for the highest load that still passes.
    FindCapacity,
}

/// The longest outage of the service or of a part of it.
#[derive(Debug, Clone, Serialize)]
pub struct Gone<'a> {
    /// `None`: the service as a whole.
    pub part: Option<Part<'a>>,
    pub outage: &'a Outage,
    /// Outages of it in all.
    pub outages: usize,
}

/// A part of the service.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Part<'a> {
    pub kind: PartKind,
    pub name: &'a str,
}

impl<'a> From<&'a PartAvailability> for Part<'a> {
    fn from(part: &'a PartAvailability) -> Self {
        Part { kind: part.kind, name: &part.name }
    }
}

/// The threshold that was closest to being missed, among those that the user set, if any.
#[derive(Debug, Clone, Serialize)]
pub struct Closest<'a> {
    pub threshold: &'a str,
    pub observed: Option<f64>,
    pub limit: f64,
    /// See [`ThresholdResult::margin`].
    pub margin: Option<f64>,
    /// Number of all thresholds, and of those that the user set.
    pub thresholds_count: usize,
    pub explicit_count: usize,
    #[serde(skip)]
    pub row: &'a ThresholdResult,
}

/// A part of a request's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    ConnectionWait,
    TimeToFirstByte,
    Download,
}

/// Data on slow responses without a saturated resource.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Slow {
    /// Mean size of the largest bodies, where they are large; bytes.
    pub large_body_bytes: Option<f64>,
    /// The time from one spike to the next, where they keep it; s.
    pub pace_s: Option<f64>,
    /// Something was watched.
    pub is_watched: bool,
}

/// How to relieve a saturated resource, by its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relief {
    Cpu,
    Connections,
    Memory,
    Device,
    Other,
}

impl Relief {
    pub fn of(pressure: &SaturatedResource) -> Relief {
        // What a monitor is called is its author's, and says nothing of what was full.
        let of = |words: &[&str]| words.iter().any(|word| pressure.metric.contains(word));
        if of(&["cpu", "thread"]) {
            Relief::Cpu
        } else if of(&["connection", "pool"]) {
            Relief::Connections
        } else if of(&["memory", "rss", "swap"]) {
            Relief::Memory
        } else if of(&["disk", "device", "utilization"]) {
            Relief::Device
        } else {
            Relief::Other
        }
    }
}

/// Cautions that make the run inconclusive.
fn decisive(s: &Summary) -> impl Iterator<Item = &Caution> {
    s.cautions.iter().filter(|c| c.severity == Severity::Inconclusive)
}

/// Whether a threshold on this was missed, or would be but for a doubt.
fn missed(s: &Summary, what: &str) -> bool {
    s.thresholds.iter().any(|t| t.is_beyond() && t.subject.starts_with(what))
}

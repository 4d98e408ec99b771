//! Reasons why a search ended where it did, and next steps, as values with their numbers, in the order of a
//! diagnosis.
//!
//! This module decides which findings are reported; the sentences are made where numbers become text.

mod reasons;
mod steps;

use super::answer::Answer;
use super::limits::Limited;
use serde::Serialize;

/// The reasons for a result and the next steps. Levels are in the unit of the search.
#[derive(Debug, Clone, Serialize)]
pub struct Next<'a> {
    pub reasons: Vec<Reason<'a>>,
    pub steps: Vec<Step<'a>>,
}

impl<'a> Next<'a> {
    pub fn of(answer: &'a Answer) -> Self {
        Next { reasons: reasons::reasons(answer), steps: steps::steps(answer) }
    }
}

/// A reason why the search ended where it did.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", content = "evidence", rename_all = "snake_case")]
pub enum Reason<'a> {
    /// The lowest missed level above the capacity, or the lowest of all if none was met.
    FirstMissed(FirstMissed<'a>),
    /// Runs were excluded because of a limit outside of the service.
    HeldBack { runs: usize, lowest_level: f64, limited_by: &'a Limited },
    /// Throughput above the offered rate in the measurement period: the warm-up left arrivals waiting.
    MoreThanOffered {
        level: f64,
        achieved_rate_per_s: f64,
        offered_rate_per_s: f64,
        /// Arrivals that the warm-up left waiting.
        waiting: u64,
    },
    /// The bottleneck near the capacity.
    Saturated { resource: &'a str, evidence: String },
    /// Monitors have data, and no resource was saturated.
    NothingSaturated,
    /// The monitors have no data.
    NothingWatched,
    /// The behavior of the service below the knee.
    CalmBelow { level: f64, p50_ns: u64, unloaded_p50_ns: u64 },
}

/// The problems at a level, at least one.
#[derive(Debug, Clone, Serialize)]
pub struct FirstMissed<'a> {
    pub level: f64,
    /// Thresholds, each with its observed value.
    pub missed_thresholds: &'a [String],
    /// Throughput was below the offered rate.
    pub unserved: Option<Unserved>,
    /// Only if nothing else explains the miss.
    pub error_ratio: Option<f64>,
    /// The backlog grew during the run; only if nothing else explains the miss.
    pub is_unstable: bool,
}

/// A throughput below the offered rate.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Unserved {
    pub achieved_rate_per_s: f64,
    pub offered_rate_per_s: f64,
}

/// A next step after a search.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "kind", content = "evidence", rename_all = "snake_case")]
pub enum Step<'a> {
    /// The same search between two levels, with more time.
    SearchBetween {
        from: f64,
        to: f64,
    },
    /// More time; the search may start at `from`.
    GiveMoreTime {
        from: Option<f64>,
    },
    MendGenerator,
    /// The network was the bottleneck.
    SearchFromNearer,
    BeginLower {
        from: Option<f64>,
    },
    /// Find why the requests of one user failed.
    SeeFirstRun,
    /// Find why it ended early.
    SeeLastRun,
    /// Runs contradict each other: something changes between them.
    SteadyAndRepeat,
    /// Users have no offered rate that the rule could use.
    EndOnMissed,
    /// No level was missed.
    AllowHigher,
    /// The bottleneck.
    Relieve {
        resource: &'a str,
    },
    /// No monitored resource was saturated.
    WatchMore,
    /// Nothing was monitored.
    Watch,
    StayBelowKnee {
        level: f64,
    },
    LeaveRoom,
}

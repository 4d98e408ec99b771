//! Why a search ended where it did and what to do next, as values with their numbers. The order is that in which one
//! would look.
//!
//! Here it is decided what is worth a word; the sentences are made where numbers become text.

mod reasons;
mod steps;

use super::answer::Answer;
use super::limits::Limited;
use serde::Serialize;

/// Reasons of an answer and steps after it. Levels are in the unit of the search.
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

/// Why it ended where it did.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", content = "evidence", rename_all = "snake_case")]
pub enum Reason<'a> {
    /// The lowest level above the answer that was missed, or the lowest of all where nothing was met.
    FirstMissed(FirstMissed<'a>),
    /// Something else than the service kept runs from counting.
    HeldBack { runs: usize, lowest_level: f64, limited_by: &'a Limited },
    /// More answers than arrivals in the measured part: those that the warm-up left waiting.
    MoreThanOffered {
        level: f64,
        achieved_rate_per_s: f64,
        offered_rate_per_s: f64,
        /// Arrivals that the warm-up had left waiting.
        waiting: u64,
    },
    /// What stood at its limit near the answer.
    Saturated { resource: &'a str, evidence: String },
    /// Something was watched, and nothing of it stood at its limit.
    NothingSaturated,
    /// Monitors saw nothing.
    NothingWatched,
    /// What the service did while it was not yet full.
    CalmBelow { level: f64, p50_ns: u64, unloaded_p50_ns: u64 },
}

/// What was wrong at a level; one of these at least.
#[derive(Debug, Clone, Serialize)]
pub struct FirstMissed<'a> {
    pub level: f64,
    /// Thresholds, each with what was observed.
    pub missed_thresholds: &'a [String],
    /// Fewer were answered than were offered.
    pub unserved: Option<Unserved>,
    /// Where nothing else says it.
    pub error_ratio: Option<f64>,
    /// What waited grew through the run; where nothing else says it.
    pub is_unstable: bool,
}

/// A rate that was not kept up with.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Unserved {
    pub achieved_rate_per_s: f64,
    pub offered_rate_per_s: f64,
}

/// What one does with such an answer.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "kind", content = "evidence", rename_all = "snake_case")]
pub enum Step<'a> {
    /// The same search between two levels, with more time.
    SearchBetween {
        from: f64,
        to: f64,
    },
    /// More time; the search may begin at `from`.
    GiveMoreTime {
        from: Option<f64>,
    },
    MendGenerator,
    /// The way to the target was the limit.
    SearchFromNearer,
    BeginLower {
        from: Option<f64>,
    },
    /// Why the requests of one user failed.
    SeeFirstRun,
    /// Why it ended early.
    SeeLastRun,
    /// Runs contradict each other: something changes between them.
    SteadyAndRepeat,
    /// Users offer no rate that a rule could ask for.
    EndOnMissed,
    /// Where the service ends was not seen.
    AllowHigher,
    /// What stood at its limit.
    Relieve {
        resource: &'a str,
    },
    /// What was watched had room.
    WatchMore,
    /// Nothing was watched.
    Watch,
    StayBelowKnee {
        level: f64,
    },
    LeaveRoom,
}

//! Where a difference comes from and what to do next, as values with their numbers.
//!
//! Here it is decided what is worth a word; the sentences are made where numbers become text. A cause is told only
//! where the figures of both sides show it: which figure moved, whether the answers take longer or the wait before
//! them, which request, and what was watched.

mod reasons;
mod steps;

use super::gate::{Gated, Ruled};
use super::types::{Compared, Comparison, Doubt, Moved, Peaks};
use plimsoll_plan::watch::Unit;
use serde::Serialize;

/// So many runs of each side tell how much runs differ.
pub const REPEATS: usize = 3;

/// Reasons of a difference and steps after it.
#[derive(Debug, Clone, Serialize)]
pub struct Next<'a> {
    pub reasons: Vec<Reason<'a>>,
    pub steps: Vec<Step<'a>>,
}

impl<'a> Next<'a> {
    /// `gated`: what a gate says of the comparison.
    pub fn of(one: &'a Comparison, gated: Option<&'a Gated>) -> Self {
        Next { reasons: reasons::reasons(one, gated), steps: steps::steps(one) }
    }
}

/// Where a difference comes from.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", content = "evidence", rename_all = "snake_case")]
pub enum Reason<'a> {
    /// A doubt that forbids any conclusion.
    Doubt {
        doubt: &'static str,
        #[serde(skip)]
        row: &'a Doubt,
    },
    /// The first rule of the gate that was broken.
    RuleBroken {
        rule: &'a str,
        #[serde(skip)]
        row: &'a Ruled,
    },
    TimeMoved(TimeMoved<'a>),
    /// The request whose mean went furthest the same way.
    RequestMoved {
        request: &'a str,
        a_mean_ns: f64,
        b_mean_ns: f64,
        difference: f64,
        a_samples: u64,
        b_samples: u64,
        /// Requests that both sides have.
        requests: usize,
    },
    /// What was watched and differs most, by its peaks.
    PeakMoved {
        metric: &'a str,
        unit: Unit,
        a: f64,
        b: f64,
    },
}

/// What the response time that the sentence names did, and the service time with it: response time counts from the
/// intended instant, service time from the send.
#[derive(Debug, Clone, Serialize)]
pub struct TimeMoved<'a> {
    pub figure: &'a str,
    pub difference: Option<f64>,
    /// `None`: it was not compared.
    pub service: Option<ServiceMoved<'a>>,
    #[serde(skip)]
    pub row: &'a Compared,
}

/// What the same percentile of the service time did.
#[derive(Debug, Clone, Serialize)]
pub struct ServiceMoved<'a> {
    pub figure: &'a str,
    pub difference: Option<f64>,
    pub origin: TimeOrigin,
    #[serde(skip)]
    pub row: &'a Compared,
}

/// Where a difference of response times was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeOrigin {
    /// In the wait before the send: the service time went the other way.
    WaitAgainstService,
    /// In the wait before the send: the service time did not move.
    Wait,
    /// Most of it in the wait before the send.
    MostlyWait,
    /// In both.
    WaitAndService,
    /// In the answers themselves, which take longer.
    ServiceLonger,
    /// In the answers themselves, which take less time.
    ServiceShorter,
    /// Of the service time nobody can tell.
    NotKnown,
}

/// What one does with such a comparison.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "kind", content = "evidence", rename_all = "snake_case")]
pub enum Step<'a> {
    /// What the load generator may have done is larger than the difference.
    FreeGenerator,
    /// What forbids a conclusion.
    MendDoubt,
    /// So many more repeats of each side, if difference and spread stay as they are.
    RepeatMore {
        repeats: u32,
    },
    RunLonger,
    /// Fewer than [`REPEATS`] of one side.
    Repeat {
        repeats: usize,
    },
    /// Where the time of B goes.
    SeeReport {
        /// The one run file of B.
        run_file: Option<&'a str>,
    },
    KeepAsBaseline,
    /// Nothing was watched.
    Watch,
}

impl<'a> Reason<'a> {
    fn request(moved: &'a Moved, requests: usize) -> Self {
        Reason::RequestMoved {
            request: &moved.name,
            a_mean_ns: moved.a_mean_ns,
            b_mean_ns: moved.b_mean_ns,
            difference: moved.difference(),
            a_samples: moved.a_samples,
            b_samples: moved.b_samples,
            requests,
        }
    }

    /// `None`: a side has no peak.
    fn peak(row: &'a Peaks) -> Option<Self> {
        Some(Reason::PeakMoved { metric: &row.metric, unit: row.unit, a: row.a?, b: row.b? })
    }
}

//! Reasons for a difference and next steps, as values with their numbers.
//!
//! This module decides which findings are reported; the sentences are made where numbers become text. A cause is
//! reported only if the figures of both sides show it: the figure that changed, whether responses or the wait before
//! them take longer, the request, and the monitored resources.

mod reasons;
mod steps;

use super::gate::{Gated, Ruled};
use super::types::{Compared, Comparison, Doubt, Moved, Peaks};
use plimsoll_plan::watch::Unit;
use serde::Serialize;

/// Runs of each side that show the variation between runs.
pub const REPEATS: usize = 3;

/// The reasons for a difference, and the next steps.
#[derive(Debug, Clone, Serialize)]
pub struct Next<'a> {
    pub reasons: Vec<Reason<'a>>,
    pub steps: Vec<Step<'a>>,
}

impl<'a> Next<'a> {
    /// Finds reasons and steps; `gated` is the result of a gate.
    pub fn of(one: &'a Comparison, gated: Option<&'a Gated>) -> Self {
        Next { reasons: reasons::reasons(one, gated), steps: steps::steps(one) }
    }
}

/// A reason for a difference.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", content = "evidence", rename_all = "snake_case")]
pub enum Reason<'a> {
    /// A caution that prevents a verdict.
    Doubt {
        doubt: &'static str,
        #[serde(skip)]
        row: &'a Doubt,
    },
    /// The first rule of the gate that failed.
    RuleBroken {
        rule: &'a str,
        #[serde(skip)]
        row: &'a Ruled,
    },
    TimeMoved(TimeMoved<'a>),
    /// The request whose mean changed most in the direction of the verdict.
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
    /// The monitored metric whose peaks differ most.
    PeakMoved {
        metric: &'a str,
        unit: Unit,
        a: f64,
        b: f64,
    },
}

/// The change of the response time in the headline, and of the service time with it. Response time counts from the
/// intended start time, service time from the send.
#[derive(Debug, Clone, Serialize)]
pub struct TimeMoved<'a> {
    pub figure: &'a str,
    pub difference: Option<f64>,
    /// `None`: not compared.
    pub service: Option<ServiceMoved<'a>>,
    #[serde(skip)]
    pub row: &'a Compared,
}

/// The change of the same percentile of the service time.
#[derive(Debug, Clone, Serialize)]
pub struct ServiceMoved<'a> {
    pub figure: &'a str,
    pub difference: Option<f64>,
    pub origin: TimeOrigin,
    #[serde(skip)]
    pub row: &'a Compared,
}

/// The part of the time in which a difference of response times arose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeOrigin {
    /// In the wait before the send: the service time changed in the opposite direction.
    WaitAgainstService,
    /// In the wait before the send: the service time did not change.
    Wait,
    /// Mostly in the wait before the send.
    MostlyWait,
    /// In both.
    WaitAndService,
    /// In the responses, which take longer.
    ServiceLonger,
    /// In the responses, which take less time.
    ServiceShorter,
    /// The change of the service time is inconclusive.
    NotKnown,
}

/// A next step after a comparison.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "kind", content = "evidence", rename_all = "snake_case")]
pub enum Step<'a> {
    /// The possible effect of the load generator exceeds the difference.
    FreeGenerator,
    /// A caution prevents a verdict.
    MendDoubt,
    /// This number of additional repeats of each side decides, if difference and variation stay the same.
    RepeatMore {
        repeats: u32,
    },
    RunLonger,
    /// One side has fewer than [`REPEATS`] runs.
    Repeat {
        repeats: usize,
    },
    /// Find where the time of B is spent.
    SeeReport {
        /// The only run file of B.
        run_file: Option<&'a str>,
    },
    KeepAsBaseline,
    /// Nothing was monitored.
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

    /// Returns `None` if a side has no peak.
    fn peak(row: &'a Peaks) -> Option<Self> {
        Some(Reason::PeakMoved { metric: &row.metric, unit: row.unit, a: row.a?, b: row.b? })
    }
}

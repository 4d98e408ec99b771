//! A k6 test after all of its sources are combined: scenarios, thresholds, and settings, with the defaults of k6.

use crate::settings::Settings;
use crate::threshold::Threshold;
use plimsoll_plan::load::Share;

/// A complete k6 test.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// The scenarios, sorted by name; at least one.
    pub scenarios: Vec<Scenario>,
    /// The thresholds, sorted by metric; empty with `noThresholds`.
    pub thresholds: Vec<Threshold>,
    pub settings: Settings,
    /// The part of the load that belongs to this machine (`executionSegment`).
    pub shard: Option<Share>,
    /// Warnings for the user: complete sentences.
    pub notes: Vec<String>,
}

/// A scenario: an executor, and what its users run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    pub name: String,
    pub executor: Executor,
    /// The exported function that each iteration calls.
    pub exec: String,
    /// Additional entries of `__ENV`.
    pub env: Vec<(String, String)>,
    /// Tags of all samples.
    pub tags: Vec<(String, String)>,
    /// Time of its start, in ns from the start of the test.
    pub start_ns: u64,
    /// How long iterations may continue after its end, in ns.
    pub graceful_stop_ns: u64,
}

/// How a scenario starts iterations.
#[derive(Debug, Clone, PartialEq)]
pub enum Executor {
    /// `constant-vus`: users that start one iteration after another.
    ConstantVus { vus: u32, duration_ns: u64 },
    /// `ramping-vus`: the number of users changes in steps of one, linearly over each stage.
    RampingVus { start_vus: u32, stages: Vec<Stage>, graceful_ramp_down_ns: u64 },
    /// `shared-iterations`: users share one number of iterations.
    SharedIterations { vus: u32, iterations: u64, max_duration_ns: u64 },
    /// `per-vu-iterations`: each user has its own number of iterations.
    PerVuIterations { vus: u32, iterations: u64, max_duration_ns: u64 },
    /// `constant-arrival-rate`: iterations start at `rate` per time unit.
    ConstantArrivalRate { rate: u64, time_unit_ns: u64, duration_ns: u64, vus: Pool },
    /// `ramping-arrival-rate`: the rate changes linearly over each stage; levels are per time unit.
    RampingArrivalRate { start_rate: u64, time_unit_ns: u64, stages: Vec<Stage>, vus: Pool },
    /// `externally-controlled`: users whose number may change during the test. `None`: until it is stopped.
    ExternallyControlled { vus: u32, max_vus: u32, duration_ns: Option<u64> },
}

/// The users of an executor with arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// `preAllocatedVUs`: users that exist from the start.
    pub allocated: u32,
    /// `maxVUs`: the limit. Each arrival that finds no free user is dropped, and adds one below the limit.
    pub max: u32,
}

/// A stage of a ramp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    pub duration_ns: u64,
    /// Users, or iterations per time unit, at its end.
    pub target: u64,
}

impl Executor {
    /// Returns the type as k6 writes it.
    pub fn name(&self) -> &'static str {
        match self {
            Executor::ConstantVus { .. } => "constant-vus",
            Executor::RampingVus { .. } => "ramping-vus",
            Executor::SharedIterations { .. } => "shared-iterations",
            Executor::PerVuIterations { .. } => "per-vu-iterations",
            Executor::ConstantArrivalRate { .. } => "constant-arrival-rate",
            Executor::RampingArrivalRate { .. } => "ramping-arrival-rate",
            Executor::ExternallyControlled { .. } => "externally-controlled",
        }
    }

    /// Returns the time until no iteration starts, in ns from the start of the scenario; `None`: until it is stopped.
    pub fn length_ns(&self) -> Option<u64> {
        let sum = |stages: &[Stage]| stages.iter().map(|stage| stage.duration_ns).sum();
        match self {
            Executor::ConstantVus { duration_ns, .. } | Executor::ConstantArrivalRate { duration_ns, .. } => {
                Some(*duration_ns)
            }
            Executor::RampingVus { stages, .. } | Executor::RampingArrivalRate { stages, .. } => {
                Some(sum(stages))
            }
            Executor::SharedIterations { max_duration_ns, .. }
            | Executor::PerVuIterations { max_duration_ns, .. } => Some(*max_duration_ns),
            Executor::ExternallyControlled { duration_ns, .. } => *duration_ns,
        }
    }

    /// Returns the largest number of users.
    pub fn max_vus(&self) -> u32 {
        match self {
            Executor::ConstantVus { vus, .. }
            | Executor::SharedIterations { vus, .. }
            | Executor::PerVuIterations { vus, .. } => *vus,
            Executor::RampingVus { start_vus, stages, .. } => {
                let most = stages.iter().map(|stage| stage.target).max().unwrap_or(0);
                (*start_vus).max(u32::try_from(most).unwrap_or(u32::MAX))
            }
            Executor::ConstantArrivalRate { vus, .. } | Executor::RampingArrivalRate { vus, .. } => vus.max,
            Executor::ExternallyControlled { max_vus, .. } => *max_vus,
        }
    }
}

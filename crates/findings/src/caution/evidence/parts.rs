//! What evidence lists: monitors, machines, requests, stretches of time, each with its numbers.

use super::super::Kind;
use plimsoll_plan::load::Share;
use plimsoll_plan::watch::Unit;
use plimsoll_record::steered::Level;
use serde::Serialize;

/// What of this machine an attempt to connect or to send did not get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shortage {
    Descriptors,
    Ports,
    Memory,
    /// A limit of the load generator, such as the length of a response.
    Limit,
    /// Permission to load an origin.
    Permission,
    /// A valid request.
    Form,
    Other,
}

impl Shortage {
    /// The caution that reports it.
    pub const fn kind(self) -> Kind {
        match self {
            Shortage::Descriptors => Kind::ClientFdLimit,
            Shortage::Ports => Kind::ClientPortsExhausted,
            Shortage::Memory => Kind::ClientOutOfMemory,
            Shortage::Limit => Kind::ClientLimit,
            Shortage::Permission => Kind::OriginRefused,
            Shortage::Form => Kind::InvalidRequest,
            Shortage::Other => Kind::ClientSendRefused,
        }
    }
}

/// Why the load was smaller than the one that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadLoss {
    /// Arrivals were not sent.
    Arrivals,
    /// Attempts failed on this side.
    #[serde(untagged)]
    Attempts(Shortage),
}

impl LoadLoss {
    /// The caution that reports it.
    pub const fn kind(self) -> Kind {
        match self {
            LoadLoss::Arrivals => Kind::OfferedRateMissed,
            LoadLoss::Attempts(shortage) => shortage.kind(),
        }
    }
}

/// How far a run came that measured nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EmptyRun {
    NoRecord,
    /// It was over before the warm-up was.
    WarmUpOnly,
    NothingSent,
    NothingFinished,
}

/// Which time tells that the beginning differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelFigure {
    MedianResponseTime,
    MeanServiceTime,
}

/// Who ended a run before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    Interrupt,
    Threshold,
    Command,
}

/// Responses with one status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StatusCount {
    /// Such as 301.
    pub status: u16,
    pub responses_count: u64,
}

/// A percentile of fewer samples than it needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThinQuantile {
    /// What it is of, as in a threshold: `response_time`.
    pub subject: String,
    /// 0.99 for p99.
    pub quantile: f64,
}

/// Connections that took this much longer than the fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LateConnections {
    pub later_by_s: u64,
    pub connections_count: u64,
}

/// A monitor that brought too little.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailedMonitor {
    pub monitor: String,
    pub samples_count: u64,
    /// The measured part, in which there should have been one each second.
    pub measured_s: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_missed_sample: Option<FirstMissedSample>,
}

/// When a monitor first failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstMissedSample {
    /// From the start of the run; 0 or less: before the load.
    pub at_s: f64,
    /// The monitor's own words.
    pub reason: String,
}

/// Memory that grew.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GrownMemory {
    pub monitor: String,
    /// Such as one process of several; empty: the whole.
    pub part: String,
    pub metric: String,
    /// Bytes an hour, with the ends of the 95% interval.
    pub slope_bytes_per_h: f64,
    pub slope_low_bytes_per_h: f64,
    pub slope_high_bytes_per_h: f64,
    /// Growth over the run as a share of the mean.
    pub growth_ratio: f64,
    /// At the end, in `unit`.
    pub last: f64,
    pub unit: Unit,
}

/// Connections that a listen backlog had no room for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListenerOverflow {
    pub monitor: String,
    pub metric: String,
    pub overflows_count: u64,
}

/// File descriptors of a monitored process near their limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DescriptorUse {
    pub resource: String,
    pub used_ratio: f64,
    /// `None` for one that is watched as a share only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_count: Option<u64>,
    /// From the start of the run, to 0.1 s.
    pub at_ns: u64,
}

/// A control group that was held back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThrottledGroup {
    pub monitor: String,
    /// Share of its periods.
    pub mean_ratio: f64,
    pub max_ratio: f64,
}

/// A request whose answers changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedResponse {
    pub request: String,
    /// From the start of the run.
    pub at_ns: u64,
    #[serde(flatten)]
    pub change: ResponseChange,
}

/// What changed in its answers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ResponseChange {
    /// Mean size of the answers.
    Size { before_bytes: f64, after_bytes: f64 },
    /// Number of responses whose shape differs from the previous one.
    Shape { changes_count: u64 },
}

/// What a record does not hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RecordLoss {
    /// Workers died; `why` is what the first one left.
    Workers { workers_count: u64, reason: String },
    /// Machines that shared the load and are not there.
    Machines { shares: Vec<Share> },
    /// Seconds; `origin`: of which machine, where there are several.
    Seconds {
        from_s: f64,
        to_s: f64,
        reason: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        generator: Option<String>,
    },
    /// An end of no known length.
    End {
        reason: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        generator: Option<String>,
    },
}

/// In what two plans differ that should be one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanDifference {
    Targets {
        first: String,
        other: String,
    },
    /// The names of the requests.
    Requests {
        first: Vec<String>,
        other: Vec<String>,
    },
    Loads,
    /// Ways to connect.
    Links,
    WarmUps {
        first_ns: u64,
        other_ns: u64,
    },
    Timeouts {
        first_ns: u64,
        other_ns: u64,
    },
    KeepAlives,
    Lengths {
        first: RunLength,
        other: RunLength,
    },
    Connections {
        first_count: u32,
        other_count: u32,
    },
}

/// What ends a run, as planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RunLength {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_count: Option<u64>,
}

/// What was done to a load by hand.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SteeredStep {
    /// From the start of the run.
    pub from_ns: u64,
    /// On which machine, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(flatten)]
    pub change: SteeredChange,
}

/// One of the things that can be done to a load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SteeredChange {
    Paused { to_ns: u64 },
    Level(Level),
}

//! What speaks for a cause: numbers and names, never text. [`super::sentences`] puts them into words.

use crate::caution;
use crate::saturation::Saturation;
use plimsoll_plan::Fault;
use serde::Serialize;

/// Failures among all requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Failures {
    pub failed_count: u64,
    pub requests_count: u64,
}

/// A stretch of the run, from its start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stretch {
    pub from_s: f64,
    pub to_s: f64,
    /// Whether it lasted to the end.
    pub is_open_ended: bool,
}

/// What a part of a service is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServicePart {
    Request,
    Address,
}

/// How a service was gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    NothingListens,
    OnlyErrors,
    WentAway,
    NoAnswer,
}

/// What was saturated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceKind {
    ListenQueue,
    Thread,
    Resource,
}

/// The numbers that speak for a cause. In JSON: the fields of the variant, as the `figures` of the cause; what is not
/// known is left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Evidence {
    /// The most frequent failure of the load generator's machine.
    Refusals { attempts_count: u64, failure: Fault },
    /// One request that fails, and the others.
    OneRequest {
        request: String,
        #[serde(flatten)]
        failures: Failures,
        #[serde(skip_serializing_if = "Option::is_none")]
        failure: Option<Fault>,
        others_failed_count: u64,
        others_requests_count: u64,
    },
    /// Failures of one class.
    Failed(Failures),
    /// The same, where the class says more than the cause.
    FailedAs {
        #[serde(flatten)]
        failures: Failures,
        failure: Fault,
    },
    /// Failures while connecting.
    FailedConnecting(Failures),
    /// Responses with one status.
    Status {
        #[serde(flatten)]
        failures: Failures,
        status: u16,
        /// The sentence of the cause says which.
        is_in_sentence: bool,
    },
    /// The check that failed most.
    Check { check: String, request: String, failed_count: u64, evaluations_count: u64 },
    /// Connections that ended after having been idle.
    Idle {
        #[serde(flatten)]
        failures: Failures,
        idle_min_ns: u64,
        idle_max_ns: u64,
    },
    /// Failures on fresh connections only.
    Fresh {
        #[serde(flatten)]
        failures: Failures,
        serving_connections_count: u64,
        succeeded_count: u64,
    },
    /// Requests that were given up.
    TimedOut {
        #[serde(flatten)]
        failures: Failures,
        after_ns: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        others_p50_ns: Option<u64>,
    },
    /// A part of the service that was silent while others were served.
    PartGone {
        part: ServicePart,
        name: String,
        #[serde(flatten)]
        stretch: Stretch,
    },
    /// The whole service was gone.
    Gone {
        absence: Absence,
        #[serde(flatten)]
        stretch: Stretch,
        failed_count: u64,
        waiting_count: u64,
    },
    /// Silences of the whole service.
    Pauses {
        longest_ns: u64,
        silent_ratio: f64,
        arrivals_p99_ns: u64,
        /// When the slow seconds of the run began; left out if it has none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        spikes_from_s: Vec<f64>,
    },
    /// One request that is slow, and the slowest of the others.
    SlowRequest { request: String, p50_ns: u64, requests_count: u64, others_p50_ns: u64 },
    /// Time after the first byte.
    Bodies { body_ratio: f64, body_bytes: f64, body_ns: f64, body_bytes_per_s: f64 },
    /// Two clusters of times.
    TwoSpeeds { slow_ratio: f64, slow_ns: u64, fast_ns: u64 },
    /// The open model, and what came back.
    Offered {
        offered_per_s: f64,
        achieved_per_s: f64,
        service_min_ns: f64,
        service_p50_ns: f64,
        queued_count: u64,
    },
    /// Arrivals that found no free user, and the users that existed from the start, and that there may be.
    Dropped {
        dropped_count: u64,
        arrivals_count: u64,
        initial_users_count: u64,
        users_max_count: u64,
        service_min_ns: f64,
        service_p50_ns: f64,
    },
    /// Iterations of a script that threw an exception.
    Threw { failed_count: u64, iterations_count: u64 },
    /// Users that queue.
    Queue { users_count: u64, p50_ns: f64, p90_ns: f64, min_ns: f64, rate_per_s: f64 },
    /// Time to the first byte.
    FirstByte {
        p50_ns: u64,
        p99_ns: u64,
        round_trip_ns: u64,
        /// Monitors looked at the service, and saw nothing at its limit.
        is_unexplained: bool,
    },
    /// Retransmitted TCP segments.
    Resent { segments_count: u64, requests_count: u64, slowest_connect_ns: u64 },
    /// Memory that grew with the requests.
    Memory { resource: String, growth_bytes: f64, requests_count: u64 },
    /// A saturated resource.
    Saturated {
        resource_kind: ResourceKind,
        resource: String,
        /// Share of the seconds in which it was there.
        saturated_ratio: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage_mean_ratio: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage_peak_ratio: Option<f64>,
        /// Its numbers are those of the resource.
        #[serde(skip)]
        saturation: Saturation,
    },
    /// A caution says it already.
    Caution(caution::Evidence),
}

//! The rows of the tables of requests and of machines.

use super::{Short, Times};
use plimsoll_plan::Fault;
use plimsoll_record::event::AgentOutline;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Serialize)]
pub struct SeriesRow {
    pub name: String,
    pub scenario: Option<String>,
    pub group: Option<String>,
    pub tags: Vec<(String, String)>,
    /// The answer is a stream of events: the times are its whole life.
    pub is_stream: bool,
    pub requests: u64,
    pub errors: u64,
    pub rate_per_s: f64,
    pub bytes_in: u64,
    pub response_time: Times,
    pub service_time: Times,
    /// Response bodies: smallest, mean, largest, bytes.
    pub body_min_bytes: Option<u64>,
    pub body_mean_bytes: Option<f64>,
    pub body_max_bytes: Option<u64>,
    /// Of the requests sent, those that followed a redirect.
    pub redirects: u64,
    /// Its `errors` by class; those of the client's side are none of them. Absent where nothing failed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub errors_by_class: BTreeMap<Fault, u64>,
    /// Against the one limit that thresholds set for its response time; absent where there is none or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apdex: Option<Apdex>,
}

/// Application Performance Index (Apdex technical specification 1.1): (satisfied + tolerating / 2) / samples. Failures
/// are frustrated.
///
/// Exact but for two things. A limit within a bucket of the histogram counts the whole bucket, so it is in effect up to
/// 0.8% higher than written. And a file does not know which times were those of failed answers: `index` takes them for
/// the fastest ones, `index_max` for the slowest; without failed answers the two are one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Apdex {
    /// T: up to it a user is satisfied, up to four times as long tolerating.
    pub target_ns: u64,
    /// 0 to 1, the lowest that it can be.
    pub index: f64,
    pub index_max: f64,
    /// Requests after `index`.
    pub satisfied: u64,
    pub tolerating: u64,
    pub frustrated: u64,
    pub samples: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct GeneratorRow {
    pub id: String,
    pub host: String,
    /// The agent that it belongs to, if a coordinator led it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentOutline>,
    pub share: String,
    pub started_unix_ns: u64,
    pub elapsed_s: f64,
    pub is_complete: bool,
    pub requests: u64,
    pub errors: u64,
    pub rate_per_s: f64,
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub max_ns: Option<u64>,
    /// Schedule lag of its sends.
    pub schedule_lag: Short,
    /// Arrivals per second of its measured part; open model only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_rate_per_s: Option<f64>,
    /// Its times compared with the other machines; absent if there are none or too few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Divergence>,
    /// Times of this row that are lower bounds, by their names here.
    pub lower_bounds: Vec<&'static str>,
    /// Percentiles of this row that have fewer samples than 10 / (1 - q), by their names here.
    pub few_samples: Vec<&'static str>,
}

/// The agents with one label, such as those of a region.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelRow {
    /// Name of the label.
    pub label: String,
    pub value: String,
    pub agents: u64,
    pub requests: u64,
    pub errors: u64,
    pub rate_per_s: f64,
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub max_ns: Option<u64>,
    /// Times of this row that are lower bounds, by their names here.
    pub lower_bounds: Vec<&'static str>,
    /// Percentiles of this row that have fewer samples than 10 / (1 - q), by their names here.
    pub few_samples: Vec<&'static str>,
}

/// The response times of a machine compared with all others, period by period of the measured part: a paired t-test
/// of the logarithms of their ratios, its level divided by the number of looks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Divergence {
    /// An interval without 1 in it, and a difference of 5% or more.
    pub is_different: bool,
    /// What differs; empty: nothing.
    pub sentence: String,
    pub ratios: Vec<Ratio>,
}

/// A percentile as a multiple of that of the others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// 0.5
    pub q: f64,
    pub ratio: f64,
    /// 95% interval of all looks together.
    pub low: f64,
    pub high: f64,
    /// Stretches of time that were compared.
    pub windows: u64,
}

//! The plan as every report may show it: no secrets, versioned, stored in the run file.

use crate::experiment::CellOutline;
use crate::limit::Limits;
use crate::link::{Link, Tls};
use crate::load::{Load, Share, Stop, Workload};
use crate::origin::{FIRST, Origin, OriginId};
use crate::series::Family;
use crate::threshold::Threshold;
use crate::watch::MonitorOutline;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Version of this structure in run files and in `--json`.
pub const OUTLINE_VERSION: u32 = 2;

/// Length of a tick: each worker hands over its numbers at every one.
pub const TICK_NS: u64 = crate::unit::SECOND_NS;

/// A request as shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestOutline {
    pub name: String,
    /// Where it goes; see [`Outline::origins`].
    #[serde(default, skip_serializing_if = "is_first")]
    pub origin: OriginId,
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// Of the body as far as it is known before the load.
    pub body_bytes: u64,
    #[serde(default)]
    pub scenario: Option<String>,
    /// Nested ones as `a / b`.
    #[serde(default)]
    pub group: Option<String>,
    #[serde(default)]
    pub tags: Vec<(String, String)>,
    /// The answer is a stream of events.
    #[serde(default)]
    pub is_stream: bool,
    /// Sent before or behind the load only, and not counted in it.
    #[serde(default)]
    pub is_outside_load: bool,
    /// The plan names a redirect among the statuses that it expects.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_redirect_expected: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_first(origin: &OriginId) -> bool {
    *origin == FIRST
}

/// A check, which has a series of its own: `finished` counts how often it was made, `failed` how often it did not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOutline {
    pub name: String,
    /// Index of its request.
    pub request: u32,
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    pub version: u32,
    pub name: String,
    /// `host:port` as in the `Host` header.
    pub target: String,
    pub host: String,
    pub port: u16,
    /// Of several origins all, the target in front; empty: the target is the only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Origin>,
    pub requests: Vec<RequestOutline>,
    pub load: Load,
    pub stop: Stop,
    /// Closed model: users, each with a connection. Open model: the most connections.
    pub connections: u32,
    pub workers: u32,
    pub warmup_ns: u64,
    pub timeout_ns: u64,
    pub keep_alive: bool,
    pub read_bodies: bool,
    pub thresholds: Vec<Threshold>,
    /// Upper edges of the latency buckets, ns, rising.
    pub buckets_ns: Vec<u64>,
    pub share: Share,
    pub seed: u64,
    pub limits: Limits,
    /// Series behind those of the requests.
    #[serde(default)]
    pub checks: Vec<CheckOutline>,
    /// Series behind those of the checks: the time of each passage through a group is its `response_time`.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The load models of a script; empty for a plain sequence, whose one model is `load`. With several, `load` is the
    /// sum of those of the open model if there are any, else of all.
    #[serde(default)]
    pub workloads: Vec<Workload>,
    #[serde(default)]
    pub link: Link,
    /// How long iterations under way may go on behind the end of the duration, ns.
    #[serde(default)]
    pub graceful_stop_ns: u64,
    /// Of a run that belongs to an experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellOutline>,
    /// What is watched beside the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub monitors: Vec<MonitorOutline>,
    /// What the file says of the system under test: names and values, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system_under_test: Vec<(String, String)>,
    /// What the run is to answer, in the words of who wrote the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// By what all lengths of the file were multiplied; `None`: they are as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
}

impl Outline {
    /// The origins that are loaded, by number; at least the target.
    pub fn all_origins(&self) -> Cow<'_, [Origin]> {
        if !self.origins.is_empty() {
            return Cow::Borrowed(&self.origins);
        }
        let (name, host) = (self.target.clone(), self.host.clone());
        Cow::Owned(vec![Origin { name, host, port: self.port, tls: self.link.tls.clone() }])
    }

    /// Where a request goes: the URL of its origin and its path.
    pub fn url_of(&self, request: &RequestOutline) -> String {
        let origins = self.all_origins();
        let origin = origins.get(usize::from(request.origin)).map_or_else(String::new, Origin::url);
        format!("{origin}{}", request.path)
    }

    /// How TLS is spoken, if any origin does.
    pub fn tls(&self) -> Option<&Tls> {
        self.link.tls.as_ref().or_else(|| self.origins.iter().find_map(|origin| origin.tls.as_ref()))
    }

    /// How many series there are: requests, checks, groups.
    pub fn series_count(&self) -> usize {
        self.requests.len() + self.checks.len() + self.groups.len()
    }

    /// Their families, in the same order.
    pub fn families(&self) -> impl Iterator<Item = Family> + '_ {
        let requests =
            self.requests.iter().map(|one| if one.is_stream { Family::Stream } else { Family::Request });
        let checks = self.checks.iter().map(|_| Family::Check);
        requests.chain(checks).chain(self.groups.iter().map(|_| Family::Group))
    }

    /// Series of a check.
    pub fn check_series(&self, check: usize) -> u32 {
        (self.requests.len() + check) as u32
    }

    /// Series of a group.
    pub fn group_series(&self, group: usize) -> u32 {
        (self.requests.len() + self.checks.len() + group) as u32
    }

    /// Start and end of tick `k`, in ns from the start of the run. A warm-up that is no whole number of ticks makes
    /// tick 0 shorter, so that an edge falls exactly on the end of the warm-up.
    pub fn tick_bounds_ns(&self, tick: u32) -> (u64, u64) {
        let first = match self.warmup_ns % TICK_NS {
            0 => TICK_NS,
            part => part,
        };
        let k = u64::from(tick);
        if k == 0 { (0, first) } else { (first + (k - 1) * TICK_NS, first + k * TICK_NS) }
    }

    /// Whether a tick belongs to the warm-up: shown in the timeline, left out of the totals.
    pub fn is_warmup(&self, tick: u32) -> bool {
        self.tick_bounds_ns(tick).1 <= self.warmup_ns
    }
}

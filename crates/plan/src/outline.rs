//! The plan as every report may show it: without secrets, versioned, stored in the run file.

use crate::delivery::Delivery;
use crate::experiment::CellOutline;
use crate::limit::Limits;
use crate::link::{Http, Link, Tls};
use crate::load::{Load, Share, Stop, Workload};
use crate::origin::{FIRST, Origin, OriginId};
use crate::route::Proxy;
use crate::series::Family;
use crate::threshold::Threshold;
use crate::watch::MonitorOutline;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Version of this structure in run files and in `--json`.
pub const OUTLINE_VERSION: u32 = 2;

/// Length of a tick: each worker reports its numbers at every tick.
pub const TICK_NS: u64 = crate::unit::SECOND_NS;

/// A request as reports show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestOutline {
    pub name: String,
    /// Its origin; see [`Outline::origins`].
    #[serde(default, skip_serializing_if = "is_first")]
    pub origin: OriginId,
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// Size of the body, if it is known before the load.
    pub body_bytes: u64,
    #[serde(default)]
    pub scenario: Option<String>,
    /// The group; nested groups as `a / b`.
    #[serde(default)]
    pub group: Option<String>,
    #[serde(default)]
    pub tags: Vec<(String, String)>,
    /// Whether the response is an event stream, or opens a WebSocket.
    #[serde(default)]
    pub is_stream: bool,
    /// Whether it opens a WebSocket, or a gRPC call with a stream of messages to send.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_websocket: bool,
    /// Whether it is a gRPC call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_grpc: bool,
    /// Whether the request is sent only before or after the load, and not counted in it.
    #[serde(default)]
    pub is_outside_load: bool,
    /// Whether the plan expects a redirect status code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_redirect_expected: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first(origin: &OriginId) -> bool {
    *origin == FIRST
}

/// A check. It has its own series, with the number of evaluations and of failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOutline {
    pub name: String,
    /// The index of its request.
    pub request: u32,
}

/// A plan as every report may show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    pub version: u32,
    pub name: String,
    /// `host:port` as in the `Host` header; empty if users as code name all their origins.
    pub target: String,
    pub host: String,
    pub port: u16,
    /// All origins, beginning with the target; empty if the target is the only one. A record adds those that programs
    /// found during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Origin>,
    pub requests: Vec<RequestOutline>,
    pub load: Load,
    pub stop: Stop,
    /// Closed model: users, with one connection each. Open model: maximum number of connections.
    pub connections: u32,
    pub workers: u32,
    pub warmup_ns: u64,
    pub timeout_ns: u64,
    pub keep_alive: bool,
    pub read_bodies: bool,
    pub thresholds: Vec<Threshold>,
    /// Upper edges of the latency buckets, ns, ascending.
    pub buckets_ns: Vec<u64>,
    pub share: Share,
    pub seed: u64,
    pub limits: Limits,
    /// The checks; their series follow those of the requests.
    #[serde(default)]
    pub checks: Vec<CheckOutline>,
    /// The groups; their series follow those of the checks. The time of each pass through a group is its
    /// `response_time`.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The load models of a script; empty for a fixed sequence, whose only model is `load`. If there are several,
    /// `load` is the sum of the open ones, or else of all.
    #[serde(default)]
    pub workloads: Vec<Workload>,
    #[serde(default)]
    pub link: Link,
    /// How requests are sent and their responses are read, by their number, if not at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<(u32, Delivery)>,
    /// Time that started iterations have to finish after the end of the duration, ns.
    #[serde(default)]
    pub graceful_stop_ns: u64,
    /// The cell of a run that belongs to an experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellOutline>,
    /// The monitors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub monitors: Vec<MonitorOutline>,
    /// The user's description of the system under test: names and values, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system_under_test: Vec<(String, String)>,
    /// The question that the run answers, in the user's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The factor that all durations of the file were multiplied by; `None` if they are as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
}

impl Outline {
    /// Returns the origins by number; at least the target, if the plan has one.
    pub fn all_origins(&self) -> Cow<'_, [Origin]> {
        if !self.origins.is_empty() || !self.has_target() {
            return Cow::Borrowed(&self.origins);
        }
        let (name, host) = (self.target.clone(), self.host.clone());
        let (tls, is_http2) = (self.link.tls.clone(), self.link.is_http2);
        Cow::Owned(vec![Origin { name, host, port: self.port, tls, is_http2 }])
    }

    /// Returns whether the plan names an origin. Users as code may name all of theirs during the run.
    pub fn has_target(&self) -> bool {
        !self.host.is_empty()
    }

    /// Adds the origin with the next number, which was found during the run; returns false if it has another number.
    pub fn add_origin(&mut self, number: OriginId, origin: Origin) -> bool {
        let mut all = self.all_origins().into_owned();
        let is_next = all.len() == usize::from(number);
        if is_next {
            all.push(origin);
            self.origins = all;
        }
        is_next
    }

    /// Returns the target, or some of the origins that were found if the plan names none.
    pub fn describe_target(&self) -> String {
        const NAMED: usize = 3;
        if self.has_target() {
            return self.target.clone();
        }
        // Sorted, because two runs may find the same origins in another order.
        let mut names: Vec<&str> = self.origins.iter().map(|origin| origin.name.as_str()).collect();
        names.sort_unstable();
        let named = names[..names.len().min(NAMED)].join(", ");
        match names.len().saturating_sub(NAMED) {
            0 => named,
            more => format!("{named} and {more} more"),
        }
    }

    /// Records that connections to an origin speak HTTP/2.
    pub fn set_http2(&mut self, origin: OriginId) {
        if origin == FIRST {
            self.link.is_http2 = true;
        }
        if let Some(origin) = self.origins.get_mut(usize::from(origin)) {
            origin.is_http2 = true;
        }
    }

    /// Returns the URL of a request: that of its origin and its path.
    pub fn url_of(&self, request: &RequestOutline) -> String {
        let origins = self.all_origins();
        let origin = origins.get(usize::from(request.origin)).map_or_else(String::new, Origin::url);
        format!("{origin}{}", request.path)
    }

    /// Returns the TLS settings, if any origin uses TLS.
    pub fn tls(&self) -> Option<&Tls> {
        self.link.tls.as_ref().or_else(|| self.origins.iter().find_map(|origin| origin.tls.as_ref()))
    }

    /// Returns the proxy to which requests to an origin are sent in their absolute form (RFC 9112, section 3.2.2):
    /// an HTTP proxy, unless the origin needs a tunnel because its bytes are not requests of plain HTTP/1.
    pub fn forwarding_proxy(&self, number: OriginId, origin: &Origin) -> Option<&Proxy> {
        let proxy = self.link.route.proxy.as_ref().filter(|proxy| proxy.is_http())?;
        let has_sockets = self.requests.iter().any(|one| one.is_websocket && one.origin == number);
        (origin.tls.is_none() && !has_sockets && self.link.http != Http::V2).then_some(proxy)
    }

    /// Returns the number of series: requests, checks, groups.
    pub fn series_count(&self) -> usize {
        self.requests.len() + self.checks.len() + self.groups.len()
    }

    /// Returns the families of the series, in the same order.
    pub fn families(&self) -> impl Iterator<Item = Family> + '_ {
        let requests = self.requests.iter().map(|one| match (one.is_websocket, one.is_stream) {
            (true, _) => Family::WebSocket,
            (false, true) => Family::Stream,
            (false, false) => Family::Request,
        });
        let checks = self.checks.iter().map(|_| Family::Check);
        requests.chain(checks).chain(self.groups.iter().map(|_| Family::Group))
    }

    /// Returns the series of a check.
    pub fn check_series(&self, check: usize) -> u32 {
        (self.requests.len() + check) as u32
    }

    /// Returns the series of a group.
    pub fn group_series(&self, group: usize) -> u32 {
        (self.requests.len() + self.checks.len() + group) as u32
    }

    /// Returns start and end of a tick, in ns from the start of the run. If the warm-up is not a whole number of ticks,
    /// tick 0 is shorter, so that a tick ends exactly at the end of the warm-up.
    pub fn tick_bounds_ns(&self, tick: u32) -> (u64, u64) {
        let first = match self.warmup_ns % TICK_NS {
            0 => TICK_NS,
            part => part,
        };
        let k = u64::from(tick);
        if k == 0 { (0, first) } else { (first + (k - 1) * TICK_NS, first + k * TICK_NS) }
    }

    /// Returns whether a tick belongs to the warm-up: the timeline shows it, but totals exclude it.
    pub fn is_warmup(&self, tick: u32) -> bool {
        self.tick_bounds_ns(tick).1 <= self.warmup_ns
    }
}

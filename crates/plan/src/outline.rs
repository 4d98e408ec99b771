//! The plan as every report may show it: no secrets, versioned, stored in the run file.

use crate::limit::Limits;
use crate::load::{Load, Share, Stop};
use crate::threshold::Threshold;
use serde::{Deserialize, Serialize};

/// Version of this structure in run files and in `--json`.
pub const OUTLINE_VERSION: u32 = 1;

/// Length of a tick: each worker hands over its numbers at every one.
pub const TICK_NS: u64 = crate::unit::SECOND_NS;

/// A request as shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestOutline {
    pub name: String,
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body_bytes: u64,
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
    /// Upper edges of the latency bands, ns, rising.
    pub bands_ns: Vec<u64>,
    pub share: Share,
    pub seed: u64,
    pub limits: Limits,
}

impl Outline {
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

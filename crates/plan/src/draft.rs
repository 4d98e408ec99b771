//! What was written, before anybody knows whether it makes sense: every field optional, nothing resolved.

use crate::limit::Limits;
use crate::load::{Arrivals, Profile, Share};
use crate::request::{Request, Target};
use crate::threshold::Threshold;

/// Filled by the flags or by a front; judged by [`crate::seal::seal`].
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pub name: Option<String>,
    pub target: Option<Target>,
    pub requests: Vec<Request>,
    /// `-c`
    pub connections: Option<u32>,
    /// `-d`, ns
    pub duration_ns: Option<u64>,
    /// `-n`
    pub requests_total: Option<u64>,
    /// `-r`, per second
    pub rate_per_s: Option<f64>,
    pub arrivals: Option<Arrivals>,
    /// `--stages`: the profile, and whether its levels are rates.
    pub stages: Option<(Profile, bool)>,
    /// `-t`
    pub workers: Option<u32>,
    pub warmup_ns: Option<u64>,
    pub timeout_ns: Option<u64>,
    pub keep_alive: Option<bool>,
    pub read_bodies: Option<bool>,
    pub thresholds: Vec<Threshold>,
    pub bands_ns: Option<Vec<u64>>,
    pub share: Option<Share>,
    pub seed: Option<u64>,
    pub limits: Limits,
}

/// The keys of the draft's fields, as an experiment file spells them and as diagnostics name them.
pub mod key {
    pub const TARGET: &str = "target";
    pub const REQUESTS: &str = "scenarios";
    pub const CONNECTIONS: &str = "connections";
    pub const DURATION: &str = "duration";
    pub const TOTAL: &str = "requests";
    pub const RATE: &str = "rate";
    pub const ARRIVALS: &str = "arrivals";
    pub const STAGES: &str = "stages";
    pub const WORKERS: &str = "workers";
    pub const WARMUP: &str = "warmup";
    pub const TIMEOUT: &str = "timeout";
    pub const BANDS: &str = "bands";
    pub const SHARE: &str = "share";
    pub const THRESHOLDS: &str = "thresholds";

    /// The flag that says the same as a key, for sentences on the command line.
    pub fn flag(key: &str) -> &'static str {
        match key {
            TARGET => "URL",
            CONNECTIONS => "-c",
            DURATION => "-d",
            TOTAL => "-n",
            RATE => "-r",
            ARRIVALS => "--arrivals",
            STAGES => "--stages",
            WORKERS => "-t",
            WARMUP => "--warmup",
            TIMEOUT => "--timeout",
            BANDS => "--bands",
            SHARE => "--share",
            THRESHOLDS => "--threshold",
            _ => "-X, -H, -b",
        }
    }
}

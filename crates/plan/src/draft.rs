//! What was written, before anybody knows whether it makes sense: every field optional, nothing resolved.

use crate::limit::Limits;
use crate::link::{Link, TlsFiles};
use crate::load::{Arrivals, Profile, Share};
use crate::request::{Request, Target};
use crate::script::{Entry, Script};
use crate::threshold::Threshold;
use crate::watch::Watch;
use std::sync::Arc;

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
    /// `--follow`: redirects that each request follows at most, in place of what its text says.
    pub redirects: Option<u8>,
    pub thresholds: Vec<Threshold>,
    pub bands_ns: Option<Vec<u64>>,
    pub share: Option<Share>,
    pub seed: Option<u64>,
    pub limits: Limits,
    /// Scenarios that do more than a plain sequence; `requests` is empty then.
    pub script: Option<Script>,
    /// Load models of single scenarios. Those without one share the draft's own.
    pub lanes: Vec<LaneDraft>,
    /// Which scenario runs under the draft's own load model, if any does.
    pub entry: Option<Entry>,
    /// Iterations over all users.
    pub iterations: Option<u64>,
    /// Iterations of each user.
    pub loops: Option<u64>,
    /// Instants of recorded arrivals, ns from the start, ascending.
    pub recorded: Option<Arc<[u64]>>,
    pub link: Link,
    pub tls_files: TlsFiles,
    pub graceful_stop_ns: Option<u64>,
    /// What is watched beside the load.
    pub watches: Vec<Watch>,
    /// What the writer of the file says of the system under test: names and values, in their order.
    pub sut: Vec<(String, String)>,
    /// What the run is to answer, in the words of who wrote the file.
    pub question: Option<String>,
    /// By what all lengths were multiplied; `None`: they are as written.
    pub scale: Option<f64>,
}

/// A load model of its own for one scenario.
#[derive(Debug, Clone)]
pub struct LaneDraft {
    pub name: String,
    pub entry: Entry,
    /// Users, or the cap of the open model.
    pub connections: Option<u32>,
    pub rate_per_s: Option<f64>,
    pub arrivals: Option<Arrivals>,
    pub stages: Option<(Profile, bool)>,
    pub duration_ns: Option<u64>,
    pub iterations: Option<u64>,
    pub loops: Option<u64>,
    pub recorded: Option<Arc<[u64]>>,
    /// When it begins, from the start of the run, ns.
    pub start_ns: u64,
}

/// The keys of the draft's fields, as an experiment file spells them and as diagnostics name them.
pub mod key {
    pub const TARGET: &str = "target";
    pub const REQUESTS: &str = "scenarios";
    pub const CONNECTIONS: &str = "connections";
    pub const DURATION: &str = "duration";
    pub const TOTAL: &str = "requests";
    pub const RATE: &str = "rate";
    pub const ITERATIONS: &str = "iterations";
    pub const LOOPS: &str = "loops";
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

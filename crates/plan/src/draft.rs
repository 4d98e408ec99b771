//! What was written, before anybody knows whether it makes sense: every field optional, nothing resolved.

use crate::limit::Limits;
use crate::link::{Link, TlsFiles};
use crate::load::{Arrivals, Profile, Share};
use crate::origin::NamedTarget;
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
    /// The origins besides the target, from number 1 on.
    pub more_origins: Vec<NamedTarget>,
    pub requests: Vec<Request>,
    pub load: LoadDraft,
    /// `-t`
    pub workers: Option<u32>,
    pub warmup_ns: Option<u64>,
    pub timeout_ns: Option<u64>,
    pub keep_alive: Option<bool>,
    pub read_bodies: Option<bool>,
    /// `--follow`: redirects that each request follows at most, in place of what its text says.
    pub redirects: Option<u8>,
    pub thresholds: Vec<Threshold>,
    pub buckets_ns: Option<Vec<u64>>,
    pub shard: Option<Share>,
    pub seed: Option<u64>,
    pub limits: Limits,
    /// Scenarios that do more than a plain sequence; `requests` is empty then.
    pub script: Option<Script>,
    /// Load models of single scenarios. Those without one share the draft's own.
    pub workloads: Vec<WorkloadDraft>,
    /// Which scenario runs under the draft's own load model, if any does.
    pub entry: Option<Entry>,
    pub link: Link,
    pub tls_files: TlsFiles,
    pub graceful_stop_ns: Option<u64>,
    /// What is watched beside the load.
    pub watches: Vec<Watch>,
    /// What the writer of the file says of the system under test: names and values, in their order.
    pub system_under_test: Vec<(String, String)>,
    /// What the run is to answer, in the words of who wrote the file.
    pub question: Option<String>,
    /// By what all lengths were multiplied; `None`: they are as written.
    pub scale: Option<f64>,
}

/// How much load, and for how long: of a run, or of one scenario. Flags and files fill it alike.
#[derive(Debug, Clone, Default)]
pub struct LoadDraft {
    /// Of the closed model; each holds one connection. `-c`
    pub users: Option<u32>,
    /// Cap of the open model. `--max-connections`
    pub max_connections: Option<u32>,
    /// `-d`, ns
    pub duration_ns: Option<u64>,
    /// Of the whole run; no scenario has its own. `-n`
    pub requests_total: Option<u64>,
    /// `-r`, per second
    pub rate_per_s: Option<f64>,
    pub arrivals: Option<Arrivals>,
    /// `--stages`: the profile, and whether its levels are rates.
    pub stages: Option<(Profile, bool)>,
    /// Iterations over all users.
    pub iterations: Option<u64>,
    /// The iterations are a total of arrivals: the rate follows from them and the duration.
    pub is_total: bool,
    pub iterations_per_user: Option<u64>,
    /// Instants of recorded arrivals, ns from the start, ascending.
    pub recorded: Option<Arc<[u64]>>,
}

/// A load model of its own for one scenario.
#[derive(Debug, Clone)]
pub struct WorkloadDraft {
    pub name: String,
    pub entry: Entry,
    pub load: LoadDraft,
    /// When it begins, from the start of the run, ns.
    pub start_ns: u64,
}

/// The fields of a draft that diagnostics name: as an experiment file spells each, and the flag that says the same.
pub mod key {
    use crate::diag::Field;

    pub const TARGET: Field = Field { key: "target", flag: "URL" };
    pub const REQUESTS: Field = Field { key: "scenarios", flag: "-X, -H, -b" };
    pub const USERS: Field = Field { key: "users", flag: "-c" };
    pub const MAX_CONNECTIONS: Field = Field { key: "max_connections", flag: "--max-connections" };
    pub const DURATION: Field = Field { key: "duration", flag: "-d" };
    pub const TOTAL: Field = Field { key: "requests", flag: "-n" };
    pub const RATE: Field = Field { key: "rate", flag: "-r" };
    pub const ITERATIONS: Field = Field { key: "iterations", flag: "-X, -H, -b" };
    pub const ITERATIONS_PER_USER: Field = Field { key: "iterations_per_user", flag: "-X, -H, -b" };
    pub const ARRIVALS: Field = Field { key: "arrivals", flag: "--arrivals" };
    pub const STAGES: Field = Field { key: "stages", flag: "--stages" };
    pub const WORKERS: Field = Field { key: "workers", flag: "-t" };
    pub const WARMUP: Field = Field { key: "warmup", flag: "--warmup" };
    pub const TIMEOUT: Field = Field { key: "timeout", flag: "--timeout" };
    pub const BUCKETS: Field = Field { key: "buckets", flag: "--buckets" };
    pub const SHARD: Field = Field { key: "shard", flag: "--shard" };
    pub const THRESHOLDS: Field = Field { key: "thresholds", flag: "--threshold" };
}

//! Drafts: user input before validation, with optional fields and unresolved names.

use crate::code::Code;
use crate::limit::Limits;
use crate::link::{Link, TlsFiles};
use crate::load::{Arrivals, Profile, Rules, Share};
use crate::origin::NamedTarget;
use crate::request::{Request, Target};
use crate::script::{Entry, Script};
use crate::threshold::Threshold;
use crate::watch::Watch;
use std::sync::Arc;

/// Input from flags or from a front end; validated by [`crate::seal::seal`].
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pub name: Option<String>,
    pub target: Option<Target>,
    /// The other origins, starting at number 1.
    pub more_origins: Vec<NamedTarget>,
    pub requests: Vec<Request>,
    pub load: LoadDraft,
    /// `-t`
    pub workers: Option<u32>,
    pub warmup_ns: Option<u64>,
    pub timeout_ns: Option<u64>,
    pub keep_alive: Option<bool>,
    pub read_bodies: Option<bool>,
    /// `--follow`: maximum number of redirects of every request, which overrides the file.
    pub redirects: Option<u8>,
    /// `--expect-continue`: how long the body of every request waits for `100 Continue`, ns.
    pub continue_ns: Option<u64>,
    pub thresholds: Vec<Threshold>,
    /// Whether only `thresholds` apply, without the default ones.
    pub no_default_thresholds: bool,
    pub buckets_ns: Option<Vec<u64>>,
    pub shard: Option<Share>,
    pub seed: Option<u64>,
    pub limits: Limits,
    /// Scenarios that are more than a fixed sequence; `requests` is then empty.
    pub script: Option<Script>,
    /// Users as code; `requests` and `script` are then empty. The target may be missing, and the entries of workloads
    /// have no effect.
    pub code: Option<Arc<dyn Code>>,
    /// Load models of single scenarios. Scenarios without one share that of the draft.
    pub workloads: Vec<WorkloadDraft>,
    /// The scenario that runs under the load model of the draft, if any.
    pub entry: Option<Entry>,
    pub link: Link,
    pub tls_files: TlsFiles,
    pub graceful_stop_ns: Option<u64>,
    /// The monitors.
    pub watches: Vec<Watch>,
    /// The gRPC service that must be healthy before the load; an empty name means the server as a whole.
    pub health: Option<String>,
    /// The user's description of the system under test: names and values, in their order.
    pub system_under_test: Vec<(String, String)>,
    /// The question that the run answers, in the user's words.
    pub question: Option<String>,
    /// The factor that all durations were multiplied by; `None` if they are as written.
    pub scale: Option<f64>,
}

/// The load model of a run or of one scenario, from flags or a file.
#[derive(Debug, Clone, Default)]
pub struct LoadDraft {
    /// Users of the closed model, each with one connection. `-c`
    pub users: Option<u32>,
    /// Time in which `users` begin, evenly, ns; 0 means all at once.
    pub ramp_up_ns: u64,
    /// Connection limit of the open model. `--max-connections`
    pub max_connections: Option<u32>,
    /// `-d`, ns
    pub duration_ns: Option<u64>,
    /// Requests of the whole run, not of a scenario. `-n`
    pub requests_total: Option<u64>,
    /// `-r`, per second
    pub rate_per_s: Option<f64>,
    pub arrivals: Option<Arrivals>,
    /// `--stages`: the profile, and whether its levels are rates.
    pub stages: Option<(Profile, bool)>,
    /// Iterations over all users.
    pub iterations: Option<u64>,
    /// Whether `iterations` is a total of arrivals, so that the rate follows from it and the duration.
    pub is_total: bool,
    pub iterations_per_user: Option<u64>,
    /// Times of recorded arrivals, in ns from the start, ascending.
    pub recorded: Option<Arc<[u64]>>,
    pub rules: Rules,
}

/// The load model of a single scenario.
#[derive(Debug, Clone)]
pub struct WorkloadDraft {
    pub name: String,
    pub entry: Entry,
    pub load: LoadDraft,
    /// Its start, in ns from the start of the run.
    pub start_ns: u64,
}

/// The fields of a draft that diagnostics name, with their keys and flags.
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
    pub const HTTP: Field = Field { key: "http", flag: "--http1.1" };
    pub const CIPHERS: Field = Field { key: "ciphers", flag: "--ciphers" };
    pub const SESSION_RESUMPTION: Field = Field { key: "session_resumption", flag: "--session-resumption" };
    pub const ADDRESSES: Field = Field { key: "addresses", flag: "--addresses" };
    pub const DNS: Field = Field { key: "dns", flag: "--dns" };
    pub const EXPECT_CONTINUE: Field = Field { key: "expect_continue", flag: "--expect-continue" };
    pub const STREAMS: Field = Field { key: "streams", flag: "--streams" };
    pub const PROXY: Field = Field { key: "proxy", flag: "--proxy" };
    pub const UNIX_SOCKET: Field = Field { key: "unix_socket", flag: "--unix-socket" };
    pub const PROXY_PROTOCOL: Field = Field { key: "proxy_protocol", flag: "--proxy-protocol" };
    pub const INTERFACE: Field = Field { key: "interface", flag: "--interface" };
    pub const PIPELINE: Field = Field { key: "pipeline", flag: "--pipeline" };
    pub const STAGES: Field = Field { key: "stages", flag: "--stages" };
    pub const WORKERS: Field = Field { key: "workers", flag: "-t" };
    pub const WARMUP: Field = Field { key: "warmup", flag: "--warmup" };
    pub const TIMEOUT: Field = Field { key: "timeout", flag: "--timeout" };
    pub const BUCKETS: Field = Field { key: "buckets", flag: "--buckets" };
    pub const SHARD: Field = Field { key: "shard", flag: "--shard" };
    pub const THRESHOLDS: Field = Field { key: "thresholds", flag: "--threshold" };
}

//! What of the system under test is watched beside the load: where a monitor looks, and what its numbers are.
//!
//! A monitor knows nothing of requests and an engine knows nothing of monitors; both put their numbers on the same time
//! axis, which is the run's.

mod kind;
pub mod read;

pub use kind::SourceKind;

use crate::value::Secret;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Between two samples of a monitor, ns.
pub const WATCH_NS: u64 = crate::unit::SECOND_NS;

/// One monitor of a plan.
#[derive(Debug, Clone)]
pub struct Watch {
    /// Unique among the monitors of a plan; reports name it.
    pub name: String,
    pub source: Source,
}

/// Where a monitor looks. Addresses may hold a password, so they are never shown as they are.
#[derive(Debug, Clone)]
pub enum Source {
    /// One process with all its descendants.
    Process(Who),
    /// A control group, version 1 or 2.
    Cgroup(Group),
    /// This machine.
    Host,
    /// A connection string, such as `postgres://lab@127.0.0.1:5432/lab`.
    Postgres(Secret),
    /// `host:port`, or `redis://:password@host:port`.
    Redis(Secret),
    Nginx(Nginx),
    /// URL of the metrics that a Node program exposes, as text for Prometheus.
    Node(Secret),
    /// URL of `expvar`'s JSON, or of text for Prometheus with `go_` metrics.
    Go(Secret),
    Prometheus(Prometheus),
    /// A program with its arguments. It prints lines of a name and a number, and is run anew for each sample.
    Command(Vec<String>),
}

/// Whom monitors trust when they ask by TLS: what the plan says of its target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// Own certificate authorities (PEM); none: the public ones.
    pub ca: Vec<Vec<u8>>,
    /// Nothing is verified.
    pub insecure: bool,
}

/// Which process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    Pid(u32),
    /// Name of the program, as `/proc/PID/comm` or the last part of its first argument has it. Several may match.
    Name(String),
    /// Whoever listens on the TCP port.
    Port(u16),
}

/// Which control group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Group {
    /// Its folder below `/sys/fs/cgroup`.
    Path(PathBuf),
    /// The one that a process lives in.
    Of(Who),
}

/// At least one of the two.
#[derive(Debug, Clone, Default)]
pub struct Nginx {
    /// URL of `stub_status`.
    pub status: Option<Secret>,
    pub access_log: Option<PathBuf>,
}

#[derive(Debug, Clone)]
pub enum Prometheus {
    /// A page of metrics. `metrics` are regular expressions for whole names; empty: all.
    Scrape { url: Secret, metrics: Vec<String> },
    /// An expression that a server evaluates.
    Query { server: Secret, query: String },
}

/// What a number is of. Figures of different units are never added up or drawn on one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// CPU seconds per second.
    Cores,
    /// A part of 1.
    Share,
    Bytes,
    BytesPerS,
    PerS,
    Count,
    Seconds,
}

/// A monitor as every report may show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorOutline {
    pub name: String,
    /// The key in the file, such as `process`.
    pub kind: String,
    /// Where it looks, without secrets.
    pub target: String,
}

impl Source {
    /// It is asked by TLS, so that what a plan says of trust is said of it as well.
    pub fn is_tls(&self) -> bool {
        let begins = |address: &Secret, with: &str| address.reveal().starts_with(with);
        match self {
            Source::Process(_) | Source::Cgroup(_) | Source::Host | Source::Command(_) => false,
            Source::Postgres(address) => address.reveal().contains("sslmode=verify-full"),
            Source::Redis(address) => begins(address, "rediss://"),
            Source::Nginx(nginx) => nginx.status.as_ref().is_some_and(|url| begins(url, "https://")),
            Source::Node(url)
            | Source::Go(url)
            | Source::Prometheus(Prometheus::Scrape { url, .. } | Prometheus::Query { server: url, .. }) => {
                begins(url, "https://")
            }
        }
    }

    /// The key that a file names it by.
    pub fn kind(&self) -> &'static str {
        match self {
            Source::Process(_) => SourceKind::Process,
            Source::Cgroup(_) => SourceKind::Cgroup,
            Source::Host => SourceKind::Host,
            Source::Postgres(_) => SourceKind::Postgres,
            Source::Redis(_) => SourceKind::Redis,
            Source::Nginx(_) => SourceKind::Nginx,
            Source::Node(_) => SourceKind::Node,
            Source::Go(_) => SourceKind::Go,
            Source::Prometheus(_) => SourceKind::Prometheus,
            Source::Command(_) => SourceKind::Command,
        }
        .name()
    }

    /// Where it looks, as a report may show it: of an address no more than its host, port and database.
    pub fn describe(&self) -> String {
        match self {
            Source::Process(who) | Source::Cgroup(Group::Of(who)) => who.describe(),
            Source::Cgroup(Group::Path(path)) => path.display().to_string(),
            Source::Host => String::new(),
            Source::Postgres(url) | Source::Redis(url) | Source::Node(url) | Source::Go(url) => {
                without_login(url)
            }
            Source::Nginx(nginx) => {
                let log = nginx.access_log.as_ref().map(|path| path.display().to_string());
                let both = [nginx.status.as_ref().map(without_login), log];
                both.into_iter().flatten().collect::<Vec<_>>().join(" and ")
            }
            Source::Prometheus(Prometheus::Scrape { url, .. }) => without_login(url),
            Source::Prometheus(Prometheus::Query { server, query }) => {
                format!("`{query}` at {}", without_login(server))
            }
            // Arguments may be secrets, and the program says enough.
            Source::Command(words) => words.first().cloned().unwrap_or_default(),
        }
    }
}

impl Who {
    fn describe(&self) -> String {
        match self {
            Who::Pid(pid) => format!("pid {pid}"),
            Who::Name(name) => name.clone(),
            Who::Port(port) => format!("port {port}"),
        }
    }
}

impl Watch {
    pub fn outline(&self) -> MonitorOutline {
        MonitorOutline {
            name: self.name.clone(),
            kind: self.source.kind().to_owned(),
            target: self.source.describe(),
        }
    }
}

/// What is shown of an address that nothing can be told of.
const HIDDEN: &str = "***";

/// Scheme, host and port, and of a database its name: login, path and query may each hold a secret.
fn without_login(url: &Secret) -> String {
    let url = url.reveal();
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let rest = host_and_path(rest).unwrap_or(HIDDEN);
    let keeps_path = scheme.starts_with("postgres");
    let rest = if keeps_path { rest } else { rest.split('/').next().unwrap_or_default() };
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

/// What lies between the login and the query. `None`: an `@` behind `?` or `#` may end a login, or be of a query's
/// value, and either reading could show a secret.
fn host_and_path(rest: &str) -> Option<&str> {
    let front = rest.split(['?', '#']).next().unwrap_or_default();
    let (login, host) = rest.rsplit_once('@').unwrap_or(("", rest));
    // A password may hold `@`, `/`, `?` and `#`: the last `@` is the one in front of the host.
    if login.len() > front.len() && front.contains(['/', '@']) {
        return None;
    }
    host.split(['?', '#']).next()
}

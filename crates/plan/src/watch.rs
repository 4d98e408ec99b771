//! Monitors of the system under test: their sources and units.
//!
//! Monitors do not know requests, and the engine does not know monitors. Both put their numbers on the time axis of the
//! run.

mod kind;
pub mod read;

pub use kind::SourceKind;

use crate::Problem;
use crate::value::Secret;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Interval between two samples of a monitor, ns.
pub const WATCH_NS: u64 = crate::unit::SECOND_NS;

/// One monitor of a plan.
#[derive(Debug, Clone)]
pub struct Watch {
    /// The name in reports; unique among the monitors of a plan.
    pub name: String,
    pub source: Source,
    /// The agents on which it runs; `None`: where the command was started.
    pub on: Option<AgentSelector>,
}

/// Agents, by their name or by a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentSelector {
    Name(String),
    Label { name: String, value: String },
}

impl AgentSelector {
    /// Parses `NAME` or `LABEL=VALUE`.
    ///
    /// # Errors
    /// Returns an error if a part is missing.
    pub fn parse(text: &str) -> Result<AgentSelector, Problem> {
        match text.split_once('=') {
            None if !text.is_empty() => Ok(AgentSelector::Name(text.to_owned())),
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                Ok(AgentSelector::Label { name: name.to_owned(), value: value.to_owned() })
            }
            _ => Err(Problem::new(
                format!("invalid agents `{text}`"),
                "write the name of an agent, or a label such as `region=eu`",
            )),
        }
    }

    /// Returns whether an agent is one of them.
    pub fn covers(&self, agent: &str, labels: &BTreeMap<String, String>) -> bool {
        match self {
            AgentSelector::Name(name) => name == agent,
            AgentSelector::Label { name, value } => labels.get(name) == Some(value),
        }
    }
}

impl std::fmt::Display for AgentSelector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AgentSelector::Name(name) => f.write_str(name),
            AgentSelector::Label { name, value } => write!(f, "{name}={value}"),
        }
    }
}

/// The source of a monitor. Addresses may contain a password, so they are never shown unchanged.
#[derive(Debug, Clone)]
pub enum Source {
    /// Processes with all their descendants.
    Process(Who),
    /// A control group, version 1 or 2.
    Cgroup(Group),
    /// The machine that runs plimsoll.
    Host,
    /// A connection string, such as `postgres://lab@127.0.0.1:5432/lab`.
    Postgres(Secret),
    /// `host:port`, or `redis://:password@host:port`.
    Redis(Secret),
    Nginx(Nginx),
    /// URL of a Node program's metrics in Prometheus text format.
    Node(Secret),
    /// URL of `expvar` JSON, or of `go_` metrics in Prometheus text format.
    Go(Secret),
    Prometheus(Prometheus),
    /// A program with its arguments. It runs once per sample and prints lines of a name and a number.
    Command(Vec<String>),
}

/// The trust settings of monitors and proxies with TLS, which are those of the target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// Certificate authorities (PEM); if empty, the public ones.
    pub ca: Vec<Vec<u8>>,
    /// Whether certificate verification is off.
    pub insecure: bool,
}

/// How a monitor identifies a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    Pid(u32),
    /// The name of a program, in `/proc/PID/comm` or the last part of its first argument. Several processes may match.
    Name(String),
    /// The process that listens on a TCP port.
    Port(u16),
}

/// How a monitor identifies a control group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Group {
    /// Its directory below `/sys/fs/cgroup`.
    Path(PathBuf),
    /// The group of a process.
    Of(Who),
}

/// The sources of an nginx monitor, at least one.
#[derive(Debug, Clone, Default)]
pub struct Nginx {
    /// URL of `stub_status`.
    pub status: Option<Secret>,
    pub access_log: Option<PathBuf>,
}

#[derive(Debug, Clone)]
pub enum Prometheus {
    /// A metrics page. `metrics` are regular expressions for whole names; if empty, all metrics are read.
    Scrape { url: Secret, metrics: Vec<String> },
    /// An expression that a server evaluates.
    Query { server: Secret, query: String },
}

/// The unit of a number. Numbers with different units are never added up or drawn on one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// CPU seconds per second.
    Cores,
    /// A ratio, 0–1.
    Share,
    Bytes,
    BytesPerS,
    PerS,
    Count,
    Seconds,
}

/// A monitor for reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorOutline {
    pub name: String,
    /// The key in the file, such as `process`.
    pub kind: String,
    /// Its source, without secrets.
    pub target: String,
    /// The agent that it ran on, which is also a part of the name; `None`: where the command was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Source {
    /// Returns whether it uses TLS, so that the trust settings apply.
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

    /// Returns its key in a file.
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

    /// Returns the source for reports: only host, port, and database of an address.
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
            // Arguments may be secrets, and the program is enough.
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
            agent: None,
        }
    }
}

impl MonitorOutline {
    /// Returns the same monitor as one of an agent: several agents have one of the same name.
    #[must_use]
    pub fn of_agent(self, agent: &str) -> MonitorOutline {
        MonitorOutline { name: format!("{}@{agent}", self.name), agent: Some(agent.to_owned()), ..self }
    }
}

/// Shown instead of an address that cannot be shown safely.
const HIDDEN: &str = "***";

/// Returns scheme, host, and port, and the name of a database. Credentials, path, and query may contain secrets.
fn without_login(url: &Secret) -> String {
    let url = url.reveal();
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let rest = host_and_path(rest).unwrap_or(HIDDEN);
    let keeps_path = scheme.starts_with("postgres");
    let rest = if keeps_path { rest } else { rest.split('/').next().unwrap_or_default() };
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

/// Returns the text between the credentials and the query. Returns `None` for an `@` after `?` or `#`: it may end the
/// credentials or belong to the query, so showing either part could reveal a secret.
fn host_and_path(rest: &str) -> Option<&str> {
    let front = rest.split(['?', '#']).next().unwrap_or_default();
    let (login, host) = rest.rsplit_once('@').unwrap_or(("", rest));
    // A password may contain `@`, `/`, `?`, and `#`: the last `@` is the one before the host.
    if login.len() > front.len() && front.contains(['/', '@']) {
        return None;
    }
    host.split(['?', '#']).next()
}

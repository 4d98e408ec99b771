//! What a script's options and the command line decide for its users.

use plimsoll_k6::settings::network::IpRange;
use plimsoll_plan::request::Target;
use std::net::IpAddr;

/// How the users of a worker are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Users share global objects; each has its own modules. For scripts that do not change global objects.
    #[default]
    Shared,
    /// Each user has its own global objects.
    Context,
    /// Each user has its own runtime.
    Runtime,
}

/// A scenario of a script.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScenarioSettings {
    pub name: String,
    /// Name of k6's executor, as `exec.scenario.executor` returns it.
    pub executor: String,
    /// The exported function that each iteration calls.
    pub exec: String,
    /// Variables of the environment for this scenario only.
    pub env: Vec<(String, String)>,
    pub tags: Vec<(String, String)>,
    /// Its start, ns from the start of the run.
    pub start_ns: u64,
    /// Its regular duration, ns; 0 if it has none.
    pub duration_ns: u64,
}

/// A secret, which `k6/secrets` returns and which the console does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// Name of the source; scripts that name none get `default`, or the first source.
    pub source: String,
    pub name: String,
    pub value: String,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secret")
            .field("source", &self.source)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// An entry of `hosts` that needs more than the address of a name.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRule {
    /// A name in lower case, or `*.` and an ending.
    pub pattern: String,
    /// The port to which it applies; `None`: any.
    pub of_port: Option<u16>,
    pub address: IpAddr,
    /// The port to connect to; `None`: that of the URL.
    pub port: Option<u16>,
}

/// Settings of all users.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub isolation: Isolation,
    /// Whether the script uses promises.
    pub is_asynchronous: bool,
    /// By number of workload.
    pub scenarios: Vec<ScenarioSettings>,
    /// Variables of the environment, `__ENV`.
    pub env: Vec<(String, String)>,
    pub secrets: Vec<Secret>,
    /// Tags of everything that is measured.
    pub tags: Vec<(String, String)>,
    pub user_agent: String,
    /// Maximum number of redirects to follow.
    pub max_redirects: u32,
    /// Whether a request that fails throws an error.
    pub throws: bool,
    /// Whether bodies of responses are discarded unless a request asks for its own.
    pub discards_bodies: bool,
    /// Whether cookies stay from one iteration to the next.
    pub keeps_cookies: bool,
    /// Whether connections are closed after each request.
    pub closes_connections: bool,
    /// Minimum duration of an iteration, ns.
    pub min_iteration_ns: u64,
    /// Requests of a batch that are sent at the same time, over all hosts and per host.
    pub batch: u32,
    pub batch_per_host: u32,
    /// Whether any body of a response may be read. If not, bodies are never kept.
    pub reads_bodies: bool,
    /// Hosts that no request may name, in lower case; `*.` at the start matches any subdomain.
    pub blocked_hosts: Vec<String>,
    /// Networks that no request may reach.
    pub blocked_ranges: Vec<IpRange>,
    /// Where connections to some hosts go instead; the first that matches applies.
    pub hosts: Vec<HostRule>,
    /// Maximum number of requests per second of all users.
    pub requests_per_s: Option<u64>,
    /// Whether requests and responses are logged; with their bodies if true.
    pub logs_http: Option<bool>,
    /// Longest `setup()` and `teardown()`, ns.
    pub setup_timeout_ns: u64,
    pub teardown_timeout_ns: u64,
    /// The consolidated options of the script, as JSON.
    pub options_json: String,
    /// Loops of JavaScript without waiting, in 10,000s, before an iteration is stopped as endless.
    pub budget: u64,
    /// The same in CPU time, ns.
    pub budget_ns: u64,
    /// Memory of one runtime, bytes; an allocation beyond it throws an error. `None`: no limit.
    pub memory_bytes: Option<usize>,
    /// Users that share one runtime.
    pub users_per_pod: usize,
}

impl Settings {
    /// Returns where connections to a target go.
    ///
    /// # Errors
    /// Returns a sentence for TLS, which needs the name of the host for its certificate.
    pub fn mapped(&self, target: &Target) -> Result<Target, String> {
        let host = target.host.to_ascii_lowercase();
        let matches = |rule: &&HostRule| {
            let is_host = match rule.pattern.strip_prefix('*') {
                Some(ending) => host.ends_with(ending),
                None => rule.pattern == host,
            };
            is_host && rule.of_port.is_none_or(|port| port == target.port)
        };
        match self.hosts.iter().find(matches) {
            None => Ok(target.clone()),
            Some(rule) if target.tls => Err(format!(
                "`hosts`: `{}` has a pattern or a port, which is not supported with TLS",
                rule.pattern
            )),
            Some(rule) => Ok(Target {
                host: rule.address.to_string(),
                port: rule.port.unwrap_or(target.port),
                tls: false,
            }),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            isolation: Isolation::default(),
            // The careful assumption.
            is_asynchronous: true,
            scenarios: Vec::new(),
            env: Vec::new(),
            secrets: Vec::new(),
            tags: Vec::new(),
            user_agent: concat!("plimsoll/", env!("CARGO_PKG_VERSION")).to_owned(),
            max_redirects: 10,
            throws: false,
            discards_bodies: false,
            keeps_cookies: false,
            closes_connections: false,
            min_iteration_ns: 0,
            batch: 20,
            batch_per_host: 6,
            reads_bodies: true,
            blocked_hosts: Vec::new(),
            blocked_ranges: Vec::new(),
            hosts: Vec::new(),
            requests_per_s: None,
            logs_http: None,
            setup_timeout_ns: 60_000_000_000,
            teardown_timeout_ns: 60_000_000_000,
            options_json: "{}".to_owned(),
            // Some ten seconds of a busy core.
            budget: 60_000,
            budget_ns: 10_000_000_000,
            memory_bytes: None,
            users_per_pod: 1_000,
        }
    }
}

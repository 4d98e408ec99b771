//! The table of incidents: what is done to the server, how it is loaded, and the cause that is true.

use crate::servers::{self, Event, Server};
use serde_json::Value;

/// A load on a server with which something is wrong on purpose.
pub struct Incident {
    pub name: &'static str,
    pub server: Server,
    pub event: Event,
    /// An experiment; empty: only a command line.
    pub file: &'static str,
    pub arguments: &'static [&'static str],
    /// For the shell that starts the tool.
    pub limit: Option<&'static str>,
    pub expected: &'static str,
    /// Other causes that are true as well.
    pub also: &'static [&'static str],
    /// One of those that run in every push.
    pub is_quick: bool,
}

impl Incident {
    pub fn run(&self) -> Value {
        servers::run(self.server, self.event, self.file, self.arguments, self.limit)
    }

    const fn new(
        name: &'static str,
        expected: &'static str,
        flags: &'static [&'static str],
        arguments: &'static [&'static str],
    ) -> Incident {
        Incident {
            name,
            server: Server::Ruler(flags),
            event: Event::Nothing,
            file: "",
            arguments,
            limit: None,
            expected,
            also: &[],
            is_quick: false,
        }
    }

    const fn of(mut self, server: Server) -> Incident {
        self.server = server;
        self
    }

    const fn then(mut self, event: Event) -> Incident {
        self.event = event;
        self
    }

    const fn file(mut self, file: &'static str) -> Incident {
        self.file = file;
        self
    }

    const fn also(mut self, also: &'static [&'static str]) -> Incident {
        self.also = also;
        self
    }

    const fn quick(mut self) -> Incident {
        self.is_quick = true;
        self
    }

    const fn limit(mut self, limit: &'static str) -> Incident {
        self.limit = Some(limit);
        self
    }
}

const USERS: &[&str] = &["{url}/", "-c", "8", "-d", "2s"];
const SLOW: &[&str] = &["{url}/", "-c", "8", "-d", "3s", "--threshold", "response_time p95 < 60ms"];
const ARRIVALS: &[&str] = &["{url}/", "-r", "300", "-d", "3s", "--threshold", "response_time p95 < 60ms"];
const DYING: &[&str] = &["{url}/", "-c", "8", "-d", "4s", "--timeout", "1s"];
const HANGING: &[&str] = &["{url}/", "-c", "10", "-d", "3s", "--timeout", "400ms"];

const THREE: &str = "target: {url}
scenarios:
  shop:
    - { get: /list, name: list }
    - { get: /item, name: item }
    - { get: '/order?status=404', name: order }
load: { users: 4, duration: 2s }
";
/// The users of one worker run in lockstep and wait for the slow request together. The service does not pause.
const ONE_SLOW: &str = "target: {url}
scenarios:
  shop:
    - { get: /list, name: list }
    - { get: /item, name: item }
    - { get: '/order?delay=150ms', name: order }
load: { users: 4, duration: 3s }
workers: 1
thresholds: [response_time p95 < 60ms]
";
const CHECKED: &str = "target: {url}
scenarios:
  shop:
    - { get: /list, name: list, check: { body: { contains: welcome } } }
load: { users: 4, duration: 2s }
";
const IDLING: &str = "target: {url}
scenarios:
  reader:
    - { get: /a, think: 10ms }
    - { get: /b, think: 10ms }
    - { get: /c, think: 10ms }
    - { get: /d, think: 180ms }
load: { users: 12, duration: 3s }
";
const CALM: &str = "target: {url}
scenarios:
  shop:
    - { get: /list, name: list, think: 20ms }
    - { get: /item, name: item }
    - { get: '/order?status=404', name: order, check: { status: 404 } }
load: { users: 4, duration: 2s }
";

pub const INCIDENTS: &[Incident] = &[
    Incident::new(
        "two fifths get 429",
        "rate_limited",
        &["--error-rate", "0.4", "--error-status", "429"],
        USERS,
    )
    .quick(),
    Incident::new("all get 401", "credentials_rejected", &["--status", "401"], USERS),
    Incident::new("all get 404", "not_found", &["--status", "404"], USERS),
    Incident::new("a quota is used up: 429 from the middle on", "rate_limited", &[], DYING)
        .then(Event::Set("status=429"))
        .quick(),
    Incident::new("a token expires: 401 from the middle on", "credentials_rejected", &[], DYING)
        .then(Event::Set("status=401")),
    Incident::new(
        "a third get 502",
        "upstream_failed",
        &["--error-rate", "0.3", "--error-status", "502"],
        USERS,
    ),
    Incident::new(
        "two workers and a queue of two: 503",
        "server_overloaded",
        &["--workers", "2", "--service", "20ms", "--queue", "2"],
        USERS,
    ),
    Incident::new("a tenth get 500", "server_errors", &["--error-rate", "0.1"], USERS).quick(),
    Incident::new("500s from the middle on, one in five", "server_errors", &[], DYING)
        .then(Event::Set("error_rate=0.2")),
    Incident::new("one request of three fails", "failing_request", &[], &[])
        .file(THREE)
        .also(&["not_found"])
        .quick(),
    Incident::new("one request of three is slow", "slow_request", &[], &[]).file(ONE_SLOW).quick(),
    Incident::new("the server is killed", "service_outage", &[], DYING).then(Event::Signal("KILL")).quick(),
    Incident::new("the server is stopped", "service_outage", &[], DYING).then(Event::Signal("STOP")),
    Incident::new("only 500 from the middle on", "service_outage", &[], DYING)
        .then(Event::Set("status=500"))
        .also(&["server_errors"]),
    Incident::new("no response from the middle on", "service_outage", &[], DYING)
        .then(Event::Set("fault=no_response"))
        .also(&["no_response"]),
    Incident::new(
        "each connection is reset from the middle on",
        "service_outage",
        &[],
        &["{url}/", "-c", "8", "-d", "4s", "--no-keepalive"],
    )
    .then(Event::Set("fault=reset_before"))
    .also(&["connections_closed"]),
    Incident::new(
        "killed in an open run",
        "service_outage",
        &[],
        &["{url}/", "-r", "200", "-d", "4s", "--timeout", "1s"],
    )
    .then(Event::Signal("KILL")),
    Incident::new(
        "one request of two hangs from the middle on",
        "service_outage",
        &[],
        &["{url}/", "{url}/stuck", "-r", "30", "-d", "6s"],
    )
    .of(Server::Node)
    .quick(),
    Incident::new("idle connections are closed", "idle_timeout", &[], &[])
        .of(Server::Idle)
        .file(IDLING)
        .quick(),
    Incident::new(
        "reused connections are reset, not idle",
        "connections_closed",
        &["--fault", "reset_idle_race", "--fault-rate", "0.2"],
        USERS,
    ),
    Incident::new(
        "a tenth are reset",
        "connections_closed",
        &["--fault", "reset_before", "--fault-rate", "0.1"],
        USERS,
    )
    .quick(),
    Incident::new(
        "a tenth end in the middle of the body",
        "truncated_responses",
        &["--fault", "close_mid_body", "--fault-rate", "0.1"],
        USERS,
    ),
    Incident::new(
        "a tenth of the responses are not HTTP",
        "invalid_responses",
        &["--fault", "bad_status_line", "--fault-rate", "0.1"],
        USERS,
    ),
    Incident::new(
        "a twentieth are never answered",
        "no_response",
        &["--delay", "2ms", "--fault", "no_response", "--fault-rate", "0.05"],
        HANGING,
    )
    .quick(),
    Incident::new("five connections and no more", "connection_limit", &["--max-connections", "5"], USERS)
        .also(&["connections_closed"])
        .quick(),
    Incident::new(
        "five connections, the others wait",
        "connection_limit",
        &["--max-connections", "5", "--leave-in-backlog"],
        HANGING,
    )
    .also(&["no_response"]),
    Incident::new(
        "a listen queue of one",
        "listen_queue_full",
        &["--backlog", "1", "--max-connections", "1", "--leave-in-backlog"],
        &["{url}/", "-c", "100", "-d", "5s", "--timeout", "4s"],
    )
    .then(Event::Set("max_connections=0&leave_in_backlog=0")),
    Incident::new("300 ms each", "server_processing", &["--delay", "300ms"], SLOW).quick(),
    Incident::new("half are slow", "bimodal_latency", &["--delay", "bimodal:2ms:150ms:0.5"], SLOW).quick(),
    Incident::new("one in ten is slow", "bimodal_latency", &["--delay", "bimodal:2ms:250ms:0.1"], ARRIVALS),
    Incident::new(
        "collections of garbage, users",
        "service_stalls",
        &["--delay", "1ms", "--pause", "250ms/1s"],
        &["{url}/", "-c", "8", "-d", "3s"],
    )
    .quick(),
    Incident::new(
        "collections of garbage, arrivals",
        "service_stalls",
        &["--delay", "1ms", "--pause", "250ms/1s"],
        ARRIVALS,
    ),
    Incident::new(
        "one pause",
        "service_stalls",
        &["--delay", "1ms", "--pause", "700ms/60s", "--pause-at", "1500ms"],
        &["{url}/", "-c", "8", "-d", "4s"],
    ),
    Incident::new("bodies come in drops", "slow_bodies", &[], SLOW).of(Server::Ruler(&[
        "--fault",
        "drip",
        "--drip-every",
        "1ms",
        "--body",
        "60",
    ])),
    Incident::new(
        "a program that writes slowly",
        "slow_bodies",
        &[],
        &["{url}/slow-body", "-c", "8", "-d", "3s", "--threshold", "response_time p95 < 60ms"],
    )
    .of(Server::Node),
    Incident::new(
        "offered twice the capacity",
        "over_capacity",
        &["--workers", "2", "--service", "10ms", "--queue", "100000"],
        &["{url}/", "-r", "400", "-d", "3s", "--threshold", "response_time p95 < 60ms"],
    ),
    Incident::new(
        "forty users, two workers",
        "queueing",
        &["--workers", "2", "--service", "10ms", "--queue", "1000"],
        &["{url}/", "-c", "40", "-d", "3s", "--threshold", "response_time p95 < 60ms"],
    ),
    Incident::new(
        "an event loop that is full",
        "thread_saturated",
        &[],
        &[
            "{url}/busy",
            "-c",
            "20",
            "-d",
            "4s",
            "--threshold",
            "response_time p95 < 40ms",
            "--monitor",
            "process={pid}",
        ],
    )
    .of(Server::Node),
    Incident::new(
        "the load generator has 40 file descriptors",
        "generator_limit",
        &[],
        &["{url}/", "-c", "100", "-d", "2s"],
    )
    .limit("ulimit -n 40"),
    Incident::new(
        "memory for each request",
        "memory_leak",
        &[],
        &["{url}/leak", "-r", "250", "-d", "7s", "--monitor", "process={pid}"],
    )
    .of(Server::Node),
    Incident::new(
        "the load generator has few connections",
        "client_connection_limit",
        &["--delay", "100ms"],
        &[
            "{url}/",
            "-r",
            "100",
            "--max-connections",
            "4",
            "-d",
            "3s",
            "--threshold",
            "response_time p95 < 150ms",
        ],
    ),
    Incident::new(
        "a server with 64 file descriptors",
        "resource_saturated",
        &[],
        &["{url}/", "-c", "100", "-d", "3s", "--timeout", "1s", "--monitor", "process={pid}"],
    )
    .of(Server::Narrow)
    // Its thread keeps trying to get a file descriptor.
    .also(&["no_response", "connection_limit", "thread_saturated"]),
    Incident::new("a check that fails", "check_failed", &[], &[]).file(CHECKED),
];

pub const HEALTHY: &[Incident] = &[
    Incident::new("healthy: users", "", &[], USERS).quick(),
    Incident::new("healthy: users, 5 ms", "", &["--delay", "5ms"], USERS).quick(),
    Incident::new("healthy: lognormal", "", &["--delay", "lognormal:5ms:0.5"], USERS).quick(),
    Incident::new("healthy: arrivals", "", &["--delay", "3ms"], &["{url}/", "-r", "200", "-d", "2s"]).quick(),
    Incident::new("healthy: slow service", "", &["--delay", "200ms"], USERS),
    Incident::new(
        "healthy: one of two is slow by nature",
        "",
        &[],
        &["{url}/", "{url}/slow", "-r", "20", "-d", "6s", "--threshold", "achieved > 50%"],
    )
    .of(Server::Node),
    Incident::new("healthy: two speeds that are asked for", "", &["--delay", "bimodal:1ms:40ms:0.1"], USERS),
    Incident::new("healthy: a scenario with an expected 404", "", &[], &[]).file(CALM),
    Incident::new("healthy: no keep-alive", "", &[], &["{url}/", "-c", "4", "-d", "2s", "--no-keepalive"]),
    Incident::new("healthy: bodies of 64 KiB", "", &["--body", "64k"], USERS),
    Incident::new(
        "healthy: Node at a tenth",
        "",
        &[],
        &["{url}/", "-r", "100", "-d", "6s", "--monitor", "process={pid}"],
    )
    .of(Server::Node),
];

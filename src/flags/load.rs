//! Flags of a load: the one table for the parser, the help, and the reference page. Values stay text here.

use super::agents::AgentFlags;
use super::connect::ConnectFlags;
use super::page::PageFlag;
use crate::commands::campaign::Again;
use clap::Args;

const LOAD: &str = "Load";
const REQUEST: &str = "Request";
const MONITORING: &str = "Monitoring";
const THRESHOLDS: &str = "Thresholds";
const OUTPUT: &str = "Output";
const SAFETY: &str = "Safety";

#[derive(Debug, Clone, Default, Args)]
pub struct LoadFlags {
    /// Concurrent connections, with one user each unless `--streams` [default: 50]
    #[arg(short = 'c', long, value_name = "N", help_heading = LOAD, allow_negative_numbers = true)]
    pub connections: Option<String>,

    /// Connection limit with `--rate` [default: 1000]
    #[arg(long, value_name = "N", help_heading = LOAD, allow_negative_numbers = true)]
    pub max_connections: Option<String>,

    /// Length of the run, such as `30s` or `5m` [default: 10s]
    #[arg(short = 'd', long, value_name = "DURATION", help_heading = LOAD, allow_negative_numbers = true)]
    pub duration: Option<String>,

    /// Stop after N requests, or at `-d` if you set one, whichever comes first
    #[arg(short = 'n', long, value_name = "N", help_heading = LOAD, allow_negative_numbers = true)]
    pub requests: Option<String>,

    /// Arrivals per second (open model), independent of response times
    #[arg(short = 'r', long, value_name = "RATE", help_heading = LOAD, allow_negative_numbers = true)]
    pub rate: Option<String>,

    /// Distribution of arrivals with `--rate`: `constant` or `poisson` [default: constant]
    #[arg(long, value_name = "KIND", help_heading = LOAD)]
    pub arrivals: Option<String>,

    /// Ramp users (`10s:100,1m:500`) or arrivals (`10s:100/s`) over time; `0s:` jumps
    #[arg(long, value_name = "STAGES", help_heading = LOAD)]
    pub stages: Option<String>,

    /// Exclude the first part of `-d` from the totals; the timeline still shows it
    #[arg(long, value_name = "DURATION", help_heading = LOAD, allow_negative_numbers = true)]
    pub warmup: Option<String>,

    /// Threads of the load generator [default: one per core]
    #[arg(short = 't', long, value_name = "N", help_heading = LOAD, allow_negative_numbers = true)]
    pub workers: Option<String>,

    /// Send part I of N of the load, such as `1/2`; combine the runs with `merge`
    #[arg(long, value_name = "I/N", help_heading = LOAD)]
    pub shard: Option<String>,

    /// Seed for all random choices [default: random, shown in the report]
    #[arg(long, value_name = "N", help_heading = LOAD)]
    pub seed: Option<String>,

    /// Load this origin instead of the file's `target`, such as `http://127.0.0.1:8080`
    // `find` has a positional argument of this name.
    #[arg(id = "origin", long = "target", value_name = "URL", help_heading = REQUEST)]
    pub target: Option<String>,

    /// Request method [default: GET, or POST with a body]
    #[arg(short = 'X', long, value_name = "METHOD", help_heading = REQUEST)]
    pub method: Option<String>,

    /// Request header `Name: value` [repeatable]
    #[arg(short = 'H', long = "header", value_name = "HEADER", help_heading = REQUEST)]
    pub headers: Vec<String>,

    /// Request body: text, or `@file`
    #[arg(short = 'b', long, value_name = "BODY", help_heading = REQUEST, allow_hyphen_values = true)]
    pub body: Option<String>,

    /// Request timeout, measured from when the request is sent [default: 10s]
    #[arg(long, value_name = "DURATION", help_heading = REQUEST, allow_negative_numbers = true)]
    pub timeout: Option<String>,

    /// Send bodies after `100 Continue`, or after this wait without it [default wait: 1s]
    #[arg(long, value_name = "DURATION", help_heading = REQUEST, num_args = 0..=1, require_equals = true,
        default_missing_value = "1s")]
    pub expect_continue: Option<String>,

    /// Follow up to N redirects per request, each counted as a request [default: 0]
    #[arg(long, value_name = "N", help_heading = REQUEST, allow_negative_numbers = true)]
    pub follow: Option<String>,

    /// Trust only the CA certificates in this file (PEM) [repeatable]
    #[arg(long, value_name = "FILE", help_heading = REQUEST)]
    pub ca: Vec<String>,

    /// Do not verify the server's certificate
    #[arg(short = 'k', long, help_heading = REQUEST)]
    pub insecure: bool,

    /// Use HTTP/2: over TLS by ALPN, over plain text by prior knowledge
    #[arg(long, help_heading = REQUEST, conflicts_with = "http1_1")]
    pub http2: bool,

    /// Use HTTP/1.1 even if the server offers HTTP/2 over TLS
    #[arg(long = "http1.1", help_heading = REQUEST)]
    pub http1_1: bool,

    /// Connect through this HTTP, HTTPS, or SOCKS5 proxy, such as `http://127.0.0.1:3128`
    #[arg(long, value_name = "URL", help_heading = REQUEST)]
    pub proxy: Option<String>,

    /// Connect to this Unix domain socket; the URL gives host and path
    #[arg(long, value_name = "PATH", help_heading = REQUEST)]
    pub unix_socket: Option<String>,

    /// Send the PROXY protocol header first on each connection: `v1` or `v2`
    #[arg(long, value_name = "VERSION", help_heading = REQUEST)]
    pub proxy_protocol: Option<String>,

    /// Send from this network interface
    #[arg(long, value_name = "NAME", help_heading = REQUEST)]
    pub interface: Option<String>,

    /// HTTP/2 streams per connection, with one user or arrival each [default: 1]
    #[arg(long, value_name = "N", help_heading = LOAD, allow_negative_numbers = true)]
    pub streams: Option<String>,

    /// Requests in flight on each HTTP/1.1 connection, sent without waiting (pipelining)
    #[arg(long, value_name = "N", help_heading = LOAD, allow_negative_numbers = true, conflicts_with = "streams",
        conflicts_with = "http2")]
    pub pipeline: Option<String>,

    /// Open a new connection for every request
    #[arg(long, help_heading = REQUEST)]
    pub no_keepalive: bool,

    /// Copy response bodies to user space instead of discarding them in the kernel
    #[arg(long, help_heading = REQUEST)]
    pub read_bodies: bool,

    /// Override a variable of the experiment file [repeatable]
    #[arg(long = "set", value_name = "NAME=VALUE", help_heading = REQUEST)]
    pub set: Vec<String>,

    /// Let a script import modules from `https://` addresses, fixed by `plimsoll.lock`
    #[arg(long, help_heading = REQUEST)]
    pub allow_remote: bool,

    /// Record server metrics: `host`, `process=:8080`, `redis=HOST:PORT`, ... [repeatable]
    #[arg(long = "monitor", value_name = "KIND=WHERE", help_heading = MONITORING)]
    pub monitors: Vec<String>,

    /// Rule that the run must meet, such as 'response_time p99 < 250ms' [repeatable]
    #[arg(long = "threshold", value_name = "RULE", help_heading = THRESHOLDS)]
    pub thresholds: Vec<String>,

    /// Edges of the latency buckets [default: 100ms,1s,10s]
    #[arg(long, value_name = "DURATIONS", help_heading = THRESHOLDS)]
    pub buckets: Option<String>,

    /// Name of the run in reports and lists [default: the target]
    #[arg(long, value_name = "NAME", help_heading = OUTPUT)]
    pub name: Option<String>,

    #[command(flatten)]
    pub connect: ConnectFlags,

    #[command(flatten)]
    pub manner: MannerFlags,
}

/// Flags that do not describe the load itself.
#[derive(Debug, Clone, Default, Args)]
pub struct MannerFlags {
    /// Print the result as one JSON document
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Print the full report, including load generator health
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["json", "quiet"])]
    pub full: bool,

    /// Print nothing except errors
    #[arg(short = 'q', long, help_heading = OUTPUT)]
    pub quiet: bool,

    /// Save the run to this new file, for `report` [default: in the state directory]
    #[arg(short = 'o', long, value_name = "FILE", help_heading = OUTPUT)]
    pub out: Option<String>,

    #[command(flatten)]
    pub page: PageFlag,

    /// Also write the thresholds to this file as JUnit XML
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub junit: Option<String>,

    /// Disable colors (also with the variable NO_COLOR)
    #[arg(long, help_heading = OUTPUT)]
    pub no_color: bool,

    /// Read commands from standard input, one JSON object per line, as the console sends them
    #[arg(long, hide = true)]
    pub steered: bool,

    /// Stop with a report when this parent process ends
    #[arg(long, hide = true, value_name = "PID")]
    pub with_parent: Option<u32>,

    /// Report to the agent that started this process
    #[arg(long, hide = true)]
    pub part_of_agent: bool,

    /// This agent, as `NAME` or `NAME,LABEL=VALUE`: its monitors run here
    #[arg(long, hide = true, value_name = "AGENT")]
    pub as_agent: Option<String>,

    /// Run this level of a search
    #[arg(long, hide = true, value_name = "LEVEL")]
    pub search_level: Option<String>,

    #[command(flatten)]
    pub agents: AgentFlags,

    /// Wait up to this long for the service to respond before the run starts
    #[arg(long, value_name = "DURATION", help_heading = SAFETY, allow_negative_numbers = true)]
    pub wait_for_ready: Option<String>,

    /// Do not trust the experiment: it may use no programs and no environment variables, and only files in these
    /// folders [repeatable]
    #[arg(long, hide = true, value_name = "DIR")]
    pub keep_to: Vec<String>,

    /// Confirm that you may load this public host [repeatable]
    #[arg(long, value_name = "HOST", help_heading = SAFETY)]
    pub allow: Vec<String>,

    /// Allow PASS for a run stopped early if it met its thresholds until then
    #[arg(long, help_heading = SAFETY)]
    pub stop_early_ok: bool,

    /// Keep raising the load even if more than half of the requests fail for 10 s
    #[arg(long, help_heading = SAFETY)]
    pub no_circuit_breaker: bool,

    /// Change a limit of the load generator, such as `head_bytes=128k` [repeatable]
    #[arg(long = "limit", value_name = "NAME=VALUE", help_heading = SAFETY)]
    pub limits: Vec<String>,

    /// Command line with which another process makes the same plans.
    #[arg(skip)]
    pub command: Option<Again>,

    /// Load origins that accept no connection, as some other tools do.
    #[arg(skip)]
    pub loads_unreachable: bool,
}

impl LoadFlags {
    /// Returns the same flags as command-line words, for another process that runs a part of the same load. Leaves
    /// out what differs between processes: the output flags, the shard, and the seed.
    pub fn words(&self) -> Vec<String> {
        // Destructured, so that a new flag does not compile until it is listed here.
        let LoadFlags {
            connections,
            max_connections,
            duration,
            requests,
            rate,
            arrivals,
            stages,
            warmup,
            workers,
            shard: _,
            seed: _,
            expect_continue,
            follow,
            target,
            headers,
            name,
            method,
            body,
            timeout,
            ca,
            insecure,
            http2,
            http1_1,
            proxy,
            unix_socket,
            proxy_protocol,
            interface,
            streams,
            pipeline,
            no_keepalive,
            read_bodies,
            set,
            allow_remote,
            monitors,
            thresholds,
            buckets,
            connect,
            manner:
                MannerFlags {
                    json: _,
                    full: _,
                    quiet: _,
                    out: _,
                    page: _,
                    junit: _,
                    wait_for_ready,
                    no_color: _,
                    steered: _,
                    with_parent: _,
                    part_of_agent: _,
                    as_agent: _,
                    search_level: _,
                    agents: _,
                    command: _,
                    loads_unreachable: _,
                    keep_to,
                    allow,
                    stop_early_ok,
                    no_circuit_breaker,
                    limits,
                },
        } = self;
        let single = [
            ("connections", connections),
            ("max-connections", max_connections),
            ("duration", duration),
            ("requests", requests),
            ("rate", rate),
            ("arrivals", arrivals),
            ("stages", stages),
            ("warmup", warmup),
            ("workers", workers),
            ("expect-continue", expect_continue),
            ("follow", follow),
            ("proxy", proxy),
            ("unix-socket", unix_socket),
            ("proxy-protocol", proxy_protocol),
            ("interface", interface),
            ("streams", streams),
            ("pipeline", pipeline),
            ("wait-for-ready", wait_for_ready),
            ("target", target),
            ("name", name),
            ("method", method),
            ("body", body),
            ("timeout", timeout),
            ("buckets", buckets),
        ];
        let lists = [
            ("header", headers),
            ("ca", ca),
            ("set", set),
            ("monitor", monitors),
            ("threshold", thresholds),
            ("allow", allow),
            ("keep-to", keep_to),
            ("limit", limits),
        ];
        let switches = [
            ("insecure", insecure),
            ("http2", http2),
            ("http1.1", http1_1),
            ("no-keepalive", no_keepalive),
            ("read-bodies", read_bodies),
            ("allow-remote", allow_remote),
            ("stop-early-ok", stop_early_ok),
            ("no-circuit-breaker", no_circuit_breaker),
        ];
        // One word per flag, because a value may begin with a dash.
        let word = |name: &str, value: &String| format!("--{name}={value}");
        let single = single.iter().filter_map(|(name, value)| Some(word(name, value.as_ref()?)));
        let connect = connect.single().into_iter().map(|(name, value)| word(name, value));
        let lists = lists.iter().flat_map(|(name, all)| all.iter().map(move |value| word(name, value)));
        let switches = switches.iter().filter(|(_, on)| **on).map(|(name, _)| format!("--{name}"));
        single.chain(connect).chain(lists).chain(switches).collect()
    }
}

//! The flags of a load: the one table from which parser, help and reference page are made. Values are text
//! here.

use super::page::PageFlag;
use clap::Args;

const LOAD: &str = "Load";
const REQUEST: &str = "Request";
const WATCHING: &str = "Watching";
const JUDGEMENT: &str = "Judgement";
const OUTPUT: &str = "Output";
const SAFETY: &str = "Safety";

#[derive(Debug, Clone, Default, Args)]
pub struct LoadFlags {
    /// Concurrent connections, one user each [50]
    #[arg(short = 'c', long, value_name = "N", help_heading = LOAD, allow_negative_numbers = true)]
    pub connections: Option<String>,

    /// Connection limit with `--rate` [1000]
    #[arg(long, value_name = "N", help_heading = LOAD, allow_negative_numbers = true)]
    pub max_connections: Option<String>,

    /// Length of the run, such as `30s` or `5m` [10s]
    #[arg(short = 'd', long, value_name = "DURATION", help_heading = LOAD, allow_negative_numbers = true)]
    pub duration: Option<String>,

    /// Requests in all; with -d the run stops at whichever comes first
    #[arg(short = 'n', long, value_name = "N", help_heading = LOAD, allow_negative_numbers = true)]
    pub requests: Option<String>,

    /// Open model: arrivals per second, whether or not earlier ones were answered
    #[arg(short = 'r', long, value_name = "RATE", help_heading = LOAD, allow_negative_numbers = true)]
    pub rate: Option<String>,

    /// How arrivals are spread: `constant` or `poisson` [constant]
    #[arg(long, value_name = "KIND", help_heading = LOAD)]
    pub arrivals: Option<String>,

    /// Users over time, `10s:100,1m:500,0s:50`: to 100 within 10 s, and so on; 0s jumps. `100/s` for arrivals
    #[arg(long, value_name = "STAGES", help_heading = LOAD)]
    pub stages: Option<String>,

    /// Kept in the timeline, left out of the totals
    #[arg(long, value_name = "DURATION", help_heading = LOAD, allow_negative_numbers = true)]
    pub warmup: Option<String>,

    /// Threads of the load generator (never users) [the cores]
    #[arg(short = 't', long, value_name = "N", help_heading = LOAD, allow_negative_numbers = true)]
    pub workers: Option<String>,

    /// This machine's part of the schedule: `1/2` here, `2/2` on the other; add up with `merge`
    #[arg(long, value_name = "I/N", help_heading = LOAD)]
    pub shard: Option<String>,

    /// Seed of everything random [a new one; the report names it]
    #[arg(long, value_name = "N", help_heading = LOAD)]
    pub seed: Option<String>,

    /// Follow up to N redirects of a request to what the run loads, each as a request of its own [0]
    #[arg(long, value_name = "N", help_heading = REQUEST, allow_negative_numbers = true)]
    pub follow: Option<String>,

    /// Load this origin instead of the file's `target`, such as `http://127.0.0.1:8080`
    // `find` has a positional argument of this name.
    #[arg(id = "origin", long = "target", value_name = "URL", help_heading = REQUEST)]
    pub target: Option<String>,

    /// Header `Name: value`; repeatable
    #[arg(short = 'H', long = "header", value_name = "HEADER", help_heading = REQUEST)]
    pub headers: Vec<String>,

    /// Name of the run, for its report and lists of runs [the target]
    #[arg(long, value_name = "NAME", help_heading = OUTPUT)]
    pub name: Option<String>,

    /// Method [GET; with a body POST]
    #[arg(short = 'X', long, value_name = "METHOD", help_heading = REQUEST)]
    pub method: Option<String>,

    /// Body: text, or `@file`
    #[arg(short = 'b', long, value_name = "BODY", help_heading = REQUEST, allow_hyphen_values = true)]
    pub body: Option<String>,

    /// Longest wait for an answer, from the send [10s]
    #[arg(long, value_name = "DURATION", help_heading = REQUEST, allow_negative_numbers = true)]
    pub timeout: Option<String>,

    /// Trust the certificates of this file (PEM) and no other; repeatable
    #[arg(long, value_name = "FILE", help_heading = REQUEST)]
    pub ca: Vec<String>,

    /// Do not verify the server's certificate
    #[arg(short = 'k', long, help_heading = REQUEST)]
    pub insecure: bool,

    /// A new connection for every request
    #[arg(long, help_heading = REQUEST)]
    pub no_keepalive: bool,

    /// Copy every body out of the kernel instead of letting it throw them away
    #[arg(long, help_heading = REQUEST)]
    pub read_bodies: bool,

    /// Give a variable of the experiment file another value; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE", help_heading = REQUEST)]
    pub set: Vec<String>,

    /// Watch a part of the system beside the load: `host`, `process=:8080`, `redis=127.0.0.1:6379` and others;
    /// repeatable
    #[arg(long = "monitor", value_name = "KIND=WHERE", help_heading = WATCHING)]
    pub monitors: Vec<String>,

    /// Condition to meet, such as 'response_time p99 < 250ms'; repeatable. Until one names `error_rate`,
    /// `error_rate == 0%` holds; so does `longest_outage < 1s`, and with a rate `achieved >= 99%`
    #[arg(long = "threshold", value_name = "RULE", help_heading = JUDGEMENT)]
    pub thresholds: Vec<String>,

    /// Edges of the latency buckets [100ms,1s,10s]
    #[arg(long, value_name = "DURATIONS", help_heading = JUDGEMENT)]
    pub buckets: Option<String>,

    #[command(flatten)]
    pub manner: MannerFlags,
}

/// Flags that say nothing about the load itself.
#[derive(Debug, Clone, Default, Args)]
pub struct MannerFlags {
    /// Print the result as one JSON document
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Print all details of the report, load generator health included
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["json", "quiet"])]
    pub full: bool,

    /// Print nothing unless something is wrong
    #[arg(short = 'q', long, help_heading = OUTPUT)]
    pub quiet: bool,

    /// Where the run file goes; must not exist yet [a new file under the state directory]
    #[arg(short = 'o', long, value_name = "FILE", help_heading = OUTPUT)]
    pub out: Option<String>,

    #[command(flatten)]
    pub page: PageFlag,

    /// Also write the thresholds as JUnit XML here
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub junit: Option<String>,

    /// No colours (also: the variable NO_COLOR)
    #[arg(long, help_heading = OUTPUT)]
    pub no_color: bool,

    /// Take commands from standard input, one JSON object a line: what a console starts its runs with
    #[arg(long, hide = true)]
    pub steered: bool,

    /// End, with a report, when the process of this number, which started this one, ends
    #[arg(long, hide = true, value_name = "PID")]
    pub with_parent: Option<u32>,

    /// Wait up to this long until the service answers, then start the run
    #[arg(long, value_name = "DURATION", help_heading = SAFETY, allow_negative_numbers = true)]
    pub wait_for_ready: Option<String>,

    /// The experiment is a stranger's: it names no program, no variable of the environment, and
    /// no files but those in these folders; repeatable
    #[arg(long, hide = true, value_name = "DIR")]
    pub keep_to: Vec<String>,

    /// A public host that you own or may load; repeatable
    #[arg(long, value_name = "HOST", help_heading = SAFETY)]
    pub allow: Vec<String>,

    /// A run that is stopped early passes if its thresholds are met so far
    #[arg(long, help_heading = SAFETY)]
    pub stop_early_ok: bool,

    /// Do not stop a ramp that has only made errors for 10 s
    #[arg(long, help_heading = SAFETY)]
    pub no_circuit_breaker: bool,

    /// Change one of the generator's limits, such as `head_bytes=128k`; repeatable
    #[arg(long = "limit", value_name = "NAME=VALUE", help_heading = SAFETY)]
    pub limits: Vec<String>,
}

impl LoadFlags {
    /// The same flags as words of a command line, for a process that is to do a part of the same: without those that
    /// say where results go, whose part of the load it is, and the seed, which differ from process to process.
    pub fn words(&self) -> Vec<String> {
        // Taken apart, so that a flag that is added cannot be forgotten here.
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
            follow,
            target,
            headers,
            name,
            method,
            body,
            timeout,
            ca,
            insecure,
            no_keepalive,
            read_bodies,
            set,
            monitors,
            thresholds,
            buckets,
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
            ("follow", follow),
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
            ("no-keepalive", no_keepalive),
            ("read-bodies", read_bodies),
            ("stop-early-ok", stop_early_ok),
            ("no-circuit-breaker", no_circuit_breaker),
        ];
        // In one word, because a value may begin with a dash.
        let word = |name: &str, value: &String| format!("--{name}={value}");
        let single = single.iter().filter_map(|(name, value)| Some(word(name, value.as_ref()?)));
        let lists = lists.iter().flat_map(|(name, all)| all.iter().map(move |value| word(name, value)));
        let switches = switches.iter().filter(|(_, on)| **on).map(|(name, _)| format!("--{name}"));
        single.chain(lists).chain(switches).collect()
    }
}

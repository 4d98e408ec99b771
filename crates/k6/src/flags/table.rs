//! The table of flags and variables.

/// How a flag takes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No value, or `=false`.
    Switch,
    /// A value, after `=` or as the next word.
    Value,
    /// A value only after `=`, with a default.
    Optional(&'static str),
    /// A flag of k6 that is refused, with advice.
    Unsupported(&'static str),
}

/// A flag of `k6 run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// The name without hyphens.
    pub long: &'static str,
    pub short: Option<char>,
    pub kind: Kind,
    /// The variable that sets the same.
    pub variable: Option<&'static str>,
    pub help: &'static str,
}

impl Flag {
    /// Returns whether `k6 inspect` has the flag.
    pub fn is_of_inspect(&self) -> bool {
        super::GLOBAL.contains(&self.long)
            || matches!(
                self.long,
                "include-system-env-vars"
                    | "compatibility-mode"
                    | "type"
                    | "env"
                    | "no-thresholds"
                    | "summary-mode"
                    | "summary-export"
                    | "new-machine-readable-summary"
                    | "traces-output"
            )
    }

    /// Returns whether the flag is about logs and results, not about the load.
    pub fn is_about_results(&self) -> bool {
        matches!(
            self.long,
            "console-output"
                | "out"
                | "summary-export"
                | "summary-mode"
                | "no-summary"
                | "quiet"
                | "no-color"
                | "log-output"
                | "log-format"
                | "no-usage-report"
        )
    }
}

const fn row(
    long: &'static str,
    short: Option<char>,
    kind: Kind,
    variable: Option<&'static str>,
    help: &'static str,
) -> Flag {
    Flag { long, short, kind, variable, help }
}

use Kind::{Optional, Switch, Unsupported, Value};

/// All flags.
pub const FLAGS: &[Flag] = &[
    row("vus", Some('u'), Value, Some("K6_VUS"), "Number of users"),
    row("duration", Some('d'), Value, Some("K6_DURATION"), "Duration of the test"),
    row("iterations", Some('i'), Value, Some("K6_ITERATIONS"), "Iterations of all users together"),
    row("stage", Some('s'), Value, Some("K6_STAGES"), "Stage of a ramp, as DURATION:USERS [repeatable]"),
    row("execution-segment", None, Value, None, "Part of the load on this machine, such as 0:1/4"),
    row("execution-segment-sequence", None, Value, None, "All parts, such as 0,1/2,1"),
    row("no-setup", None, Switch, Some("K6_NO_SETUP"), "Skip setup()"),
    row("no-teardown", None, Switch, Some("K6_NO_TEARDOWN"), "Skip teardown()"),
    row("no-thresholds", None, Switch, Some("K6_NO_THRESHOLDS"), "Do not evaluate thresholds"),
    row("max-redirects", None, Value, Some("K6_MAX_REDIRECTS"), "Maximum number of redirects [default: 10]"),
    row("batch", None, Value, Some("K6_BATCH"), "Parallel requests of a batch [default: 20]"),
    row("batch-per-host", None, Value, Some("K6_BATCH_PER_HOST"), "The same for each host [default: 6]"),
    row("rps", None, Value, Some("K6_RPS"), "Maximum number of requests per second of all users"),
    row("user-agent", None, Value, Some("K6_USER_AGENT"), "Value of the header User-Agent"),
    row("http-debug", None, Optional("headers"), Some("K6_HTTP_DEBUG"), "Log requests: headers or full"),
    row(
        "insecure-skip-tls-verify",
        None,
        Switch,
        Some("K6_INSECURE_SKIP_TLS_VERIFY"),
        "Accept any certificate",
    ),
    row("no-connection-reuse", None, Switch, Some("K6_NO_CONNECTION_REUSE"), "One request per connection"),
    row(
        "no-vu-connection-reuse",
        None,
        Switch,
        Some("K6_NO_VU_CONNECTION_REUSE"),
        "New connections in each iteration",
    ),
    row("min-iteration-duration", None, Value, Some("K6_MIN_ITERATION_DURATION"), "Shortest iteration"),
    row("throw", Some('w'), Switch, Some("K6_THROW"), "Throw if a request fails"),
    row("blacklist-ip", None, Value, Some("K6_BLACKLIST_IPS"), "Networks that are not reached [repeatable]"),
    row(
        "block-hostnames",
        None,
        Value,
        Some("K6_BLOCK_HOSTNAMES"),
        "Hosts that are not reached [repeatable]",
    ),
    row(
        "summary-trend-stats",
        None,
        Value,
        Some("K6_SUMMARY_TREND_STATS"),
        "Statistics of trends, such as avg,p(95)",
    ),
    row("summary-time-unit", None, Value, Some("K6_SUMMARY_TIME_UNIT"), "Unit of times: s, ms, or us"),
    row("system-tags", None, Value, Some("K6_SYSTEM_TAGS"), "System tags of samples"),
    row("tag", None, Value, Some("K6_TAGS"), "Tag of all samples, as NAME=VALUE [repeatable]"),
    row("console-output", None, Value, Some("K6_CONSOLE_OUTPUT"), "File for console.log"),
    row(
        "discard-response-bodies",
        None,
        Switch,
        Some("K6_DISCARD_RESPONSE_BODIES"),
        "Discard response bodies unless a request asks for them",
    ),
    row("local-ips", None, Value, Some("K6_LOCAL_IPS"), "Local addresses of connections"),
    row("dns", None, Value, Some("K6_DNS"), "Lookups, such as ttl=1m,select=roundRobin"),
    row("env", Some('e'), Value, None, "Entry of __ENV, as NAME=VALUE [repeatable]"),
    row(
        "include-system-env-vars",
        None,
        Switch,
        Some("K6_INCLUDE_SYSTEM_ENV_VARS"),
        "Pass system variables to the script [default: true]",
    ),
    row(
        "secret-source",
        None,
        Value,
        Some("K6_SECRET_SOURCE"),
        "Secrets of a script: file=FILE or mock=NAME=VALUE,... [repeatable]",
    ),
    row("out", Some('o'), Value, Some("K6_OUT"), "Output, such as json=FILE [repeatable]"),
    row("summary-export", None, Value, Some("K6_SUMMARY_EXPORT"), "File for the summary as JSON"),
    row("summary-mode", None, Value, Some("K6_SUMMARY_MODE"), "Summary: compact, full, legacy, or disabled"),
    row("no-summary", None, Switch, Some("K6_NO_SUMMARY"), "No summary at the end"),
    row("config", Some('c'), Value, Some("K6_CONFIG"), "Configuration file"),
    row("quiet", Some('q'), Switch, None, "No progress"),
    row("verbose", Some('v'), Switch, None, "Debug messages"),
    row("no-color", None, Switch, Some("K6_NO_COLOR"), "No colors"),
    row("log-output", None, Value, Some("K6_LOG_OUTPUT"), "Logs: stderr, stdout, none, or file=PATH"),
    row("log-format", None, Value, Some("K6_LOG_FORMAT"), "Format of logs: text, json, or raw"),
    row(
        "no-usage-report",
        None,
        Switch,
        Some("K6_NO_USAGE_REPORT"),
        "Without effect: plimsoll never reports usage",
    ),
    row(
        "compatibility-mode",
        None,
        Value,
        Some("K6_COMPATIBILITY_MODE"),
        "Without effect: scripts run as in `extended`",
    ),
    row(
        "paused",
        Some('p'),
        Unsupported("start the run from `plimsoll serve`, which can pause it"),
        Some("K6_PAUSED"),
        "Start paused",
    ),
    row(
        "address",
        Some('a'),
        Unsupported("steer a run with `plimsoll serve`"),
        Some("K6_ADDRESS"),
        "REST API",
    ),
    row(
        "linger",
        Some('l'),
        Unsupported("plimsoll has no REST API to keep open"),
        Some("K6_LINGER"),
        "Keep the REST API open",
    ),
    row(
        "profiling-enabled",
        None,
        Unsupported("use `perf` on the process"),
        Some("K6_PROFILING_ENABLED"),
        "Profiling",
    ),
    row(
        "traces-output",
        None,
        Unsupported("write traces with the script"),
        Some("K6_TRACES_OUTPUT"),
        "Traces",
    ),
    row(
        "new-machine-readable-summary",
        None,
        Unsupported("use `--summary-export`, which has the usual format"),
        Some("K6_NEW_MACHINE_READABLE_SUMMARY"),
        "Another format of the summary",
    ),
    row("js-profiling-enabled", None, Unsupported("use `perf` on the process"), None, "Profiling"),
    row("js-profiling-scope", None, Unsupported("use `perf` on the process"), None, "Profiling"),
    row("js-cpu-profile-output", None, Unsupported("use `perf` on the process"), None, "Profiling"),
    row("js-runtime-trace-output", None, Unsupported("use `perf` on the process"), None, "Profiling"),
    row("js-profile-id", None, Unsupported("use `perf` on the process"), None, "Profiling"),
    row(
        "type",
        Some('t'),
        Unsupported("plimsoll goes by the name of the file: an archive ends with `.tar`"),
        Some("K6_TYPE"),
        "Type of the file",
    ),
];

/// Returns the flag of this name.
pub(super) fn long(name: &str) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.long == name)
}

/// Returns the flag of this letter.
pub(super) fn short(letter: char) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.short == Some(letter))
}

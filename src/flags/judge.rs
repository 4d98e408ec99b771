//! Commands that answer questions: capacity, comparison, audit, and sizing.

use super::load::LoadFlags;
use super::page::PageFlag;
use clap::Parser;

/// `plimsoll find`.
#[derive(Debug, Parser)]
#[command(
    about = "Find the highest load that meets the thresholds. The search rises in geometric steps, narrows the \
             interval, and confirms the result by repeated runs. With --step it climbs a staircase until --stop-when. \
             The search sets the rate or the users and the length of each step, so -r, -c, -d, and -n do not apply. \
             Rerun the same command to resume a search with --out.",
    override_usage = "plimsoll find URL|FILE.yaml|SCRIPT.js [FLAGS]\n\nExamples:\n  \
                      plimsoll find http://127.0.0.1:8080/pick --threshold 'response_time p99 < 250ms'\n  \
                      plimsoll find checkout.yaml --vary users --max-time 10m --out capacity",
    mut_args(of_search)
)]
pub struct Find {
    /// URL, experiment file, or k6 script
    #[arg(value_name = "URL|FILE", required = true)]
    pub target: Option<String>,
    #[command(flatten)]
    pub search: SearchFlags,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub flags: LoadFlags,
}

/// Hides the load flags that a search refuses, and describes `--out` for many runs.
fn of_search(arg: clap::Arg) -> clap::Arg {
    const REFUSED: [&str; 9] =
        ["connections", "duration", "requests", "rate", "stages", "warmup", "shard", "junit", "full"];
    match arg.get_id().as_str() {
        "out" => arg
            .value_name("DIR")
            .help("Directory of the search's runs, new or to resume [default: in the state directory]"),
        "max_connections" => arg.help("Connection limit with `--vary rate` [default: 1000]"),
        "arrivals" => arg.help("Distribution of arrivals: `constant` or `poisson` [default: constant]"),
        id if REFUSED.contains(&id) => arg.hide(true),
        _ => arg,
    }
}

const SEARCH: &str = "Search";

/// Parameters of a search.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SearchFlags {
    /// What to vary: `rate` (arrivals per second) or `users` (closed model) [default: rate]
    #[arg(long, value_name = "KIND", help_heading = SEARCH)]
    pub vary: Option<String>,
    /// First level, such as `100/s` [default: estimated from unloaded response times]
    #[arg(long, value_name = "LEVEL", help_heading = SEARCH, allow_negative_numbers = true)]
    pub from: Option<String>,
    /// Highest level to try
    #[arg(long, value_name = "LEVEL", help_heading = SEARCH, allow_negative_numbers = true)]
    pub to: Option<String>,
    /// Climb a staircase, multiplying or adding each time, such as `x1.10` or `+50`
    #[arg(long, value_name = "STEP", help_heading = SEARCH, allow_hyphen_values = true)]
    pub step: Option<String>,
    /// Length of a full step [default: as long as the thresholds require]
    #[arg(long, value_name = "DURATION", help_heading = SEARCH, allow_negative_numbers = true)]
    pub step_duration: Option<String>,
    /// End of a staircase, such as `offered - achieved >= 50/s` [default: a
    /// threshold is missed]
    #[arg(long, value_name = "RULE", help_heading = SEARCH)]
    pub stop_when: Option<String>,
    /// Half width of the interval to reach, relative to the result [default: 2%]
    #[arg(long, value_name = "PERCENT", help_heading = SEARCH, allow_negative_numbers = true)]
    pub precision: Option<String>,
    /// Stop after this long and report the interval found so far [default: 5m]
    #[arg(long, value_name = "DURATION", help_heading = SEARCH, allow_negative_numbers = true)]
    pub max_time: Option<String>,
    /// Confirming rounds of three runs: below, at, and above the result [default: 2]
    #[arg(long, value_name = "N", help_heading = SEARCH, allow_negative_numbers = true)]
    pub confirm: Option<String>,
}

/// Format of a printed result; `--json` and `--no-color` are among the load's flags.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Form {
    /// Print Markdown, for pull requests and READMEs
    #[arg(long, help_heading = "Output", conflicts_with_all = ["json", "csv"])]
    pub markdown: bool,
    /// Print CSV, one line per step or combination
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub csv: bool,
}

/// `plimsoll compare`.
#[derive(Debug, Parser)]
#[command(
    about = "Compare two runs, two directories of repeats, or a run with a baseline. Reports differences with \
             confidence intervals. Exits with 99 if a gate is missed, and with 3 if the result is inconclusive.",
    override_usage = "plimsoll compare A B [FLAGS]\n       plimsoll compare DIR [FLAGS]\n       \
                      plimsoll compare B --baseline NAME\n       plimsoll compare A --save NAME\n\nExamples:\n  \
                      plimsoll compare before.plim after.plim\n  \
                      plimsoll compare after.plim --baseline main --gate 'response_time p99 < +5%'"
)]
pub struct Compare {
    /// Run files or directories of runs; a single directory is compared by variant
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Smallest difference to report [default: 5%]
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    pub min_difference: Option<String>,
    /// Percentiles to compare [default: p50,p90,p99]
    #[arg(long, value_name = "LIST")]
    pub percentiles: Option<String>,
    /// Rule, such as 'throughput > -3%' [repeatable] [default: no metric over 5% worse]
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    pub gate: Vec<String>,
    /// Compare with this baseline: its name or the path of its file
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Save these runs as a baseline with this name
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["baseline", "gate", "junit", "json", "markdown", "github", "template"]
    )]
    pub save: Option<String>,
    /// Directory of baselines
    #[arg(long, value_name = "DIR", default_value = "baselines")]
    pub baseline_dir: String,
    /// Print one JSON document
    #[arg(long, group = "form")]
    pub json: bool,
    /// Print Markdown, for a pull request
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// Print Markdown with collapsed details, for a CI job summary
    #[arg(long, group = "form")]
    pub github: bool,
    /// Fill in this template: replace `{{ key }}` with that key's value from `--json`
    #[arg(long, value_name = "FILE", group = "form")]
    pub template: Option<String>,
    #[command(flatten)]
    pub page: PageFlag,
    /// Also write the result to this file as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<String>,
    /// Seed for the resampling that gives the confidence intervals [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// Disable colors (also with the variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// `plimsoll audit`.
#[derive(Debug, Parser)]
#[command(
    about = "Check published results for impossible, implausible, and missing numbers, and show the arithmetic. Reads \
             the output of wrk, ab, k6, loadtest, JMeter, hey, oha, Vegeta, autocannon, bombardier, siege, h2load, \
             Gatling, Locust, Artillery, rewrk, and ghz, and tables in Markdown or CSV. Exits with 99 if a number is \
             impossible, and with 0 if numbers are only implausible or missing.",
    override_usage = "plimsoll audit FILE ... [FLAGS]\n\nExamples:\n  plimsoll audit README.md\n  \
                      wrk -t2 -c100 http://127.0.0.1:8080/ | plimsoll audit -"
)]
pub struct Audit {
    /// Files to audit as one set; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
    /// Print one JSON document
    #[arg(long, group = "form")]
    pub json: bool,
    /// Print Markdown, for a review
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// Fill in this template: replace `{{ key }}` with that key's value from `--json`
    #[arg(long, value_name = "FILE", group = "form")]
    pub template: Option<String>,
    #[command(flatten)]
    pub page: PageFlag,
    /// Disable colors (also with the variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// `plimsoll size`.
#[derive(Debug, Parser)]
#[command(
    about = "Convert visitors to concurrent users and requests per second, or back, by Little's law, and show every \
             step of the calculation.",
    override_usage = "plimsoll size [FLAGS]\n\nExamples:\n  \
                      plimsoll size --visitors 100000/month --session 5min --active 12h\n  \
                      plimsoll size --users 100 --think 8s --response 300ms\n  \
                      plimsoll size --rate 50/s --pages 6 --active 12h"
)]
pub struct Size {
    /// Visitors per hour, day, week, or month, such as `100000/month`
    #[arg(long, value_name = "N/PERIOD")]
    pub visitors: Option<String>,
    /// Duration of a visit
    #[arg(long, value_name = "DURATION")]
    pub session: Option<String>,
    /// Hours per day in which visitors come [default: 24h]
    #[arg(long, value_name = "DURATION")]
    pub active: Option<String>,
    /// Ratio of the busiest moment to the mean [default: 1]
    #[arg(long, value_name = "FACTOR")]
    pub peak: Option<String>,
    /// Think time of a user between two requests
    #[arg(long, value_name = "DURATION")]
    pub think: Option<String>,
    /// Requests per visit
    #[arg(long, value_name = "N")]
    pub pages: Option<String>,
    /// Response time
    #[arg(long, value_name = "DURATION")]
    pub response: Option<String>,
    /// Concurrent users
    #[arg(long, value_name = "N")]
    pub users: Option<String>,
    /// Requests per second
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Disable colors (also with the variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

//! The commands that answer questions: how much can it carry, is B better than A, can this be true, how many users are
//! so many visitors.

use super::load::LoadFlags;
use super::page::PageFlag;
use clap::Parser;

/// `plimsoll find`.
#[derive(Debug, Parser)]
#[command(
    about = "Searches the highest load that meets the thresholds: goes up in geometric steps, narrows down, and \
             confirms the answer by repeats at, below and above it. With --step it climbs a ladder instead, until the \
             rule of --stop-when. Named twice with the same --out it goes on where it was stopped.",
    override_usage = "plimsoll find URL|FILE.yaml --threshold RULE [FLAGS]"
)]
pub struct Find {
    /// A URL, or an experiment file
    #[arg(value_name = "URL|FILE")]
    pub target: Option<String>,
    #[command(flatten)]
    pub search: SearchFlags,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub flags: LoadFlags,
}

const SEARCH: &str = "Search";

/// How the search goes.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SearchFlags {
    /// What is varied: `rate` (arrivals per second) or `users` (closed model) [rate]
    #[arg(long, value_name = "KIND", help_heading = SEARCH)]
    pub vary: Option<String>,
    /// First level, such as `100/s` [from the time of an unloaded answer]
    #[arg(long, value_name = "LEVEL", help_heading = SEARCH, allow_negative_numbers = true)]
    pub from: Option<String>,
    /// Never above this level
    #[arg(long, value_name = "LEVEL", help_heading = SEARCH, allow_negative_numbers = true)]
    pub to: Option<String>,
    /// A ladder: each level is the one before times or plus this, such as `x1.10` or `+50`
    #[arg(long, value_name = "STEP", help_heading = SEARCH, allow_hyphen_values = true)]
    pub step: Option<String>,
    /// Length of a full step [as the thresholds need it]
    #[arg(long, value_name = "DURATION", help_heading = SEARCH, allow_negative_numbers = true)]
    pub step_duration: Option<String>,
    /// What ends a ladder: `missed` (a threshold), `offered - achieved >= 50/s`, `socket_errors > 0` [missed]
    #[arg(long, value_name = "RULE", help_heading = SEARCH)]
    pub stop_when: Option<String>,
    /// Half width of the interval that is searched for [2%]
    #[arg(long, value_name = "PERCENT", help_heading = SEARCH, allow_negative_numbers = true)]
    pub precision: Option<String>,
    /// After so long a search answers with the interval that it has by then [5m]
    #[arg(long, value_name = "DURATION", help_heading = SEARCH, allow_negative_numbers = true)]
    pub max_time: Option<String>,
    /// Repeats at each of below, at and above the answer [2]
    #[arg(long, value_name = "N", help_heading = SEARCH, allow_negative_numbers = true)]
    pub confirm: Option<String>,
}

/// How an answer is printed; `--json` and `--no-color` stand among the load's own flags.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Form {
    /// Markdown, for pull requests and READMEs
    #[arg(long, help_heading = "Output", conflicts_with_all = ["json", "csv"])]
    pub markdown: bool,
    /// One line per step or cell
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub csv: bool,
}

/// `plimsoll compare`.
#[derive(Debug, Parser)]
#[command(
    about = "Compares two runs, two folders of repeats, or a run with a baseline: differences with intervals, and a \
             verdict that may be `cannot tell`. Ends with 99 when the gate is missed, with 3 when nobody can tell.",
    override_usage = "plimsoll compare A B [FLAGS]\n       plimsoll compare DIR [FLAGS]\n       \
                      plimsoll compare B --baseline NAME\n       plimsoll compare A --save NAME"
)]
pub struct Compare {
    /// Run files or folders of runs; one folder alone is compared variant by variant
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Smallest difference worth naming [5%]
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    pub min_difference: Option<String>,
    /// Percentiles to compare, such as `p50,p99` [p50,p90,p99]
    #[arg(long, value_name = "LIST")]
    pub percentiles: Option<String>,
    /// What must hold, such as 'response_time p99 < +5%' or 'throughput > -3%'; repeatable [nothing slower by more than
    /// `--min-difference`]
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    pub gate: Vec<String>,
    /// Compare with this baseline: a name, or the path of its file
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Keep these runs as a baseline under this name
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["baseline", "gate", "junit", "json", "markdown", "github", "template"]
    )]
    pub save: Option<String>,
    /// Where baselines lie
    #[arg(long, value_name = "DIR", default_value = "baselines")]
    pub baseline_dir: String,
    /// One JSON document
    #[arg(long, group = "form")]
    pub json: bool,
    /// Markdown, for a pull request
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// The same with its details folded, for the summary page of a CI job
    #[arg(long, group = "form")]
    pub github: bool,
    /// Fill in this text of your own, with `{{ names }}` of the JSON document
    #[arg(long, value_name = "FILE", group = "form")]
    pub template: Option<String>,
    #[command(flatten)]
    pub page: PageFlag,
    /// Also write JUnit XML here
    #[arg(long, value_name = "FILE")]
    pub junit: Option<String>,
    /// Seed of the resampling [1]
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// No colours (also: the variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// `plimsoll audit`.
#[derive(Debug, Parser)]
#[command(
    about = "Reads results that others published and says what cannot be true, what is doubtful and what is missing, \
             with the arithmetic. Reads the output of wrk, ab, k6, loadtest, JMeter, hey, oha and vegeta, and Markdown \
             or CSV with recognisable columns. Ends with 99 when something cannot be true.",
    override_usage = "plimsoll audit FILE ... [--json | --markdown | --template FILE] [--html FILE]"
)]
pub struct Audit {
    /// The texts; `-` is standard input. Several are audited together
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// One JSON document
    #[arg(long, group = "form")]
    pub json: bool,
    /// Markdown, for a review
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// Fill in this text of your own, with `{{ names }}` of the JSON document
    #[arg(long, value_name = "FILE", group = "form")]
    pub template: Option<String>,
    #[command(flatten)]
    pub page: PageFlag,
    /// No colours (also: the variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// `plimsoll size`.
#[derive(Debug, Parser)]
#[command(
    about = "From visitors to users at the same time and requests per second, or back, by Little's law, with every \
             step of the calculation.",
    override_usage = "plimsoll size --visitors 100000/month --session 5min --active 12h [FLAGS]\n       \
                      plimsoll size --users 100 --think 8s --response 300ms [FLAGS]\n       \
                      plimsoll size --rate 50/s --pages 6 --active 12h [FLAGS]"
)]
pub struct Size {
    /// Visitors per hour, day, week or month, such as `100000/month`
    #[arg(long, value_name = "N/PERIOD")]
    pub visitors: Option<String>,
    /// How long a visit lasts
    #[arg(long, value_name = "DURATION")]
    pub session: Option<String>,
    /// Hours of the day in which visitors come [24h]
    #[arg(long, value_name = "DURATION")]
    pub active: Option<String>,
    /// The busiest moment against the mean [1]
    #[arg(long, value_name = "FACTOR")]
    pub peak: Option<String>,
    /// Pause of a user between two requests
    #[arg(long, value_name = "DURATION")]
    pub think: Option<String>,
    /// Requests of a visit
    #[arg(long, value_name = "N")]
    pub pages: Option<String>,
    /// Time of an answer
    #[arg(long, value_name = "DURATION")]
    pub response: Option<String>,
    /// Users at the same time
    #[arg(long, value_name = "N")]
    pub users: Option<String>,
    /// Requests per second
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
    /// No colours (also: the variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

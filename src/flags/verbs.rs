//! Commands other than a plain load, by name, with their flags.

use super::agents::{AccessFlags, Agent, Agents, Cluster};
use super::judge::{Audit, Compare, Find, Size};
use super::k8s::K8s;
use super::load::LoadFlags;
use super::page::PageFlag;
use super::tool::{
    Ab, Completions, Examples, Grpc, Hey, Jmeter, K6, Loadtest, Man, Oha, PlanFlags, Runs, Vegeta, Version,
    Wrk,
};
use crate::exit::Exit;
use clap::{Command, Parser, Subcommand};
use std::fmt::Write;

macro_rules! verbs {
    ($($variant:ident($flags:ty) = $name:literal, $group:ident, $usage:literal, $help:literal;)*) => {
        /// All commands with their flags, in the order of the help.
        #[derive(Debug, Subcommand)]
        #[allow(dead_code, reason = "some commands are only looked up by name")]
        pub enum Verb { $(#[command(name = $name)] $variant(Box<$flags>),)* }

        /// The rows of the help, in the same order.
        pub const VERBS: &[Row] = &[$(Row { name: $name, group: Group::$group, usage: $usage, help: $help },)*];
    };
}

/// A row of the help.
pub struct Row {
    pub name: &'static str,
    pub group: Group,
    pub usage: &'static str,
    pub help: &'static str,
}

/// The section of the help that lists a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Load,
    Results,
    Files,
    Machine,
    Help,
    /// Not listed.
    Hidden,
}

impl Group {
    /// The listed groups, in order.
    pub const SHOWN: &'static [Group] =
        &[Group::Load, Group::Results, Group::Files, Group::Machine, Group::Help];

    const fn title(self) -> &'static str {
        match self {
            Group::Load => "Send load",
            Group::Results => "Read results",
            Group::Files => "Write experiments",
            Group::Machine => "Setup",
            Group::Help => "Help",
            Group::Hidden => "",
        }
    }

    fn rows(self) -> impl Iterator<Item = &'static Row> {
        VERBS.iter().filter(move |row| row.group == self)
    }
}

verbs! {
    Run(Run) = "run", Load, "run FILE.yaml|.js|.jmx", "Run an experiment file, a k6 script, or a JMeter plan";
    K6(K6) = "k6", Load, "k6 run SCRIPT.js", "Run a k6 script with the flags of k6";
    Jmeter(Jmeter) = "jmeter", Load, "jmeter -n -t PLAN.jmx", "Run a JMeter test plan with the flags of JMeter";
    Wrk(Wrk) = "wrk", Load, "wrk ... URL", "Load with the command line of wrk, and print its text";
    Ab(Ab) = "ab", Load, "ab ... URL", "Load with the command line of ab, and print its text";
    Hey(Hey) = "hey", Load, "hey ... URL", "Load with the command line of hey, and print its text";
    Oha(Oha) = "oha", Load, "oha ... URL", "Load with the command line of oha, and print its text";
    Vegeta(Vegeta) = "vegeta", Load, "vegeta attack|report", "Load with the command line of Vegeta, or report on it";
    Loadtest(Loadtest) = "loadtest", Load, "loadtest ... URL", "Load with the command line of loadtest (npm)";
    Curl(Curl) = "curl", Load, "curl ...", "Load with the request of a pasted curl command line";
    Find(Find) = "find", Load, "find URL|FILE", "Find the highest load that meets the thresholds";
    Demo(Demo) = "demo", Load, "demo", "Show plimsoll at work on a local service in 30 s";
    Report(Report) = "report", Results, "report FILE.plim", "Print the report of a saved run or experiment";
    Compare(Compare) = "compare", Results, "compare A B", "Test whether run B is faster or slower than run A";
    Merge(Merge) = "merge", Results, "merge A.plim B.plim", "Merge the runs of several load generators exactly";
    Audit(Audit) = "audit", Results, "audit FILE ...", "Check published results for impossible numbers";
    Runs(Runs) = "runs", Results, "runs list|show|prune", "List, report, or delete the runs in the state directory";
    Serve(Serve) = "serve", Results, "serve [DIR ...]", "Start the web console: list, start, watch, and compare runs";
    Check(Check) = "check", Files, "check FILE.yaml", "Validate an experiment file without sending anything";
    Examples(Examples) = "examples", Files, "examples [NAME]", "List the example experiments, or print one";
    Schema(Schema) = "schema", Files, "schema", "Print the JSON Schema of experiment files, for editors";
    Size(Size) = "size", Files, "size --visitors N/month", "Convert visitors to users and request rates, and back";
    Grpc(Grpc) = "grpc", Files, "grpc list|describe HOST", "List the gRPC services of a server, or describe one";
    Agent(Agent) = "agent", Machine, "agent --nats URL", "Wait for loads of a coordinator, and send a part of them";
    Agents(Agents) = "agents", Machine, "agents --nats URL", "List the agents that are connected to a NATS server";
    Cluster(Cluster) = "cluster", Machine, "cluster init|add DIR", "Write keys and the configuration of a NATS server";
    K8s(K8s) = "k8s", Machine, "k8s manifests|chart", "Print manifests for agents in Kubernetes, or a chart";
    Doctor(Doctor) = "doctor", Machine, "doctor", "Show the limits of this machine and how to raise them";
    TestServer(TestServer) = "test-server", Machine, "test-server", "Start a server with adjustable delays and errors";
    Completions(Completions) = "completions", Machine, "completions SHELL", "Print completions for bash, zsh, or fish";
    Man(Man) = "man", Machine, "man", "Print the manual page: `plimsoll man | man -l -`";
    Help(Help) = "help", Help, "help COMMAND", "Print the flags of a command";
    Explain(Explain) = "explain", Help, "explain CODE", "Explain the code of an error, failure, caution, or exit";
    Version(Version) = "version", Help, "version", "Print the version";
    DocsDump(DocsDump) = "docs-dump", Hidden, "docs-dump", "";
}

/// Help of the flags whose default is the value of the experiment file.
const FILE_DEFAULTS: [(&str, &str); 9] = [
    ("connections", "Connections, with `--streams` users each [default: the file's value, or 50]"),
    ("max_connections", "Connection limit with `--rate` [default: the file's value, or 1000]"),
    ("duration", "Length of the run, such as `30s` or `5m` [default: the file's value, or 10s]"),
    ("arrivals", "Arrivals: `constant` or `poisson` [default: the file's value, or constant]"),
    ("workers", "Threads of the load generator [default: the file's value, or one per core]"),
    ("seed", "Seed for all random choices [default: the file's value, or random]"),
    (
        "timeout",
        "Request timeout, measured from when the request is sent [default: the file's value, or 10s]",
    ),
    ("buckets", "Edges of the latency buckets [default: the file's value, or 100ms,1s,10s]"),
    ("out", "New run file, or directory if there are several runs [default: state directory]"),
];

/// Describes the flags of a command that takes an experiment file.
fn of_file(arg: clap::Arg) -> clap::Arg {
    match FILE_DEFAULTS.iter().find(|(id, _)| arg.get_id() == id) {
        Some((_, help)) => arg.help(*help),
        None => arg,
    }
}

/// Returns all commands as clap parses them, the name first.
pub fn commands() -> Command {
    Verb::augment_subcommands(Command::new("plimsoll").disable_help_subcommand(true))
}

/// Returns the command of this name, even if it is hidden.
pub fn named(name: &str) -> Option<&'static Row> {
    VERBS.iter().find(|row| row.name == name)
}

/// `plimsoll curl`, whose remaining words are parsed as curl's.
#[derive(Debug, Parser)]
#[command(version, display_name = "plimsoll", override_help = CURL_HELP)]
pub struct Curl {
    #[command(flatten)]
    pub flags: LoadFlags,
    #[arg(value_name = "CURL OPTIONS", num_args = 0..)]
    pub words: Vec<String>,
}

const CURL_HELP: &str = "\
Load with the request of a pasted curl command line. Flags of plimsoll come before the word `curl`;
curl's own output options have no effect.

Examples:
  plimsoll -c 10 -d 5s curl 'http://127.0.0.1:8080/users' \\
    -H 'Content-Type: application/json' --data-raw '{\"name\": \"x\"}'

Usage: plimsoll [FLAGS] curl URL [CURL OPTIONS]
";

/// `plimsoll test-server`, whose words the server parses.
#[derive(Debug, Parser)]
#[command(override_help = TEST_SERVER_HELP)]
pub struct TestServer {
    #[arg(value_name = "words", num_args = 0..)]
    pub words: Vec<String>,
}

const TEST_SERVER_HELP: &str = "\
Start a server with configurable delays, errors, and capacity. `plimsoll test-server --help` lists its flags.

Usage: plimsoll test-server [--listen ADDRESS:PORT] [FLAGS]
";

/// `plimsoll help`.
#[derive(Debug, Parser)]
#[command(override_help = "Print the flags of a command.\n\nUsage: plimsoll help COMMAND\n")]
pub struct Help {
    #[arg(value_name = "words", num_args = 0..)]
    pub words: Vec<String>,
}

/// `plimsoll docs-dump`, for `cargo xtask docs`.
#[derive(Debug, Parser)]
pub struct DocsDump {}

/// `plimsoll run`.
#[derive(Debug, Parser)]
#[command(
    about = "Run an experiment file; flags override its keys.",
    override_usage = "plimsoll run FILE.yaml [FLAGS]\n\nExamples:\n  plimsoll run checkout.yaml --out before.plim\n  \
                      plimsoll run checkout.yaml --part browse --set host=staging",
    mut_args(of_file)
)]
pub struct Run {
    /// Experiment file
    #[arg(value_name = "FILE", required = true)]
    pub file: Option<String>,
    /// Run only this one of the file's `parts` [repeatable] [default: all]
    #[arg(long = "part", value_name = "NAME")]
    pub parts: Vec<String>,
    /// Runs of each combination [default: `repeat` of the file, or 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repeat: Option<String>,
    /// Fail unless the flags select exactly one combination, and run it once
    #[arg(long)]
    pub single_run: bool,
    #[command(flatten)]
    pub plan: PlanFlags,
    #[command(flatten)]
    pub flags: LoadFlags,
}

/// `plimsoll check`.
#[derive(Debug, Parser)]
#[command(
    about = "Validate an experiment file and report every error in it, without sending anything.",
    override_usage = "plimsoll check FILE.yaml [FLAGS]\n\nExamples:\n  plimsoll check checkout.yaml\n  \
                      plimsoll check checkout.yaml --show",
    mut_args(of_file)
)]
pub struct Check {
    /// Experiment file
    #[arg(value_name = "FILE", required = true)]
    pub file: Option<String>,
    /// Check only this one of the file's `parts` [repeatable] [default: all]
    #[arg(long = "part", value_name = "NAME")]
    pub parts: Vec<String>,
    /// Print the resulting plan
    #[arg(long)]
    pub show: bool,
    #[command(flatten)]
    pub plan: PlanFlags,
    #[command(flatten)]
    pub flags: LoadFlags,
}

/// `plimsoll schema`.
#[derive(Debug, Parser)]
#[command(
    about = "Print the JSON Schema (draft 2020-12) of experiment files, with which editors complete and validate them.",
    override_usage = "plimsoll schema\n\nExample:\n  plimsoll schema > plimsoll.schema.json"
)]
pub struct Schema {}

/// `plimsoll explain`.
#[derive(Debug, Parser)]
#[command(
    about = "Explain the code of an error (F011), a failure (connection_refused), a caution (late_sends), or an exit \
             (99).",
    override_usage = "plimsoll explain [CODE]\n\nExample:\n  plimsoll explain late_sends"
)]
pub struct Explain {
    /// Code to explain [default: list all codes]
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

/// `plimsoll report`.
#[derive(Debug, Parser)]
#[command(
    about = "Print the report of a saved run or experiment and exit with the run's code.",
    override_usage = "plimsoll report FILE.plim|DIR [FLAGS]\n\nExamples:\n  plimsoll report run.plim --full\n  \
                      plimsoll report run.plim --html run.html\n  \
                      plimsoll report run.plim --markdown --charts charts > run.md"
)]
pub struct Report {
    /// Run file, or the directory of an experiment
    #[arg(value_name = "FILE|DIR", required = true)]
    pub file: Option<String>,
    #[command(flatten)]
    pub form: Form,
    /// Fill in this template: replace `{{ key }}` with that key's value from `--json`
    #[arg(long, value_name = "FILE", group = "form")]
    pub template: Option<String>,
    #[command(flatten)]
    pub page: PageFlag,
    /// Also draw the charts into this directory, as SVG
    #[arg(long, value_name = "DIR")]
    pub charts: Option<String>,
    /// Draw the charts of `--charts` as PNG, too
    #[arg(long)]
    pub png: bool,
    /// Print nothing except errors
    #[arg(short = 'q', long, conflicts_with = "form")]
    pub quiet: bool,
}

/// `plimsoll merge`.
#[derive(Debug, Parser)]
#[command(
    about = "Merge the runs of several load generators exactly and exit with the verdict of the merged run. \
             Percentiles come from the merged histograms; a run that is given twice counts once.",
    override_usage = "plimsoll merge A.plim B.plim ... [FLAGS]\n\nExample:\n  \
                      plimsoll merge a.plim b.plim --out both.plim"
)]
pub struct Merge {
    /// Run files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
    /// Also save the merged run to this new file
    #[arg(short = 'o', long, value_name = "FILE")]
    pub out: Option<String>,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub page: PageFlag,
}

/// Format of a printed result.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Form {
    /// Print the full report, including load generator health
    #[arg(long, group = "form")]
    pub full: bool,
    /// Print one JSON document
    #[arg(long, group = "form")]
    pub json: bool,
    /// Print Markdown, for pull requests and READMEs
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// Print the timeline as CSV, one line per second
    #[arg(long, group = "form")]
    pub csv: bool,
    /// Print the timeline as JSON, one object per second
    #[arg(long, group = "form")]
    pub ndjson: bool,
    /// Disable colors (also with the variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

impl Form {
    /// Returns the flag of the requested format; `None` means text for people.
    pub fn flag(&self) -> Option<&'static str> {
        let all = [
            (self.full, "--full"),
            (self.json, "--json"),
            (self.markdown, "--markdown"),
            (self.csv, "--csv"),
            (self.ndjson, "--ndjson"),
        ];
        all.into_iter().find(|(is_on, _)| *is_on).map(|(_, flag)| flag)
    }
}

/// `plimsoll serve`.
#[derive(Debug, Parser)]
#[command(
    about = "Start the web console, which lists, starts, watches, steers, and compares runs. It prints the address to \
             open, with an access token. Ctrl-C stops it; loads that it started then end with their reports.",
    override_usage = "plimsoll serve [DIR ...] [FLAGS]\n\nExamples:\n  plimsoll serve\n  \
                      plimsoll serve results --listen 0.0.0.0:7117 --tls-cert cert.pem --tls-key key.pem \\\n    \
                      --password-file password"
)]
#[cfg_attr(not(feature = "console"), allow(dead_code, reason = "the flags are parsed in every build"))]
pub struct Serve {
    /// Directories of run files; new runs go to the first [default: the state directory]
    #[arg(value_name = "DIR")]
    pub folders: Vec<String>,
    /// Address and port; port 0 picks a free one. Other than localhost requires the next three flags
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7117")]
    pub listen: String,
    /// TLS certificate of the console, with its chain (PEM)
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<String>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<String>,
    /// File with the password, at least 12 characters
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<String>,
    #[command(flatten)]
    pub access: AccessFlags,
    /// Key that signs the orders to the agents: `signing.nk` of `plimsoll cluster init`
    #[arg(long, value_name = "FILE", help_heading = "Agents", requires = "nats")]
    pub signing_key: Option<String>,
    /// Let experiments entered in the console run programs, read environment variables, and use
    /// files outside DIR
    #[arg(long)]
    pub allow_commands: bool,
}

/// `plimsoll demo`.
#[derive(Debug, Parser)]
#[command(
    about = "Start a small service on a free local port and load it below and above its capacity, with the closed and \
             the open model, to show what each of them sees. Takes half a minute.",
    override_usage = "plimsoll demo [FLAGS]"
)]
pub struct Demo {
    /// Directory for the run files [default: the state directory]
    #[arg(short = 'o', long, value_name = "DIR")]
    pub out: Option<String>,
    /// Print the full report, including load generator health
    #[arg(long)]
    pub full: bool,
    /// Disable colors (also with the variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// `plimsoll doctor`.
#[derive(Debug, Parser)]
#[command(
    about = "Show the limits of this machine that a load can reach, and how to raise them.",
    override_usage = "plimsoll doctor"
)]
pub struct Doctor {
    /// Disable colors (also with the variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// Returns what follows the flags of the plain load: commands, default thresholds, and exit codes.
pub fn after_help() -> String {
    let mut text = String::from("Commands:\n");
    for group in Group::SHOWN {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}", group.title());
        for row in group.rows() {
            let _ = writeln!(text, "    plimsoll {:<23} {}", row.usage, row.help);
        }
    }
    text.push_str(
        "\nDefault thresholds:\n  error_rate == 0%; longest_outage < 1s; with `--rate`, also achieved >= 99% (of the \
         offered rate).\n  Your `--threshold` on the same metric replaces its default.\n\nExit codes:\n",
    );
    for exit in Exit::ALL {
        let _ = writeln!(text, "  {:>3}  {}", exit.code(), exit.meaning());
    }
    text
}

/// Returns what `plimsoll` prints without arguments.
pub fn short_help() -> String {
    let mut text = String::from(
        "plimsoll loads an HTTP service and reports whether you can trust the numbers.\n\n  \
         plimsoll http://127.0.0.1:8080/ -c 100 -d 15s   100 users for 15 s\n  \
         plimsoll http://127.0.0.1:8080/ -r 500 -d 15s   500 arrivals/s, however slow the responses\n\n",
    );
    for group in Group::SHOWN {
        let names: Vec<&str> = group.rows().map(|row| row.name).collect();
        let _ = writeln!(text, "  {:<18} {}", format!("{}:", group.title()), names.join(", "));
    }
    text.push_str("\n  plimsoll --help                                 All flags and commands\n");
    text
}

//! The commands other than a plain load, by name, with their own flags.

use super::judge::{Audit, Compare, Find, Size};
use super::load::LoadFlags;
use super::page::PageFlag;
use super::tool::{Completions, Examples, Man, Runs, Version};
use crate::exit::Exit;
use clap::{Command, Parser, Subcommand};
use std::fmt::Write;

macro_rules! verbs {
    ($($variant:ident($flags:ty) = $name:literal, $group:ident, $usage:literal, $help:literal;)*) => {
        /// All commands with their flags, in the order of the help.
        #[derive(Debug, Subcommand)]
        #[allow(dead_code, reason = "of some commands nothing but the name is asked")]
        pub enum Verb { $(#[command(name = $name)] $variant(Box<$flags>),)* }

        /// What the help says of them, in the same order.
        pub const VERBS: &[Row] = &[$(Row { name: $name, group: Group::$group, usage: $usage, help: $help },)*];
    };
}

/// A command as the help shows it.
pub struct Row {
    pub name: &'static str,
    pub group: Group,
    pub usage: &'static str,
    pub help: &'static str,
}

/// Where a command appears in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Load,
    Results,
    Files,
    Machine,
    Help,
    /// Nowhere.
    Hidden,
}

impl Group {
    /// The groups that are shown, in their order.
    pub const SHOWN: &'static [Group] =
        &[Group::Load, Group::Results, Group::Files, Group::Machine, Group::Help];

    const fn title(self) -> &'static str {
        match self {
            Group::Load => "Send load",
            Group::Results => "Read results",
            Group::Files => "Write experiments",
            Group::Machine => "This machine",
            Group::Help => "Help",
            Group::Hidden => "",
        }
    }

    fn rows(self) -> impl Iterator<Item = &'static Row> {
        VERBS.iter().filter(move |row| row.group == self)
    }
}

verbs! {
    Run(Run) = "run", Load, "run FILE.yaml", "load as an experiment file says; a flag overrides it";
    Curl(Curl) = "curl", Load, "curl ...", "load with a pasted curl line; our flags stand before `curl`";
    Find(Find) = "find", Load, "find URL|FILE.yaml", "the highest load that meets the thresholds";
    Demo(Demo) = "demo", Load, "demo", "see the whole thing on this machine, in half a minute";
    Report(Report) = "report", Results, "report FILE.plim", "print what a run printed, as text, JSON, Markdown or CSV";
    Compare(Compare) = "compare", Results, "compare A B", "is B faster than A, slower, or can nobody tell";
    Merge(Merge) = "merge", Results, "merge A.plim B.plim", "add up the runs of several machines exactly";
    Audit(Audit) = "audit", Results, "audit FILE ...", "what cannot be true in results that others published";
    Runs(Runs) = "runs", Results, "runs list|show|prune", "the runs in the state directory: list, report, delete";
    Serve(Serve) = "serve", Results, "serve [DIR ...]", "the runs in a browser: list, reports, start, watch live";
    Check(Check) = "check", Files, "check FILE.yaml", "say what is wrong with an experiment file; nothing is sent";
    Examples(Examples) = "examples", Files, "examples [NAME]", "list the example experiments, or print one";
    Schema(Schema) = "schema", Files, "schema", "print the JSON Schema of experiment files, for editors";
    Size(Size) = "size", Files, "size --visitors N/month", "from visitors to users and requests, and back";
    Doctor(Doctor) = "doctor", Machine, "doctor", "the limits of this machine, and how to mend them";
    TestServer(TestServer) = "test-server", Machine, "test-server", "start a server with commanded delays and errors";
    Completions(Completions) = "completions", Machine, "completions SHELL", "print completions for bash, zsh or fish";
    Man(Man) = "man", Machine, "man", "print the manual page: `plimsoll man | man -l -`";
    Help(Help) = "help", Help, "help COMMAND", "the flags of a command";
    Explain(Explain) = "explain", Help, "explain CODE", "what a mistake, failure, caution or exit code means";
    Version(Version) = "version", Help, "version", "print the version";
    DocsDump(DocsDump) = "docs-dump", Hidden, "docs-dump", "";
}

/// All commands as clap reads them: the name first.
pub fn commands() -> Command {
    Verb::augment_subcommands(Command::new("plimsoll").disable_help_subcommand(true))
}

/// A command of this name, hidden ones too.
pub fn named(name: &str) -> Option<&'static Row> {
    VERBS.iter().find(|row| row.name == name)
}

/// `plimsoll curl`: the words of the pasted line are not ours to parse.
#[derive(Debug, Parser)]
#[command(version, display_name = "plimsoll", override_help = CURL_HELP)]
pub struct Curl {
    #[command(flatten)]
    pub flags: LoadFlags,
    #[arg(value_name = "CURL OPTIONS", num_args = 0..)]
    pub words: Vec<String>,
}

const CURL_HELP: &str = "\
Loads with a pasted curl command line. Our own flags stand before the word `curl`; what curl would
print or save is left aside.

Usage: plimsoll [FLAGS] curl URL [CURL OPTIONS]

Example:
  plimsoll -c 10 -d 5s curl 'http://127.0.0.1:8080/users' \\
    -H 'Content-Type: application/json' --data-raw '{\"name\": \"x\"}'
";

/// `plimsoll test-server`: its words are the server's own.
#[derive(Debug, Parser)]
#[command(override_help = TEST_SERVER_HELP)]
pub struct TestServer {
    #[arg(value_name = "words", num_args = 0..)]
    pub words: Vec<String>,
}

const TEST_SERVER_HELP: &str = "\
Starts a test server with commanded delays, errors and capacity. `plimsoll test-server --help` lists its flags.

Usage: plimsoll test-server [--listen ADDRESS:PORT] [FLAGS]
";

/// `plimsoll help`.
#[derive(Debug, Parser)]
#[command(override_help = "Prints the flags of a command.\n\nUsage: plimsoll help COMMAND\n")]
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
    about = "Loads as an experiment file says. A flag overrides what the file says.",
    override_usage = "plimsoll run FILE.yaml [FLAGS]"
)]
pub struct Run {
    /// The experiment
    #[arg(value_name = "FILE")]
    pub file: Option<String>,
    /// Run this one of the file's `parts`; repeatable [all of them]
    #[arg(long = "part", value_name = "NAME")]
    pub parts: Vec<String>,
    /// Run the one cell that is left a single time, into a run file: one of several machines or processes that share it
    #[arg(long)]
    pub single_run: bool,
    /// Without the monitors of the file: another process that shares the run watches already
    #[arg(long, hide = true)]
    pub unwatched: bool,
    #[command(flatten)]
    pub flags: LoadFlags,
}

/// `plimsoll check`.
#[derive(Debug, Parser)]
#[command(
    about = "Reads an experiment file as `run` would, says every mistake in it at once, and sends nothing.",
    override_usage = "plimsoll check FILE.yaml [--show] [FLAGS]"
)]
pub struct Check {
    /// The experiment
    #[arg(value_name = "FILE")]
    pub file: Option<String>,
    /// Judge this one of the file's `parts`; repeatable [all of them]
    #[arg(long = "part", value_name = "NAME")]
    pub parts: Vec<String>,
    /// Print the plan as it was understood
    #[arg(long)]
    pub show: bool,
    #[command(flatten)]
    pub flags: LoadFlags,
}

/// `plimsoll schema`.
#[derive(Debug, Parser)]
#[command(
    about = "Prints the JSON Schema (draft 2020-12) of experiment files. Editors complete and check by it.",
    override_usage = "plimsoll schema > plimsoll.schema.json"
)]
pub struct Schema {}

/// `plimsoll explain`.
#[derive(Debug, Parser)]
#[command(
    about = "Explains the code of a mistake (F011), a failure class (connection_refused), a caution (late_sends) or an \
             exit code (99).",
    override_usage = "plimsoll explain CODE"
)]
pub struct Explain {
    /// The code; without one, all codes are listed
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

/// `plimsoll report`.
#[derive(Debug, Parser)]
#[command(
    about = "Prints what a run or an experiment printed, from its run file or folder. Ends with the same code.",
    override_usage = "plimsoll report FILE.plim|DIR [--json | --markdown | --csv | --ndjson | --template FILE] \
                      [--html FILE] [--charts DIR [--png]]"
)]
pub struct Report {
    /// The run file, or the folder of an experiment
    #[arg(value_name = "FILE")]
    pub file: Option<String>,
    #[command(flatten)]
    pub form: Form,
    /// Fill in this text of your own: Markdown, HTML or anything else, with `{{ names }}` of the JSON document
    #[arg(long, value_name = "FILE", group = "form")]
    pub template: Option<String>,
    #[command(flatten)]
    pub page: PageFlag,
    /// Also draw what there is to see into this folder, as SVG; a report in Markdown links the pictures
    #[arg(long, value_name = "DIR")]
    pub charts: Option<String>,
    /// With `--charts`: as PNG, too
    #[arg(long)]
    pub png: bool,
    /// Print nothing unless something is wrong
    #[arg(short = 'q', long, conflicts_with = "form")]
    pub quiet: bool,
}

/// `plimsoll merge`.
#[derive(Debug, Parser)]
#[command(
    about = "Adds up the runs of several machines exactly: percentiles come from the merged histograms, and \
             a run that is named twice counts once. Prints the report and ends with the code of its verdict.",
    override_usage = "plimsoll merge A.plim B.plim ... [--out M.plim] [--html FILE]"
)]
pub struct Merge {
    /// The run files
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// Also write the merged run here; must not exist yet
    #[arg(short = 'o', long, value_name = "FILE")]
    pub out: Option<String>,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub page: PageFlag,
}

/// How a result is printed.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Form {
    /// All details of the report, load generator health included
    #[arg(long, group = "form")]
    pub full: bool,
    /// One JSON document
    #[arg(long, group = "form")]
    pub json: bool,
    /// Markdown, for pull requests and READMEs
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// The timeline, one line per second
    #[arg(long, group = "form")]
    pub csv: bool,
    /// The timeline, one JSON object per second
    #[arg(long, group = "form")]
    pub ndjson: bool,
    /// No colours (also: the variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

impl Form {
    /// The flag of the form that was asked for; `None`: text for people.
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
    about = "Serves a console for browsers on this machine: the list of runs, their reports, comparisons; loads are \
             started, watched live, steered and stopped. Prints the address to open, with a token. Ctrl-C ends it, and \
             the loads that it has started with their reports.",
    override_usage = "plimsoll serve [DIR ...] [--listen 127.0.0.1:7117]"
)]
#[cfg_attr(not(feature = "console"), allow(dead_code, reason = "the flags are read all the same"))]
pub struct Serve {
    /// Where run files lie; new runs go to the first [the state directory]
    #[arg(value_name = "DIR")]
    pub folders: Vec<String>,
    /// Address and port; port 0 takes a free one. Addresses that others can reach need the next three
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7117")]
    pub listen: String,
    /// Certificate of the console (PEM, with its chain): it is served by HTTPS
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<String>,
    /// The certificate's private key (PEM)
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<String>,
    /// File that holds the password, 12 characters or more
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<String>,
    /// Let pasted experiments run programs as monitors, read the environment, and read and write files outside of these
    /// folders
    #[arg(long)]
    pub allow_commands: bool,
}

/// `plimsoll demo`.
#[derive(Debug, Parser)]
#[command(
    about = "Starts a small service on a free port of this machine and loads it below and above what it can \
             do, closed and open, to show what each of them sees. Takes about half a minute.",
    override_usage = "plimsoll demo [--out DIR]"
)]
pub struct Demo {
    /// Where the run files go [the state directory]
    #[arg(short = 'o', long, value_name = "DIR")]
    pub out: Option<String>,
    /// Print all details of the report, load generator health included
    #[arg(long)]
    pub full: bool,
    /// No colours (also: the variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// `plimsoll doctor`.
#[derive(Debug, Parser)]
#[command(
    about = "Shows the limits of this machine that a load can run into, and how to mend them.",
    override_usage = "plimsoll doctor"
)]
pub struct Doctor {
    /// No colours (also: the variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// The commands and the exit codes, below the flags of the plain load.
pub fn after_help() -> String {
    let mut text = String::from("Commands:\n");
    for group in Group::SHOWN {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}", group.title());
        for row in group.rows() {
            let _ = writeln!(text, "    plimsoll {:<23} {}", row.usage, row.help);
        }
    }
    text.push_str("\nExit codes:\n");
    for exit in Exit::ALL {
        let _ = writeln!(text, "  {:>3}  {}", exit.code(), exit.meaning());
    }
    text.push_str("\nExample:\n  plimsoll http://127.0.0.1:8080/pick -c 100 -d 15s\n");
    text
}

/// What a bare `plimsoll` prints.
pub fn short_help() -> String {
    let mut text = String::from(
        "plimsoll loads an HTTP service and says whether the numbers can be believed.\n\n  \
         plimsoll http://127.0.0.1:8080/ -c 100 -d 15s   100 users for 15 s\n  \
         plimsoll http://127.0.0.1:8080/ -r 500 -d 15s   500 arrivals per second, come what may\n\n",
    );
    for group in Group::SHOWN {
        let names: Vec<&str> = group.rows().map(|row| row.name).collect();
        let _ = writeln!(text, "  {:<18} {}", format!("{}:", group.title()), names.join(", "));
    }
    text.push_str("\n  plimsoll --help                                 all flags and commands\n");
    text
}

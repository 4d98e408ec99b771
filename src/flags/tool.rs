//! Commands about the tool itself: examples, manual, completions, and saved runs.

use super::verbs::Form;
use clap::{Parser, Subcommand};

/// `plimsoll examples`.
#[derive(Debug, Parser)]
#[command(
    about = "List the example experiments, or print one of them.",
    override_usage = "plimsoll examples [NAME]\n\nExample:\n  plimsoll examples stages > experiment.yaml"
)]
pub struct Examples {
    /// Name of the example [default: list all examples]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// `plimsoll completions`.
#[derive(Debug, Parser)]
#[command(
    about = "Print the completions for a shell.",
    override_usage = "plimsoll completions bash|zsh|fish\n\nExamples:\n  \
                      plimsoll completions bash > ~/.local/share/bash-completion/completions/plimsoll\n  \
                      plimsoll completions zsh > DIR/_plimsoll    (DIR is in $fpath)\n  \
                      plimsoll completions fish > ~/.config/fish/completions/plimsoll.fish"
)]
pub struct Completions {
    /// `bash`, `zsh`, or `fish`
    #[arg(value_name = "SHELL", required = true)]
    pub shell: Option<String>,
}

/// `plimsoll man`.
#[derive(Debug, Parser)]
#[command(
    about = "Print the manual page (roff) with all flags and commands.",
    override_usage = "plimsoll man\n\nExamples:\n  plimsoll man | man -l -\n  \
                      plimsoll man > ~/.local/share/man/man1/plimsoll.1"
)]
pub struct Man {}

/// `plimsoll version`.
#[derive(Debug, Parser)]
#[command(about = "Print the version.", override_usage = "plimsoll version")]
pub struct Version {}

/// `plimsoll runs`.
#[derive(Debug, Parser)]
#[command(
    about = "List, report, or delete the runs in the state directory, where runs without `--out` are saved.",
    override_usage = "plimsoll runs list [--json]\n       plimsoll runs show [NAME]\n       \
                      plimsoll runs prune --keep 30d [--dry-run]",
    disable_help_subcommand = true
)]
pub struct Runs {
    #[command(subcommand)]
    pub action: Option<RunsAction>,
}

#[derive(Debug, Subcommand)]
pub enum RunsAction {
    /// List the runs with their sizes, newest first [default]
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Print the report of a run and exit with the run's code
    Show {
        /// Name of the run, or a unique beginning of it [default: the newest run]
        #[arg(value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        form: Form,
    },
    /// Delete the runs that are older than `--keep`
    Prune {
        /// Keep runs that are at most this old, such as `30d`
        #[arg(long, value_name = "DURATION")]
        keep: Option<String>,
        /// List what would be deleted without deleting it
        #[arg(long)]
        dry_run: bool,
    },
}

/// `plimsoll grpc`.
#[derive(Debug, Parser)]
#[command(
    about = "List the gRPC services of a server, or describe a service, a method, or a message, with an example as \
             JSON. The server is asked by reflection; with `--proto`, nothing is sent.",
    override_usage = "plimsoll grpc list HOST [FLAGS]\n       plimsoll grpc describe HOST [NAME] \
    [FLAGS]\n\nExamples:\n  \
                      plimsoll grpc list 127.0.0.1:50051\n  \
                      plimsoll grpc describe https://127.0.0.1:50051 shop.v1.Shop/GetItem --ca ca.pem\n  \
                      plimsoll grpc describe --proto shop.proto shop.v1.Item",
    disable_help_subcommand = true
)]
pub struct Grpc {
    #[command(subcommand)]
    pub action: Option<GrpcAction>,
}

#[derive(Debug, Subcommand)]
pub enum GrpcAction {
    /// List the services and their methods
    List {
        /// Server, such as `127.0.0.1:50051` or `https://127.0.0.1:50051` [default: none, with `--proto`]
        #[arg(value_name = "HOST")]
        host: Option<String>,
        #[command(flatten)]
        source: SchemaSource,
    },
    /// Print the definition of a service, a method, a message, or an enumeration
    Describe {
        /// Server, and what to describe, such as `shop.v1.Shop/GetItem` [default: all services]
        #[arg(value_name = "HOST|NAME", num_args = 0..=2)]
        words: Vec<String>,
        #[command(flatten)]
        source: SchemaSource,
    },
}

/// Where schemas come from.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SchemaSource {
    /// Read this `.proto` file instead of asking a server [repeatable]
    #[arg(long = "proto", value_name = "FILE")]
    pub protos: Vec<String>,
    /// Directory that imports start from [repeatable]
    #[arg(long = "import-path", value_name = "DIR")]
    pub folders: Vec<String>,
    /// Metadata `name: value` of the calls, such as credentials [repeatable]
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub headers: Vec<String>,
    /// Trust only the CA certificates in this file (PEM) [repeatable]
    #[arg(long, value_name = "FILE")]
    pub ca: Vec<String>,
    /// Do not verify the server's certificate
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// Allow requests to this public host, which you own or may load [repeatable]
    #[arg(long, value_name = "HOST")]
    pub allow: Vec<String>,
    /// Also save the schemas to this new file, for `descriptor_sets` of an experiment
    #[arg(long, value_name = "FILE")]
    pub save: Option<String>,
}

/// Flags for test plans of JMeter.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct PlanFlags {
    /// Property of a JMeter test plan, which `__P` reads [repeatable]
    #[arg(short = 'J', long = "property", value_name = "NAME=VALUE")]
    pub properties: Vec<String>,
    /// Leave out scripts of a JMeter test plan that plimsoll does not recognize
    #[arg(long)]
    pub skip_scripts: bool,
}

/// `plimsoll k6`, whose remaining words are parsed as k6's.
#[derive(Debug, Parser)]
#[command(
    about = "Run a k6 script with the flags of k6, its summary of thresholds, and its exit codes.",
    override_usage = "plimsoll k6 run [FLAGS OF K6] script.js\n\nExamples:\n  plimsoll k6 run -u 10 -d 30s \
                      script.js\n  plimsoll k6 run --save run.plim script.js\n  plimsoll k6 run --nats \
                      nats://10.0.0.1:4222 --agents 2 script.js\n  plimsoll k6 inspect script.js\n  \
                      plimsoll k6 new script.js",
    disable_help_flag = true
)]
pub struct K6 {
    /// `run`, `inspect`, or `new`, with the flags of k6
    #[arg(value_name = "ACTION", num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

macro_rules! foreign {
    ($($name:ident, $about:literal, $usage:literal;)*) => {
        $(
            #[doc = $about]
            #[derive(Debug, Parser)]
            #[command(about = $about, override_usage = $usage, after_help = OWN)]
            pub struct $name {
                /// Flags and arguments of the tool
                #[arg(value_name = "ARGUMENTS", num_args = 0..)]
                pub words: Vec<String>,
            }
        )*
    };
}

/// Flags of plimsoll that all commands of other tools accept.
const OWN: &str = "\
Flags of plimsoll:
      --save <FILE>    Save the run to this new file, for `report` [default: in the state directory]
      --report <FILE>  Also write the report of plimsoll to this new file: .html, .md, .json, or text
      --allow <HOST>   Confirm that you may load this public host [repeatable]
      --verdict        Exit with the code of the verdict instead of that of the tool

The verdict is printed to standard error.
";

foreign! {
    Wrk, "Load with the command line of wrk, and print its text.",
        "plimsoll wrk [FLAGS OF wrk] URL\n\nExample:\n  \
         plimsoll wrk -t4 -c100 -d30s --latency http://127.0.0.1:8080/";
    Ab, "Load with the command line of ab (ApacheBench), and print its text.",
        "plimsoll ab [FLAGS OF ab] URL\n\nExample:\n  plimsoll ab -n 10000 -c 100 -k http://127.0.0.1:8080/";
    Hey, "Load with the command line of hey, and print its text.",
        "plimsoll hey [FLAGS OF hey] URL\n\nExample:\n  plimsoll hey -z 30s -c 100 http://127.0.0.1:8080/";
    Oha, "Load with the command line of oha, and print its text.",
        "plimsoll oha [FLAGS OF oha] URL\n\nExample:\n  plimsoll oha -z 30s -q 500 http://127.0.0.1:8080/";
    Vegeta, "Load with the command line of Vegeta, or print its reports.",
        "plimsoll vegeta attack [FLAGS OF attack]\n       plimsoll vegeta report [FLAGS OF report] [FILE]\n\n\
         Example:\n  echo 'GET http://127.0.0.1:8080/' | plimsoll vegeta attack -rate=100 -duration=10s \\\n    \
         | plimsoll vegeta report";
    Loadtest, "Load with the command line of loadtest (npm), and print its text.",
        "plimsoll loadtest [FLAGS OF loadtest] URL\n\nExample:\n  \
         plimsoll loadtest -t 20 -c 10 --rps 200 -k http://127.0.0.1:8080/";
}

/// `plimsoll jmeter`, whose remaining words are parsed as JMeter's.
#[derive(Debug, Parser)]
#[command(
    about = "Run a JMeter test plan with the flags of JMeter. The report goes to standard error, and the exit code is \
             0 as in JMeter; with `--verdict`, it is that of the verdict.",
    override_usage = "plimsoll jmeter -n -t plan.jmx [FLAGS OF JMETER]\n\nExamples:\n  \
                      plimsoll jmeter -n -t plan.jmx -l results.jtl\n  \
                      plimsoll jmeter -n -t plan.jmx -l results.jtl -e -o report -Jusers=10\n  \
                      plimsoll jmeter -n -t plan.jmx --set THREADS_COUNT=10 --save run.plim --verdict\n  \
                      plimsoll jmeter -n -t plan.jmx --nats nats://10.0.0.1:4222 --agents 2 --save run.plim",
    disable_help_flag = true
)]
pub struct Jmeter {
    /// `-n -t PLAN`; `-l`, `-j`, `-e`, `-o`, `-f`, `-J`, `-G`, `-q`, `-p`; `--set`, `--save`, `--allow`, `--verdict`,
    /// `--agents`
    #[arg(value_name = "FLAGS", num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

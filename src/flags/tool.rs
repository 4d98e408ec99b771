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

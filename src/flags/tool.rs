//! The commands that are about the tool itself: its examples, its manual, its completions, the runs that it kept.

use super::verbs::Form;
use clap::{Parser, Subcommand};

/// `plimsoll examples`.
#[derive(Debug, Parser)]
#[command(
    about = "Lists the example experiments, or prints one of them.",
    override_usage = "plimsoll examples [NAME] > experiment.yaml"
)]
pub struct Examples {
    /// Name of the example; without one, all are listed
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// `plimsoll completions`.
#[derive(Debug, Parser)]
#[command(
    about = "Prints the completions for a shell. To install: bash: `plimsoll completions bash > \
             ~/.local/share/bash-completion/completions/plimsoll`; zsh: `plimsoll completions zsh > _plimsoll` in a \
             folder of `$fpath`; fish: `plimsoll completions fish > ~/.config/fish/completions/plimsoll.fish`.",
    override_usage = "plimsoll completions bash|zsh|fish"
)]
pub struct Completions {
    /// `bash`, `zsh` or `fish`
    #[arg(value_name = "SHELL")]
    pub shell: Option<String>,
}

/// `plimsoll man`.
#[derive(Debug, Parser)]
#[command(
    about = "Prints the manual page (roff): all flags and commands on one page.",
    override_usage = "plimsoll man | man -l -\n       plimsoll man > ~/.local/share/man/man1/plimsoll.1"
)]
pub struct Man {}

/// `plimsoll version`.
#[derive(Debug, Parser)]
#[command(about = "Prints the version.", override_usage = "plimsoll version")]
pub struct Version {}

/// `plimsoll runs`.
#[derive(Debug, Parser)]
#[command(
    about = "Lists, reports and deletes the runs in the state directory, where runs go without `--out`.",
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
    /// List the runs, newest first, with their sizes [default]
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Print the report of a run; its exit code is that of the run
    Show {
        /// Name of the run, or its beginning [default: the newest run]
        #[arg(value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        form: Form,
    },
    /// Delete the runs that are older than `--keep`
    Prune {
        /// Keep the runs of this long, such as `30d`
        #[arg(long, value_name = "DURATION")]
        keep: Option<String>,
        /// Print what would be deleted, and delete nothing
        #[arg(long)]
        dry_run: bool,
    },
}

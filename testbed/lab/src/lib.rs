//! `cargo xtask lab`: the systems that experiments load, as real processes on the loopback.
//! `testbed/NAME/lab.toml` defines a system; the lab starts it, waits until it is healthy, and stops all of it.

#![forbid(unsafe_code)]
// Chores print for a person at a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod certificate;
mod contract;
mod down;
mod file;
mod fill;
mod kinds;
mod link;
mod links;
mod list;
mod options;
mod places;
mod prediction;
mod prepare;
mod process;
mod run;
mod save;
mod state;
mod test;
mod up;

use chore::{Outcome, shell};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::path::Path;

pub const USAGE: &str = "list | prepare [NAME...] | up NAME... [--base N] | down [NAME...] | \
                         run NAME [--scale S] [--base N] [--save] [--part P] [--keep] [--tool FILE] | \
                         test [NAME...] [--scale S] [--tool FILE]";

pub fn command(arguments: &[String]) -> Outcome {
    let Some((what, rest)) = arguments.split_first() else {
        return Err(format!("missing command\nusage: cargo xtask lab {USAGE}"));
    };
    let _listening = chore::interrupt::listen()?;
    raise_open_files_limit()?;
    match what.as_str() {
        "list" if rest.is_empty() => list::command(),
        "prepare" => prepare::command(&options::prepare(rest)?),
        "up" => {
            let (names, base) = options::up(rest)?;
            up::command(&names, base)
        }
        "down" => down::command(&options::down(rest)?),
        "run" => run::command(&options::run(rest)?),
        "test" => test::command(&options::test(rest)?),
        _ => Err(format!("invalid command `{}`\nusage: cargo xtask lab {USAGE}", arguments.join(" "))),
    }
}

/// Raises the soft limit on open files to the hard limit, here and so in every process: the server decides whether it
/// accepts ten thousand connections, not the shell that started it. A process with `nofile` sets its own limit.
fn raise_open_files_limit() -> Outcome {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)
        .map_err(|e| format!("cannot read the limit on open files: {e}"))?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
        .map_err(|e| format!("cannot raise the limit on open files: {e}"))
}

/// Returns a path for messages: relative to the checkout.
fn describe(path: &Path) -> String {
    path.strip_prefix(shell::root()).unwrap_or(path).display().to_string()
}

fn make_folder(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot create `{}`: {e}", folder.display()))
}

/// Removes a file; a missing file is not an error.
fn remove_file(file: &Path) -> Outcome {
    match std::fs::remove_file(file) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("cannot remove `{}`: {e}", file.display()))
        }
        _ => Ok(()),
    }
}

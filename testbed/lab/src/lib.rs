//! `cargo xtask lab`: the five systems that experiments load, as real processes on the loopback. What a system is
//! made of stands in `testbed/NAME/lab.toml`; this starts it, watches it come up, and leaves nothing behind.

#![forbid(unsafe_code)]
// Chores talk to a person at a terminal: printing is what they are for.
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
        return Err(format!("what?\nusage: cargo xtask lab {USAGE}"));
    };
    let _listening = chore::interrupt::listen()?;
    raise_descriptor_limit()?;
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
        _ => Err(format!("`{}` makes no sense\nusage: cargo xtask lab {USAGE}", arguments.join(" "))),
    }
}

/// The soft limit on descriptors becomes the hard one, here and so in every process: ten thousand connections are a
/// question to the server and not to the shell that started it. A process with `nofile` sets its own.
fn raise_descriptor_limit() -> Outcome {
    let (_, hard) =
        getrlimit(Resource::RLIMIT_NOFILE).map_err(|e| format!("cannot read the descriptor limit: {e}"))?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
        .map_err(|e| format!("cannot raise the descriptor limit: {e}"))
}

/// A path as it is said to a person: relative to the checkout.
fn describe(path: &Path) -> String {
    path.strip_prefix(shell::root()).unwrap_or(path).display().to_string()
}

fn make_folder(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))
}

/// That it is not there is what was wanted.
fn remove_file(file: &Path) -> Outcome {
    match std::fs::remove_file(file) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("cannot remove `{}`: {e}", file.display()))
        }
        _ => Ok(()),
    }
}

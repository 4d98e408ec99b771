//! `cargo xtask lab`: the five systems that experiments load, as real processes on the loopback. What a system is
//! made of stands in `testbed/NAME/lab.toml`; this starts it, watches it come up, and leaves nothing behind.

mod certificate;
mod down;
mod file;
mod fill;
mod interrupt;
mod kinds;
mod link;
mod list;
mod look;
mod places;
mod prepare;
mod process;
mod state;
mod up;

use crate::{Outcome, shell};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::path::Path;

pub const USAGE: &str = "list | up NAME... [--base N] | down [NAME...]";

pub fn command(arguments: &[String]) -> Outcome {
    let Some((what, rest)) = arguments.split_first() else {
        return Err(format!("what?\nusage: cargo xtask lab {USAGE}"));
    };
    interrupt::listen()?;
    raise_descriptor_limit()?;
    match what.as_str() {
        "list" if rest.is_empty() => list::command(),
        "up" => {
            let (names, base) = up_options(rest)?;
            up::command(&names, base)
        }
        "down" => down::command(&if rest.is_empty() { places::started()? } else { rest.to_vec() }),
        _ => Err(format!("`{}` makes no sense\nusage: cargo xtask lab {USAGE}", arguments.join(" "))),
    }
}

fn up_options(rest: &[String]) -> Result<(Vec<String>, Option<u16>), String> {
    let mut names = Vec::new();
    let mut base = None;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if word == "--base" {
            base = Some(base_number(words.next())?);
        } else if word.starts_with('-') {
            return Err(format!("unknown option `{word}`"));
        } else {
            names.push(word.clone());
        }
    }
    if names.is_empty() {
        return Err(format!("which system?\nhint: there are: {}", places::names()?.join(", ")));
    }
    if base.is_some() && names.len() > 1 {
        return Err("`--base` is for one system: two at one base would share their ports".into());
    }
    Ok((names, base))
}

/// Ports of base 10 to 654 exist and need no right of their own.
fn base_number(text: Option<&String>) -> Result<u16, String> {
    let text = text.ok_or("`--base` needs a number")?;
    let number = text.parse::<u16>().ok().filter(|n| (11..=654).contains(n));
    number.ok_or_else(|| format!("`--base {text}`: 11 to 654 (ports are 100 times that, and up to 99 more)"))
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
fn shown(path: &Path) -> String {
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

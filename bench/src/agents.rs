//! `agents`: what a load from several machines costs. The coordinator with a thousand played agents, the age of its
//! live view, the start of a hundred agents, an agent alongside its load generator, ten agents against one process, and
//! the coordinator's memory over nine hours in simulated time.

mod alongside;
mod crowd;
mod hours;
mod lead;
mod nats;
mod shares;

use super::Context;
use super::options::Options;
use super::report::Report;
use super::tools::Roster;
use chore::{Outcome, shell};
use std::path::{Path, PathBuf};

/// Series of each agent, and requests of each series per second.
const SERIES: u32 = 20;
const REQUESTS: u32 = 50;

pub fn run(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let Some(own) = roster.own() else { return Ok(()) };
    let Some(server) = shell::find_program("nats-server") else {
        report.note("agents: `nats-server` is not installed, so nothing was measured");
        return Ok(());
    };
    let setting = Setting {
        own,
        server: &server,
        played: &example(context, "played_agents")?,
        hours: &example(context, "simulated_hours")?,
    };
    crowd::run(context, &setting, options, report)?;
    crowd::starts(context, &setting, options, report)?;
    alongside::run(context, &setting, options, report)?;
    shares::run(context, &setting, options, report)?;
    hours::run(context, &setting, report)
}

/// The programs.
struct Setting<'a> {
    own: &'a Path,
    server: &'a Path,
    /// Many agents in one process, whose load generators are played.
    played: &'a Path,
    /// The coordinator's part of a load in simulated time.
    hours: &'a Path,
}

/// Builds an example of the crate with the agents, as optimized as the binary.
fn example(context: &Context, name: &str) -> Result<PathBuf, String> {
    let mut command = shell::cargo();
    // With the binary, so that both have dependencies with the same features.
    command.args(["build", "--quiet", "--package", "plimsoll", "--package", "plimsoll-cluster"]);
    command.args(["--example", name]);
    if !context.smoke {
        command.arg("--release");
    }
    shell::run(&mut command)?;
    let profile = if context.smoke { "debug" } else { "release" };
    let file = shell::target_folder()?.join(profile).join("examples").join(name);
    if file.is_file() { Ok(file) } else { Err(format!("there is no `{}`", file.display())) }
}

//! Any program: a server of this repository, Prometheus, a search index. Its `seed` runs when it is healthy.

use super::super::file::{Process, System};
use super::super::fill::Fill;
use super::super::process::{self, Spec, last_lines};
use super::super::state::State;
use chore::interrupt;
use chore::{Outcome, shell};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Time limit of a seed: a hundred thousand rows through an API take seconds.
const SEED_WITHIN: Duration = Duration::from_secs(300);

pub fn spec(process: &Process, system: &System, fill: &Fill, state: &State) -> Spec {
    let mut spec = super::plain(process, fill, state);
    spec.run = process.run.clone();
    spec.folder = system.here.join(&process.folder);
    spec
}

/// Runs the seed with the environment of its process, so that both use the same database. An error contains the end of
/// its output.
pub fn seed(process: &Process, system: &System, state: &State) -> Outcome {
    if process.seed.is_empty() {
        return Ok(());
    }
    let log = state.folder.join("log").join(format!("{}-seed.log", process.name));
    let mut command = process::command(&process.seed, &system.here.join(&process.folder))?;
    command.envs(&process.env).envs(state.mark().split_once('=')).stdin(Stdio::null());
    process::log_to(&mut command, &log)?;
    let shown = shell::show(&command);
    let mut child = command.spawn().map_err(|e| format!("cannot start `{shown}`: {e}"))?;
    let status = process::wait(&mut child, Instant::now() + SEED_WITHIN)?;
    interrupt::check()?;
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("seed `{shown}` failed: {status}\n{}", last_lines(&log, 15))),
        None => Err(format!("seed `{shown}` did not end within {} s", SEED_WITHIN.as_secs())),
    }
}

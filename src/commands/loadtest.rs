//! `plimsoll loadtest`: the command line of the package of npm.

use super::foreign::{self, Unreachable, codes};
use crate::exit::{Exit, Failure};
use crate::flags::tool::Loadtest;
use crate::{flags, say};
use plimsoll_toolend::loadtest;

pub fn command(given: &Loadtest) -> Result<Exit, Failure> {
    codes::LOADTEST.apply(&given.words, run)
}

fn run(words: &[String]) -> Result<Exit, Failure> {
    let line = plimsoll_lines::loadtest::parse(words).map_err(Failure::Text)?;
    if line.is_version {
        say::result(&flags::version_as("loadtest 8"))?;
        return Ok(Exit::Pass);
    }
    for note in &line.notes {
        say::talk(&format!("note: {note}\n"));
    }
    let mut draft = line.draft.clone();
    // As loadtest does without `--cores`.
    let cores = std::thread::available_parallelism().map_or(1, |all| all.get().div_ceil(2));
    draft.workers.get_or_insert(u32::try_from(cores).unwrap_or(1));
    let ended = foreign::run(draft, &line.own, Unreachable::IsLoaded)?;
    let summary = &ended.measured.summary;
    // With a rate, loadtest creates a client for each request that finds none free.
    let clients = match line.rate_per_s {
        Some(_) => summary.client.in_flight_peak,
        None => u64::from(line.concurrency),
    };
    let text = loadtest::text(&ended.figures, &line, clients, summary.plan.workers);
    foreign::finish(&ended, &text, &line.own, Exit::Pass)
}

//! `plimsoll hey`: the command line of hey.

use super::foreign::{self, Unreachable, codes};
use crate::exit::{Exit, Failure};
use crate::flags::tool::Hey;
use plimsoll_toolend::hey;

pub fn command(given: &Hey) -> Result<Exit, Failure> {
    codes::GO.apply(&given.words, run)
}

fn run(words: &[String]) -> Result<Exit, Failure> {
    let line = plimsoll_lines::hey::parse(words).map_err(Failure::Text)?;
    let ended = foreign::run(line.draft.clone(), &line.own, Unreachable::IsLoaded)?;
    foreign::finish(&ended, &hey::text(&ended.figures, &line), &line.own, Exit::Pass)
}

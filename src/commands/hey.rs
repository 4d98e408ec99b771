//! `plimsoll hey`: the command line of hey.

use super::foreign;
use crate::exit::{Exit, Failure};
use crate::flags::tool::Hey;
use plimsoll_toolend::hey;

pub fn command(given: &Hey) -> Result<Exit, Failure> {
    let line = plimsoll_lines::hey::parse(&given.words).map_err(Failure::Text)?;
    let ended = foreign::run(line.draft.clone(), &line.own)?;
    foreign::finish(&ended, &hey::text(&ended.figures, &line), &line.own, Exit::Pass)
}

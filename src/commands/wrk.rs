//! `plimsoll wrk`: the command line of wrk.

#[cfg(feature = "lua")]
mod script;

use super::foreign::{self, Unreachable, codes};
use crate::exit::{Exit, Failure};
use crate::flags::tool::Wrk;
use crate::{flags, say};
use plimsoll_toolend::wrk;

pub fn command(given: &Wrk) -> Result<Exit, Failure> {
    codes::WRK.apply(&given.words, run)
}

fn run(words: &[String]) -> Result<Exit, Failure> {
    let line = plimsoll_lines::wrk::parse(words).map_err(Failure::Text)?;
    if line.is_version {
        say::result(&flags::version_as("wrk 4.1.0"))?;
        return Ok(Exit::Pass);
    }
    if let Some(file) = &line.script {
        #[cfg(feature = "lua")]
        return script::command(&line, file);
        #[cfg(not(feature = "lua"))]
        return Err(crate::exit::not_built(&format!("wrk -s {file}"), "lua"));
    }
    let ended = foreign::run(line.draft.clone(), &line.own, Unreachable::Ends)?;
    foreign::finish(&ended, &wrk::text(&ended.figures, &line), &line.own, Exit::Pass)
}

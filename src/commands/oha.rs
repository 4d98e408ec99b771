//! `plimsoll oha`: the command line of oha.

use super::foreign::{self, Unreachable, codes};
use crate::exit::{Exit, Failure};
use crate::flags::tool::Oha;
use crate::{flags, say};
use plimsoll_lines::oha::Format;
use plimsoll_toolend::oha;

pub fn command(given: &Oha) -> Result<Exit, Failure> {
    codes::OHA.apply(&given.words, run)
}

fn run(words: &[String]) -> Result<Exit, Failure> {
    let line = plimsoll_lines::oha::parse(words).map_err(Failure::Text)?;
    if line.is_version {
        say::result(&flags::version_as("oha 1.16"))?;
        return Ok(Exit::Pass);
    }
    let ended = foreign::run(line.draft.clone(), &line.own, Unreachable::IsLoaded)?;
    let text = match line.format {
        Format::Text => oha::text(&ended.figures, &line),
        Format::Json => oha::json(&ended.figures, &line),
        Format::Quiet => String::new(),
    };
    match &line.output {
        None => foreign::finish(&ended, &text, &line.own, Exit::Pass),
        Some(file) => {
            foreign::write_over(file, &text)?;
            foreign::finish(&ended, "", &line.own, Exit::Pass)
        }
    }
}

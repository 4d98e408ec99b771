//! `plimsoll size`: converts visitors to users and requests per second, or back.

use crate::exit::{Exit, Failure};
use crate::flags::judge::Size;
use crate::say;
use plimsoll_output::{json, sizing as render};
use plimsoll_plan::diag::Place;
use plimsoll_plan::sizing::{SizingInput, Visitors, number, size};
use plimsoll_plan::{Diagnostic, Problem, unit};

pub fn command(flags: &Size) -> Result<Exit, Failure> {
    let mut wrong = Vec::new();
    let mut read = Read { wrong: &mut wrong };
    let asked = SizingInput {
        visitors: read.with("--visitors", &flags.visitors, Visitors::parse),
        active_ns: read.with("--active", &flags.active, unit::duration_ns),
        peak: read.with("--peak", &flags.peak, number),
        session_ns: read.with("--session", &flags.session, unit::duration_ns),
        pages: read.with("--pages", &flags.pages, number),
        think_ns: read.with("--think", &flags.think, unit::duration_ns),
        response_ns: read.with("--response", &flags.response, unit::duration_ns),
        users: read.with("--users", &flags.users, number),
        rate_per_s: read.with("--rate", &flags.rate, unit::rate_per_s),
    };
    if !wrong.is_empty() {
        return Err(Failure::Text(wrong));
    }
    let sized = size(&asked).map_err(|problems| {
        Failure::Text(problems.into_iter().map(|one| Diagnostic::of("U034", Place::Whole, one)).collect())
    })?;
    let text = match flags.json {
        true => json::document(&sized)?,
        false => render::terminal(&sized, &say::look_of_results(flags.no_color)),
    };
    say::result(&text)?;
    Ok(Exit::Pass)
}

struct Read<'a> {
    wrong: &'a mut Vec<Diagnostic>,
}

impl Read<'_> {
    fn with<T>(
        &mut self,
        flag: &str,
        text: &Option<String>,
        parse: impl Fn(&str) -> Result<T, Problem>,
    ) -> Option<T> {
        match parse(text.as_deref()?) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.wrong.push(Diagnostic::of("U011", Place::Flag(flag.into()), problem));
                None
            }
        }
    }
}

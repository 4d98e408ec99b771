//! Collects mistakes and warnings while options are read.

use super::code;
use crate::value::{self, Read};
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Problem};

#[derive(Debug, Default)]
pub(super) struct Reader {
    pub wrong: Vec<Diagnostic>,
    pub notes: Vec<String>,
}

impl Reader {
    /// Returns a value, or notes the mistake with its place.
    pub fn at<T>(&mut self, place: &str, value: Read<T>) -> Option<T> {
        value.unwrap_or_else(|problem| {
            self.problem(place, problem);
            None
        })
    }

    pub fn problem(&mut self, place: &str, problem: Problem) {
        let code = if value::is_unsupported(&problem) { code::UNSUPPORTED } else { code::VALUE };
        self.wrong.push(Diagnostic::of(code, Place::Whole, problem.within(format!("`{place}`: "))));
    }

    pub fn wrong(&mut self, code: &'static str, message: impl Into<String>, hint: impl Into<String>) {
        self.wrong.push(Diagnostic::new(code, Place::Whole, message, hint));
    }

    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

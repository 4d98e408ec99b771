//! The files of a plan, and places in them.

use crate::text::Pos;
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Problem};

/// Longest line of a file that a diagnostic shows, in characters.
const EXCERPT: usize = 200;

/// A file of a plan.
#[derive(Debug, Clone, Default)]
pub struct Source {
    pub name: String,
    pub text: String,
    /// Its index in the plan.
    pub file: u16,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl Source {
    pub fn new(name: String, text: String, file: u16) -> Source {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after).collect();
        Source { name, text, file, starts }
    }

    /// Returns the place of a byte.
    pub fn pos(&self, at: usize) -> Pos {
        let line = self.starts.partition_point(|start| *start <= at).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1;
        Pos { file: self.file, line: line as u32, column: column as u32 }
    }

    /// Returns a place for a diagnostic.
    pub fn place(&self, pos: Pos) -> Place {
        let begin = self.starts.get((pos.line.max(1) - 1) as usize).copied().unwrap_or(self.text.len());
        let line = self.text.get(begin..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        Place::Text {
            file: self.name.clone(),
            line: pos.line,
            column: pos.column,
            excerpt: line.chars().take(EXCERPT).collect(),
        }
    }

    pub fn diagnostic(&self, code: &'static str, pos: Pos, problem: Problem) -> Diagnostic {
        Diagnostic::of(code, self.place(pos), problem)
    }
}

/// All files of a plan: its own, and those that it includes.
#[derive(Debug, Clone, Default)]
pub struct Files {
    pub all: Vec<Source>,
}

impl Files {
    /// Returns a place for a diagnostic.
    pub fn place(&self, pos: Pos) -> Place {
        self.all.get(usize::from(pos.file)).map_or(Place::Whole, |source| source.place(pos))
    }
}

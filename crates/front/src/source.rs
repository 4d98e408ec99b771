//! A text as lines: where in it something stands, and what is wrong there.

use plimsoll_plan::Diagnostic;
use plimsoll_plan::Problem;
use plimsoll_plan::diag::Place;

/// Line and column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pos {
    pub line: u32,
    pub column: u32,
}

impl Pos {
    /// Where the text begins: the place of what is missing.
    pub const TOP: Pos = Pos { line: 1, column: 1 };
}

/// The text as lines, for the excerpts of diagnostics.
pub struct Source<'a> {
    file: &'a str,
    lines: Vec<&'a str>,
}

impl<'a> Source<'a> {
    pub fn new(text: &'a str, file: &'a str) -> Self {
        // A byte-order mark takes no column.
        Self { file, lines: text.trim_start_matches('\u{feff}').lines().collect() }
    }

    /// A position with its line. Control characters become spaces: an excerpt goes to a terminal.
    pub fn place(&self, pos: Pos) -> Place {
        let line = self.lines.get((pos.line as usize).saturating_sub(1)).copied().unwrap_or_default();
        let excerpt = line.chars().take(400).map(|c| if c.is_control() { ' ' } else { c }).collect();
        Place::Text { file: self.file.to_owned(), line: pos.line, column: pos.column, excerpt }
    }

    /// Where `needle` stands in the value that begins at `pos`; `pos` itself where it is not written as it reads
    /// (escapes, folded lines).
    pub fn within(&self, pos: Pos, needle: &str) -> Pos {
        /// Bodies have many lines; a needle that lies farther away belongs to something else.
        const LINES: u32 = 300;
        for line in pos.line..pos.line.saturating_add(LINES) {
            if line as usize > self.lines.len() {
                break;
            }
            let text = self.line(line);
            let skipped = if line == pos.line { pos.column.saturating_sub(1) as usize } else { 0 };
            let begin = text.char_indices().nth(skipped).map_or(text.len(), |(at, _)| at);
            if let Some(at) = text[begin..].find(needle) {
                let column = text[..begin + at].chars().count() as u32 + 1;
                return Pos { line, column };
            }
        }
        pos
    }

    pub fn wrong(
        &self,
        code: &'static str,
        pos: Pos,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(code, self.place(pos), message, hint)
    }

    /// The line in front of a position, for guesses at what was meant.
    pub fn line(&self, line: u32) -> &'a str {
        self.lines.get((line as usize).saturating_sub(1)).copied().unwrap_or_default()
    }
}

/// In the order of the text, each once: one value that an alias repeats, that every request carries, or that stands in
/// every cell of a matrix would be reported as often.
pub fn ordered(mut wrong: Vec<Diagnostic>) -> Vec<Diagnostic> {
    wrong.sort_by_key(|d| match d.place {
        Place::Text { line, column, .. } => (line, column),
        _ => (0, 0),
    });
    let mut seen: Vec<Diagnostic> = Vec::with_capacity(wrong.len());
    for diagnostic in wrong {
        // Equal ones have one place, so that they stand near each other.
        if !seen.iter().rev().take(64).any(|other| *other == diagnostic) {
            seen.push(diagnostic);
        }
    }
    seen
}

/// What is wrong at a place of a text, said by whoever knows no files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    pub code: &'static str,
    pub pos: Pos,
    pub message: String,
    pub hint: String,
}

impl Complaint {
    pub fn new(
        code: &'static str,
        pos: Pos,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Complaint {
        Complaint { code, pos, message: message.into(), hint: hint.into() }
    }

    /// What is wrong with a value.
    pub fn of(pos: Pos, problem: Problem) -> Complaint {
        let Problem { message, hint } = problem;
        Complaint::new("F015", pos, message, hint)
    }
}

/// Everything that is wrong so far.
#[derive(Debug, Default)]
pub struct Complaints {
    pub all: Vec<Complaint>,
}

impl Complaints {
    pub fn complain(
        &mut self,
        code: &'static str,
        pos: Pos,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.all.push(Complaint::new(code, pos, message, hint));
    }

    /// What is wrong with a value.
    pub fn complain_of(&mut self, pos: Pos, problem: Problem) {
        self.all.push(Complaint::of(pos, problem));
    }
}

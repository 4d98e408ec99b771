//! A text as lines, with positions and complaints.

use plimsoll_plan::Diagnostic;
use plimsoll_plan::Problem;
use plimsoll_plan::diag::Place;

/// Line and column, starting at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pos {
    pub line: u32,
    pub column: u32,
}

impl Pos {
    /// The beginning of the text, which is the place of missing keys.
    pub const TOP: Pos = Pos { line: 1, column: 1 };
}

/// A text as lines, for the excerpts of diagnostics.
pub struct Source<'a> {
    file: &'a str,
    lines: Vec<&'a str>,
}

impl<'a> Source<'a> {
    pub fn new(text: &'a str, file: &'a str) -> Self {
        // A byte order mark takes no column.
        Self { file, lines: text.trim_start_matches('\u{feff}').lines().collect() }
    }

    /// Returns a place with its line. Control characters become spaces, because an excerpt may go to a terminal.
    pub fn place(&self, pos: Pos) -> Place {
        let line = self.lines.get((pos.line as usize).saturating_sub(1)).copied().unwrap_or_default();
        let excerpt = line.chars().take(400).map(|c| if c.is_control() { ' ' } else { c }).collect();
        Place::Text { file: self.file.to_owned(), line: pos.line, column: pos.column, excerpt }
    }

    /// Finds `needle` in the value that begins at `pos`. Returns `pos` if it is written differently (escapes, folded
    /// lines).
    pub fn within(&self, pos: Pos, needle: &str) -> Pos {
        /// Bodies have many lines, but a needle farther away belongs to something else.
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

    /// Returns a line by its number, starting at 1.
    pub fn line(&self, line: u32) -> &'a str {
        self.lines.get((line as usize).saturating_sub(1)).copied().unwrap_or_default()
    }
}

/// Sorts diagnostics in the order of the text and removes duplicates, which come from values that an alias, every
/// request, or every cell of a matrix repeats.
pub fn ordered(mut wrong: Vec<Diagnostic>) -> Vec<Diagnostic> {
    wrong.sort_by_key(|d| match d.place {
        Place::Text { line, column, .. } => (line, column),
        _ => (0, 0),
    });
    let mut seen: Vec<Diagnostic> = Vec::with_capacity(wrong.len());
    for diagnostic in wrong {
        // Equal diagnostics have the same place, so they are close to each other.
        if !seen.iter().rev().take(64).any(|other| *other == diagnostic) {
            seen.push(diagnostic);
        }
    }
    seen
}

/// A mistake at a position of a text, without its file.
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

    /// Turns a problem with a value into a complaint.
    pub fn of(pos: Pos, problem: Problem) -> Complaint {
        let Problem { message, hint } = problem;
        Complaint::new("F015", pos, message, hint)
    }
}

/// All mistakes so far.
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

    /// Adds a problem with a value.
    pub fn complain_of(&mut self, pos: Pos, problem: Problem) {
        self.all.push(Complaint::of(pos, problem));
    }
}

//! Several experiments of one file: the heading of each, and the table of all results.

use crate::document::{self, Block, Cell, Column, Document, On, Role, Section, Sentence, Table, Tone, Value};
use crate::line::{Line, write_all};
use crate::style::{Look, TextStyle};
use crate::words;
use plimsoll_analysis::summary::Outcome;

/// The result of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    /// `None` if an error prevented it from running completely.
    pub result: Option<Outcome>,
    /// Whether it has any runs.
    pub begun: bool,
    /// Whether something could have failed: see [`plimsoll_experiment::conclusion::Conclusion::is_judged`].
    pub judged: bool,
    /// The sentence of its report, or why there is none.
    pub sentence: String,
}

impl Row {
    /// Returns its word.
    pub fn result(&self) -> &'static str {
        match (self.result, self.begun) {
            (Some(Outcome::Pass), _) if !self.judged => super::MEASURED,
            (Some(outcome), _) => words::outcome(outcome),
            (None, true) => "stopped",
            (None, false) => "could not run",
        }
    }

    /// A part that could not run is not better than one that missed its thresholds.
    pub(crate) fn tone(&self) -> Tone {
        match self.result {
            Some(Outcome::Pass) if !self.judged => Tone::Note,
            result => result.map_or(Tone::Fail, Tone::from),
        }
    }
}

/// Returns the heading above the report of a part.
pub fn heading(number: usize, of: usize, name: &str, look: &Look) -> String {
    let line = Line::of(TextStyle::Dim, &format!("part {number} of {of}  ")).ink(TextStyle::Strong, name);
    write_all(&[line], look)
}

/// Returns part, result, and sentence.
pub fn table(rows: &[Row], look: &Look) -> String {
    document::terminal(&report(rows), look)
}

/// Returns the same table in Markdown.
pub fn markdown(rows: &[Row]) -> String {
    document::markdown(&report(rows))
}

fn report(rows: &[Row]) -> Document {
    let result = |row: &Row| {
        let tone = row.tone();
        Cell::status(tone, row.result()).strong(tone == Tone::Note)
    };
    let table = Table::of("parts", "All parts", rows)
        .column(Column::text("part").brief(""), |row| Value::Prose(row.name.clone()).into())
        .column(Column::text("result").brief(""), result)
        .column(Column::text("sentence").brief("").wrapped(), |row| {
            Value::Prose(row.sentence.clone()).into()
        });
    Document {
        tone: Tone::Note,
        name: Sentence::new(Role::Plain, ""),
        head: Vec::new(),
        sections: vec![
            Section::new("parts", "All parts", vec![Block::Table(table.done())])
                .brief("all parts")
                .titled(On::TERMINAL),
        ],
    }
}

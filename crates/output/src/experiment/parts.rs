//! Several experiments of one file: the heading of each, and the table of what became of all.

use crate::document::{self, Block, Cell, Column, Document, On, Role, Section, Sentence, Table, Tone, Value};
use crate::line::{Line, write_all};
use crate::style::{Look, TextStyle};
use crate::words;
use plimsoll_analysis::summary::Outcome;

/// What became of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    /// `None`: something kept it from being run as a whole.
    pub result: Option<Outcome>,
    /// There are runs of it.
    pub begun: bool,
    /// Something could have failed: see [`plimsoll_experiment::conclusion::Conclusion::is_judged`].
    pub judged: bool,
    /// Of its report, or why there is none.
    pub sentence: String,
}

impl Row {
    /// The word for it.
    pub fn result(&self) -> &'static str {
        match (self.result, self.begun) {
            (Some(Outcome::Pass), _) if !self.judged => super::MEASURED,
            (Some(outcome), _) => words::outcome(outcome),
            (None, true) => "stopped",
            (None, false) => "could not run",
        }
    }

    /// What could not be run is no better than what missed its thresholds.
    pub(crate) fn tone(&self) -> Tone {
        match self.result {
            Some(Outcome::Pass) if !self.judged => Tone::Note,
            result => result.map_or(Tone::Fail, Tone::from),
        }
    }
}

/// What stands above the report of a part.
pub fn heading(number: usize, of: usize, name: &str, look: &Look) -> String {
    let line = Line::of(TextStyle::Dim, &format!("part {number} of {of}  ")).ink(TextStyle::Strong, name);
    write_all(&[line], look)
}

/// Part, result, sentence.
pub fn table(rows: &[Row], look: &Look) -> String {
    document::terminal(&report(rows), look)
}

/// The same table in Markdown.
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

//! Several experiments of one file: the heading of each, and the table of what became of all.

use crate::line::{Line, wrap, write_all};
use crate::markdown::prose;
use crate::style::{Look, TextStyle};
use crate::words;
use plimsoll_analysis::summary::Outcome;
use std::fmt::Write;

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
}

/// What stands above the report of a part.
pub fn heading(number: usize, of: usize, name: &str, look: &Look) -> String {
    let line = Line::of(TextStyle::Dim, &format!("part {number} of {of}  ")).ink(TextStyle::Strong, name);
    write_all(&[line], look)
}

/// Part, result, sentence.
pub fn table(rows: &[Row], look: &Look) -> String {
    let width = |text: fn(&Row) -> &str| rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0);
    let names = width(|row| row.name.as_str());
    let results = width(Row::result);
    let margin = names + results + 4;
    let mut lines = vec![Line::of(TextStyle::Strong, "all parts")];
    for row in rows {
        let ink = match row.result {
            Some(Outcome::Pass) if !row.judged => TextStyle::Strong,
            Some(Outcome::Pass) => TextStyle::Good,
            Some(Outcome::Inconclusive | Outcome::Interrupted) => TextStyle::Warn,
            Some(Outcome::Fail) | None => TextStyle::Bad,
        };
        let head =
            Line::new().text(&row.name).pad(names + 2).line(Line::of(ink, row.result()).pad(results + 2));
        // A sentence goes on under itself, so that the columns stay columns.
        let texts = wrap(&row.sentence, look.columns().saturating_sub(margin).max(24));
        for (at, text) in texts.iter().enumerate() {
            let front = if at == 0 { head.clone() } else { Line::new().pad(margin) };
            lines.push(front.text(text));
        }
        if texts.is_empty() {
            lines.push(head);
        }
    }
    write_all(&lines, look)
}

/// The same table in Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let mut out = String::from("| part | result | sentence |\n|---|---|---|\n");
    for row in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| {} | {} | {} |", prose(&row.name), row.result(), prose(&row.sentence));
    }
    out
}

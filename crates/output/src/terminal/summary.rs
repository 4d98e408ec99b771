//! The report at the end of a run.

use crate::format::chosen_s;
use crate::line::Line;
use crate::style::{Look, TextStyle};
use crate::{document, run, words};
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::{Outcome, Summary};
use plimsoll_record::event::StoppedBy;

/// How much of a report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What a reader acts on.
    Screen,
    /// Everything.
    Full,
}

/// The report. No line is wider than [`Look::columns`] but the last ones, which name `run_file` and the command that
/// shows all of it: they are there to be copied and are never cut.
pub fn summary(s: &Summary, look: &Look, detail: Detail, run_file: Option<&str>) -> String {
    let report = run::document(s, &Picture::default(), &[], run_file);
    let mut out = match detail {
        Detail::Screen => document::screen(&report, look),
        Detail::Full => document::terminal(&report, look),
    };
    let last = match detail {
        Detail::Screen => run_file.map_or_else(Vec::new, |file| saved(s, file, look)),
        Detail::Full => vec![verdict_again(s, run_file)],
    };
    for (at, line) in last.iter().enumerate() {
        if at == 0 {
            out.push('\n');
        }
        line.write(look, &mut out);
        out.push('\n');
    }
    out
}

/// Where the record is, and what shows all of it: on one line if it fits.
fn saved(s: &Summary, run_file: &str, look: &Look) -> Vec<Line> {
    let file = words::shell_word(run_file);
    let complete = if s.is_complete { "complete" } else { "incomplete" };
    let saved = format!("Saved to {file} ({complete}, {}).", length(s));
    let (lead, command) = ("Show everything: ", format!("plimsoll report {file} --full"));
    let show = |line: Line| line.ink(TextStyle::Dim, lead).text(&command);
    let width = saved.chars().count() + 1 + lead.len() + command.chars().count();
    match width <= look.columns() {
        true => vec![show(Line::of(TextStyle::Dim, &format!("{saved} ")))],
        false => vec![Line::of(TextStyle::Dim, &saved), show(Line::of(TextStyle::Plain, ""))],
    }
}

fn length(s: &Summary) -> String {
    match s.stopped_by {
        Some(StoppedBy::Duration) => format!("full {}", chosen_s(s.totals.measured_s + s.totals.warmup_s)),
        other => words::stopped_by(other).into(),
    }
}

/// All details are longer than many windows: the verdict stands once more where the reader's eye is.
fn verdict_again(s: &Summary, run_file: Option<&str>) -> Line {
    let ink = match s.verdict.result {
        Outcome::Pass => TextStyle::Good,
        Outcome::Fail => TextStyle::Bad,
        Outcome::Inconclusive | Outcome::Interrupted => TextStyle::Warn,
    };
    let line = Line::of(ink, words::outcome(s.verdict.result));
    match run_file {
        None => line,
        Some(path) => line
            .ink(TextStyle::Dim, "  show again: ")
            .text(&format!("plimsoll report {} --full", words::shell_word(path))),
    }
}

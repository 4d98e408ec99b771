//! The report at the end of a run.

use crate::line::Line;
use crate::style::{Look, TextStyle};
use crate::{document, run, words};
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::{Outcome, Summary};

/// The report, about 60 lines at 100 columns. No line is wider than [`Look::columns`] but the last one, which names
/// `run_file` and the command that shows it again: that is there to be copied and is never cut.
pub fn summary(s: &Summary, look: &Look, run_file: Option<&str>) -> String {
    let report = run::document(s, &Picture::default(), &[], run_file);
    let mut out = document::terminal(&report, look);
    out.push('\n');
    last_line(s, run_file).write(look, &mut out);
    out.push('\n');
    out
}

/// The report is longer than many windows: the verdict stands once more where the reader's eye is.
fn last_line(s: &Summary, run_file: Option<&str>) -> Line {
    let ink = match s.verdict.result {
        Outcome::Pass => TextStyle::Good,
        Outcome::Fail => TextStyle::Bad,
        Outcome::Inconclusive | Outcome::Interrupted => TextStyle::Warn,
    };
    let line = Line::of(ink, words::outcome(s.verdict.result));
    match run_file {
        None => line,
        Some(path) => line
            .ink(TextStyle::Dim, "  see it again: ")
            .text(&format!("plimsoll report {}", words::shell_word(path))),
    }
}

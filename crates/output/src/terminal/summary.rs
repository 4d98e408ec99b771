//! The report at the end of a run, in the order in which it should be read: can it be believed, what was found, where
//! the time went, how it went over time.

mod detail;
mod head;
mod script;
mod timeline;
mod trust_box;
mod watched;

use crate::document::lines;
use crate::line::{Line, write_all};
use crate::style::{Look, TextStyle};
use crate::terminal::table::{fits_beside, side_by_side};
use crate::{run, words};
use plimsoll_analysis::summary::{Outcome, Summary};

/// The report, about 60 lines at 100 columns. No line is wider than [`Look::columns`] but the last one, which names
/// `run_file` and the command that shows it again: that is there to be copied and is never cut.
pub fn summary(s: &Summary, look: &Look, run_file: Option<&str>) -> String {
    let columns = look.columns();
    let mut blocks = vec![
        head::verdict(s, look, columns, run_file),
        lines(&run::thresholds::section(s), look),
        head::cautions(s, look, columns),
        trust_box::trust_box(s, look, columns),
        lines(&run::figures::section(s), look),
    ];
    blocks.extend(distribution(s, look, columns));
    blocks.push(script::checks(s, look, columns));
    blocks.push(script::samples(s, look, columns));
    blocks.push(detail::spikes(s, look, columns));
    blocks.extend(run::parts(s).iter().map(|section| lines(section, look)));
    blocks.push(watched::watched(s, look, columns));
    blocks.push(timeline::timeline(s, look, columns));
    blocks.push(vec![last_line(s, run_file)]);
    blocks.retain(|block| !block.is_empty());
    write_all(&blocks.join(&Line::new()), look)
}

/// The times, and what belongs to them at their right as far as there is room.
fn distribution(s: &Summary, look: &Look, columns: usize) -> Vec<Vec<Line>> {
    let [times, bands, phases] = [run::times::percentiles(s), run::times::bands(s), run::times::phases(s)]
        .map(|one| lines(&one, look));
    let mut both = bands.clone();
    if !bands.is_empty() && !phases.is_empty() {
        both.push(Line::new());
    }
    both.extend(phases.iter().cloned());
    if fits_beside(&times, &both, columns) {
        vec![side_by_side(times, both, columns)]
    } else if fits_beside(&bands, &phases, columns) && !fits_beside(&times, &bands, columns) {
        vec![times, side_by_side(bands, phases, columns)]
    } else {
        vec![side_by_side(times, bands, columns), phases]
    }
}

/// A heading: what the lines below are, and what needs to be known to read them.
fn heading(title: &str, aside: &str) -> Line {
    let line = Line::of(TextStyle::Strong, title);
    if aside.is_empty() { line } else { line.text("  ").ink(TextStyle::Dim, aside) }
}

fn indented(line: Line) -> Line {
    Line::new().text("  ").line(line)
}

fn outcome_ink(outcome: Outcome) -> TextStyle {
    match outcome {
        Outcome::Pass => TextStyle::Good,
        Outcome::Fail => TextStyle::Bad,
        Outcome::Inconclusive | Outcome::Interrupted => TextStyle::Warn,
    }
}

/// The report is longer than many windows: the verdict stands once more where the reader's eye is.
fn last_line(s: &Summary, run_file: Option<&str>) -> Line {
    let line = Line::of(outcome_ink(s.verdict.result), words::outcome(s.verdict.result));
    match run_file {
        None => line,
        Some(path) => line
            .ink(TextStyle::Dim, "  see it again: ")
            .text(&format!("plimsoll report {}", words::shell_word(path))),
    }
}

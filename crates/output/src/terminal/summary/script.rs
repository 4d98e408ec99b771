//! What only scripts have: checks, examples of failures.

use super::detail::more;
use super::{heading, indented};
use crate::format::{chosen_ns, count, ratio};
use crate::line::{Line, wrap};
use crate::style::{Look, TextStyle};
use crate::terminal::table::{Align, Table};
use plimsoll_analysis::summary::{SampleRow, Summary};

/// Checks shown.
const ROWS: usize = 12;
/// Samples shown; the JSON document has them all.
const SAMPLES: usize = 4;
/// Lines of an excerpt.
const EXCERPT_LINES: usize = 2;

fn dim(text: &str) -> Line {
    Line::of(TextStyle::Dim, text)
}

/// Those that failed stand first, as the summary brings them. Where all held, one line says so.
pub fn checks(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    if s.checks.is_empty() {
        return Vec::new();
    }
    let made: u64 = s.checks.iter().map(|check| check.made).sum();
    let failed: Vec<_> = s.checks.iter().filter(|check| check.failed > 0).collect();
    if failed.is_empty() {
        let all = format!("all {} held, {} made", count(s.checks.len() as u64), count(made));
        return vec![heading("checks", &all).cut(columns, look)];
    }
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Right, Align::Right]);
    for check in failed.iter().take(ROWS) {
        table.row(vec![
            Line::of(TextStyle::Bad, look.signs().bad).text(" ").text(&check.name),
            dim(&check.request),
            Line::of(TextStyle::Bad, &format!("{} failed", count(check.failed))),
            dim(&format!(
                "{} of {}",
                ratio(check.failed as f64 / check.made.max(1) as f64),
                count(check.made)
            )),
        ]);
    }
    let held = s.checks.len() - failed.len();
    let aside = if held > 0 { format!("{held} more held always") } else { String::new() };
    let mut lines = vec![heading("checks", &aside)];
    lines.extend(table.lines(columns - 2, look).into_iter().map(indented));
    lines.extend(more(failed.len(), ROWS));
    lines
}

/// The first example of each kind of failure, with the beginning of the answer.
pub fn samples(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    let mut shown: Vec<&SampleRow> = Vec::new();
    for row in &s.samples {
        let known = |one: &&SampleRow| {
            one.sample.request == row.sample.request && one.sample.check == row.sample.check
        };
        if !shown.iter().any(known) {
            shown.push(row);
        }
    }
    if shown.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![heading("samples", "an example of each failure")];
    for SampleRow { sample, .. } in shown.iter().take(SAMPLES) {
        let status = if sample.status > 0 { format!(" {}", sample.status) } else { String::new() };
        let head = Line::of(TextStyle::Bad, &sample.check).text("  ").text(&sample.request);
        let head = head.ink(TextStyle::Dim, &format!("{status}  at {}", chosen_ns(sample.at_ns)));
        lines.push(indented(head.cut(columns - 2, look)));
        lines
            .extend(wrap(&sample.found, columns - 4).iter().map(|l| indented(indented(Line::new().text(l)))));
        // Line breaks are ordinary in an answer; other control characters are marked as everywhere.
        let excerpt = wrap(&sample.excerpt.replace(['\n', '\r', '\t'], " "), columns - 6);
        for (at, text) in excerpt.iter().take(EXCERPT_LINES).enumerate().filter(|(_, text)| !text.is_empty())
        {
            let cut = at + 1 == EXCERPT_LINES && excerpt.len() > EXCERPT_LINES;
            let line = Line::of(TextStyle::Dim, look.signs().side).text(" ").ink(TextStyle::Dim, text);
            let line = if cut { line.ink(TextStyle::Dim, look.signs().cut) } else { line };
            lines.push(indented(indented(line.cut(columns - 4, look))));
        }
    }
    lines.extend(more(shown.len(), SAMPLES));
    lines
}

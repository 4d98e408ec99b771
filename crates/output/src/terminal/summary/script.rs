//! What only scripts and streams have: checks, examples of failures, scenarios, groups, streams.

use super::choice::{ROWS, choose, told_ns};
use super::detail::{errors, more, percentile};
use super::{heading, indented};
use crate::format::{chosen_ns, count, rate_per_s, ratio};
use crate::line::{Line, flow, wrap};
use crate::style::{Ink, Look};
use crate::terminal::table::{Align, Table};
use crate::words;
use plimsoll_analysis::summary::{SampleRow, StreamRow, Summary, Times};

/// Samples shown; the JSON document has them all.
const SAMPLES: usize = 4;
/// Lines of an excerpt.
const EXCERPT_LINES: usize = 2;

fn dim(text: &str) -> Line {
    Line::of(Ink::Dim, text)
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
            Line::of(Ink::Bad, look.signs().bad).text(" ").text(&check.name),
            dim(&check.request),
            Line::of(Ink::Bad, &format!("{} failed", count(check.failed))),
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
        let head = Line::of(Ink::Bad, &sample.check).text("  ").text(&sample.request);
        let head = head.ink(Ink::Dim, &format!("{status}  at {}", chosen_ns(sample.at_ns)));
        lines.push(indented(head.cut(columns - 2, look)));
        lines
            .extend(wrap(&sample.found, columns - 4).iter().map(|l| indented(indented(Line::new().text(l)))));
        // Line breaks are ordinary in an answer; other control characters are marked as everywhere.
        let excerpt = wrap(&sample.excerpt.replace(['\n', '\r', '\t'], " "), columns - 6);
        for (at, text) in excerpt.iter().take(EXCERPT_LINES).enumerate().filter(|(_, text)| !text.is_empty())
        {
            let cut = at + 1 == EXCERPT_LINES && excerpt.len() > EXCERPT_LINES;
            let line = Line::of(Ink::Dim, look.signs().side).text(" ").ink(Ink::Dim, text);
            let line = if cut { line.ink(Ink::Dim, look.signs().cut) } else { line };
            lines.push(indented(indented(line.cut(columns - 4, look))));
        }
    }
    lines.extend(more(shown.len(), SAMPLES));
    lines
}

/// One line per scenario; a single one would only repeat the figures above.
pub fn scenarios(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    if s.scenarios.len() < 2 {
        return Vec::new();
    }
    let mut table = parts_table();
    table.row(["", "requests", "rate", "errors", "p50", "p99", "max"].into_iter().map(dim).collect());
    let choice = choose(&s.scenarios, |row| row.errors, |row, q| told_ns(&row.response_time, q));
    for row in &choice.rows {
        table.row(part(&row.name, row.requests, row.rate_per_s, row.errors, &row.response_time));
    }
    let mut lines = vec![heading("scenarios", "response time of their requests")];
    lines.extend(table.lines(columns - 2, look).into_iter().map(indented));
    lines.extend(choice.rest(columns));
    lines
}

/// One line per group: how long it took to go through it.
pub fn groups(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    if s.groups.is_empty() {
        return Vec::new();
    }
    let mut table = parts_table();
    table.row(["", "passages", "requests", "errors", "p50", "p99", "max"].into_iter().map(dim).collect());
    let choice = choose(&s.groups, |row| row.errors, |row, q| told_ns(&row.passage, q));
    for row in &choice.rows {
        table.row(vec![
            Line::new().text(&row.name),
            Line::new().text(&count(row.passages)),
            dim(&count(row.requests)),
            errors(row.errors),
            percentile(&row.passage, 0.5),
            percentile(&row.passage, 0.99),
            Line::new().text(&words::max(&row.passage)),
        ]);
    }
    let mut lines = vec![heading("groups", "a passage as a whole, thinking included")];
    lines.extend(table.lines(columns - 2, look).into_iter().map(indented));
    lines.extend(choice.rest(columns));
    lines
}

fn parts_table() -> Table {
    use Align::{Left, Right};
    Table::new(&[Left, Right, Right, Right, Right, Right, Right])
}

fn part(name: &str, requests: u64, rate: f64, failed: u64, times: &Times) -> Vec<Line> {
    vec![
        Line::new().text(name),
        Line::new().text(&count(requests)),
        Line::new().text(&rate_per_s(rate)),
        errors(failed),
        percentile(times, 0.5),
        percentile(times, 0.99),
        Line::new().text(&words::max(times)),
    ]
}

/// How the streams began and ended, what came through them, and its times.
pub fn streams(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    if s.streams.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![heading("streams", "gap: between events; age: by both clocks")];
    // What a reader of a stream waits for is its next event.
    let choice = choose(&s.streams, |row| row.failed, |row, q| told_ns(&row.gap, q));
    for row in &choice.rows {
        lines.push(indented(Line::of(Ink::Accent, &row.name).cut(columns - 2, look)));
        let facts = words::ends(row).into_iter().chain(words::events(row));
        let facts = facts.map(|fact| Line::new().text(&fact)).collect();
        lines.extend(flow(facts, columns - 4, look).into_iter().map(indented).map(indented));
        let table = stream_times(row);
        lines.extend(table.lines(columns - 4, look).into_iter().map(indented).map(indented));
    }
    lines.extend(choice.rest(columns));
    lines
}

fn stream_times(row: &StreamRow) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[Left, Right, Right, Right, Right]);
    table.row(["", "p50", "p99", "max", "samples"].into_iter().map(dim).collect());
    for (label, times) in words::stream_times(row) {
        table.row(vec![
            dim(label),
            percentile(times, 0.5),
            percentile(times, 0.99),
            Line::new().text(&words::max(times)),
            dim(&count(times.count)),
        ]);
    }
    table
}

//! The lengths of the runs that a table compares: samples / rate of its rows.

use super::say::{Out, num};
use super::view::{is_total, mentions, spread, stated, table_rows, value};
use super::windows::{window_line, windows};
use crate::Certainty::Possible;
use crate::foreign::model::{Document, Measure, Row, Table};
use std::collections::BTreeSet;

/// Rows that are compared lasted very differently.
pub fn unequal_length(documents: &[Document], out: &mut Out) {
    for document in documents {
        for table in &document.tables {
            let mut rows = windows(document, table);
            // A few requests say little about the time from the first to the last.
            rows.retain(|(r, _)| value(r, Measure::Requests).is_none_or(|n| n >= 10.0));
            // Phases and stages differ in length on purpose, and say so.
            let has_own = |r: &Row| r.figures.contains_key(&Measure::Duration);
            if rows.iter().all(|(r, _)| has_own(r))
                || are_levels(&rows)
                || are_of_other_windows(document, table)
            {
                continue;
            }
            let lengths: Vec<f64> = rows.iter().map(|(_, w)| *w).collect();
            // Runs that end by a count differ in length by design: the text states one length, and a row has it.
            let is_stated = |length: f64| {
                stated(table, Measure::Duration)
                    .is_some_and(|(_, all)| (length / all.value - 1.0).abs() < 0.1)
            };
            if !(lengths.iter().any(|length| is_stated(*length)) || one_name_twice(&rows)) {
                continue;
            }
            let Some(ratio) = spread(&lengths).filter(|s| rows.len() >= 2 && *s >= 1.5) else { continue };
            let mut say = out.say(
                Possible,
                format!(
                    "rows that stand side by side were measured for very different times (x {})",
                    num(ratio)
                ),
            );
            say = say.lines(rows.iter().map(window_line));
            for (row, _) in &rows {
                say = say.figures(document, row, &[Measure::Requests]);
            }
            say.explained("rows of different runs, or of parts of one")
                .advise("run every row for the same time, and leave out the same warm-up");
        }
    }
}

/// `read (direct)` beside `read (proxy)`: one thing, compared over other lengths.
fn one_name_twice(rows: &[(&Row, f64)]) -> bool {
    let name = |row: &Row| row.label.split_once('(').map(|(name, _)| name.trim().to_owned());
    rows.iter().enumerate().any(|(i, (a, x))| {
        let same = |(b, y): &&(&Row, f64)| name(a) == name(b) && spread(&[*x, *y]).is_some_and(|s| s >= 1.5);
        name(a).is_some_and(|name| !name.is_empty()) && rows[i + 1..].iter().any(|other| same(&other))
    })
}

/// Labels of one run beside their total, each over its own window; equal counts, whose windows are their rates over
/// again; or counts of what autocannon sent beside rates of what was answered.
fn are_of_other_windows(document: &Document, table: &Table) -> bool {
    let counts = |row: &Row| value(row, Measure::Requests);
    let rows: Vec<&Row> = table_rows(document, table).collect();
    let total = rows.iter().find(|row| is_total(row)).and_then(|row| counts(row));
    let sum: f64 = rows.iter().filter(|row| !is_total(row)).filter_map(|row| counts(row)).sum();
    let each: Vec<f64> = rows.iter().filter(|row| !is_total(row)).filter_map(|row| counts(row)).collect();
    total.is_some_and(|total| (sum / total - 1.0).abs() < 0.01)
        || spread(&each).is_some_and(|ratio| ratio <= 1.01)
        || mentions(document, &["autocannon"])
}

/// Levels of a load with so many requests each: their lengths differ by design.
fn are_levels(rows: &[(&Row, f64)]) -> bool {
    let users: BTreeSet<u64> =
        rows.iter().filter_map(|(r, _)| value(r, Measure::Users)).map(f64::to_bits).collect();
    let is_number = |r: &Row| r.label.trim().parse::<f64>().is_ok();
    users.len() > 1 || rows.iter().all(|(r, _)| is_number(r))
}

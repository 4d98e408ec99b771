//! Which rows a long table shows. Tables end after some rows, and whoever reads one looks for what went wrong: that
//! must not be among the rows left out because it stands late in the plan.

use super::indented;
use crate::line::{Line, wrap};
use crate::style::Ink;
use crate::words::{self, Shown};
use plimsoll_analysis::summary::Times;
use std::cmp::Reverse;

/// Rows of the longer tables; the JSON document has them all.
pub(super) const ROWS: usize = 12;

/// The rows that are shown, and how the others are told.
pub(super) struct Choice<'a, T> {
    pub(super) rows: Vec<&'a T>,
    left_out: usize,
    /// Which percentile put them in order.
    by: &'static str,
}

/// All rows in the order of the plan where they fit; else those with the most failures, then those with the highest
/// percentile. `time_ns` gives a percentile of a row if enough samples stand behind it.
pub(super) fn choose<'a, T>(
    all: &'a [T],
    failures: impl Fn(&T) -> u64,
    time_ns: impl Fn(&T, f64) -> Option<u64>,
) -> Choice<'a, T> {
    let mut rows: Vec<&T> = all.iter().collect();
    // One percentile for all of them: the p50 of a rare row says nothing beside the p99 of another.
    let lacks_p99 = |row: &T| time_ns(row, 0.5).is_some() && time_ns(row, 0.99).is_none();
    let (q, by) = if all.iter().any(lacks_p99) { (0.5, "p50") } else { (0.99, "p99") };
    if rows.len() > ROWS {
        // The sort is stable, so the order of the plan decides among equals.
        rows.sort_by_key(|row| Reverse((failures(row), time_ns(row, q))));
        rows.truncate(ROWS);
    }
    Choice { left_out: all.len() - rows.len(), rows, by }
}

impl<T> Choice<'_, T> {
    /// Nothing where all are shown.
    pub(super) fn rest(&self, columns: usize) -> Vec<Line> {
        if self.left_out == 0 {
            return Vec::new();
        }
        let text = format!(
            "and {} more, in the JSON document; first come the most errors, then the highest {}",
            self.left_out, self.by
        );
        wrap(&text, columns - 2).iter().map(|line| indented(Line::of(Ink::Dim, line))).collect()
    }
}

/// A percentile that is printed; one that rests on too few samples is not.
pub(super) fn told_ns(times: &Times, q: f64) -> Option<u64> {
    match words::percentile(times, q) {
        Shown::Fact(p) => Some(p.value_ns),
        _ => None,
    }
}

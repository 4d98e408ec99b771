//! Which rows a long table of the terminal shows. Tables end after some rows, and whoever reads one looks for what went
//! wrong: that must not be among the rows left out because it stands late in the plan.

use std::cmp::Reverse;

/// Rows of the longer tables; the JSON document has them all.
const ROWS: usize = 12;

/// The percentile that puts rows in order, and its name; `time_ns` gives one of a row if enough samples stand behind
/// it. One percentile for all of them: the p50 of a rare row says nothing beside the p99 of another.
pub fn telling<T>(all: &[&T], time_ns: impl Fn(&T, f64) -> Option<u64>) -> (f64, &'static str) {
    let lacks_p99 = |row: &&T| time_ns(row, 0.5).is_some() && time_ns(row, 0.99).is_none();
    if all.iter().any(lacks_p99) { (0.5, "p50") } else { (0.99, "p99") }
}

/// All rows in the order of the plan where they fit; else those with the most failures, then those with the highest
/// percentile, and how many are left out.
pub fn worst<'a, T>(
    all: impl IntoIterator<Item = &'a T>,
    rank: impl Fn(&T) -> (u64, Option<u64>),
) -> (Vec<&'a T>, usize) {
    let mut rows: Vec<&T> = all.into_iter().collect();
    let left_out = rows.len().saturating_sub(ROWS);
    if left_out > 0 {
        // The sort is stable, so the order of the plan decides among equals.
        rows.sort_by_key(|row| Reverse(rank(row)));
        rows.truncate(ROWS);
    }
    (rows, left_out)
}

/// How the others are told; nothing where all are shown.
pub fn rest(left_out: usize, by: &str) -> Option<String> {
    let text = format!(
        "and {left_out} more, in the JSON document; first come the most errors, then the highest {by}"
    );
    (left_out > 0).then_some(text)
}

/// How those that a list leaves out are told; nothing where all are shown.
pub fn more(all: usize, shown: usize) -> Option<String> {
    (all > shown).then(|| format!("and {} more, in the JSON document", all - shown))
}

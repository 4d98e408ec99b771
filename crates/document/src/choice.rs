//! The rows of a long table that the terminal shows. Tables end after some rows, and readers look for problems, so
//! these must not be among the omitted rows just because they are late in the plan.

use std::cmp::Reverse;

/// Rows of the longer tables; the JSON document has all of them.
const ROWS: usize = 12;

/// The percentile that sorts the rows, and its name. `time_ns` returns that of a row if it has enough samples. All rows
/// use the same percentile: the p50 of a rare row is not comparable with the p99 of another.
pub fn telling<T>(all: &[&T], time_ns: impl Fn(&T, f64) -> Option<u64>) -> (f64, &'static str) {
    let lacks_p99 = |row: &&T| time_ns(row, 0.5).is_some() && time_ns(row, 0.99).is_none();
    if all.iter().any(lacks_p99) { (0.5, "p50") } else { (0.99, "p99") }
}

/// Returns all rows in the order of the plan if they fit. Otherwise, returns those with the most failures, then those
/// with the highest percentile, and the number of omitted rows.
pub fn worst<'a, T>(
    all: impl IntoIterator<Item = &'a T>,
    rank: impl Fn(&T) -> (u64, Option<u64>),
) -> (Vec<&'a T>, usize) {
    let mut rows: Vec<&T> = all.into_iter().collect();
    let left_out = rows.len().saturating_sub(ROWS);
    if left_out > 0 {
        // The sort is stable, so equal rows keep the order of the plan.
        rows.sort_by_key(|row| Reverse(rank(row)));
        rows.truncate(ROWS);
    }
    (rows, left_out)
}

/// Returns a note about the omitted rows; none if all are shown.
pub fn rest(left_out: usize, by: &str) -> Option<String> {
    let text = format!(
        "and {left_out} more in the JSON document; rows with the most errors, then the highest {by}, come first"
    );
    (left_out > 0).then_some(text)
}

/// Returns a note about the omitted items of a list; none if all are shown.
pub fn more(all: usize, shown: usize) -> Option<String> {
    (all > shown).then(|| format!("and {} more in the JSON document", all - shown))
}

//! Whether an output is all of what its tool prints. An excerpt may lack the line that explains the others, and a fork
//! prints other words: only a whole output contradicts itself for certain.

use super::text::Text;
use crate::model::Document;
use std::ops::Range;

/// Marks the rows from `first` on, which were read from these lines.
pub fn mark(text: &Text, lines: Range<usize>, document: &mut Document, first: usize) {
    let Some(new) = document.rows.get(first..).filter(|new| !new.is_empty()) else { return };
    let Some(tool) = new.first().and_then(|row| row.tool) else { return };
    let layout = tool.definitions().layout;
    let ends = new.iter().fold((u32::MAX, 0), |ends, row| (ends.0.min(row.lines.0), ends.1.max(row.lines.1)));
    let is_inside = |at: &usize| (ends.0..=ends.1).contains(&text.number(*at));
    let plain = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.join(" ").to_lowercase().replace('_', " ").replace(['"', '\u{2502}'], "") + " "
    };
    let is_printed = |part: &&str| lines.clone().any(|at| plain(text.at(at)).contains(*part));
    let is_known = |at: usize| text.at(at).is_empty() || document.taken.contains(&text.number(at));
    let is_whole =
        !layout.is_empty() && layout.iter().all(is_printed) && lines.filter(is_inside).all(is_known);
    // A file of JSON or of samples is whole where it can be parsed: its reader says so.
    document.rows[first..].iter_mut().for_each(|row| row.is_whole |= is_whole);
}

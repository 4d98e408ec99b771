//! Examples of failures.

use super::{Table, code, escape};
use crate::format::chosen_ns;
use plimsoll_analysis::summary::{SampleRow, Summary};

/// Examples of failures, each with the beginning of its answer.
pub fn samples(s: &Summary, out: &mut String) {
    const SHOWN: usize = 10;
    if s.samples.is_empty() {
        return;
    }
    let mut table = Table::new("Samples", &["failure", "request", "at", "status", "found", "answer"]);
    for SampleRow { sample, .. } in s.samples.iter().take(SHOWN) {
        let excerpt = code(&sample.excerpt);
        table.row([
            escape(&sample.check),
            escape(&sample.request),
            chosen_ns(sample.at_ns),
            sample.status.to_string(),
            escape(&sample.found),
            if excerpt.trim().is_empty() { String::new() } else { format!("`{excerpt}`") },
        ]);
    }
    table.write(out);
}

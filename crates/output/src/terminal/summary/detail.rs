//! When it was slow, and how long tables end.

use super::{heading, indented};
use crate::format::{chosen_s, duration_ns};
use crate::line::{Line, wrap};
use crate::style::{Look, TextStyle};
use crate::words;
use plimsoll_analysis::summary::Summary;

/// When it was slow, how slow against before, and whether it came back.
pub fn spikes(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    const SHOWN: usize = 5;
    if s.spikes.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![heading("spikes", "seconds whose p95 stood out")];
    for spike in s.spikes.iter().take(SHOWN) {
        let back = words::back(spike);
        let text = format!(
            "at {} for {}: p95 {} against {}, {back}",
            chosen_s(spike.from_s),
            chosen_s(spike.slow_s),
            duration_ns(spike.peak_p95_ns),
            duration_ns(spike.baseline_p95_ns)
        );
        lines.extend(wrap(&text, columns - 2).iter().map(|l| indented(Line::new().text(l))));
    }
    lines.extend(more(s.spikes.len(), SHOWN));
    lines.into_iter().map(|line| line.cut(columns, look)).collect()
}

pub(super) fn more(all: usize, shown: usize) -> Option<Line> {
    (all > shown).then(|| {
        indented(Line::of(TextStyle::Dim, &format!("and {} more, in the JSON document", all - shown)))
    })
}

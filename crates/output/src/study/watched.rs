//! Peak CPU and memory of what was watched, by cell, and what stood at its limit.

use super::Group;
use crate::format::NONE;
use plimsoll_record::analysis::Seen;
use plimsoll_record::analysis::study::CellRow;
use plimsoll_record::phrase::{ratio, watched};

/// A column: which number of which monitor.
pub(super) struct Column {
    /// `api cpu peak`
    pub head: String,
    monitor: String,
    metric: String,
}

/// Of each monitor that has them: CPU and memory, under whatever name.
const CPU: [&str; 3] = ["cpu", "process_cpu", "cpu_main_thread"];
const MEMORY: [&str; 5] = ["rss", "memory", "resident_memory", "memory_rss", "heap_used"];

/// The columns of a group of cells; none when nothing was watched.
pub(super) fn columns(group: &Group) -> Vec<Column> {
    let mut monitors: Vec<&str> = Vec::new();
    let all = || group.rows.iter().flat_map(|(_, row)| &row.watched).filter(|seen| seen.part.is_empty());
    for seen in all() {
        if !monitors.contains(&seen.monitor.as_str()) {
            monitors.push(&seen.monitor);
        }
    }
    let mut out = Vec::new();
    for monitor in monitors {
        for (names, short) in [(&CPU[..], "cpu peak"), (&MEMORY[..], "rss peak")] {
            let has = |name: &&&str| all().any(|seen| seen.monitor == monitor && seen.metric == ***name);
            let Some(metric) = names.iter().find(has) else { continue };
            let short = if *metric == "memory" { "memory peak" } else { short };
            out.push(Column {
                head: format!("{monitor} {short}"),
                monitor: monitor.into(),
                metric: (*metric).into(),
            });
        }
    }
    out
}

fn seen<'a>(row: &'a CellRow, column: &Column) -> Option<&'a Seen> {
    row.watched.iter().find(|s| s.part.is_empty() && s.monitor == column.monitor && s.metric == column.metric)
}

/// `1.92 cores (96 %)`
pub(super) fn cell(row: &CellRow, column: &Column) -> String {
    let Some(seen) = seen(row, column) else { return NONE.into() };
    let limit = seen.limit.filter(|limit| *limit > 0.0);
    let usage = limit.map_or_else(String::new, |limit| format!(" ({})", ratio(seen.peak / limit)));
    format!("{}{usage}", watched(seen.peak, seen.unit))
}

/// What stood at its limit, without the numbers.
pub(super) fn limiting(row: &CellRow) -> String {
    match row.limiting.as_deref() {
        None => NONE.into(),
        Some(text) => text.split(" (").next().unwrap_or(text).to_owned(),
    }
}

//! Peak CPU and memory of monitored targets by combination, and the saturated resources.

use crate::format::NONE;
use plimsoll_analysis::sizes;
use plimsoll_analysis::summary::Bottleneck;
use plimsoll_experiment::study::CellRow;
use plimsoll_plan::phrase::{ratio, watched};

/// Returns the headers of the columns, such as `api cpu peak`, of all these combinations; none without monitors.
pub(crate) fn columns<'a>(rows: impl Iterator<Item = &'a CellRow>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (head, _) in rows.flat_map(|row| sizes(&row.monitor_metrics)) {
        if !out.contains(&head) {
            out.push(head);
        }
    }
    out
}

/// Below this share, a limit is not mentioned.
const NEAR: f64 = 0.10;

/// Returns `1.92 cores (96%)`.
pub(crate) fn cell(row: &CellRow, column: &str) -> String {
    let Some((_, seen)) = sizes(&row.monitor_metrics).into_iter().find(|(head, _)| head == column) else {
        return NONE.into();
    };
    let limit = seen.limit.filter(|limit| *limit > 0.0);
    let share = limit.map(|limit| seen.peak / limit).filter(|share| *share >= NEAR);
    let usage = share.map_or_else(String::new, |share| format!(" ({})", ratio(share)));
    format!("{}{usage}", watched(seen.peak, seen.unit))
}

/// Returns the saturated resources, without their numbers.
pub(crate) fn limiting(row: &CellRow) -> String {
    match &row.bottleneck {
        None => NONE.into(),
        Some(Bottleneck::Saturated { what, .. }) => what.clone(),
        Some(Bottleneck::NoneWatched) => "none".into(),
        Some(not_known @ Bottleneck::NotKnown) => not_known.to_string(),
    }
}

/// Returns the same as a number, in its unit.
pub(crate) fn peak(row: &CellRow, column: &str) -> Option<f64> {
    sizes(&row.monitor_metrics).into_iter().find(|(head, _)| head == column).map(|(_, seen)| seen.peak)
}

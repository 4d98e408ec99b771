//! Monitored metrics by cell, and the bottleneck at the knee of a curve.

use super::{AxisKind, CellRow, Curve, Finding, level_text, settings_text};
use plimsoll_analysis::bottleneck_of;
use plimsoll_analysis::digest::{Digest, Seen};
use plimsoll_analysis::summary::Bottleneck;
use plimsoll_plan::phrase::rate_per_s;

/// Pools the metrics of several runs of a cell: means of means, peaks of peaks.
pub(crate) fn pooled(runs: &[&Digest]) -> Vec<Seen> {
    let mut all: Vec<(Seen, f64)> = Vec::new();
    for seen in runs.iter().flat_map(|run| &run.watched.seen) {
        let is_it = |(known, _): &&mut (Seen, f64)| {
            (&known.monitor, &known.part, &known.metric) == (&seen.monitor, &seen.part, &seen.metric)
        };
        match all.iter_mut().find(is_it) {
            Some((known, n)) => {
                *n += 1.0;
                known.mean += (seen.mean - known.mean) / *n;
                known.peak = known.peak.max(seen.peak);
                known.limit = seen.limit.or(known.limit);
            }
            None => all.push((seen.clone(), 1.0)),
        }
    }
    let usage =
        |seen: Seen| Seen { usage_ratio: seen.limit.filter(|l| *l > 0.0).map(|l| seen.mean / l), ..seen };
    all.into_iter().map(|(seen, _)| usage(seen)).collect()
}

pub(super) fn limiting(runs: &[&Digest]) -> Option<Bottleneck> {
    bottleneck_of(&[runs.iter().map(|run| &run.watched).collect()])
}

/// Finds the bottleneck at the knee, or at the saturation, from the monitors of the levels from there up.
pub(super) fn findings(table: &[CellRow], curves: &mut [Curve], out: &mut Vec<Finding>) {
    for curve in curves {
        let bend = curve.knee.level.or(curve.saturation.map(|flat| flat.from_level));
        let Some(bend) = bend else { continue };
        // A knee lies between two levels: the one after it shows the bottleneck.
        let behind = curve.points.iter().find(|point| point.parameter_value >= bend).or(curve.points.last());
        let Some(point) = behind else { continue };
        let row = &table[point.row];
        let Some(limiting) = row.bottleneck.clone() else { continue };
        out.extend(finding(row, curve, point.parameter_value, &limiting));
        curve.bottleneck = Some(limiting);
    }
}

/// Returns `None` if the monitors have no data.
fn finding(row: &CellRow, curve: &Curve, x: f64, limiting: &Bottleneck) -> Option<Finding> {
    let level = match curve.kind {
        AxisKind::Rate => rate_per_s(x),
        AxisKind::Concurrency | AxisKind::Other => format!("{} {}", level_text(x), curve.parameter),
    };
    let of = settings_text(&curve.settings);
    let of = if of.is_empty() { of } else { format!(" ({of})") };
    let (what, evidence) = match limiting {
        Bottleneck::Saturated { what, evidence } => (what.clone(), evidence.text()),
        Bottleneck::NoneWatched => (
            "no monitored resource".into(),
            "the bottleneck is not monitored, or it is a lock, a pool, or a wait".into(),
        ),
        Bottleneck::NotKnown => return None,
    };
    let is_known = row.monitor_metrics.iter().any(|seen| what.starts_with(&seen.monitor));
    Some(Finding {
        code: "bottleneck",
        sentence: match limiting {
            Bottleneck::NoneWatched => format!("{what} is saturated above the knee, at {level}{of}"),
            Bottleneck::Saturated { .. } | Bottleneck::NotKnown => {
                format!("bottleneck: {what}, saturated above the knee, at {level}{of}")
            }
        },
        evidence,
        advice: match is_known {
            true => "add capacity there, then rerun to find the next bottleneck",
            false => "monitor more of the service: databases, pools, and other machines",
        }
        .into(),
    })
}

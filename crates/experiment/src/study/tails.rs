//! Findings from the shape of the times: a mean above p95, and a median that falls while the mean rises.

use super::{AxisKind, CellRow, Curve, Finding, level_text, settings_text};
use plimsoll_plan::phrase::{count, counted, duration_f64_ns};

/// A mean is compared from this number of requests up.
const FEWEST: u64 = 20;
/// The median falls at least by this share while the mean rises by this factor.
const FALLS: f64 = 0.95;
const RISES: f64 = 1.3;

pub(super) fn findings(table: &[CellRow], curves: &[Curve], out: &mut Vec<Finding>) {
    let above: Vec<&CellRow> = table.iter().filter(|row| row.is_valid && mean_above_p95(row)).collect();
    if let Some(row) = above.first() {
        let describe = |e: &super::Estimate| e.value.filter(|_| !e.has_too_few_samples);
        let text = |e: &super::Estimate| describe(e).map_or("-".into(), duration_f64_ns);
        out.push(Finding {
            code: "mean_above_p95",
            sentence: format!(
                "the mean is above p95 in {} of {}",
                count(above.len() as u64),
                counted(table.len() as u64, "combination")
            ),
            evidence: format!(
                "{}: mean {}, p95 {}, p99 {}",
                settings_text(&row.settings),
                text(&row.mean_ns),
                text(&row.p95_ns),
                text(&row.p99_ns)
            ),
            advice: "read p99 and the maximum of these runs: a few very slow requests raise the mean".into(),
        });
    }
    curves.iter().for_each(|curve| starved(curve, table, out));
}

fn mean_above_p95(row: &CellRow) -> bool {
    row.requests >= FEWEST && row.mean_ns.value.zip(row.p95_ns.value).is_some_and(|(mean, p95)| mean > p95)
}

/// More users make most responses faster and some extremely slow: a few connections are served, the others wait.
fn starved(curve: &Curve, table: &[CellRow], out: &mut Vec<Finding>) {
    if curve.kind != AxisKind::Concurrency {
        return;
    }
    let steps: Vec<(f64, f64, f64)> = curve
        .points
        .iter()
        .filter_map(|p| Some((p.parameter_value, table[p.row].p50_ns.value?, table[p.row].mean_ns.value?)))
        .collect();
    // Compares the end with the level that has the highest median before it.
    let Some((last, before)) = steps.split_last() else { return };
    let from = before.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let Some(from) = from.filter(|f| last.1 < FALLS * f.1 && last.2 > RISES * f.2 && last.2 > 1.5 * last.1)
    else {
        return;
    };
    let fixed = settings_text(&curve.settings);
    out.push(Finding {
        code: "starvation",
        sentence: format!(
            "{}with more users, the median falls while the mean rises: few users are served, the others wait",
            if fixed.is_empty() { fixed } else { format!("{fixed}: ") }
        ),
        evidence: format!(
            "{} {}: median {}, mean {}; {}: median {}, mean {}",
            curve.parameter,
            level_text(from.0),
            duration_f64_ns(from.1),
            duration_f64_ns(from.2),
            level_text(last.0),
            duration_f64_ns(last.1),
            duration_f64_ns(last.2)
        ),
        advice: "look for a connection limit of the service; this median describes no typical user".into(),
    });
}

//! Scaling efficiency: X_n / (n X_1).

use super::cells::Axes;
use super::{CellRow, Estimate, Finding, Scaling, ScalingStep, level_text, settings_text};
use plimsoll_plan::experiment::Setting;
use plimsoll_plan::phrase::{quantity, ratio as percent};

/// If even the upper end of the interval is lower, the servers share a bottleneck.
const SHARED: f64 = 0.75;

pub(super) fn is_server_axis(name: &str) -> bool {
    matches!(name, "servers" | "replicas" | "instances" | "nodes")
}

fn is_load(name: &str) -> bool {
    matches!(name, "users" | "connections" | "concurrency" | "threads" | "rate" | "arrivals")
}

/// Shared settings, and the best row of each number of servers.
type Group<'a> = (Vec<Setting>, Vec<(f64, &'a CellRow)>);

/// Returns one series per combination of the settings other than servers and load; of the loads, the best rate
/// counts.
pub(super) fn scaling(axes: &Axes, table: &[CellRow]) -> Vec<Scaling> {
    let mut out: Vec<Scaling> = Vec::new();
    for axis in axes.all.iter().filter(|axis| axis.is_numeric() && is_server_axis(&axis.name)) {
        let mut groups: Vec<Group> = Vec::new();
        for row in table.iter().filter(|row| row.is_valid) {
            let Some(n) = axes.number(row, &axis.name).filter(|n| *n > 0.0) else { continue };
            let keep = |s: &&Setting| s.parameter != axis.name && !is_load(&s.parameter);
            let fixed: Vec<Setting> = row.settings.iter().filter(keep).cloned().collect();
            let at = groups.iter().position(|(own, _)| *own == fixed).unwrap_or_else(|| {
                groups.push((fixed, Vec::new()));
                groups.len() - 1
            });
            let best = &mut groups[at].1;
            match best.iter_mut().find(|(own, _)| *own == n) {
                Some((_, old)) if old.rate_per_s.value < row.rate_per_s.value => *old = row,
                Some(_) => {}
                None => best.push((n, row)),
            }
        }
        for (fixed, mut best) in groups.into_iter().filter(|(_, best)| best.len() > 1) {
            best.sort_by(|a, b| a.0.total_cmp(&b.0));
            out.extend(steps(&best).map(|steps| Scaling {
                parameter: axis.name.clone(),
                settings: fixed,
                steps,
            }));
        }
    }
    out
}

fn steps(best: &[(f64, &CellRow)]) -> Option<Vec<ScalingStep>> {
    let (first_n, first) = best[0];
    let first_rate = first.rate_per_s.value.filter(|rate| *rate > 0.0)?;
    // Error of a quotient: each bound combines with the worst bound of the other value (first order).
    let down = |e: &Estimate| e.low.zip(e.value).map(|(low, v)| 1.0 - low / v);
    let up = |e: &Estimate| e.high.zip(e.value).map(|(high, v)| high / v - 1.0);
    best.iter()
        .map(|(n, row)| {
            let rate = row.rate_per_s.value?;
            let efficiency = (rate / n) / (first_rate / first_n);
            let is_first = *n == first_n;
            let side = |own: Option<f64>, other: Option<f64>| Some(own?.hypot(other?));
            let (less, more) = (
                side(down(&row.rate_per_s), up(&first.rate_per_s)),
                side(up(&row.rate_per_s), down(&first.rate_per_s)),
            );
            Some(ScalingStep {
                parameter_value: *n,
                rate_per_s: rate,
                speedup: rate / first_rate,
                efficiency,
                low: less.filter(|_| !is_first).map(|less| (efficiency * (1.0 - less)).max(0.0)),
                high: more.filter(|_| !is_first).map(|more| efficiency * (1.0 + more)),
            })
        })
        .collect()
}

pub(super) fn findings(all: &[Scaling], out: &mut Vec<Finding>) {
    for scaling in all {
        let worst = scaling.steps.iter().skip(1).min_by(|a, b| a.efficiency.total_cmp(&b.efficiency));
        let Some(step) = worst.filter(|s| s.high.unwrap_or(s.efficiency) < SHARED) else { continue };
        let fixed = settings_text(&scaling.settings);
        let place = if fixed.is_empty() { fixed } else { format!("{fixed}: ") };
        let gain = match step.speedup {
            s if s < 1.1 => "add nothing",
            _ => "share a bottleneck",
        };
        let interval =
            step.low.zip(step.high).map(|(low, high)| format!(" ({}–{})", percent(low), percent(high)));
        out.push(Finding {
            code: "shared_bottleneck",
            sentence: format!(
                "{place}{} {} {gain}: {}× the throughput",
                level_text(step.parameter_value),
                scaling.parameter,
                quantity(step.speedup)
            ),
            evidence: format!(
                "scaling efficiency {}{}, {} vs. {} req/s",
                percent(step.efficiency),
                interval.unwrap_or_default(),
                quantity(step.rate_per_s),
                quantity(scaling.steps[0].rate_per_s)
            ),
            advice: "look for a shared resource (database, load balancer, network, load generator), or raise the load \
                     if one server was not saturated"
                .into(),
        });
    }
}

//! The knee: the point at which more load starts to cost.
//!
//! For users: the crossing of the two asymptotes X = N / R0 and X = Xmax (Denning & Buzen, The Operational Analysis
//! of Queueing Network Models, 1978). With fewer users, none must wait; with more, some must. It requires that
//! throughput has stopped rising, because otherwise Xmax is unknown.
//!
//! For rates: Kneedle (Satopaa, Albrecht, Irwin & Raghavan 2011) on the mean response time: the point farthest below
//! the diagonal, with the curve scaled to the unit square. It depends on the tested range, which the sentence states.

use super::{AxisKind, CellRow, CurvePoint, Knee, level_text};
use plimsoll_plan::phrase::rate_per_s;

/// Throughput has stopped rising if the last step raised it by at most this share of what a linear increase would
/// have.
const STOPPED: f64 = 0.15;
/// A curve this close to its diagonal has no knee.
const BEND: f64 = 0.20;
/// Below this share of the offered rate, times depend on the length of the run.
const SERVED: f64 = 0.95;

pub(super) fn knee(kind: AxisKind, points: &[CurvePoint], table: &[CellRow]) -> Knee {
    match kind {
        AxisKind::Concurrency => asymptotes(points),
        AxisKind::Rate => kneedle(points, table),
        AxisKind::Other => {
            none("none", "the name of the parameter does not say that it sets the load".into())
        }
    }
}

fn none(method: &'static str, sentence: String) -> Knee {
    Knee { level: None, method, sentence }
}

fn asymptotes(points: &[CurvePoint]) -> Knee {
    const METHOD: &str = "asymptotes";
    let [first, .., before, last] = points else {
        return none(METHOD, "fewer than three levels".into());
    };
    let highest = points.iter().map(|p| p.rate_per_s).fold(0.0, f64::max);
    if first.rate_per_s <= 0.0 || first.parameter_value <= 0.0 {
        return none(METHOD, "the lowest level has no throughput".into());
    }
    if still_rises(before, last) {
        return none(METHOD, format!("throughput still rises at {} users", level_text(last.parameter_value)));
    }
    let at = highest * first.parameter_value / first.rate_per_s;
    if at <= first.parameter_value * 1.05 {
        return none(
            METHOD,
            format!("it is below the lowest level of {} users", level_text(first.parameter_value)),
        );
    }
    Knee {
        level: Some(at),
        method: METHOD,
        sentence: format!(
            "{} users reach {}; with more users, requests queue",
            level_text(at),
            rate_per_s(highest)
        ),
    }
}

/// Returns the growth of throughput relative to that of the users: 1 is linear, 0 is flat.
fn still_rises(before: &CurvePoint, last: &CurvePoint) -> bool {
    let grew =
        (last.rate_per_s / before.rate_per_s).ln() / (last.parameter_value / before.parameter_value).ln();
    grew.is_nan() || grew > STOPPED
}

/// Whether more users than those of the last level would have increased throughput.
pub(super) fn rises_to_the_end(points: &[CurvePoint]) -> bool {
    matches!(points, [.., before, last] if still_rises(before, last))
}

/// Returns the first offered rate with a throughput below [`SERVED`], and whether all rates above it are, too.
pub(super) fn unserved<'a>(points: &'a [CurvePoint], table: &[CellRow]) -> Option<(&'a CurvePoint, bool)> {
    let first = points.iter().position(|point| !is_served(point, table))?;
    let goes_on = points[first..].iter().all(|point| !is_served(point, table));
    points.get(first).map(|point| (point, goes_on))
}

/// Compares arrivals with iterations, because an iteration may have several requests.
fn is_served(point: &CurvePoint, table: &[CellRow]) -> bool {
    let row = &table[point.row];
    let achieved = row.iterations_per_s;
    row.offered_rate_per_s.is_none_or(|offered| achieved >= SERVED * offered)
}

fn kneedle(points: &[CurvePoint], table: &[CellRow]) -> Knee {
    const METHOD: &str = "kneedle";
    let is_served = |p: &&CurvePoint| !table[p.row].is_users && is_served(p, table);
    let served: Vec<(f64, f64)> =
        points.iter().take_while(is_served).filter_map(|p| Some((p.parameter_value, p.mean_ns?))).collect();
    if served.len() < 5 {
        return none(METHOD, format!("{} served levels of the required 5", served.len()));
    }
    let (first, last) = (served[0], served[served.len() - 1]);
    let (wide, high) = (last.0 - first.0, last.1 - first.1);
    if wide <= 0.0 || high <= 0.0 {
        return none(METHOD, "latency does not rise with the rate".into());
    }
    let below = |(x, y): &(f64, f64)| (x - first.0) / wide - (y - first.1) / high;
    let bend = served.iter().max_by(|a, b| below(a).total_cmp(&below(b)));
    match bend {
        Some(at) if below(at) >= BEND => Knee {
            level: Some(at.0),
            method: METHOD,
            sentence: format!(
                "latency bends upward at {} (tested between {} and {})",
                rate_per_s(at.0),
                rate_per_s(first.0),
                rate_per_s(last.0)
            ),
        },
        _ => none(METHOD, "latency rises evenly".into()),
    }
}

//! Where more load begins to cost.
//!
//! Users: the crossing of the two asymptotes X = N / R0 and X = Xmax (Denning & Buzen, The Operational Analysis of
//! Queueing Network Models, 1978): with fewer users nobody need wait, with more somebody must. Claimed only when the
//! rate has stopped rising, because otherwise Xmax is unknown.
//! Rates: Kneedle (Satopaa, Albrecht, Irwin & Raghavan 2011) on the mean response time: of the curve in its own unit
//! square, the point furthest below the diagonal. It depends on the range that was swept, which the sentence says.

use super::{AxisKind, CellRow, CurvePoint, Knee, level_text};
use plimsoll_plan::phrase::rate_per_s;

/// The last step raised the rate by at most this share of what as many more users would have.
const STOPPED: f64 = 0.15;
/// A curve this near its diagonal has no knee.
const BEND: f64 = 0.20;
/// Below this share of the offered rate the times are set by the length of the run.
const SERVED: f64 = 0.95;

pub(super) fn knee(kind: AxisKind, points: &[CurvePoint], table: &[CellRow]) -> Knee {
    match kind {
        AxisKind::Concurrency => asymptotes(points),
        AxisKind::Rate => kneedle(points, table),
        AxisKind::Other => none("none", "the axis is no load".into()),
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
        return none(METHOD, "the lowest level has no rate".into());
    }
    if still_rises(before, last) {
        return none(METHOD, format!("the rate still rises at {} users", level_text(last.parameter_value)));
    }
    let at = highest * first.parameter_value / first.rate_per_s;
    if at <= first.parameter_value * 1.05 {
        return none(
            METHOD,
            format!("below the lowest level: {} users fill it already", level_text(first.parameter_value)),
        );
    }
    Knee {
        level: Some(at),
        method: METHOD,
        sentence: format!(
            "{} users fill {}: fewer need not wait for each other, more must",
            level_text(at),
            rate_per_s(highest)
        ),
    }
}

/// How the rate grew against how the users did: 1 is linear, 0 is flat.
fn still_rises(before: &CurvePoint, last: &CurvePoint) -> bool {
    let grew =
        (last.rate_per_s / before.rate_per_s).ln() / (last.parameter_value / before.parameter_value).ln();
    grew.is_nan() || grew > STOPPED
}

/// Whether more users than those of the last level would have got more.
pub(super) fn rises_to_the_end(points: &[CurvePoint]) -> bool {
    matches!(points, [.., before, last] if still_rises(before, last))
}

/// The first offered rate of which less than [`SERVED`] was answered, and whether that goes for all above it.
pub(super) fn unserved<'a>(points: &'a [CurvePoint], table: &[CellRow]) -> Option<(&'a CurvePoint, bool)> {
    let first = points.iter().position(|point| !is_served(point, table))?;
    let goes_on = points[first..].iter().all(|point| !is_served(point, table));
    points.get(first).map(|point| (point, goes_on))
}

/// Arrivals against iterations: an iteration may make several requests.
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
        return none(METHOD, format!("{} levels were served; five are needed", served.len()));
    }
    let (first, last) = (served[0], served[served.len() - 1]);
    let (wide, high) = (last.0 - first.0, last.1 - first.1);
    if wide <= 0.0 || high <= 0.0 {
        return none(METHOD, "times do not rise with the rate".into());
    }
    let below = |(x, y): &(f64, f64)| (x - first.0) / wide - (y - first.1) / high;
    let bend = served.iter().max_by(|a, b| below(a).total_cmp(&below(b)));
    match bend {
        Some(at) if below(at) >= BEND => Knee {
            level: Some(at.0),
            method: METHOD,
            sentence: format!(
                "times turn upwards at {}, as seen between {} and {}",
                rate_per_s(at.0),
                rate_per_s(first.0),
                rate_per_s(last.0)
            ),
        },
        _ => none(METHOD, "times rise evenly".into()),
    }
}

//! The behavior of the service above its capacity, derived from neighboring levels.

use super::answer::{Point, Rise, Shape};
use plimsoll_analysis::summary::Standing;

/// Growth of a time from one level to the next that counts as a jump, and likewise of the error rate.
const JUMP: f64 = 4.0;
const JUMP_ERRORS: f64 = 0.05;
/// A jump within this much more load is a cliff.
const WITHIN: f64 = 1.06;
/// Throughput below this share of its maximum, at a higher load, is retrograde.
const RETROGRADE: f64 = 0.9;
/// Times within this factor are flat.
const FLAT: f64 = 1.3;
/// Levels farther from the capacity than this factor do not show what happens just above it.
const NEAR: f64 = 1.25;

/// Returns the shape of the curve near the capacity, and the two levels that show it.
pub(super) fn shape(curve: &[Point], capacity: Option<f64>) -> (Shape, Option<Rise>) {
    if curve.len() < 3 {
        return (Shape::Unknown, None);
    }
    let steps = near(curve, capacity);
    // Prefer the step across the capacity, unless it shows little.
    let is_over = |(a, b): &&(&Point, &Point)| capacity.is_some_and(|c| a.level <= c && b.level > c);
    let over = steps.iter().find(is_over).map(|(a, b)| steepest(a, b)).filter(|(size, _)| *size > 1.0);
    let all = || steps.iter().map(|(a, b)| steepest(a, b)).max_by(|x, y| x.0.total_cmp(&y.0));
    let rise = over.or_else(all).map(|(_, rise)| rise);
    if is_retrograde(curve) {
        return (Shape::Retrograde, None);
    }
    let jumps = |rise: &Rise| match rise.figure {
        "error_rate" => rise.to_value - rise.from_value > JUMP_ERRORS,
        _ => rise.to_value > JUMP * rise.from_value,
    };
    if let Some(rise) = rise.filter(jumps) {
        let is_steep = rise.to_level <= WITHIN * rise.from_level;
        return (if is_steep { Shape::Cliff } else { Shape::Jump }, Some(rise));
    }
    if let Some(cliff) = cliff(curve, capacity, &jumps) {
        return (Shape::Cliff, Some(cliff));
    }
    let (Some(first), Some(last)) = (curve.first(), curve.last()) else { return (Shape::Unknown, None) };
    let growth = |of: fn(&Point) -> f64| of(last) / of(first).max(1.0);
    let (tail, middle) = (growth(p99), growth(p50));
    if tail <= FLAT && last.standing == Standing::Met {
        return (Shape::Flat, None);
    }
    // If the median falls, the responses differ; it is no longer queueing.
    match tail > FLAT && (middle >= 1.0 || p50(first) == 0.0) {
        true => (Shape::Gradual, rise.filter(|rise| rise.figure != "error_rate")),
        false => (Shape::Unknown, None),
    }
}

fn p50(point: &Point) -> f64 {
    point.p50.map_or(0.0, |reading| reading.value_ns as f64)
}

fn p99(point: &Point) -> f64 {
    point.p99.map_or(0.0, |reading| reading.value_ns as f64)
}

/// Whether throughput falls as the load rises, by more than the variation of a level.
fn is_retrograde(curve: &[Point]) -> bool {
    let mut most = 0.0f64;
    curve.iter().any(|point| {
        let falls = point.achieved_rate_per_s < most * RETROGRADE;
        most = most.max(point.achieved_rate_per_s);
        falls
    })
}

/// Returns neighboring levels around the capacity, always including the step across it; all of them if the capacity
/// is unknown.
fn near(curve: &[Point], capacity: Option<f64>) -> Vec<(&Point, &Point)> {
    let pairs = curve.iter().zip(&curve[1..]);
    let Some(capacity) = capacity else { return pairs.collect() };
    let is_near = |point: &Point| point.level > capacity / NEAR && point.level < capacity * NEAR;
    let straddles = |a: &Point, b: &Point| a.level <= capacity && b.level > capacity;
    pairs.filter(|(a, b)| (is_near(a) && is_near(b)) || straddles(a, b)).collect()
}

/// Returns the largest change from one level to the next, on a scale where 1 is a jump.
fn steepest(a: &Point, b: &Point) -> (f64, Rise) {
    let rise = |figure, from, to| Rise {
        from_level: a.level,
        to_level: b.level,
        figure,
        from_value: from,
        to_value: to,
    };
    let time = |from: f64, to: f64| if from > 0.0 && to > 0.0 { (to / from).ln() / JUMP.ln() } else { 0.0 };
    let all = [
        (time(p99(a), p99(b)), rise("p99", p99(a), p99(b))),
        (time(p50(a), p50(b)), rise("p50", p50(a), p50(b))),
        ((b.error_ratio - a.error_ratio) / JUMP_ERRORS, rise("error_rate", a.error_ratio, b.error_ratio)),
    ];
    all.into_iter()
        .reduce(|x, y| if y.0 > x.0 { y } else { x })
        .unwrap_or_else(|| (0.0, rise("p99", 0.0, 0.0)))
}

/// Returns a jump over several levels that are all within a few percent.
fn cliff(curve: &[Point], capacity: Option<f64>, jumps: &impl Fn(&Rise) -> bool) -> Option<Rise> {
    let is_near = |level: f64| capacity.is_none_or(|c| level > c / 1.2 && level < c * 1.2);
    curve.iter().enumerate().find_map(|(at, a)| {
        let close = curve[at + 1..].iter().take_while(|b| b.level <= a.level * WITHIN);
        close.filter(|b| is_near(b.level)).map(|b| steepest(a, b).1).find(jumps)
    })
}

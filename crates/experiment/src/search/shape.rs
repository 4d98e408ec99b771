//! How the service behaves above its answer: each word held against the numbers of neighbouring levels.

use super::answer::{Point, Rise, Shape};
use plimsoll_analysis::summary::Standing;

/// A time that grows by this factor from a level to the next jumps; likewise this share of errors out of nowhere.
const JUMP: f64 = 4.0;
const JUMP_ERRORS: f64 = 0.05;
/// A jump within this much more load is a cliff.
const WITHIN: f64 = 1.06;
/// Fewer answers than this share of the most, at a higher load.
const RETROGRADE: f64 = 0.9;
/// Times that stay within this factor are flat.
const FLAT: f64 = 1.3;
/// Levels further from the answer than this factor say nothing of what happens just above it.
const NEAR: f64 = 1.25;

/// What the curve is near the answer, and the step between two of its levels that shows it.
pub(super) fn shape(curve: &[Point], capacity: Option<f64>) -> (Shape, Option<Rise>) {
    if curve.len() < 3 {
        return (Shape::Unknown, None);
    }
    let steps = near(curve, capacity);
    // From the answer to what is just above it, unless more happens elsewhere.
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
    // Where the median falls, what is seen is other answers and no longer waiting.
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

/// More load gets fewer answers, by more than the few runs of a level differ.
fn is_retrograde(curve: &[Point]) -> bool {
    let mut most = 0.0f64;
    curve.iter().any(|point| {
        let falls = point.achieved_rate_per_s < most * RETROGRADE;
        most = most.max(point.achieved_rate_per_s);
        falls
    })
}

/// Neighbouring levels around the answer, the one in front of the first above it always among them; of all where
/// nothing is known to be the answer.
fn near(curve: &[Point], capacity: Option<f64>) -> Vec<(&Point, &Point)> {
    let pairs = curve.iter().zip(&curve[1..]);
    let Some(capacity) = capacity else { return pairs.collect() };
    let is_near = |point: &Point| point.level > capacity / NEAR && point.level < capacity * NEAR;
    let straddles = |a: &Point, b: &Point| a.level <= capacity && b.level > capacity;
    pairs.filter(|(a, b)| (is_near(a) && is_near(b)) || straddles(a, b)).collect()
}

/// Of one level to the next: what changed most, on a scale on which 1 is a jump.
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

/// A jump over several levels that are all within a few per cent.
fn cliff(curve: &[Point], capacity: Option<f64>, jumps: &impl Fn(&Rise) -> bool) -> Option<Rise> {
    let is_near = |level: f64| capacity.is_none_or(|c| level > c / 1.2 && level < c * 1.2);
    curve.iter().enumerate().find_map(|(at, a)| {
        let close = curve[at + 1..].iter().take_while(|b| b.level <= a.level * WITHIN);
        close.filter(|b| is_near(b.level)).map(|b| steepest(a, b).1).find(jumps)
    })
}

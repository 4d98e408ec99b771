//! Where a figure crosses its limit, from all full steps near it.

use super::trial::{FAR, Trial, decides};
use plimsoll_plan::experiment::Purpose;
use plimsoll_stats::maths::regression::{Point, fit_line};

/// The level at which the first of the thresholds is crossed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Crossing {
    pub at: f64,
    /// 95 % interval.
    pub low: f64,
    pub high: f64,
    /// Loss of slack per unit of the logarithm of the level; above 0.
    pub steepness: f64,
    pub threshold: String,
    /// Steps behind it.
    pub steps: usize,
}

const CONFIDENCE: f64 = 0.95;
/// A quantile of the histogram is known to half a bucket, 0.4 %.
const RESOLUTION: f64 = 0.004;
/// Widest part of the curve that is taken for straight: e^0.3, about a third up or down.
const WIDEST: f64 = 0.3;

/// The lowest crossing of all thresholds. `None` as long as none is enclosed.
pub(super) fn crossing(trials: &[&Trial], within: f64) -> Option<Crossing> {
    let full: Vec<&Trial> = trials.iter().copied().filter(|t| is_full(t)).collect();
    let names: Vec<&str> =
        full.first()?.judged.iter().filter(|j| decides(j)).map(|j| j.text.as_str()).collect();
    let each = names.iter().filter_map(|name| one(&full, name, within));
    let all: Vec<Crossing> = each.collect();
    let first = all.iter().min_by(|a, b| a.at.total_cmp(&b.at))?.clone();
    // Another threshold that may be crossed earlier lowers the lower end.
    let low = all.iter().map(|c| c.low).fold(first.low, f64::min);
    Some(Crossing { low, ..first })
}

/// Short steps enclose the answer; their warm-up is too short for a figure.
fn is_full(trial: &Trial) -> bool {
    matches!(trial.probe.purpose, Purpose::Bisect | Purpose::Confirm)
}

fn one(trials: &[&Trial], name: &str, within: f64) -> Option<Crossing> {
    let points: Vec<Point> = trials
        .iter()
        .filter_map(|trial| {
            let judged = trial.judged.iter().find(|j| j.text == name)?;
            let weight = trial.measured_s.max(1e-3);
            Some(Point { x: trial.probe.level.max(1e-9).ln(), y: trial.slack_of(judged), weight })
        })
        .collect();
    let (above, below) = (points.iter().any(|p| p.y > 0.0), points.iter().any(|p| p.y < 0.0));
    if !above || !below {
        return None;
    }
    let mut centre = middle(&points);
    let mut width = WIDEST;
    let mut found = None;
    // The window follows the estimate and its slope; it settles within a few turns or goes on a ring of two.
    for _ in 0..6 {
        let near = window(&points, centre, width);
        let Some(line) = fit_line(&near).filter(|line| line.slope < -1e-9) else { break };
        let Some(root) = line.root(0.0, CONFIDENCE, 0.0) else { break };
        let ends = near.iter().fold((f64::MAX, f64::MIN), |(a, b), p| (a.min(p.x), b.max(p.x)));
        let at = root.at.clamp(ends.0, ends.1);
        found = Some((at, root, ends, -line.slope, near.len()));
        centre = at;
        width = (FAR / -line.slope).clamp(2.0 * within, WIDEST);
    }
    let (at, root, ends, steepness, steps) = found?;
    let least = (RESOLUTION / steepness).max(0.25 * within);
    // What the line leaves open is still enclosed by the levels that were run.
    let low = root.low.clamp(ends.0, ends.1).min(at - least);
    let high = root.high.clamp(ends.0, ends.1).max(at + least);
    Some(Crossing {
        at: at.exp(),
        low: low.exp(),
        high: high.exp(),
        steepness,
        threshold: name.to_owned(),
        steps,
    })
}

/// Between the points inside and those outside.
fn middle(points: &[Point]) -> f64 {
    let mean = |side: &dyn Fn(f64) -> bool| {
        let (n, sum) = points.iter().filter(|p| side(p.y)).fold((0.0, 0.0), |(n, s), p| (n + 1.0, s + p.x));
        sum / n
    };
    let highest_in = points.iter().filter(|p| p.y > 0.0).map(|p| p.x).fold(f64::MIN, f64::max);
    let lowest_out = points.iter().filter(|p| p.y < 0.0).map(|p| p.x).fold(f64::MAX, f64::min);
    if highest_in < lowest_out {
        f64::midpoint(highest_in, lowest_out)
    } else {
        f64::midpoint(mean(&|y| y > 0.0), mean(&|y| y < 0.0))
    }
}

/// Points at most `width` from the centre, or the six nearest when there are fewer.
fn window(points: &[Point], centre: f64, width: f64) -> Vec<Point> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| (a.x - centre).abs().total_cmp(&(b.x - centre).abs()));
    let near = sorted.iter().take_while(|p| (p.x - centre).abs() <= width).count();
    sorted.truncate(near.max(6));
    sorted
}

//! The level at which a figure crosses its limit, from all full steps near it.

use super::shares::{self, PARTS, Shares};
use super::trial::{FAR, Trial, decides};
use plimsoll_plan::experiment::Purpose;
use plimsoll_plan::threshold::FigureUnit;
use plimsoll_stats::maths::regression::{Point, Root, Share, fit_line, fit_shares};

/// The level at which the first of the thresholds is crossed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Crossing {
    pub at: f64,
    /// The ends of the 95% confidence interval.
    pub low: f64,
    pub high: f64,
    /// Distance from the crossing, in the logarithm of the level, at which repeats are most informative.
    pub reach: f64,
    pub threshold: String,
    /// Number of steps used.
    pub steps: usize,
}

const CONFIDENCE: f64 = 0.95;
/// The resolution of a histogram's quantile: half a bucket, 0.4%.
const RESOLUTION: f64 = 0.004;
/// Difference in slack, or in the logarithm of the share, between the middle and the outer levels: close enough for a
/// straight line, far enough to determine its slope.
const SLACK_REACH: f64 = 0.35;
const SHARE_REACH: f64 = 1.0;
/// Distance from the limit within which the logarithm of a share counts as linear.
const SHARE_WINDOW: f64 = 1.6;
/// Queue memories that a step must contain to show stationary times.
const SETTLED: f64 = 10.0;
/// Slack on both sides of a jump.
const JUMP: f64 = 0.3;
/// Widest part of the curve that counts as linear: e^0.3, about a third up or down.
const WIDEST: f64 = 0.3;
const WIDEST_SHARE: f64 = 0.2;

/// Returns the lowest crossing of all thresholds, or `None` while none is bracketed.
pub(super) fn crossing(trials: &[&Trial], within: f64) -> Option<Crossing> {
    let full: Vec<&Trial> = trials.iter().copied().filter(|t| is_full(t)).collect();
    let names: Vec<&str> =
        full.first()?.judged.iter().filter(|j| decides(j)).map(|j| j.text.as_str()).collect();
    let each = names.iter().filter_map(|name| one(&full, name, within));
    let all: Vec<Crossing> = each.map(|found| lowered(found, &full)).collect();
    let first = all.iter().min_by(|a, b| a.at.total_cmp(&b.at))?.clone();
    // Another threshold may be crossed earlier, which lowers the lower end.
    let low = all.iter().map(|c| c.low).fold(first.low, f64::min);
    Some(Crossing { low, ..first })
}

/// Lowers an estimate by what short steps hide. Above the capacity by a share d, a backlog grows by d seconds per
/// second, so a limit of L seconds hides an overload of up to L / T in a step of T seconds, which a longer step would
/// have shown. The estimate is lowered by that, and the lower end by a quarter more for random arrivals. Steps much
/// longer than the memory of a queue with that limit, about 0.2 L^2 rate, had settled and are not lowered.
fn lowered(found: Crossing, trials: &[&Trial]) -> Crossing {
    let judged = |t: &&&Trial| t.judged.iter().find(|j| j.text == found.threshold).map(|j| (j.unit, j.limit));
    let Some((FigureUnit::Nanoseconds, limit_ns)) = trials.iter().find_map(|t| judged(&t)) else {
        return found;
    };
    // Users wait for their responses, so no backlog grows.
    if trials.iter().any(|t| t.offered_rate_per_s.is_none()) {
        return found;
    }
    let seconds: f64 =
        trials.iter().map(|t| (t.probe.warmup_ns as f64 + t.probe.length_ns as f64) / 1e9).sum();
    let (limit_s, step_s) = (limit_ns / 1e9, seconds / trials.len() as f64);
    let hidden = limit_s / step_s;
    let has_settled = step_s >= SETTLED * 0.2 * limit_s * limit_s * found.at;
    if has_settled || !hidden.is_finite() {
        return found;
    }
    let hidden = hidden.min(0.5);
    Crossing { at: found.at / (1.0 + hidden), low: found.low / (1.0 + 1.25 * hidden), ..found }
}

/// Short steps bracket the capacity; their warm-up is too short for precise figures.
fn is_full(trial: &Trial) -> bool {
    matches!(trial.probe.purpose, Purpose::Bisect | Purpose::Confirm)
}

/// Returns the crossing of one threshold: from the share of requests beyond the limit if it is known, otherwise from
/// the distance to the limit.
fn one(trials: &[&Trial], name: &str, within: f64) -> Option<Crossing> {
    let judged = |t: &&Trial| t.judged.iter().find(|j| j.text == name).map(|j| t.slack_of(j));
    let slacks: Vec<(f64, f64, f64)> = trials
        .iter()
        .filter_map(|t| Some((t.probe.level.max(1e-9).ln(), judged(t)?, t.measured_s.max(1e-3))))
        .collect();
    if !slacks.iter().any(|p| p.1 > 0.0) || !slacks.iter().any(|p| p.1 < 0.0) {
        return None;
    }
    let points: Vec<Point> =
        slacks.iter().map(|(x, y, weight)| Point { x: *x, y: *y, weight: *weight }).collect();
    let center = middle(&points);
    let shares = shares::of(trials, name);
    let found = shares.and_then(|shares| by_shares(&shares, center, within));
    // In short runs, the distance to the limit is a coarse measure, and its variation does not include its bias.
    let floor = if found.is_some() { 0.25 } else { 0.7 };
    if found.is_none()
        && let Some(cliff) = cliff(&points, name)
    {
        return Some(cliff);
    }
    let (at, root, reach, steps) = found.or_else(|| by_slack(&points, center, within))?;
    let least = (RESOLUTION * reach).max(floor * within);
    // The tested levels bound what the line leaves open.
    let ends = ends(points.iter().map(|p| p.x));
    let low = root.low.clamp(ends.0, ends.1).min(at - least);
    let high = root.high.clamp(ends.0, ends.1).max(at + least);
    Some(Crossing {
        at: at.exp(),
        low: low.exp(),
        high: high.exp(),
        reach,
        threshold: name.to_owned(),
        steps,
    })
}

/// Returns the bracket of a figure that jumps across its limit between two levels: only these two are known.
fn cliff(points: &[Point], name: &str) -> Option<Crossing> {
    let met = points.iter().filter(|p| p.y > 0.0).max_by(|a, b| a.x.total_cmp(&b.x))?;
    let missed = points.iter().filter(|p| p.y < 0.0).min_by(|a, b| a.x.total_cmp(&b.x))?;
    if met.x >= missed.x || met.y < JUMP || missed.y > -JUMP {
        return None;
    }
    let at = f64::midpoint(met.x, missed.x).exp();
    let (low, high, reach) = (met.x.exp(), missed.x.exp(), (missed.x - met.x) / 4.0);
    Some(Crossing { at, low, high, reach, threshold: name.to_owned(), steps: points.len() })
}

/// Estimate, root, reach, steps.
type Found = (f64, Root, f64, usize);

/// Fits in the level, not its logarithm: exp(-(mu - rate) L) is linear there, and stronger curvature (a long tail of
/// the service times) is weakest there.
fn by_shares(shares: &Shares, start: f64, within: f64) -> Option<Found> {
    let scale = start.exp();
    let points: Vec<Share> = shares.points.iter().map(|p| Share { x: p.x.exp() / scale, ..*p }).collect();
    let (mut center, mut width, mut found) = (1.0, WIDEST_SHARE, None);
    for _ in 0..6 {
        let near = window(&points, |p| p.x, center, width, 3 * PARTS);
        let line = fit_shares(&near).filter(|line| line.slope > 1e-9);
        // A narrow window may hold too little; then the wider one before it counts.
        let Some(line) = line else { break };
        let root = line.root_within(shares.limit.ln(), CONFIDENCE, shares.bursts.sqrt() * line.slope)?;
        let ends = ends(near.iter().map(|p| p.x));
        center = root.at.clamp(ends.0, ends.1);
        let log = |x: f64| x.max(1e-9).ln() + start;
        let logs = Root { at: log(root.at), low: log(root.low), high: log(root.high) };
        found = Some((log(center), logs, SHARE_REACH / line.slope, near.len().div_ceil(PARTS)));
        width = (SHARE_WINDOW / line.slope).clamp((1.5 * within).min(WIDEST_SHARE), WIDEST_SHARE);
    }
    found
}

fn by_slack(points: &[Point], start: f64, within: f64) -> Option<Found> {
    let (mut center, mut width, mut found) = (start, WIDEST, None);
    // The window follows the estimate and its slope; it settles within a few iterations or alternates between two.
    for _ in 0..6 {
        let near = window(points, |p| p.x, center, width, 6);
        let Some(line) = fit_line(&near).filter(|line| line.slope < -1e-9) else { break };
        let Some(root) = line.root(0.0, CONFIDENCE, 0.0) else { break };
        let ends = ends(near.iter().map(|p| p.x));
        center = root.at.clamp(ends.0, ends.1);
        found = Some((center, root, SLACK_REACH / -line.slope, near.len()));
        width = (FAR / -line.slope).clamp(within.min(WIDEST), WIDEST);
    }
    found
}

fn ends(xs: impl Iterator<Item = f64>) -> (f64, f64) {
    xs.fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)))
}

/// Returns the middle between the points within and those outside.
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

/// Returns the points at most `width` from the center, or the `least` nearest ones if there are fewer.
fn window<P: Copy>(points: &[P], x: impl Fn(&P) -> f64, center: f64, width: f64, least: usize) -> Vec<P> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| (x(a) - center).abs().total_cmp(&(x(b) - center).abs()));
    let near = sorted.iter().take_while(|p| (x(p) - center).abs() <= width).count();
    sorted.truncate(near.max(least));
    sorted
}

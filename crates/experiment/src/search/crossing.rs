//! Where a figure crosses its limit, from all full steps near it.

use super::shares::{self, PARTS, Shares};
use super::trial::{FAR, Trial, decides};
use plimsoll_plan::experiment::Purpose;
use plimsoll_plan::threshold::FigureUnit;
use plimsoll_stats::maths::regression::{Point, Root, Share, fit_line, fit_shares};

/// The level at which the first of the thresholds is crossed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Crossing {
    pub at: f64,
    /// 95% interval.
    pub low: f64,
    pub high: f64,
    /// How far (in logarithm of the level) from the crossing repeats tell most.
    pub reach: f64,
    pub threshold: String,
    /// Steps behind it.
    pub steps: usize,
}

const CONFIDENCE: f64 = 0.95;
/// A quantile of the histogram is known to half a bucket, 0.4%.
const RESOLUTION: f64 = 0.004;
/// Outer levels stand where the slack differs by this from that of the middle, or the logarithm of the share by that:
/// near enough for a straight line, far enough to know its slope.
const SLACK_REACH: f64 = 0.35;
const SHARE_REACH: f64 = 1.0;
/// The logarithm of a share is taken for straight so far around its limit.
const SHARE_WINDOW: f64 = 1.6;
/// Memories of a queue in a step that shows its stationary times.
const SETTLED: f64 = 10.0;
/// Slack on both sides of a jump.
const JUMP: f64 = 0.3;
/// Widest part of the curve that is taken for straight: e^0.3, about a third up or down.
const WIDEST: f64 = 0.3;
const WIDEST_SHARE: f64 = 0.2;

/// The lowest crossing of all thresholds. `None` as long as none is enclosed.
pub(super) fn crossing(trials: &[&Trial], within: f64) -> Option<Crossing> {
    let full: Vec<&Trial> = trials.iter().copied().filter(|t| is_full(t)).collect();
    let names: Vec<&str> =
        full.first()?.judged.iter().filter(|j| decides(j)).map(|j| j.text.as_str()).collect();
    let each = names.iter().filter_map(|name| one(&full, name, within));
    let all: Vec<Crossing> = each.map(|found| lowered(found, &full)).collect();
    let first = all.iter().min_by(|a, b| a.at.total_cmp(&b.at))?.clone();
    // Another threshold that may be crossed earlier lowers the lower end.
    let low = all.iter().map(|c| c.low).fold(first.low, f64::min);
    Some(Crossing { low, ..first })
}

/// Above the capacity by a share d a backlog grows by d seconds a second: a limit of L seconds hides an overload of
/// up to L / T in a step of T seconds, and a longer step would have crossed it earlier. The estimate goes down by
/// that, the lower end by a quarter more for the luck of the arrivals; but not where the steps are much longer than
/// the memory of a queue of that limit, about 0.2 L^2 rate: there it had settled.
fn lowered(found: Crossing, trials: &[&Trial]) -> Crossing {
    let judged = |t: &&&Trial| t.judged.iter().find(|j| j.text == found.threshold).map(|j| (j.unit, j.limit));
    let Some((FigureUnit::Nanoseconds, limit_ns)) = trials.iter().find_map(|t| judged(&t)) else {
        return found;
    };
    // Users wait for their answers: no backlog grows.
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

/// Short steps enclose the answer; their warm-up is too short for a figure.
fn is_full(trial: &Trial) -> bool {
    matches!(trial.probe.purpose, Purpose::Bisect | Purpose::Confirm)
}

/// The crossing of one threshold: by the share of requests beyond the limit where that is known, else by the
/// distance from the limit.
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
    let centre = middle(&points);
    let shares = shares::of(trials, name);
    let found = shares.and_then(|shares| by_shares(&shares, centre, within));
    // The distance from the limit in short runs is a coarse measure; its scatter does not know its bias.
    let floor = if found.is_some() { 0.25 } else { 0.7 };
    if found.is_none()
        && let Some(cliff) = cliff(&points, name)
    {
        return Some(cliff);
    }
    let (at, root, reach, steps) = found.or_else(|| by_slack(&points, centre, within))?;
    let least = (RESOLUTION * reach).max(floor * within);
    // What the line leaves open is still enclosed by the levels that were run.
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

/// The figure jumps over its limit between two levels: nothing is known but these two.
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

/// In the level itself, not its logarithm: exp(-(mu - rate) L) is straight there, and what bends more than that (a
/// tail of the service times' own) bends least there.
fn by_shares(shares: &Shares, start: f64, within: f64) -> Option<Found> {
    let scale = start.exp();
    let points: Vec<Share> = shares.points.iter().map(|p| Share { x: p.x.exp() / scale, ..*p }).collect();
    let (mut centre, mut width, mut found) = (1.0, WIDEST_SHARE, None);
    for _ in 0..6 {
        let near = window(&points, |p| p.x, centre, width, 3 * PARTS);
        let line = fit_shares(&near).filter(|line| line.slope > 1e-9);
        // A narrow window may hold too little: then the wider one before it stands.
        let Some(line) = line else { break };
        let root = line.root_within(shares.limit.ln(), CONFIDENCE, shares.bursts.sqrt() * line.slope)?;
        let ends = ends(near.iter().map(|p| p.x));
        centre = root.at.clamp(ends.0, ends.1);
        let log = |x: f64| x.max(1e-9).ln() + start;
        let logs = Root { at: log(root.at), low: log(root.low), high: log(root.high) };
        found = Some((log(centre), logs, SHARE_REACH / line.slope, near.len().div_ceil(PARTS)));
        width = (SHARE_WINDOW / line.slope).clamp((1.5 * within).min(WIDEST_SHARE), WIDEST_SHARE);
    }
    found
}

fn by_slack(points: &[Point], start: f64, within: f64) -> Option<Found> {
    let (mut centre, mut width, mut found) = (start, WIDEST, None);
    // The window follows the estimate and its slope; it settles within a few turns or goes on a ring of two.
    for _ in 0..6 {
        let near = window(points, |p| p.x, centre, width, 6);
        let Some(line) = fit_line(&near).filter(|line| line.slope < -1e-9) else { break };
        let Some(root) = line.root(0.0, CONFIDENCE, 0.0) else { break };
        let ends = ends(near.iter().map(|p| p.x));
        centre = root.at.clamp(ends.0, ends.1);
        found = Some((centre, root, SLACK_REACH / -line.slope, near.len()));
        width = (FAR / -line.slope).clamp(within.min(WIDEST), WIDEST);
    }
    found
}

fn ends(xs: impl Iterator<Item = f64>) -> (f64, f64) {
    xs.fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)))
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

/// Points at most `width` from the centre, or the `least` nearest when there are fewer.
fn window<P: Copy>(points: &[P], x: impl Fn(&P) -> f64, centre: f64, width: f64, least: usize) -> Vec<P> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| (x(a) - centre).abs().total_cmp(&(x(b) - centre).abs()));
    let near = sorted.iter().take_while(|p| (x(p) - centre).abs() <= width).count();
    sorted.truncate(near.max(least));
    sorted
}

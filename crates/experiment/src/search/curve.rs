//! The load curve of a result: levels with their repeats pooled, and the knee.

use super::answer::{Knee, Point, Reading};
use super::standing::Rung;
use super::trial::Trial;
use super::view::View;
use plimsoll_analysis::digest::Block;
use plimsoll_analysis::summary::Standing;
use plimsoll_stats::{Hist, clustered_interval, enough_samples};

pub(super) fn curve(view: &View) -> Vec<Point> {
    view.rungs.iter().map(point).collect()
}

fn point(rung: &Rung<'_>) -> Point {
    let group = &rung.trials;
    let time: f64 = group.iter().map(|t| t.measured_s.max(1e-9)).sum();
    let mean =
        |of: &dyn Fn(&Trial) -> f64| group.iter().map(|t| of(t) * t.measured_s.max(1e-9)).sum::<f64>() / time;
    let count = |standing| group.iter().filter(|t| t.standing() == standing).count() as u32;
    let blocks = || group.iter().flat_map(|t| &t.blocks);
    let (requests, errors) = group
        .iter()
        .fold((0u64, 0u64), |(n, e), t| (n.saturating_add(t.requests), e.saturating_add(t.errors)));
    Point {
        level: mean(&|t| t.probe.level),
        runs: group.len() as u32,
        met_runs: count(Standing::Met),
        undecided_runs: count(Standing::Undecided),
        standing: rung.standing,
        offered_rate_per_s: group[0]
            .offered_rate_per_s
            .map(|_| mean(&|t| t.offered_rate_per_s.unwrap_or(0.0))),
        achieved_rate_per_s: mean(&|t| t.iterations_per_s),
        p50: reading(blocks(), 0.5),
        p99: reading(blocks(), 0.99),
        error_ratio: errors as f64 / requests.max(1) as f64,
        error_interval: wilson(errors, requests),
    }
}

/// Returns a quantile of all blocks, with an interval that accounts for correlation within blocks.
pub(super) fn reading<'a>(blocks: impl Iterator<Item = &'a Block> + Clone, q: f64) -> Option<Reading> {
    let mut all = Hist::on_demand();
    blocks.clone().for_each(|block| all.merge(&block.response));
    let value_ns = all.quantile(q)?;
    let bounds = clustered_interval(&all, q, 0.95, spread(blocks, value_ns, q).max(1.0));
    Some(Reading {
        value_ns,
        low_ns: bounds.low,
        high_ns: bounds.high,
        has_enough_samples: enough_samples(all.count(), q),
    })
}

/// Returns the ratio between the variance, from second to second, of the share above the quantile, and that of
/// independent values (the design effect of cluster samples, Kish 1965).
fn spread<'a>(blocks: impl Iterator<Item = &'a Block>, value_ns: u64, q: f64) -> f64 {
    let (mut squares, mut n, mut count) = (0.0, 0.0, 0.0);
    for block in blocks.filter(|b| !b.response.is_empty()) {
        let (above, all) = (block.response.count_above(value_ns) as f64, block.response.count() as f64);
        squares += (above - (1.0 - q) * all).powi(2);
        n += all;
        count += 1.0;
    }
    let independent = q * (1.0 - q) * n;
    if count < 3.0 || independent <= 0.0 { 1.0 } else { squares / independent * count / (count - 1.0) }
}

/// Returns the 95% confidence interval of a share (Wilson 1927).
pub(super) fn wilson(part: u64, whole: u64) -> [f64; 2] {
    if whole == 0 {
        return [0.0, 1.0];
    }
    let (n, z2) = (whole as f64, 1.96f64 * 1.96);
    let p = part.min(whole) as f64 / n;
    let center = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = 1.96 / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    // At the ends of the range, the formula misses 0 and 1 only by rounding.
    let low = if part == 0 { 0.0 } else { (center - half).max(0.0) };
    let high = if part >= whole { 1.0 } else { (center + half).min(1.0) };
    [low, high]
}

pub(super) fn knee(curve: &[Point], floor_ns: Option<u64>) -> Option<Knee> {
    let floor = floor_ns.filter(|ns| *ns > 0)?;
    let calm = |p: &&Point| p.p50.is_some_and(|r| r.value_ns <= floor.saturating_mul(2));
    let point = curve.iter().take_while(calm).last()?;
    // A curve that ends before its median rises shows no knee.
    if point.level >= curve.last()?.level {
        return None;
    }
    Some(Knee {
        level: point.level,
        p50_ns: point.p50?.value_ns,
        method: "last level with a median within twice the unloaded one",
    })
}

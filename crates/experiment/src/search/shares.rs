//! Thresholds as shares: `p99 < 250ms` means that less than 1% of the requests take 250 ms or longer.
//!
//! Shares of several runs can be added without bias. A p99 cannot: near saturation, slow requests come in bursts,
//! most short runs see none, and both the mean p99 and the mean of its inverse are biased.

use super::trial::Trial;
use plimsoll_analysis::digest::Block;
use plimsoll_plan::threshold::{Statistic, Subject, parse};
use plimsoll_stats::maths::regression::Share;

/// Parts of a run that are counted separately: their variation shows how bursty the events are, so they must be
/// longer than a burst.
pub(super) const PARTS: usize = 4;
/// Minimum variance of a count relative to its mean, in squares of the slope. The steeper the share rises with the
/// load, the nearer the queue is to saturation, and the longer its bursts: above a level that 1% exceed, the workload
/// (a Brownian motion with drift -d and variance s^2 per second, Harrison 1985) stays for about s^2 / d^2 seconds,
/// and the slope is 2 d / s^2 times the limit. Eliminating d gives 0.12 (1 + scv) slopes squared. A few short runs
/// may have seen no burst at all, and their own variation would then promise too much.
const BURSTS_OF_TIMES: f64 = 0.25;
/// A full queue stays full for only a few requests: about 2 / (1 - load) are lost in sequence.
const BURSTS_OF_ERRORS: f64 = 0.04;
/// Runs with more than this many limits are outside of the range in which the logarithm of the share is linear.
const FAR: f64 = 20.0;
/// Assumed share, in limits, of a run whose backlog grew: a longer run would have shown more.
const UNSTABLE: f64 = 8.0;

/// Counts at each level, and prior knowledge about them.
pub(super) struct Shares {
    pub points: Vec<Share>,
    pub limit: f64,
    /// Minimum dispersion, in squares of the slope.
    pub bursts: f64,
}

/// A threshold as a share that may exceed a time, or fail.
pub(super) struct Measure {
    pub limit: f64,
    /// `None`: the share of errors.
    pub above_ns: Option<u64>,
}

/// Returns `None` if the blocks have no data for it: thresholds on some requests only, on other times, or without a
/// scale.
pub(super) fn measure(text: &str) -> Option<Measure> {
    let threshold = parse(text).ok()?;
    if threshold.scope.is_some() || threshold.over_ns.is_some() || threshold.comparison.is_upwards() {
        return None;
    }
    let (limit, above_ns) = match (threshold.subject, threshold.statistic) {
        (Subject::ResponseTime, Statistic::Quantile(q)) => (1.0 - q, Some(threshold.value as u64)),
        (Subject::ErrorRate, _) => (threshold.value, None),
        _ => return None,
    };
    (limit > 0.0 && limit < 1.0).then_some(Measure { limit, above_ns })
}

/// Returns the shares of a threshold; `None` as in [`measure`].
pub(super) fn of(trials: &[&Trial], text: &str) -> Option<Shares> {
    let Measure { limit, above_ns } = measure(text)?;
    let far = |trial: &&&Trial| {
        let whole: f64 = trial.blocks.iter().map(|b| count(b, above_ns).1).sum();
        trial.blocks.iter().map(|b| count(b, above_ns).0).sum::<f64>() <= FAR * limit * whole
    };
    let counts = trials.iter().filter(far).flat_map(|trial| {
        let width = trial.blocks.len().div_ceil(PARTS).max(1);
        trial.blocks.chunks(width).map(move |part| {
            let (mut beyond, mut all) = (0.0, 0.0);
            for block in part {
                let (part, whole) = count(block, above_ns);
                (beyond, all) = (beyond + part, all + whole);
            }
            if trial.unstable {
                beyond = beyond.max((UNSTABLE * limit * all).min(all));
            }
            Share { x: trial.probe.level.max(1e-9).ln(), part: beyond.min(all), whole: all }
        })
    });
    let bursts = if above_ns.is_some() { BURSTS_OF_TIMES } else { BURSTS_OF_ERRORS };
    Some(Shares { points: counts.collect(), limit, bursts })
}

/// Returns the requests beyond the limit, and all requests, of a block.
pub(super) fn count(block: &Block, above_ns: Option<u64>) -> (f64, f64) {
    match above_ns {
        Some(ns) => (block.response.count_above(ns) as f64, block.response.count() as f64),
        None => (block.errors.min(block.requests) as f64, block.requests as f64),
    }
}

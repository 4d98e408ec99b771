//! A threshold as a share: `p99 < 250ms` says that less than 1% of the requests take 250 ms or longer.
//!
//! Shares of several runs can be added up without bias. A p99 cannot: near saturation slow requests come in bursts,
//! most short runs see none, and both the mean p99 and the mean of its inverse mislead.

use super::trial::Trial;
use plimsoll_analysis::digest::Block;
use plimsoll_plan::threshold::{Statistic, Subject, parse};
use plimsoll_stats::maths::regression::Share;

/// Parts of a run that are counted apart: their scatter is what says how bursty the events are, and they must be
/// longer than a burst.
pub(super) const PARTS: usize = 4;
/// Least variance of a count beside its mean, in squares of the slope. The steeper the share rises with the load,
/// the nearer the queue is to saturation, and the longer its bursts: above a level that 1% exceed, the workload (a
/// Brownian motion with drift -d and variance s^2 a second, Harrison 1985) stays for about s^2 / d^2 seconds, and
/// the slope is 2 d / s^2 times the limit; eliminating d gives 0.12 (1 + scv) slopes squared. A few short runs may
/// have seen no burst at all, and their own scatter would then promise too much.
const BURSTS_OF_TIMES: f64 = 0.25;
/// A full queue stays full for a few requests only: about 2 / (1 - load) are lost in a row.
const BURSTS_OF_ERRORS: f64 = 0.04;
/// Runs with more than so many limits are out of the range in which the logarithm of the share is straight.
const FAR: f64 = 20.0;
/// Share, in limits, of a run whose backlog grew: it had not said all.
const UNSTABLE: f64 = 8.0;

/// Counts at each level, and what is known of them beforehand.
pub(super) struct Shares {
    pub points: Vec<Share>,
    pub limit: f64,
    /// Least dispersion, in squares of the slope.
    pub bursts: f64,
}

/// A threshold as a share that may lie beyond a time, or fail.
pub(super) struct Measure {
    pub limit: f64,
    /// `None`: the share of errors.
    pub above_ns: Option<u64>,
}

/// `None` where the blocks do not know it: thresholds of some requests only, of other times, without a scale.
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

/// The shares of a threshold; `None`: see [`measure`].
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

/// Requests beyond the limit and all of them in a block.
pub(super) fn count(block: &Block, above_ns: Option<u64>) -> (f64, f64) {
    match above_ns {
        Some(ns) => (block.response.count_above(ns) as f64, block.response.count() as f64),
        None => (block.errors.min(block.requests) as f64, block.requests as f64),
    }
}

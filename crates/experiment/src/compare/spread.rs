//! The uncertainty of a difference: the jackknife between runs, the block bootstrap within runs.

use super::ASSUMED_BETWEEN;
use super::doubts::{Order, order};
use super::table::{Counts, Table};
use super::types::{Basis, Side};
use plimsoll_analysis::digest::{Digest, Level};
use plimsoll_plan::experiment::Figure;
use plimsoll_stats::maths::bootstrap::{block_length, resample, variance};
use plimsoll_stats::maths::student::Estimate;
use plimsoll_stats::random::SplitMix64;
use plimsoll_stats::{quantile_interval, samples_needed};

/// Resamples for a variance: its own relative error is then 1 / sqrt(2 * 200) = 5%, and half of that for the deviation.
const RESAMPLES: usize = 200;
/// Degrees of freedom of the assumed deviation of single runs: as if five runs had shown it.
const ASSUMED_DF: f64 = 4.0;
/// Fewer pairs have too few degrees of freedom: at p = 0.025, the level that a median needs after adjustment, t(4) is
/// 3.5, while two sides of five runs have t(8) = 2.75. From eight up, the two are within 14%.
const PAIRS_LEAST: usize = 8;

/// Returns the compared figures, in the order of the report.
pub(super) fn kinds(quantiles: &[f64]) -> Vec<Figure> {
    let mut quantiles: Vec<f64> = quantiles.iter().copied().filter(|q| *q > 0.0 && *q < 1.0).collect();
    quantiles.sort_by(f64::total_cmp);
    quantiles.dedup();
    let times = |service| quantiles.iter().map(move |q| Figure::Percentile { q: *q, service });
    [Figure::Throughput, Figure::ErrorRate, Figure::Mean]
        .into_iter()
        .chain(times(false))
        .chain(times(true))
        .collect()
}

/// A side with all the resamples that it needs.
pub struct Seen {
    pub table: Table,
    /// Runs with data.
    pub runs: usize,
    /// Positions of these runs among those of the side.
    places: Vec<usize>,
    /// The value of each figure, logarithmic except for errors; `None` if undefined.
    point: Vec<Option<f64>>,
    /// The same with each run left out.
    without: Vec<Vec<Option<f64>>>,
    /// Variance of each figure within the runs, for all of them together.
    within: Vec<f64>,
    /// Degrees of freedom of these variances: effectively independent stretches, less one for each run.
    within_df: f64,
    /// Open model: the rate is set, not measured.
    pub is_paced: bool,
}

impl Seen {
    pub(super) fn new(side: &Side, kinds: &[Figure], random: &mut SplitMix64) -> Seen {
        let places: Vec<usize> = side
            .runs
            .iter()
            .enumerate()
            .filter(|(_, run)| run.blocks.iter().any(|b| b.requests > 0))
            .map(|(at, _)| at)
            .collect();
        let table = Table::new(places.iter().map(|at| &side.runs[*at]));
        let runs = places.len();
        let mut weights = vec![1; table.blocks.len()];
        let point = values(&table, kinds, &weights);
        let mut without = Vec::new();
        if runs > 1 {
            for range in &table.runs {
                weights[range.clone()].fill(0);
                without.push(values(&table, kinds, &weights));
                weights[range.clone()].fill(1);
            }
        }
        let lengths: Vec<usize> = table.runs.iter().map(|run| stretch(&table.blocks[run.clone()])).collect();
        let within = within(&table, kinds, &lengths, &mut weights, random);
        let stretches = table.runs.iter().zip(&lengths).map(|(run, length)| run.len() / length);
        let within_df = stretches.sum::<usize>().saturating_sub(runs) as f64;
        let is_paced = side.runs.first().is_some_and(|run| matches!(run.level, Level::Rate(_)));
        Seen { table, runs, places, point, without, within, within_df, is_paced }
    }

    /// Returns the jackknife variance of figure `at`: (n-1)/n times the squared deviations, from their mean, of the
    /// values without each run. Returns `None` for a single run.
    fn between(&self, at: usize) -> Option<f64> {
        jackknife(&self.without.iter().map(|values| values[at]).collect::<Option<Vec<f64>>>()?)
    }
}

fn jackknife(without: &[f64]) -> Option<f64> {
    let n = without.len() as f64;
    let mean = without.iter().sum::<f64>() / n;
    let squares: f64 = without.iter().map(|v| (v - mean) * (v - mean)).sum();
    (without.len() > 1).then(|| squares * (n - 1.0) / n)
}

/// Returns the figures of a resample.
fn values(table: &Table, kinds: &[Figure], weights: &[u32]) -> Vec<Option<f64>> {
    let requests = table.sum(weights, |block| block.requests);
    kinds
        .iter()
        .map(|kind| {
            let value = match *kind {
                Figure::ErrorRate => {
                    return (requests > 0.0).then(|| table.sum(weights, |b| b.errors) / requests);
                }
                Figure::Throughput => {
                    let seconds = table.sum(weights, |block| block.length_ns) / 1e9;
                    (seconds > 0.0).then(|| requests / seconds)
                }
                Figure::Mean => table.response.mean(weights),
                Figure::Percentile { q, service } => counts(table, service).quantile(q, weights),
                Figure::Capacity => None,
            };
            // A time below a nanosecond cannot be measured, and 0 has no logarithm.
            value.filter(|v| *v > 0.0 || *kind != Figure::Throughput).map(|v| v.max(1e-3).ln())
        })
        .collect()
}

fn counts(table: &Table, service: bool) -> &Counts {
    if service { &table.service } else { &table.response }
}

/// Returns the variances within runs: of the bootstrap, or of independent samples if that is larger.
fn within(
    table: &Table,
    kinds: &[Figure],
    lengths: &[usize],
    weights: &mut [u32],
    random: &mut SplitMix64,
) -> Vec<f64> {
    let mut replicates = vec![Vec::with_capacity(RESAMPLES); kinds.len()];
    for _ in 0..RESAMPLES {
        for (run, length) in table.runs.iter().zip(lengths) {
            resample(&mut weights[run.clone()], *length, random);
        }
        for (all, value) in replicates.iter_mut().zip(values(table, kinds, weights)) {
            all.extend(value);
        }
    }
    let of = |(kind, replicates): (&Figure, &Vec<f64>)| variance(replicates).max(independent(table, *kind));
    kinds.iter().zip(&replicates).map(of).collect()
}

/// Returns how many neighboring blocks to keep together: the larger requirement of request counts and times.
fn stretch(blocks: &[plimsoll_analysis::digest::Block]) -> usize {
    let requests: Vec<f64> = blocks.iter().map(|block| block.requests as f64).collect();
    let means: Vec<f64> = blocks.iter().map(|block| block.response.mean().unwrap_or(0.0)).collect();
    block_length(&requests).max(block_length(&means))
}

/// Returns the variance of independent samples: a lower limit.
fn independent(table: &Table, kind: Figure) -> f64 {
    match kind {
        Figure::ErrorRate => {
            // Agresti & Coull: two failures and two successes more, so that zero errors do not imply certainty.
            let sum = |value: fn(&plimsoll_analysis::digest::Block) -> u64| {
                table.blocks.iter().map(value).map(|n| n as f64).sum::<f64>()
            };
            let n = sum(|b| b.requests) + 4.0;
            let share = (sum(|b| b.errors) + 2.0) / n;
            share * (1.0 - share).max(0.0) / n
        }
        Figure::Mean => {
            let all = &table.response.merged;
            match (all.mean(), all.std_dev()) {
                (Some(mean), Some(deviation)) if mean > 0.0 => {
                    (deviation / mean).powi(2) / all.count() as f64
                }
                _ => 0.0,
            }
        }
        Figure::Percentile { q, service } => {
            let bounds = quantile_interval(&counts(table, service).merged, q, 0.95);
            let (Some(low), Some(high)) = (bounds.low, bounds.high) else { return 0.0 };
            ((high.max(1) as f64 / low.max(1) as f64).ln() / (2.0 * 1.96)).powi(2)
        }
        // A paced rate hardly varies, and requests on one connection exclude each other, so this floor does not apply.
        Figure::Throughput | Figure::Capacity => 0.0,
    }
}

/// The difference b - a with its uncertainty.
#[derive(Debug, Clone, Copy)]
pub struct Effect {
    pub estimate: Estimate,
    pub basis: Basis,
}

/// Estimates a difference: paired if the runs were made as pairs, Welch otherwise. The plan of the runs decides:
/// computing both intervals and keeping the narrower one would give two chances to be wrong.
pub(super) fn effect(
    at: usize,
    kind: Figure,
    a: &Seen,
    b: &Seen,
    pairs: Option<&[(usize, usize)]>,
) -> Option<Effect> {
    let mean = b.point[at]? - a.point[at]?;
    if let Some(without) = pairs.and_then(|pairs| {
        pairs.iter().map(|(i, j)| Some(b.without[*j][at]? - a.without[*i][at]?)).collect::<Option<Vec<f64>>>()
    }) {
        // The floor covers each side separately, and the pairs determine the degrees of freedom even where the floor
        // decides. Among 200 pairs of equal services with ten runs of 10 s, this reported 8 false differences; the
        // degrees of freedom of the stretches reported 13.
        let variance = jackknife(&without)?.max(a.within[at] + b.within[at]);
        let estimate = Estimate { mean, variance, df: without.len() as f64 - 1.0 };
        return Some(Effect { estimate, basis: Basis::Pairs });
    }
    let apart = side(at, kind, b, a)?.minus(side(at, kind, a, b)?);
    let basis = if a.runs.min(b.runs) < 2 { Basis::Assumed } else { Basis::Runs };
    Some(Effect { estimate: Estimate { mean, ..apart }, basis })
}

/// Returns the larger of the variance between runs and the variance within them, with its degrees of freedom. If the
/// variance within runs explains everything, few runs do not justify a wide distribution: its tails cover deviations
/// that are too small by chance, and the floor prevents those.
fn floored(between: f64, runs: usize, within: f64, within_df: f64) -> (f64, f64) {
    let df = runs as f64 - 1.0;
    if between > within { (between, df) } else { (within, within_df.max(df)) }
}

/// Returns one side's figure with its variance.
fn side(at: usize, kind: Figure, of: &Seen, other: &Seen) -> Option<Estimate> {
    let mean = of.point[at]?;
    let within = of.within[at];
    if let Some(between) = of.between(at) {
        let (variance, df) = floored(between, of.runs, within, of.within_df);
        return Some(Estimate { mean, variance, df });
    }
    if other.runs > 2 {
        // The variation between the other side's runs is the best available estimate.
        let of_one = other.between(at)? * other.runs as f64;
        return Some(Estimate { mean, variance: of_one.max(within), df: other.runs as f64 - 1.0 });
    }
    let variance = match kind {
        // The number of errors has no typical relative deviation, so the deviation within the run counts twice.
        Figure::ErrorRate => 4.0 * within,
        Figure::Throughput if of.is_paced => within,
        Figure::Capacity | Figure::Throughput | Figure::Mean | Figure::Percentile { .. } => {
            ASSUMED_BETWEEN * ASSUMED_BETWEEN + within
        }
    };
    Some(Estimate { mean, variance, df: ASSUMED_DF })
}

/// Returns the positions of runs of the same repeat, if every run of a side has a partner and neither side ran entirely
/// before the other: only then does a drift affect both.
pub(super) fn pairs(a: &Side, b: &Side, seen_a: &Seen, seen_b: &Seen) -> Option<Vec<(usize, usize)>> {
    if seen_a.runs != seen_b.runs
        || seen_a.runs < PAIRS_LEAST
        || order(&a.runs, &b.runs) != Order::Interleaved
    {
        return None;
    }
    let repeat = |run: &Digest| run.cell.as_ref().map(|cell| cell.repeat);
    let repeats = |side: &Side, seen: &Seen| -> Option<Vec<u32>> {
        let all: Vec<u32> = seen.places.iter().map(|at| repeat(&side.runs[*at])).collect::<Option<_>>()?;
        let mut sorted = all.clone();
        sorted.sort_unstable();
        sorted.dedup();
        (sorted.len() == all.len()).then_some(all)
    };
    let (of_a, of_b) = (repeats(a, seen_a)?, repeats(b, seen_b)?);
    of_a.iter().enumerate().map(|(i, n)| Some((i, of_b.iter().position(|m| m == n)?))).collect()
}

/// Whether a percentile has enough samples on both sides.
pub fn is_enough(kind: Figure, a: &Seen, b: &Seen) -> bool {
    let Figure::Percentile { q, service } = kind else { return true };
    let enough = |seen: &Seen| counts(&seen.table, service).merged.count() >= samples_needed(q);
    enough(a) && enough(b)
}

/// Returns the merged figure as it is printed.
pub fn describe(kind: Figure, side: &Side, seen: &Seen) -> Option<f64> {
    let runs = &side.runs;
    let share = |value: fn(&Digest) -> (f64, f64)| {
        let (sum, weight) = runs.iter().map(value).fold((0.0, 0.0), |(s, w), (x, y)| (s + x * y, w + y));
        (weight > 0.0).then(|| sum / weight)
    };
    match kind {
        // For one run, these are the run's own figures, digit for digit.
        Figure::Throughput => share(|run| (run.rate_per_s, run.measured_s)),
        Figure::ErrorRate => share(|run| (run.error_ratio, run.requests as f64)),
        Figure::Mean => {
            // As in every report: requests in flight at the end have no time yet.
            let known = runs.iter().filter_map(|run| {
                let times = &run.response_time;
                Some((times.mean_ns?, times.count.max(1) as f64))
            });
            let (sum, weight) = known.fold((0.0, 0.0), |(s, w), (mean, n)| (s + mean * n, w + n));
            if weight > 0.0 { Some(sum / weight) } else { seen.table.response.merged.mean() }
        }
        Figure::Percentile { q, service } => {
            let own = |run: &Digest| {
                let times = if service { &run.service_time } else { &run.response_time };
                times.percentiles.iter().find(|p| (p.q - q).abs() < 1e-9).map(|p| p.value_ns as f64)
            };
            let merged = || counts(&seen.table, service).merged.quantile(q).map(|v| v as f64);
            if let [one] = runs.as_slice() { own(one).or_else(merged) } else { merged() }
        }
        Figure::Capacity => None,
    }
}

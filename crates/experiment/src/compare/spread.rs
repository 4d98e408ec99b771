//! How far a difference may be off: between runs by the jackknife, within runs by the block bootstrap.

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

/// Resamples for a variance: its own relative error is then 1 / sqrt(2 * 200) = 5%, of the deviation half of that.
const RESAMPLES: usize = 200;
/// Degrees of freedom that the assumed deviation of single runs is worth: as if five runs had shown it.
const ASSUMED_DF: f64 = 4.0;
/// Fewer pairs have too few degrees of freedom: at p = 0.025, what a median needs after adjustment, t(4) is 3.5 where
/// two sides of five runs have t(8) = 2.75. From eight on the two are within 14%.
const PAIRS_LEAST: usize = 8;

/// What is compared, in the order of the report.
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

/// A side seen through all the resamples that are needed of it.
pub struct Seen {
    pub table: Table,
    /// Runs that hold anything.
    pub runs: usize,
    /// Places of these runs among those of the side.
    places: Vec<usize>,
    /// A value for each figure, logarithms but for the errors; `None`: cannot be formed.
    point: Vec<Option<f64>>,
    /// The same with each run left out.
    without: Vec<Vec<Option<f64>>>,
    /// Variance of each figure within the runs, of all of them together.
    within: Vec<f64>,
    /// Degrees of freedom of these: stretches that are as good as independent, less one for each run.
    within_df: f64,
    /// Open model: the rate is set, not found.
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

    /// The jackknife's variance of figure `at`: (n-1)/n times the squares of the values without each run around
    /// their mean. None for a single run.
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

/// The figures of a resample.
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
            // A time below a nanosecond cannot be measured; the logarithm of 0 could not be used.
            value.filter(|v| *v > 0.0 || *kind != Figure::Throughput).map(|v| v.max(1e-3).ln())
        })
        .collect()
}

fn counts(table: &Table, service: bool) -> &Counts {
    if service { &table.service } else { &table.response }
}

/// Variances within runs: of the bootstrap, or of independent samples where that says more.
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

/// How many neighbouring blocks to keep together: the longer of what the requests and what the times ask for.
fn stretch(blocks: &[plimsoll_analysis::digest::Block]) -> usize {
    let requests: Vec<f64> = blocks.iter().map(|block| block.requests as f64).collect();
    let means: Vec<f64> = blocks.iter().map(|block| block.response.mean().unwrap_or(0.0)).collect();
    block_length(&requests).max(block_length(&means))
}

/// The variance that independent samples would have: the least that there can be.
fn independent(table: &Table, kind: Figure) -> f64 {
    match kind {
        Figure::ErrorRate => {
            // Agresti & Coull: two failures and two successes more, so that no errors at all are no certainty.
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
        // A paced rate hardly varies, and requests of one connection exclude each other: there is no such floor.
        Figure::Throughput | Figure::Capacity => 0.0,
    }
}

/// b - a with its spread.
#[derive(Debug, Clone, Copy)]
pub struct Effect {
    pub estimate: Estimate,
    pub basis: Basis,
}

/// Pairs where the runs were made as pairs, Welch elsewhere: the plan of the runs decides. Whoever forms both intervals
/// and keeps the narrower one has two chances to be wrong.
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
        // The floor covers each side on its own, and the pairs remain the degrees of freedom even where it decides:
        // of 200 equal services in ten runs of 10 s they told 8 apart, the degrees of the stretches 13.
        let variance = jackknife(&without)?.max(a.within[at] + b.within[at]);
        let estimate = Estimate { mean, variance, df: without.len() as f64 - 1.0 };
        return Some(Effect { estimate, basis: Basis::Pairs });
    }
    let apart = side(at, kind, b, a)?.minus(side(at, kind, a, b)?);
    let basis = if a.runs.min(b.runs) < 2 { Basis::Assumed } else { Basis::Runs };
    Some(Effect { estimate: Estimate { mean, ..apart }, basis })
}

/// The larger of what runs differ by and what their seconds explain, with its degrees of freedom. Where the seconds
/// explain it all, the few runs are no reason for a wide distribution: its tails stand for deviations that come out
/// too small by chance, and the floor does not let them.
fn floored(between: f64, runs: usize, within: f64, within_df: f64) -> (f64, f64) {
    let df = runs as f64 - 1.0;
    if between > within { (between, df) } else { (within, within_df.max(df)) }
}

/// One side's figure with its variance.
fn side(at: usize, kind: Figure, of: &Seen, other: &Seen) -> Option<Estimate> {
    let mean = of.point[at]?;
    let within = of.within[at];
    if let Some(between) = of.between(at) {
        let (variance, df) = floored(between, of.runs, within, of.within_df);
        return Some(Estimate { mean, variance, df });
    }
    if other.runs > 2 {
        // What the other side's runs differ by is the best that is known of this one's.
        let of_one = other.between(at)? * other.runs as f64;
        return Some(Estimate { mean, variance: of_one.max(within), df: other.runs as f64 - 1.0 });
    }
    let variance = match kind {
        // The number of errors is no matter of per cent: the deviation within the run counts twice.
        Figure::ErrorRate => 4.0 * within,
        Figure::Throughput if of.is_paced => within,
        Figure::Capacity | Figure::Throughput | Figure::Mean | Figure::Percentile { .. } => {
            ASSUMED_BETWEEN * ASSUMED_BETWEEN + within
        }
    };
    Some(Estimate { mean, variance, df: ASSUMED_DF })
}

/// Places of runs of the same repeat, when every run of a side has its partner and neither side ran as a whole before
/// the other: only then does a drift hit both.
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

/// Whether a percentile has samples enough on both sides to be worth a word.
pub fn is_enough(kind: Figure, a: &Seen, b: &Seen) -> bool {
    let Figure::Percentile { q, service } = kind else { return true };
    let enough = |seen: &Seen| counts(&seen.table, service).merged.count() >= samples_needed(q);
    enough(a) && enough(b)
}

/// The merged figure as it is printed.
pub fn describe(kind: Figure, side: &Side, seen: &Seen) -> Option<f64> {
    let runs = &side.runs;
    let share = |value: fn(&Digest) -> (f64, f64)| {
        let (sum, weight) = runs.iter().map(value).fold((0.0, 0.0), |(s, w), (x, y)| (s + x * y, w + y));
        (weight > 0.0).then(|| sum / weight)
    };
    match kind {
        // Of one run these are the run's own figures to the digit.
        Figure::Throughput => share(|run| (run.rate_per_s, run.measured_s)),
        Figure::ErrorRate => share(|run| (run.error_ratio, run.requests as f64)),
        Figure::Mean => {
            // As every report has it; what was in flight at the stop has no time yet.
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

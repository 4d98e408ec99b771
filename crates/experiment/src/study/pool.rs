//! The runs of a cell as one distribution, with intervals that account for the correlation of neighboring seconds and
//! the variation between runs.

use super::{Basis, Estimate};
use plimsoll_analysis::digest::{Block, Digest, coarser};
use plimsoll_stats::maths::student::quantile;
use plimsoll_stats::random::SplitMix64;
use plimsoll_stats::{Hist, enough_samples};
use std::collections::BTreeMap;

/// Stretches of a run for resampling.
const STRETCHES: usize = 30;
const RESAMPLES: usize = 200;
/// From this number of repeats up, their differences determine the interval ...
const REPEATS: usize = 3;
/// ... and from this number if there is no other source.
const FEWEST: usize = 2;

pub(super) const QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// Rate, error ratio, mean, then [`QUANTILES`].
pub(super) type Figures = [Option<f64>; 7];

pub(super) struct Pooled {
    pub response: Hist,
    pub figures: [Estimate; 7],
    pub basis: Basis,
}

pub(super) fn pooled(runs: &[&Digest], seed: u64) -> Pooled {
    let mut response = Hist::on_demand();
    runs.iter().flat_map(|run| &run.blocks).for_each(|block| response.merge(&block.response));
    let each: Vec<Figures> = runs.iter().map(|run| of_run(run)).collect();
    // A single run repeats the values of its summary exactly.
    let values = if let [one] = each[..] { one } else { of_all(runs, &response, &each) };
    let at_least = at_least(runs);
    let within = if runs.len() < REPEATS { resampled(runs, seed) } else { None };
    let (basis, bounds) = match within {
        Some(mut bounds) => {
            // Two runs say little about their variation, but the interval must include both.
            for (bound, at) in bounds.iter_mut().zip(0..) {
                for value in each.iter().filter_map(|figures| figures[at]) {
                    *bound = [bound[0].min(value), bound[1].max(value)];
                }
            }
            (Basis::Blocks, Some(bounds))
        }
        // Two runs that are too short for anything else have an interval of 12.7 standard errors in each direction.
        None if runs.len() >= FEWEST => {
            let few = Some(runs).filter(|runs| runs.len() < REPEATS);
            (Basis::Runs, between_runs(&each, &values, few))
        }
        None => (Basis::None, None),
    };
    let times = runs.iter().map(|run| run.response_time.count.saturating_add(run.response_time.censored));
    let samples = times.fold(0, u64::saturating_add);
    let figures = std::array::from_fn(|at| {
        let bound = bounds.as_ref().map(|b| b[at]).filter(|b| b.iter().all(|v| v.is_finite()));
        let value = values[at];
        Estimate {
            value,
            low: bound.zip(value).map(|(b, v)| b[0].min(v)),
            high: bound.zip(value).filter(|_| !at_least[at]).map(|(b, v)| b[1].max(v)),
            is_lower_bound: at_least[at],
            has_too_few_samples: at >= 3 && !enough_samples(samples, QUANTILES[at - 3]),
        }
    });
    Pooled { response, figures, basis }
}

fn of_run(run: &Digest) -> Figures {
    let times = &run.response_time;
    let ns = |v: Option<u64>| v.map(|v| v as f64);
    [
        finite(run.rate_per_s),
        finite(run.error_ratio),
        times.mean_ns,
        ns(times.p50_ns),
        ns(times.p90_ns),
        ns(times.p95_ns),
        ns(times.p99_ns),
    ]
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

fn at_least(runs: &[&Digest]) -> [bool; 7] {
    let mut out = [false; 7];
    for run in runs {
        out[2] |= run.response_time.mean_is_lower_bound;
        for (at, q) in QUANTILES.iter().enumerate() {
            out[3 + at] |= run.response_time.percentiles.iter().any(|p| p.q == *q && p.is_lower_bound);
        }
    }
    out
}

/// Returns the figures of all runs. Percentiles come from the merged distribution, never from percentiles; without
/// blocks, there are none.
fn of_all(runs: &[&Digest], response: &Hist, each: &[Figures]) -> Figures {
    let seconds: f64 = runs.iter().map(|run| run.measured_s).sum();
    let requests: f64 = runs.iter().map(|run| run.requests as f64).sum();
    let errors: f64 = runs.iter().map(|run| run.errors as f64).sum();
    // Weighted by length: runs of several load generators have a rate that is not requests / time.
    let rate: f64 = runs.iter().map(|run| run.rate_per_s * run.measured_s).sum::<f64>() / seconds;
    let weighed = || {
        let known = runs.iter().zip(each).filter_map(|(run, f)| Some((run.requests as f64, f[2]?)));
        let (weight, sum) = known.fold((0.0, 0.0), |(w, s), (n, mean)| (w + n, s + n * mean));
        finite(sum / weight)
    };
    let mut out: Figures = [
        finite(rate),
        finite(errors / requests),
        weighed().or_else(|| response.mean()),
        None,
        None,
        None,
        None,
    ];
    for (at, q) in QUANTILES.iter().enumerate() {
        out[3 + at] = response.quantile(*q).map(|v| v as f64);
    }
    out
}

/// Width of a quantile's bucket, as a share of its value.
const BUCKET: f64 = 0.008;

/// Returns the resolution of each figure: one request more or less, one bucket. Without it, two runs that agree
/// exactly would claim to be exact.
fn grains(runs: &[&Digest], values: &Figures) -> [f64; 7] {
    let fewest = runs.iter().map(|run| run.requests).min().unwrap_or(0).max(1) as f64;
    let of = |at: usize, share: f64| values[at].unwrap_or(0.0) * share;
    [of(0, 1.0 / fewest), 1.0 / fewest, 0.0, of(3, BUCKET), of(4, BUCKET), of(5, BUCKET), of(6, BUCKET)]
}

/// Returns Student's t intervals of the runs' own figures around the pooled value. `few`: the runs, if there are so
/// few that rounding matters; a figure in steps of d varies by d / sqrt(12) through rounding alone (Sheppard 1898).
fn between_runs(each: &[Figures], values: &Figures, few: Option<&[&Digest]>) -> Option<[[f64; 2]; 7]> {
    let grains = few.map_or([0.0; 7], |runs| grains(runs, values));
    Some(std::array::from_fn(|at| {
        let own: Vec<f64> = each.iter().filter_map(|figures| figures[at]).collect();
        let (n, Some(value)) = (own.len() as f64, values[at]) else { return [f64::NAN; 2] };
        if own.len() < 2 {
            return [f64::NAN; 2];
        }
        let mean = own.iter().sum::<f64>() / n;
        let scatter = own.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let deviation = (scatter + grains[at] * grains[at] / 12.0).sqrt();
        let half = quantile(0.975, n - 1.0) * deviation / n.sqrt();
        // A share of errors is at most 1; other figures have no maximum.
        let most = if at == 1 { 1.0 } else { f64::INFINITY };
        [(value - half).max(0.0), (value + half).min(most)]
    }))
}

/// A stretch of a run: the sums for its figures, and its histogram without empty buckets.
struct Stretch {
    length_s: f64,
    requests: f64,
    errors: f64,
    sum_ns: f64,
    count: f64,
    cells: Vec<(usize, f64)>,
}

/// Resamples by a circular block bootstrap (Politis & Romano 1992) within each run, with blocks of the cube root of
/// the number of stretches (Hall, Horowitz & Jing 1995, up to a constant), and returns the 2.5% and 97.5% quantiles.
fn resampled(runs: &[&Digest], seed: u64) -> Option<[[f64; 2]; 7]> {
    let cut: Vec<Vec<Block>> = runs.iter().map(|run| coarser(&run.blocks, STRETCHES)).collect();
    if cut.iter().any(|blocks| blocks.len() < 4) || cut.is_empty() {
        return None;
    }
    let mut places: BTreeMap<u64, f64> = BTreeMap::new();
    for (low, high, _) in cut.iter().flatten().flat_map(|block| block.response.buckets()) {
        places.insert(low, low as f64 + (high - low) as f64 / 2.0);
    }
    let lows: Vec<u64> = places.keys().copied().collect();
    let middles: Vec<f64> = places.values().copied().collect();
    let stretch = |block: &Block| Stretch {
        length_s: block.length_ns as f64 / 1e9,
        requests: block.requests as f64,
        errors: block.errors as f64,
        sum_ns: block.response.sum() as f64,
        count: block.response.count() as f64,
        cells: block
            .response
            .buckets()
            .filter_map(|(low, _, n)| Some((lows.binary_search(&low).ok()?, n as f64)))
            .collect(),
    };
    let cut: Vec<Vec<Stretch>> = cut.iter().map(|blocks| blocks.iter().map(stretch).collect()).collect();
    let mut random = SplitMix64::new(seed);
    let mut drawn: [Vec<f64>; 7] = std::array::from_fn(|_| Vec::with_capacity(RESAMPLES));
    let mut cells = vec![0.0; middles.len()];
    for _ in 0..RESAMPLES {
        cells.fill(0.0);
        let (mut length_s, mut requests, mut errors, mut sum_ns, mut count) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for run in &cut {
            let width = (run.len() as f64).cbrt().round().max(1.0) as usize;
            let mut left = run.len();
            while left > 0 {
                let from = (random.next_u64() % run.len() as u64) as usize;
                for step in 0..width.min(left) {
                    let stretch = &run[(from + step) % run.len()];
                    length_s += stretch.length_s;
                    requests += stretch.requests;
                    errors += stretch.errors;
                    sum_ns += stretch.sum_ns;
                    count += stretch.count;
                    stretch.cells.iter().for_each(|(at, n)| cells[*at] += n);
                }
                left -= width.min(left);
            }
        }
        let mut push = |at: usize, value: f64| {
            if value.is_finite() {
                drawn[at].push(value);
            }
        };
        push(0, requests / length_s);
        push(1, errors / requests);
        push(2, sum_ns / count);
        let (mut seen, mut wanted) = (0.0, 0);
        for (at, n) in cells.iter().enumerate() {
            seen += n;
            while wanted < QUANTILES.len() && count > 0.0 && seen >= QUANTILES[wanted] * count {
                push(3 + wanted, middles[at]);
                wanted += 1;
            }
        }
    }
    Some(drawn.map(|mut values| {
        if values.len() < RESAMPLES / 2 {
            return [f64::NAN; 2];
        }
        values.sort_by(f64::total_cmp);
        let at = |q: f64| values[((values.len() - 1) as f64 * q).round() as usize];
        [at(0.025), at(0.975)]
    }))
}

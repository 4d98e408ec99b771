//! Block bootstrap: estimates how much a result would differ in another run of the same length.
//!
//! The seconds of a run are not independent, because a queue carries over from one to the next. Drawing single seconds
//! with replacement would ignore that and give intervals that are too narrow; blocks of adjacent seconds preserve it.

use crate::random::SplitMix64;

/// Returns the block length for a circular bootstrap of the mean of `series`, at least 1 and at most a third of the
/// series: Politis & White, Econometric Reviews 23, 2004, with the correction of Patton, Politis & White, 28, 2009.
///
/// Returns 1 for series that are too short or constant.
pub fn block_length(series: &[f64]) -> usize {
    let n = series.len();
    if n < 4 || series.iter().any(|x| !x.is_finite()) {
        return 1;
    }
    let most = (n / 3).max(1);
    let mean = series.iter().sum::<f64>() / n as f64;
    let covariance = |lag: usize| {
        let products = series.iter().zip(&series[lag.min(n)..]).map(|(x, y)| (x - mean) * (y - mean));
        products.sum::<f64>() / n as f64
    };
    let variance = covariance(0);
    // Constant up to rounding: its correlations would be those of the rounding.
    if variance <= (mean.abs() * 1e-9).powi(2) {
        return 1;
    }
    // Decimal logarithm, as in Politis & White, section 3.2 (their c = 2, K_n = max(5, sqrt(log10 n))).
    let log10_n = (n as f64).log10();
    let in_a_row = (log10_n.sqrt().floor() as usize).max(5);
    let furthest = ((n as f64).sqrt().ceil() as usize + in_a_row).min(n - 1);
    let limit = 2.0 * (log10_n / n as f64).sqrt();
    let small: Vec<bool> = (1..=furthest).map(|lag| (covariance(lag) / variance).abs() < limit).collect();
    // The first lag after which this many consecutive ones are not significant; otherwise, the last significant one.
    let quiet = small.windows(in_a_row.min(small.len())).position(|row| row.iter().all(|s| *s));
    let last = quiet.unwrap_or_else(|| small.iter().rposition(|s| !s).map_or(0, |at| at + 1));
    let reach = (2 * last.max(1)).min(furthest);
    let (mut slope, mut level) = (0.0, variance);
    for lag in 1..=reach {
        // The flat-top window of Politis & Romano: 1 up to the middle, then a straight line to 0.
        let at = lag as f64 / reach as f64;
        let weight = if at <= 0.5 { 1.0 } else { 2.0 * (1.0 - at) };
        let covariance = weight * covariance(lag);
        slope += 2.0 * lag as f64 * covariance;
        level += 2.0 * covariance;
    }
    let length = (2.0 * slope * slope / (4.0 / 3.0 * level * level)).cbrt() * (n as f64).cbrt();
    if length.is_finite() { (length.ceil() as usize).clamp(1, most) } else { 1 }
}

/// Counts how often each of `weights.len()` values occurs in a resample: blocks of `length` adjacent values from random
/// positions, wrapping from the last to the first, with the same total number of values.
///
/// Circular (Politis & Romano 1992) rather than moving blocks: each value is equally likely to be drawn.
pub fn resample(weights: &mut [u32], length: usize, random: &mut SplitMix64) {
    let n = weights.len();
    weights.fill(0);
    if n == 0 {
        return;
    }
    let length = length.clamp(1, n);
    let mut left = n;
    while left > 0 {
        let from = below(n, random);
        let take = length.min(left);
        (from..from + take).for_each(|at| weights[at % n] += 1);
        left -= take;
    }
}

/// Returns the variance of the bootstrap replicates (divisor n - 1); 0 for fewer than two numbers. Infinities are left
/// out.
pub fn variance(replicates: &[f64]) -> f64 {
    let finite = || replicates.iter().copied().filter(|x| x.is_finite());
    let n = finite().count() as f64;
    if n < 2.0 {
        return 0.0;
    }
    let mean = finite().sum::<f64>() / n;
    finite().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0)
}

/// Returns the interval with the middle `confidence` of the replicates (Efron's percentile interval); `None` without
/// replicates. Reorders them.
pub fn percentile_interval(replicates: &mut [f64], confidence: f64) -> Option<(f64, f64)> {
    if replicates.is_empty() || !(0.0..=1.0).contains(&confidence) || replicates.iter().any(|x| x.is_nan()) {
        return None;
    }
    replicates.sort_by(f64::total_cmp);
    let last = replicates.len() - 1;
    let tail = (1.0 - confidence) / 2.0;
    let low = ((tail * last as f64).floor() as usize).min(last);
    Some((replicates[low], replicates[last - low]))
}

/// Returns a whole number below `n`, by multiplication: the bias is n / 2^64.
fn below(n: usize, random: &mut SplitMix64) -> usize {
    ((u128::from(random.next_u64()) * n as u128) >> 64) as usize
}

//! Finds where a series changes its level, whether it has a trend, and which of its values are spikes. The three look
//! alike in a plot but have different causes (another state, a leak, a pause).

use super::autocorrelation;
use super::quantile::median;
use super::ranks::ranks;
use super::student::normal_cdf;

/// A level lasts at least this many values; anything shorter is a spike.
pub const SHORTEST: usize = 5;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Index of the first value on the new level.
    pub at: usize,
    /// Mean of the segment before the change and of the one after it, without spikes.
    pub before: f64,
    pub after: f64,
}

/// Returns the best cuts of `values` into segments of constant mean, which minimize the sum of squared deviations plus
/// `penalty` per cut (PELT: Killick, Fearnhead & Eckley 2012, Optimal Detection of Changepoints With a Linear
/// Computational Cost). Each segment has at least `shortest` values. Returns indices of first values, ascending; none
/// if a value is not finite.
pub fn pelt(values: &[f64], penalty: f64, shortest: usize) -> Vec<usize> {
    let (n, shortest) = (values.len(), shortest.max(1));
    if n < 2 * shortest || values.iter().any(|v| !v.is_finite()) || penalty.is_nan() {
        return Vec::new();
    }
    // Deviations from the overall mean keep the difference of squares accurate.
    let mean = values.iter().sum::<f64>() / n as f64;
    let mut sums = vec![(0.0, 0.0); n + 1];
    for (at, v) in values.iter().enumerate() {
        let d = v - mean;
        sums[at + 1] = (sums[at].0 + d, sums[at].1 + d * d);
    }
    let cost = |from: usize, to: usize| {
        let sum = sums[to].0 - sums[from].0;
        (sums[to].1 - sums[from].1 - sum * sum / (to - from) as f64).max(0.0)
    };
    let mut best = vec![f64::INFINITY; n + 1];
    let mut last = vec![0usize; n + 1];
    best[0] = -penalty;
    // Each candidate with the end at and after which it cannot win.
    let mut candidates: Vec<(usize, usize)> = vec![(0, usize::MAX)];
    for to in shortest..=n {
        candidates.retain(|(_, until)| to < *until);
        for &(from, _) in candidates.iter().filter(|(from, _)| to - *from >= shortest) {
            let total = best[from] + cost(from, to) + penalty;
            if total < best[to] {
                (best[to], last[to]) = (total, from);
            }
        }
        // A candidate that loses to a cut at `to` loses to it permanently, which makes the search fast. But this is
        // true only for ends that leave the segment after that cut its minimum length; for nearer ends, the cut does
        // not exist.
        for (from, until) in candidates.iter_mut().filter(|(from, _)| to - *from >= shortest) {
            if best[*from] + cost(*from, to) > best[to] {
                *until = (*until).min(to + shortest);
            }
        }
        // No segment can end before `shortest`, so only the first can begin there.
        let next = to + 1 - shortest;
        if next >= shortest {
            candidates.push((next, usize::MAX));
        }
    }
    let (mut cuts, mut at) = (Vec::new(), n);
    while last[at] > 0 {
        at = last[at];
        cuts.push(at);
    }
    cuts.reverse();
    cuts
}

/// Returns changes of level, with a penalty for series of seconds: 3 ln n per cut, in units of a variance estimated
/// from differences of adjacent values (a level shift does not inflate it), times (1 + r) / (1 - r) for the first
/// autocorrelation r of the residuals (adjacent seconds are similar, and a wave is not a change). Spikes are flattened
/// first.
///
/// Without any change, the time grows with the square of the length: average more than a few thousand values first.
pub fn changes(values: &[f64]) -> Vec<Change> {
    let n = values.len();
    if n < 4 * SHORTEST || values.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    let flat = without_spikes(values);
    let mut steps: Vec<f64> = flat.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    let mut sorted = steps.clone();
    // The median absolute value of a standard normal variable is 0.6745; a difference has sqrt(2) times the deviation.
    let mut deviation = median(&mut sorted).unwrap_or(0.0) / 0.6745 / std::f64::consts::SQRT_2;
    if deviation <= 0.0 {
        // Rounded values repeat: their median step is 0. The mean step is not, unless the series is constant.
        steps.retain(|s| *s > 0.0);
        let kept = steps.len().max(1) as f64;
        deviation = steps.iter().sum::<f64>() / kept * (kept / n as f64).sqrt() / 2.0;
    }
    if deviation.is_nan() || deviation <= 0.0 {
        return Vec::new();
    }
    let unit = 3.0 * (n as f64).ln() * deviation * deviation;
    let mut factor = 1.0;
    let mut cuts = pelt(&flat, unit, SHORTEST);
    // Too many cuts also remove the autocorrelation, so the residuals are computed again after each increase of the
    // penalty. Three rounds at most: the factor only grows, and the third seldom changes it.
    for _ in 0..3 {
        let residuals = residuals(&flat, &cuts);
        let spread = residuals.iter().map(|r| r * r).sum::<f64>() / n as f64;
        let r = autocorrelation(&residuals, 1).clamp(0.0, 0.9);
        let wanted = ((1.0 + r) / (1.0 - r) * (spread / (deviation * deviation)).max(1.0)).max(factor);
        if wanted <= factor * 1.05 {
            break;
        }
        factor = wanted;
        cuts = pelt(&flat, unit * factor, SHORTEST);
    }
    let bounds: Vec<usize> = [0].into_iter().chain(cuts).chain([n]).collect();
    let mean = |from: usize, to: usize| flat[from..to].iter().sum::<f64>() / (to - from) as f64;
    bounds
        .windows(3)
        .map(|w| Change { at: w[1], before: mean(w[0], w[1]), after: mean(w[1], w[2]) })
        .collect()
}

fn residuals(values: &[f64], cuts: &[usize]) -> Vec<f64> {
    let bounds: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([values.len()]).collect();
    let mut out = Vec::with_capacity(values.len());
    for w in bounds.windows(2) {
        let part = &values[w[0]..w[1]];
        let mean = part.iter().sum::<f64>() / part.len().max(1) as f64;
        out.extend(part.iter().map(|v| v - mean));
    }
    out
}

/// Returns values that are above their surroundings, alone or in runs shorter than a level: above the running median of
/// eleven by five robust deviations of the whole series and by half of that median (Hampel's identifier, one-sided).
pub fn spikes(values: &[f64]) -> Vec<usize> {
    if values.len() < 2 * SHORTEST || values.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    let running = running_median(values);
    let mut away: Vec<f64> = values.iter().zip(&running).map(|(v, m)| (v - m).abs()).collect();
    let deviation = median(&mut away).unwrap_or(0.0) / 0.6745;
    let stands_out = |at: &usize| {
        let (value, middle) = (values[*at], running[*at]);
        value - middle > 5.0 * deviation && value > middle * 1.5
    };
    (0..values.len()).filter(stands_out).collect()
}

/// Returns the values with their spikes replaced by the running median.
fn without_spikes(values: &[f64]) -> Vec<f64> {
    let running = running_median(values);
    let mut flat = values.to_vec();
    spikes(values).into_iter().for_each(|at| flat[at] = running[at]);
    flat
}

fn running_median(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    (0..n)
        .map(|at| {
            let mut window = values[at.saturating_sub(SHORTEST)..(at + SHORTEST + 1).min(n)].to_vec();
            median(&mut window).unwrap_or(values[at])
        })
        .collect()
}

/// A slope that is robust to a few outliers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Theil–Sen estimator: the median slope between all pairs, per value.
    pub slope: f64,
    /// Its 95% interval (Sen 1968), widened for autocorrelation.
    pub low: f64,
    pub high: f64,
    /// Two-sided, of the Mann–Kendall test with the variance of Hamed & Rao (1998).
    pub p_value: f64,
}

/// More values than this are averaged in groups first: the number of pairs grows with the square.
const PAIRED: usize = 300;

/// Returns the trend of a series; `None` for fewer than ten values or if a value is not finite.
pub fn trend(values: &[f64]) -> Option<Trend> {
    if values.len() < 10 || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let width = values.len().div_ceil(PAIRED);
    let grouped: Vec<f64> =
        values.chunks_exact(width).map(|c| c.iter().sum::<f64>() / width as f64).collect();
    let n = grouped.len();
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    let mut score = 0i64;
    for i in 0..n {
        for j in i + 1..n {
            let rise = grouped[j] - grouped[i];
            score += i64::from(rise > 0.0) - i64::from(rise < 0.0);
            slopes.push(rise / (j - i) as f64);
        }
    }
    slopes.sort_by(f64::total_cmp);
    let slope = median(&mut slopes.clone())?;
    let deviation = (plain_variance(&grouped) * likeness(&grouped, slope)).sqrt();
    let z = if deviation > 0.0 { (score as f64 - score.signum() as f64) / deviation } else { 0.0 };
    let (pairs, half) = (slopes.len() as f64, 1.959_964 * deviation);
    let at = |rank: f64| slopes[(rank.clamp(0.0, pairs - 1.0)) as usize];
    let per_value = |slope: f64| slope / width as f64;
    Some(Trend {
        slope: per_value(slope),
        low: per_value(at(((pairs - half) / 2.0).floor() - 1.0)),
        high: per_value(at(((pairs + half) / 2.0).ceil())),
        p_value: 2.0 * normal_cdf(-z.abs()),
    })
}

/// Returns the variance of Kendall's score, reduced for ties (Kendall 1975).
fn plain_variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted
        .chunk_by(|a, b| a == b)
        .map(|same| same.len() as f64)
        .map(|t| t * (t - 1.0) * (2.0 * t + 5.0))
        .sum();
    (n * (n - 1.0) * (2.0 * n + 5.0) - ties) / 18.0
}

/// Returns n / n*: the factor by which autocorrelation increases the variance of the score. It uses the significant
/// autocorrelations of the ranks of the detrended series (Hamed & Rao 1998, equations 9 to 11). Never below 1:
/// alternating noise is not evidence for a slope.
fn likeness(values: &[f64], slope: f64) -> f64 {
    let n = values.len();
    let level: Vec<f64> = values.iter().enumerate().map(|(at, v)| v - slope * at as f64).collect();
    let ranks = ranks(&level);
    let mean = ranks.iter().sum::<f64>() / n as f64;
    let centred: Vec<f64> = ranks.iter().map(|r| r - mean).collect();
    let significant = 1.96 / (n as f64).sqrt();
    let m = n as f64;
    let sum: f64 = (1..n.saturating_sub(2))
        .map(|lag| (lag as f64, autocorrelation(&centred, lag)))
        .filter(|(_, r)| r.abs() > significant)
        .map(|(k, r)| (m - k) * (m - k - 1.0) * (m - k - 2.0) * r)
        .sum();
    (1.0 + 2.0 / (m * (m - 1.0) * (m - 2.0)) * sum).max(1.0)
}

//! What a sample says about a quantile, and what it does not: intervals, sample sizes, censored values.

use super::binomial;
pub use super::normal::inverse_normal;
use crate::Hist;
use crate::hist::{bucket_of, ceil_forgiving, nearest_rank};

/// A confidence interval for a quantile. None on a side: the sample is too small to bound it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// The quantile is hardly below this.
    pub low: Option<u64>,
    /// The quantile is hardly above this.
    pub high: Option<u64>,
}

/// The distribution-free interval for quantile `q` (0..=1) that holds it with at least `confidence` (such as
/// 0.95), half of the doubt on each side, as far as the values are independent.
///
/// The number of values below the true quantile is binomial(n, q), whatever the distribution; so two order
/// statistics enclose it (Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2; David & Nagaraja,
/// Order Statistics, 3rd ed., section 7.1). Both are rounded outwards to the ends of their buckets, so that the
/// promise survives the histogram's resolution. A `q` or `confidence` that makes no sense gives no bounds.
pub fn quantile_interval(hist: &Hist, q: f64, confidence: f64) -> Bounds {
    let Some((low, high)) = quantile_ranks(hist.count(), q, confidence) else {
        return Bounds::default();
    };
    Bounds {
        low: hist.bounds_at_rank(low).map(|(low, _)| low),
        high: hist.bounds_at_rank(high).map(|(_, high)| high),
    }
}

/// The ranks, from 1, of the order statistics that [`quantile_interval`] takes out of `n` values; 0 and `n` + 1 stand
/// for "no bound". `None` where there is no interval at all.
pub fn quantile_ranks(n: u64, q: f64, confidence: f64) -> Option<(u64, u64)> {
    // Written so that a NaN fails it too.
    if n == 0 || !(0.0..=1.0).contains(&q) || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    Some(binomial::enclosing_ranks(n, q, (1.0 - confidence) / 2.0))
}

/// The fewest samples for which quantile `q` is worth printing: 10 / (1 - q), rounded up, so that about ten values
/// lie beyond it. `u64::MAX` for q >= 1 or no number: no sample is ever enough.
pub fn samples_needed(q: f64) -> u64 {
    if q.is_nan() || q >= 1.0 {
        return u64::MAX;
    }
    let beyond = 1.0 - q.max(0.0);
    // 1 - 0.9 is a shade below 0.1 in binary, and 10 through that would round up to 101; the subtraction
    // leaves an error of about one epsilon in `beyond`.
    ceil_forgiving(10.0 / beyond, 2.0 * f64::EPSILON / beyond) as u64
}

/// Whether `samples` are enough to print quantile `q`: the one rule of every output.
pub fn enough_samples(samples: u64, q: f64) -> bool {
    samples >= samples_needed(q)
}

/// A percentile where some samples are only known to be no smaller than their value (timeouts).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Censored {
    /// The quantile with every censored sample at its bound: the least it can be.
    pub value: u64,
    /// Print ">=": with the censored samples at infinity the answer would be more than one bucket away.
    pub at_least: bool,
}

/// Quantile `q` over `exact` values and over `bounds`, the values that the censored samples at least have.
/// None when there is no sample at all, or `q` is no number.
pub fn censored_quantile(exact: &Hist, bounds: &Hist, q: f64) -> Option<Censored> {
    if bounds.is_empty() {
        return exact.quantile(q).map(|value| Censored { value, at_least: false });
    }
    let mut all = exact.clone();
    all.merge(bounds);
    let rank = nearest_rank(q, all.count())?;
    let value = all.value_at_rank(rank)?;
    // Infinite samples stand last in line, so the same rank among the exact ones is the upper answer; past
    // their end it is infinity.
    let at_least = match exact.value_at_rank(rank) {
        Some(upper) => bucket_of(upper) > bucket_of(value) + 1,
        None => true,
    };
    Some(Censored { value, at_least })
}

/// The median; the mean of the two in the middle for an even number. None when there are no values or one is no
/// number. Reorders `values`.
pub fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| v.is_nan()) {
        return None;
    }
    let is_even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(values.len() / 2, f64::total_cmp);
    if !is_even {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(lower, upper))
}

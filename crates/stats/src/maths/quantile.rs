//! Inference about quantiles of a sample: intervals, sample sizes, censored values.

use super::cluster::clustered_interval;
pub use super::normal::inverse_normal;
use crate::Hist;
use crate::hist::{bucket_of, ceil_forgiving, nearest_rank};

/// A confidence interval for a quantile. `None` on a side: the sample is too small to bound it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// The lower bound of the quantile.
    pub low: Option<u64>,
    /// The upper bound of the quantile.
    pub high: Option<u64>,
}

/// Returns the distribution-free interval for quantile `q` (0..=1) that contains it with at least `confidence` (such as
/// 0.95), with equal error probabilities on both sides, provided that the values are independent.
///
/// The number of values below the true quantile is binomial(n, q) for any distribution, so two order statistics enclose
/// it (Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2; David & Nagaraja, Order Statistics, 3rd ed.,
/// section 7.1). Both are rounded outwards to the ends of their buckets, so that the guarantee includes the histogram's
/// resolution. An invalid `q` or `confidence` gives no bounds.
pub fn quantile_interval(hist: &Hist, q: f64, confidence: f64) -> Bounds {
    clustered_interval(hist, q, confidence, 1.0)
}

/// Returns the fewest samples for which quantile `q` may be printed: 10 / (1 - q), rounded up, so that about ten values
/// lie beyond it. `u64::MAX` for q >= 1 or NaN: no sample is ever enough.
pub fn samples_needed(q: f64) -> u64 {
    if q.is_nan() || q >= 1.0 {
        return u64::MAX;
    }
    let beyond = 1.0 - q.max(0.0);
    // 1 - 0.9 is slightly below 0.1 in binary, and 10 divided by that would round up to 101; the subtraction leaves an
    // error of about one epsilon in `beyond`.
    ceil_forgiving(10.0 / beyond, 2.0 * f64::EPSILON / beyond) as u64
}

/// Returns whether `samples` are enough to print quantile `q`: the single rule of every output.
pub fn enough_samples(samples: u64, q: f64) -> bool {
    samples >= samples_needed(q)
}

/// A percentile if some samples are lower bounds (timeouts).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Censored {
    /// The quantile with every censored sample at its lower bound: the lowest possible value.
    pub value: u64,
    /// Print "≥": with the censored samples at infinity, the result would be more than one bucket away.
    pub at_least: bool,
}

/// Returns quantile `q` over `exact` values and over `bounds`, the lower bounds of the censored samples. Returns `None`
/// if there are no samples, or if `q` is NaN.
pub fn censored_quantile(exact: &Hist, bounds: &Hist, q: f64) -> Option<Censored> {
    if bounds.is_empty() {
        return exact.quantile(q).map(|value| Censored { value, at_least: false });
    }
    let mut all = exact.clone();
    all.merge(bounds);
    let rank = nearest_rank(q, all.count())?;
    let value = all.value_at_rank(rank)?;
    // Infinite samples are last in order, so the same rank among the exact ones gives the upper result; past their end,
    // it is infinity.
    let at_least = match exact.value_at_rank(rank) {
        Some(upper) => bucket_of(upper) > bucket_of(value) + 1,
        None => true,
    };
    Some(Censored { value, at_least })
}

/// Returns the median; for an even number of values, the mean of the two in the middle. Returns `None` if there are no
/// values or one is NaN. Reorders `values`.
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

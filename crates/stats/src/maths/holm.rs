//! Multiple comparisons: step-down adjustment of p-values.
//!
//! Nine metrics compared at 5% each raise a false alarm in up to every third comparison of a service with itself. After
//! the adjustment, the probability of any false alarm is 5%, however the metrics depend on each other.

/// Returns Holm's adjusted p-values in the order of `p` (Scandinavian Journal of Statistics 6, 1979): sorted in
/// ascending order, the k-th of m is multiplied by m - k + 1, and none may be below the previous one. NaN counts as 1.
pub fn adjust(p: &[f64]) -> Vec<f64> {
    adjust_weighted(p, &vec![1.0; p.len()])
}

/// Uses the weighted version from the same paper: a value with twice the weight needs half the evidence, and the
/// probability of any wrong rejection stays the same. p / w is sorted in ascending order and multiplied by the sum of
/// the remaining weights. A value whose weight is missing, not positive, or not finite is excluded from the family and
/// gets 1.
pub fn adjust_weighted(p: &[f64], weights: &[f64]) -> Vec<f64> {
    let weight = |at: usize| weights.get(at).copied().filter(|w| w.is_finite() && *w > 0.0);
    let value = |at: usize| if p[at].is_nan() { 1.0 } else { p[at].clamp(0.0, 1.0) };
    let mut order: Vec<(usize, f64)> = (0..p.len()).filter_map(|at| Some((at, weight(at)?))).collect();
    order.sort_by(|a, b| (value(a.0) / a.1).total_cmp(&(value(b.0) / b.1)));
    let mut left: f64 = order.iter().map(|(_, w)| w).sum();
    let mut adjusted = vec![1.0; p.len()];
    let mut before: f64 = 0.0;
    for (at, w) in order {
        // The remaining weight is the last value's own, up to rounding: never use less than that.
        before = before.max((value(at) / w * left.max(w)).min(1.0));
        adjusted[at] = before;
        left -= w;
    }
    adjusted
}

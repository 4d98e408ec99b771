//! Several comparisons at once: step-down adjustment of p-values.
//!
//! Nine figures compared at 5% each cry wolf in up to every third comparison of a service with itself. Adjusted, the
//! probability that any of them does is 5%, however they depend on each other.

/// Holm's adjusted p-values in the order of `p` (Scandinavian Journal of Statistics 6, 1979): sorted upwards, the k-th
/// of m is multiplied by m - k + 1, and none may be below the one before it. What is no number counts as 1.
pub fn adjust(p: &[f64]) -> Vec<f64> {
    adjust_weighted(p, &vec![1.0; p.len()])
}

/// The same with the weighted version of that paper: what has twice the weight needs half the evidence, and the
/// probability of any wrong rejection stays what it was. p / w is sorted upwards and multiplied by the weights that
/// are left. A weight that is missing, not positive or no number leaves its value out of the family: it gets 1.
pub fn adjust_weighted(p: &[f64], weights: &[f64]) -> Vec<f64> {
    let weight = |at: usize| weights.get(at).copied().filter(|w| w.is_finite() && *w > 0.0);
    let value = |at: usize| if p[at].is_nan() { 1.0 } else { p[at].clamp(0.0, 1.0) };
    let mut order: Vec<(usize, f64)> = (0..p.len()).filter_map(|at| Some((at, weight(at)?))).collect();
    order.sort_by(|a, b| (value(a.0) / a.1).total_cmp(&(value(b.0) / b.1)));
    let mut left: f64 = order.iter().map(|(_, w)| w).sum();
    let mut adjusted = vec![1.0; p.len()];
    let mut before: f64 = 0.0;
    for (at, w) in order {
        // The last one's weight is all that is left, up to rounding: never less than its own.
        before = before.max((value(at) / w * left.max(w)).min(1.0));
        adjusted[at] = before;
        left -= w;
    }
    adjusted
}

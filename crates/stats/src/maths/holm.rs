//! Several comparisons at once: step-down adjustment of p-values.
//!
//! Nine figures compared at 5 % each cry wolf in up to every third comparison of a service with itself. Adjusted, the
//! probability that any of them does is 5 %, however they depend on each other.

/// Holm's adjusted p-values in the order of `p` (Scandinavian Journal of Statistics 6, 1979): sorted upwards, the k-th
/// of m is multiplied by m - k + 1, and none may be below the one before it. What is no number counts as 1.
pub fn adjust(p: &[f64]) -> Vec<f64> {
    let clean: Vec<f64> = p.iter().map(|p| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) }).collect();
    let mut order: Vec<usize> = (0..clean.len()).collect();
    order.sort_by(|a, b| clean[*a].total_cmp(&clean[*b]));
    let mut adjusted = vec![1.0; clean.len()];
    let mut before: f64 = 0.0;
    for (at, &index) in order.iter().enumerate() {
        let left = (clean.len() - at) as f64;
        before = before.max((clean[index] * left).min(1.0));
        adjusted[index] = before;
    }
    adjusted
}

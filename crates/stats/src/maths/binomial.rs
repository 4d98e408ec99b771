//! Tails of the binomial distribution, as far as order statistics need them.

use super::inverse_normal;

/// Above this variance n*q*(1-q), the normal approximation is used. The skewness is then below 0.01, and the ranks are
/// accurate to about 1% of their spread; below it, sums of at most a few thousand terms are exact.
const EXACT_VARIANCE_MAX: f64 = 10_000.0;

/// Returns the ranks (from 1) of the two order statistics that enclose quantile `q` of a sample of `n`; each side
/// misses it with a probability of at most `tail`. 0 and n + 1 mean minus and plus infinity: no such bound.
///
/// With B ~ binomial(n, q): the largest r with P(B <= r - 1) <= tail, and the smallest s with P(B <= s - 1) >= 1 -
/// tail.
pub(super) fn enclosing_ranks(n: u64, q: f64, tail: f64) -> (u64, u64) {
    let variance = n as f64 * q * (1.0 - q);
    if variance > EXACT_VARIANCE_MAX { normal_ranks(n, q, tail) } else { exact_ranks(n, q, tail) }
}

/// Approximates B by a normal distribution with a continuity correction of one half: P(B <= k) ~ phi((k + 0.5 - nq) /
/// sd).
fn normal_ranks(n: u64, q: f64, tail: f64) -> (u64, u64) {
    let mean = n as f64 * q;
    let reach = -inverse_normal(tail) * (mean * (1.0 - q)).sqrt();
    // Float-to-integer casts saturate at 0, which is exactly the "no bound" needed here.
    let low = (mean - reach - 0.5).floor() + 1.0;
    let high = (mean + reach - 0.5).ceil() + 1.0;
    (low as u64, (high as u64).min(n.saturating_add(1)))
}

/// Computes the probabilities themselves, outwards from the mode by the ratio of adjacent ones P(k+1) / P(k) =
/// (n-k)/(k+1) * q/(1-q). They are relative to the mode, which avoids factorials and underflow.
fn exact_ranks(n: u64, q: f64, tail: f64) -> (u64, u64) {
    if q <= 0.0 {
        return (0, 1);
    }
    if q >= 1.0 {
        return (n, n.saturating_add(1));
    }
    // Terms below this fraction of the mode are below the rounding error and end the walk.
    const NEGLIGIBLE: f64 = 1e-20;
    let odds = q / (1.0 - q);
    let mode = ((n as f64 + 1.0) * q) as u64;
    let mode = mode.min(n);

    let mut lower = Vec::new();
    let (mut k, mut p) = (mode, 1.0f64);
    while k > 0 && p > NEGLIGIBLE {
        p *= k as f64 / ((n - k + 1) as f64 * odds);
        lower.push(p);
        k -= 1;
    }
    let first = k;
    let mut terms: Vec<f64> = lower.into_iter().rev().collect();
    terms.push(1.0);
    let (mut k, mut p) = (mode, 1.0f64);
    while k < n && p > NEGLIGIBLE {
        p *= (n - k) as f64 / (k + 1) as f64 * odds;
        terms.push(p);
        k += 1;
    }
    let total: f64 = terms.iter().sum();

    // The upper tail is summed from its own end: 1 - P would lose the digits that decide.
    let left_out = terms.iter().scan(0.0, |sum, p| running(sum, *p, tail * total)).count() as u64;
    let right_out = terms.iter().rev().scan(0.0, |sum, p| running(sum, *p, tail * total)).count() as u64;
    // `left_out` terms fit into the tail: B <= first + left_out - 1 is that improbable, and r is one more. On the other
    // side, the same is true of B >= last + 1 - right_out, and that is s. If the walk stopped before 0 or n, the terms
    // beyond are negligible and belong to the tail as well.
    let last = first + terms.len() as u64 - 1;
    (first + left_out, last + 1 - right_out)
}

/// Continues while the running sum stays within `limit`.
fn running(sum: &mut f64, p: f64, limit: f64) -> Option<()> {
    *sum += p;
    (*sum <= limit).then_some(())
}

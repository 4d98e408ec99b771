//! Rank tests: Mann–Whitney, and the corresponding shift.
//!
//! They assume nothing about the shape of a distribution, and one bad run affects them little. In return, with fewer
//! than four values per side, no difference, however large, is significant at 5%.

use super::inverse_normal;
use super::student::normal_cdf;

/// Above this product of the sample sizes, the normal approximation is used: it is then accurate to three digits.
const EXACT_MOST: usize = 900;

/// More pairs than this are not sorted for a shift; real comparisons never have that many runs.
const PAIRS_MOST: usize = 4_000_000;

/// The result of a Mann–Whitney test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTest {
    /// Pairs in which the value of the first sample is larger; equal values count as one half.
    pub u: f64,
    /// Two-sided: the probability of a result at least this extreme if both samples come from one distribution.
    pub p: f64,
    /// Computed by counting all arrangements rather than by the normal approximation.
    pub exact: bool,
}

/// Tests whether values of `a` tend to be larger or smaller than those of `b` (Mann & Whitney, Annals of Mathematical
/// Statistics 18, 1947). Exact for small samples without equal values; otherwise, the normal approximation with
/// corrections for ties and continuity. Returns `None` if a sample is empty or contains NaN.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<RankTest> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|x| x.is_nan()) {
        return None;
    }
    let (n, m) = (a.len(), b.len());
    let mut all: Vec<(f64, bool)> =
        a.iter().map(|x| (*x, true)).chain(b.iter().map(|x| (*x, false))).collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let (mut ranks, mut ties, mut at) = (0.0, 0.0, 0);
    while at < all.len() {
        // -0 and 0 are equal although their total order differs, so this compares with `==`.
        let same = all[at..].iter().take_while(|x| x.0 == all[at].0).count();
        let rank = at as f64 + (same as f64 + 1.0) / 2.0;
        ranks += rank * all[at..at + same].iter().filter(|x| x.1).count() as f64;
        ties += (same as f64).powi(3) - same as f64;
        at += same;
    }
    let (nf, mf) = (n as f64, m as f64);
    let u = ranks - nf * (nf + 1.0) / 2.0;
    let exact = ties == 0.0 && n * m <= EXACT_MOST;
    let smaller = u.min(nf * mf - u);
    let p = if exact {
        2.0 * at_most(n, m, smaller as usize)
    } else {
        let total = nf + mf;
        let variance = nf * mf / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)).max(1.0));
        // All values are equal: there is no evidence of a difference.
        if variance <= 0.0 {
            1.0
        } else {
            2.0 * normal_cdf((smaller + 0.5 - nf * mf / 2.0) / variance.sqrt())
        }
    };
    Some(RankTest { u, p: p.min(1.0), exact })
}

/// The amount by which `b` lies above `a`: the median of all differences, and the interval that contains the shift with
/// at least `confidence` (Hodges & Lehmann 1963; Hollander & Wolfe, Nonparametric Statistical Methods, section 4.3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    pub median: f64,
    /// `None`: there are too few values for an interval of this confidence.
    pub interval: Option<(f64, f64)>,
}

/// Estimates a [`Shift`]. Returns `None` if a sample is empty, contains a value that is not finite, or if there are
/// millions of pairs.
pub fn shift(a: &[f64], b: &[f64], confidence: f64) -> Option<Shift> {
    let pairs = a.len().checked_mul(b.len()).filter(|pairs| (1..=PAIRS_MOST).contains(pairs))?;
    if a.iter().chain(b).any(|x| !x.is_finite()) || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let mut differences: Vec<f64> = b.iter().flat_map(|y| a.iter().map(move |x| y - x)).collect();
    differences.sort_by(f64::total_cmp);
    let median = f64::midpoint(differences[(pairs - 1) / 2], differences[pairs / 2]);
    let left_out = left_out(a.len(), b.len(), (1.0 - confidence) / 2.0);
    let interval = left_out.map(|k| (differences[k], differences[pairs - 1 - k]));
    Some(Shift { median, interval })
}

/// Returns how many of the sorted differences lie outside the interval on each side: the largest k with P(U <= k) <=
/// `tail`.
fn left_out(n: usize, m: usize, tail: f64) -> Option<usize> {
    if n * m <= EXACT_MOST {
        let counts = arrangements(n, m);
        let total: f64 = counts.iter().sum();
        let mut sum = 0.0;
        let within = counts.iter().take_while(|count| {
            sum += **count;
            sum <= tail * total
        });
        // The k-th smallest difference bounds the shift if U <= k - 1 is that improbable.
        return within.count().checked_sub(1);
    }
    let (nf, mf) = (n as f64, m as f64);
    let deviation = (nf * mf * (nf + mf + 1.0) / 12.0).sqrt();
    let k = (nf * mf / 2.0 + inverse_normal(tail) * deviation - 0.5).floor();
    (k >= 0.0).then_some((k as usize).min((n * m - 1) / 2))
}

/// Returns P(U <= u) if all arrangements are equally probable.
fn at_most(n: usize, m: usize, u: usize) -> f64 {
    let counts = arrangements(n, m);
    let total: f64 = counts.iter().sum();
    counts.iter().take(u + 1).sum::<f64>() / total
}

/// Counts the arrangements of `n` and `m` values for each U from 0 to n m: the coefficients of the Gaussian binomial
/// prod (1 - x^(m+i)) / (1 - x^i), i = 1..n. Floats suffice, because only the ratio to their sum is used.
fn arrangements(n: usize, m: usize) -> Vec<f64> {
    let (n, m) = (n.min(m), n.max(m));
    let top = n * m;
    // The quotient after every factor is again a polynomial with positive coefficients, so the cancellation is mild;
    // for the sizes used here, the counts stay below 2^53 or lose a relative 1e-12.
    let mut counts = vec![0.0; top + 1];
    counts[0] = 1.0;
    for i in 1..=n {
        for u in (m + i..=top).rev() {
            counts[u] -= counts[u - m - i];
        }
        for u in i..=top {
            counts[u] += counts[u - i];
        }
    }
    counts
}

/// Returns the rank of each value, from 1; equal values share their mean rank.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let (mut out, mut first) = (vec![0.0; values.len()], 0);
    for same in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = first as f64 + (same.len() as f64 + 1.0) / 2.0;
        same.iter().for_each(|at| out[*at] = rank);
        first += same.len();
    }
    out
}

//! Samples whose values come in groups and are correlated within them.

use super::binomial;
use super::quantile::Bounds;
use crate::Hist;

/// Fewer groups than this say too little about the variance between them.
const GROUPS_MIN: usize = 8;

/// Returns the design effect of a share (Kish, Survey Sampling, 1965): how many values of this sample say as much as
/// one value of an independent sample, at least 1. Each group is a part and a whole, in the order of time. Returns
/// `None` if there are fewer than eight groups with values.
///
/// The variance between groups comes from differences of successive groups (von Neumann 1941), so a slow drift of the
/// share, or a step of the load, does not count as correlation. A difference of two independent groups of n and m
/// values has the variance p (1 - p) (1/n + 1/m), in which p is their common share.
pub fn design_effect(groups: &[(u64, u64)]) -> Option<f64> {
    let groups: Vec<(f64, f64)> =
        groups.iter().filter(|(_, all)| *all > 0).map(|(part, all)| (*part as f64, *all as f64)).collect();
    if groups.len() < GROUPS_MIN {
        return None;
    }
    let (mut seen, mut independent) = (0.0, 0.0);
    for pair in groups.windows(2) {
        let [(a, n), (b, m)] = [pair[0], pair[1]];
        let common = (a + b) / (n + m);
        seen += (a / n - b / m).powi(2) * (n * m / (n + m));
        independent += common * (1.0 - common);
    }
    Some(if independent > 0.0 { (seen / independent).max(1.0) } else { 1.0 })
}

/// Returns [`quantile_interval`](super::quantile_interval) for a sample with this design effect (at least 1): the order
/// statistics of a sample that is smaller by that factor.
pub fn clustered_interval(hist: &Hist, q: f64, confidence: f64, design_effect: f64) -> Bounds {
    let Some((low, high)) = clustered_ranks(hist.count(), q, confidence, design_effect) else {
        return Bounds::default();
    };
    Bounds {
        low: hist.bounds_at_rank(low).map(|(low, _)| low),
        high: hist.bounds_at_rank(high).map(|(_, high)| high),
    }
}

/// Returns the ranks, from 1, of the order statistics that [`clustered_interval`] uses for `n` values; 0 and `n` + 1
/// mean "no bound". Returns `None` if there is no interval.
pub fn clustered_ranks(n: u64, q: f64, confidence: f64, design_effect: f64) -> Option<(u64, u64)> {
    let is_valid = (0.0..=1.0).contains(&q) && confidence > 0.0 && confidence < 1.0 && design_effect >= 1.0;
    // Written so that NaN fails, too.
    if n == 0 || !is_valid {
        return None;
    }
    let worth = ((n as f64 / design_effect) as u64).max(1);
    let (low, high) = binomial::enclosing_ranks(worth, q, (1.0 - confidence) / 2.0);
    if worth == n {
        return Some((low, high));
    }
    let scale = n as f64 / worth as f64;
    let low = (low as f64 * scale).floor() as u64;
    let high = if high > worth { n.saturating_add(1) } else { ((high as f64 * scale).ceil() as u64).min(n) };
    Some((low, high))
}

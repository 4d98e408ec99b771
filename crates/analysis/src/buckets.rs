//! How many requests were answered within a tenth of a second, a second, ten: what people feel.

use super::facts::ratio;
use crate::summary::Bucket;
use plimsoll_stats::Hist;

/// One band up to each edge and one above the last, of the requests that were answered. Where those belong that were
/// cut off is not known: they are counted apart.
pub(super) fn buckets(exact: &Hist, edges_ns: &[u64]) -> Vec<Bucket> {
    let total = exact.count();
    let mut below = 0;
    let mut band = |up_to_ns: Option<u64>, at_most: u64| {
        let count = at_most.saturating_sub(below);
        below = at_most;
        Bucket { up_to_ns, count, ratio: ratio(count as f64, total as f64) }
    };
    let mut buckets: Vec<Bucket> =
        edges_ns.iter().map(|edge| band(Some(*edge), exact.count_at_most(*edge))).collect();
    buckets.push(band(None, total));
    buckets
}

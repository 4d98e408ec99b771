//! Time that waiting for a CPU may have added.
//!
//! While a worker is ready to run but has no CPU, its requests in flight age unnoticed. Therefore the time that it
//! waited, times the maximum in flight, bounds the time added to all requests together, and the longest wait bounds
//! the time added to a single one. The affected requests are unknown; to be safe, those that lower the result most
//! are assumed.

use plimsoll_plan::threshold::Statistic;
use plimsoll_stats::Hist;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queue {
    /// All that can have been added, over all requests, ns.
    pub all_ns: f64,
    /// The most that one can have got, ns.
    pub each_ns: f64,
}

impl Queue {
    /// The lowest that the figure can be without the waiting.
    pub fn relieve(self, hist: &Hist, statistic: Statistic) -> Option<f64> {
        let n = hist.count();
        match statistic {
            Statistic::Quantile(q) => {
                // Nearest rank.
                self.relieve_rank(hist, ((q * n as f64 * (1.0 - 1e-12)).ceil() as u64).clamp(1, n.max(1)))
            }
            Statistic::Max => self.relieve_rank(hist, n),
            Statistic::Mean => {
                let less = (self.all_ns / n.max(1) as f64).min(self.each_ns);
                Some((hist.mean()? - less).max(0.0))
            }
            Statistic::Min => Some((hist.min()? as f64 - self.each_ns).max(0.0)),
            Statistic::Value => None,
        }
    }

    /// The lowest that the sample of this rank can be, from 1: no more samples than are above it need to lie above.
    pub fn relieve_rank(self, hist: &Hist, rank: u64) -> Option<f64> {
        let above = hist.count().saturating_sub(rank);
        let buckets: Vec<(u64, u64, u64)> = hist.buckets().collect();
        let (mut low, mut high) = (0.0, hist.max()? as f64);
        // Sixty halvings are below a nanosecond for any time that there is.
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.reaches(&buckets, above, middle) { high = middle } else { low = middle }
        }
        Some(high)
    }

    /// Whether all samples but the `above` longest can be brought down to `to`.
    fn reaches(self, buckets: &[(u64, u64, u64)], above: u64, to: f64) -> bool {
        let (mut left, mut spent) = (above, 0.0);
        for (low, _, n) in buckets.iter().rev() {
            let stays = (*n).min(left);
            left -= stays;
            let over = *low as f64 - to;
            if over <= 0.0 {
                break;
            }
            if n - stays > 0 && over > self.each_ns {
                return false;
            }
            spent += over * (n - stays) as f64;
        }
        spent <= self.all_ns
    }
}

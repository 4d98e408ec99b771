//! The blocks of all runs of a side as cumulative counts. A quantile of any resample takes a bisection over buckets,
//! with one sum over the blocks at each step; merging histograms a thousand times would cost a hundred times as much.

use plimsoll_analysis::digest::{Block, Digest, coarser};
use plimsoll_stats::{Hist, bucket_bounds, bucket_of};

/// Blocks of all runs of a side: keeps an hour and a hundred repeats affordable.
const BLOCKS_MOST: usize = 600;
/// Blocks of a run: enough for any correlation that a bootstrap can detect within one run.
const BLOCKS_OF_RUN: usize = 60;

/// The blocks of a side and their distributions.
pub struct Table {
    pub blocks: Vec<Block>,
    /// The blocks of each run.
    pub runs: Vec<std::ops::Range<usize>>,
    pub response: Counts,
    pub service: Counts,
}

impl Table {
    pub fn new<'a>(digests: impl ExactSizeIterator<Item = &'a Digest>) -> Table {
        let of_run = (BLOCKS_MOST / digests.len().max(1)).clamp(4, BLOCKS_OF_RUN);
        let (mut blocks, mut runs) = (Vec::new(), Vec::new());
        for digest in digests {
            let from = blocks.len();
            blocks.extend(coarser(&digest.blocks, of_run));
            runs.push(from..blocks.len());
        }
        let response = Counts::new(blocks.iter().map(|block| &block.response));
        let service = Counts::new(blocks.iter().map(|block| &block.service));
        Table { blocks, runs, response, service }
    }

    /// Returns the weighted sum of `value` over the blocks.
    pub fn sum(&self, weights: &[u32], value: impl Fn(&Block) -> u64) -> f64 {
        self.blocks.iter().zip(weights).map(|(block, n)| value(block) as f64 * f64::from(*n)).sum()
    }
}

/// One distribution, block by block.
pub struct Counts {
    pub merged: Hist,
    first_bucket: usize,
    /// `[bucket][block]`: the number of values of the block in this bucket and below.
    cumulative: Vec<f64>,
    blocks: usize,
    /// Exact sums of each block, in the unit of the values.
    sums: Vec<f64>,
}

impl Counts {
    fn new<'a>(hists: impl Iterator<Item = &'a Hist>) -> Counts {
        let hists: Vec<&Hist> = hists.collect();
        let mut merged = Hist::on_demand();
        hists.iter().for_each(|hist| merged.merge(hist));
        let blocks = hists.len();
        let first_bucket = merged.min().map_or(0, bucket_of);
        let buckets = merged.max().map_or(0, |max| bucket_of(max) + 1 - first_bucket);
        let mut cumulative = vec![0.0; buckets * blocks];
        for (block, hist) in hists.iter().enumerate() {
            for (low, _, n) in hist.buckets() {
                cumulative[(bucket_of(low) - first_bucket) * blocks + block] = n as f64;
            }
        }
        for at in blocks..cumulative.len() {
            cumulative[at] += cumulative[at - blocks];
        }
        let sums = hists.iter().map(|hist| hist.sum() as f64).collect();
        Counts { merged, first_bucket, cumulative, blocks, sums }
    }

    /// Returns the number of values in bucket `at` and below, in the resample described by `weights`.
    fn below(&self, at: usize, weights: &[u32]) -> f64 {
        let row = &self.cumulative[at * self.blocks..(at + 1) * self.blocks];
        row.iter().zip(weights).map(|(count, n)| count * f64::from(*n)).sum()
    }

    fn buckets(&self) -> usize {
        self.cumulative.len().checked_div(self.blocks).unwrap_or(0)
    }

    /// Returns quantile `q` of the resample, interpolated within buckets: their width of 0.8% would hide smaller
    /// variation. Returns `None` if the resample is empty.
    pub fn quantile(&self, q: f64, weights: &[u32]) -> Option<f64> {
        let last = self.buckets().checked_sub(1)?;
        let total = self.below(last, weights);
        if total <= 0.0 {
            return None;
        }
        let rank = q.clamp(0.0, 1.0) * total;
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.below(middle, weights) >= rank { high = middle } else { low = middle + 1 }
        }
        let before = if low == 0 { 0.0 } else { self.below(low - 1, weights) };
        let inside = self.below(low, weights) - before;
        let share = if inside > 0.0 { ((rank - before) / inside).clamp(0.0, 1.0) } else { 0.5 };
        let (from, to) = bucket_bounds(low + self.first_bucket);
        let value = from as f64 + share * (to as f64 + 1.0 - from as f64);
        let (min, max) = (self.merged.min()? as f64, self.merged.max()? as f64);
        Some(value.clamp(min, max))
    }

    /// Returns the mean of the resample from exact sums, or `None` if it is empty.
    pub fn mean(&self, weights: &[u32]) -> Option<f64> {
        let count = self.below(self.buckets().checked_sub(1)?, weights);
        let sum: f64 = self.sums.iter().zip(weights).map(|(sum, n)| sum * f64::from(*n)).sum();
        (count > 0.0).then(|| sum / count)
    }
}

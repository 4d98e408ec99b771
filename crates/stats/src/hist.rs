//! The only histogram of the project: log-linear, dense in memory, sparse when encoded.
//!
//! Percentiles may only be computed from merged histograms, never from percentiles, so all workers, seconds, series,
//! and machines use this same layout. Each power of two is divided into 128 buckets; half a bucket is at most 1/256 =
//! 0.39% of the value in it. Count, sum, smallest, and largest value are exact.

mod codec;
mod layout;

pub use layout::{BUCKETS, LAYOUT_ID, VALUE_MAX, bucket_bounds, bucket_of};

use std::fmt;
use std::ops::Range;

/// Limit at which counts saturate when histograms are merged: 2^63.
pub const COUNT_MAX: u64 = 1 << 63;

/// Limit at which sums saturate when histograms are merged: 2^127.
pub const SUM_MAX: u128 = 1 << 127;

/// A distribution of whole numbers of any unit (nanoseconds, bytes, counts).
///
/// [`Hist::new`] allocates its 38 KiB at once, and recording never allocates afterwards. [`Hist::on_demand`] allocates
/// them when the first value is recorded. [`Hist::compact`], and any histogram that is only merged or decoded,
/// allocates the buckets around its values. Expect all of it to become resident: it is requested as zeroed memory, but
/// allocators clear blocks of this size explicitly (glibc: all below its mmap threshold of 128 KiB).
///
/// Merging and [`Hist::record_n`] saturate at [`COUNT_MAX`] instead of overflowing, so merging stays associative even
/// for absurd counts.
pub struct Hist {
    /// The counts of bucket `first` and the following ones: all [`BUCKETS`], a part, or none yet.
    counts: Box<[u64]>,
    /// A multiple of [`BLOCK`].
    first: u32,
    /// Allocates only the part that it uses, even when values are recorded.
    is_compact: bool,
    count: u64,
    sum: u128,
    /// `u64::MAX` while empty: the identity of "smaller of the two".
    min: u64,
    /// 0 while empty. Together with `min`, this also gives the range of used buckets, because `bucket_of` is monotone,
    /// so the hot path keeps no indices.
    max: u64,
}

/// Partial storage is allocated in blocks of this many buckets: half a power of two, 512 bytes.
const BLOCK: usize = 64;

impl Hist {
    /// Creates an empty histogram that records without allocating.
    pub fn new() -> Self {
        let mut hist = Self::on_demand();
        hist.cover(0..BUCKETS);
        hist
    }

    /// Creates an empty histogram that allocates when the first value is recorded or merged: for large numbers of
    /// histograms that mostly stay empty.
    pub fn on_demand() -> Self {
        Hist { counts: Box::default(), first: 0, is_compact: false, count: 0, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Creates an empty histogram that allocates whenever a value is outside its storage, in blocks of 512 bytes: for
    /// thousands of histograms with a few values each. Once its values repeat, it no longer allocates.
    pub fn compact() -> Self {
        Hist { is_compact: true, ..Self::on_demand() }
    }

    /// Counts one `value`. Values above [`VALUE_MAX`] go into the last bucket; `max` and `sum` stay exact.
    #[inline]
    pub fn record(&mut self, value: u64) {
        // Below `first`, the difference wraps to an index far beyond the last one.
        let Some(cell) = self.counts.get_mut(bucket_of(value).wrapping_sub(self.first as usize)) else {
            // Only a histogram with partial storage gets here: the bucket itself is always below BUCKETS.
            return self.record_first(value, 1);
        };
        // Plain additions, a third faster than saturating ones. They cannot overflow: everything else saturates at half
        // the range, and the other half is 2^63 single records away.
        *cell += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Counts `value` as if it had been recorded `n` times; `n` = 0 changes nothing.
    #[inline]
    pub fn record_n(&mut self, value: u64, n: u64) {
        if n == 0 {
            return;
        }
        let Some(cell) = self.counts.get_mut(bucket_of(value).wrapping_sub(self.first as usize)) else {
            return self.record_first(value, n);
        };
        *cell = add_counts(*cell, n);
        self.count = add_counts(self.count, n);
        self.sum = add_sums(self.sum, u128::from(value) * u128::from(n));
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Returns the number of recorded values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns whether no value was recorded.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the exact smallest value; none while empty.
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min)
    }

    /// Returns the exact largest value, even above [`VALUE_MAX`]; none while empty.
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max)
    }

    /// Returns the exact sum of all values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the arithmetic mean, from the exact sum; none while empty.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the standard deviation of the recorded population (divisor n, not n - 1), with every value taken as its
    /// bucket's midpoint; none while empty.
    pub fn std_dev(&self) -> Option<f64> {
        if self.is_empty() {
            return None;
        }
        // Two passes around the mean of the midpoints: the one-pass formula loses all digits if the deviation is small
        // compared with the mean, which is normal for a healthy service. The weights are summed here rather than taken
        // from `count`, so that a saturated histogram stays consistent.
        let cells = || self.used().map(|(index, n)| (self.midpoint(index) as f64, n as f64));
        let weight: f64 = cells().map(|(_, n)| n).sum();
        let mean = cells().map(|(v, n)| v * n).sum::<f64>() / weight;
        let square = cells().map(|(v, n)| n * (v - mean) * (v - mean)).sum::<f64>();
        Some((square / weight).sqrt())
    }

    /// Adds everything that `other` recorded. Associative and commutative; an empty histogram is the identity.
    pub fn merge(&mut self, other: &Hist) {
        if other.is_empty() {
            return;
        }
        let range = other.used_range();
        self.cover(range.clone());
        let count = self.count.checked_add(other.count);
        let cells = self.cells_mut(range.clone()).iter_mut().zip(other.cells(range));
        // No bucket counts more than all of them, so below the limit, none can saturate. Plain additions are several
        // per instruction.
        match count {
            Some(count) if count <= COUNT_MAX => cells.for_each(|(mine, theirs)| *mine += *theirs),
            _ => cells.for_each(|(mine, theirs)| *mine = add_counts(*mine, *theirs)),
        }
        self.count = add_counts(self.count, other.count);
        self.sum = add_sums(self.sum, other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Removes all values but keeps the storage, and touches only the buckets between `min` and `max`: an interval is
    /// cleared once per tick, and most of its buckets are never used.
    pub fn clear(&mut self) {
        let range = self.used_range();
        self.cells_mut(range).fill(0);
        (self.count, self.sum, self.min, self.max) = (0, 0, u64::MAX, 0);
    }

    /// Returns the value below or at which a fraction `q` of the recorded values lies, by nearest rank (rank = ceil(q *
    /// n), the first of the definitions in Hyndman & Fan 1996), rounded to the midpoint of its bucket and clamped to
    /// `min..=max`.
    ///
    /// `q` outside 0..=1 is clamped: 0 gives `min`, 1 gives `max`. Returns `None` while empty, or if `q` is NaN.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        self.value_at_rank(nearest_rank(q, self.count)?)
    }

    /// Returns the value at `rank_from_1` in sorted order, to the accuracy of a bucket; the first and the last are
    /// exact. Returns `None` for rank 0 and ranks above the count.
    pub fn value_at_rank(&self, rank_from_1: u64) -> Option<u64> {
        let index = self.index_at_rank(rank_from_1)?;
        Some(match rank_from_1 {
            1 => self.min,
            rank if rank == self.count => self.max,
            _ => self.midpoint(index),
        })
    }

    /// Returns bounds (both inclusive) of the value at `rank_from_1`: its bucket's bounds, clamped to `min..=max`.
    /// Returns `None` for rank 0 and ranks above the count.
    pub fn bounds_at_rank(&self, rank_from_1: u64) -> Option<(u64, u64)> {
        let index = self.index_at_rank(rank_from_1)?;
        Some(match rank_from_1 {
            1 => (self.min, self.min),
            rank if rank == self.count => (self.max, self.max),
            _ => self.bounds_within(index),
        })
    }

    /// Returns the number of values that are at most `value`. The bucket of `value` counts as a whole, so the limit is
    /// in effect rounded up by less than 0.8%; below `min`, and at or above `max`, the result is exact.
    pub fn count_at_most(&self, value: u64) -> u64 {
        if value < self.min || self.is_empty() {
            return 0;
        }
        if value >= self.max {
            return self.count;
        }
        let range = bucket_of(self.min)..bucket_of(value) + 1;
        self.cells(range).iter().fold(0, |total, n| add_counts(total, *n)).min(self.count)
    }

    /// Returns the number of values above `value`: all that [`Hist::count_at_most`] does not count.
    pub fn count_above(&self, value: u64) -> u64 {
        self.count - self.count_at_most(value)
    }

    /// Returns the used buckets in ascending order: lowest value, highest value (inclusive), count. The bounds are the
    /// layout's, except that the last bucket reaches up to `max` if larger values were recorded.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.used().map(|(index, n)| {
            let (low, high) = bucket_bounds(index);
            (low, if index == BUCKETS - 1 { high.max(self.max) } else { high }, n)
        })
    }

    /// Returns the memory held outside the value itself, in bytes.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&*self.counts)
    }

    /// Ensures storage for these buckets in addition to the existing ones.
    fn cover(&mut self, wanted: Range<usize>) {
        let first = self.first as usize;
        let has = first..first + self.counts.len();
        if has.start <= wanted.start && wanted.end <= has.end {
            return;
        }
        let all = if has.is_empty() { wanted } else { has.start.min(wanted.start)..has.end.max(wanted.end) };
        let start = all.start / BLOCK * BLOCK;
        let mut wider = vec![0; (all.end.div_ceil(BLOCK) * BLOCK).min(BUCKETS) - start];
        if !has.is_empty() {
            wider[has.start - start..has.end - start].copy_from_slice(&self.counts);
        }
        // BUCKETS is far below 2^32.
        (self.counts, self.first) = (wider.into(), start as u32);
    }

    /// Returns the counts of these buckets, which must have storage.
    fn cells(&self, buckets: Range<usize>) -> &[u64] {
        let first = self.first as usize;
        if buckets.is_empty() { &[] } else { &self.counts[buckets.start - first..buckets.end - first] }
    }

    fn cells_mut(&mut self, buckets: Range<usize>) -> &mut [u64] {
        let first = self.first as usize;
        if buckets.is_empty() {
            &mut []
        } else {
            &mut self.counts[buckets.start - first..buckets.end - first]
        }
    }

    #[cold]
    #[inline(never)]
    fn record_first(&mut self, value: u64, n: u64) {
        let bucket = bucket_of(value);
        self.cover(if self.is_compact { bucket..bucket + 1 } else { 0..BUCKETS });
        self.record_n(value, n);
    }

    /// Returns the range from the first to the last used bucket; for an empty histogram, an empty range.
    fn used_range(&self) -> Range<usize> {
        if self.is_empty() { 0..0 } else { bucket_of(self.min)..bucket_of(self.max) + 1 }
    }

    /// Returns the used buckets: index and count.
    fn used(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let range = self.used_range();
        let first = range.start;
        self.cells(range).iter().enumerate().filter(|(_, n)| **n > 0).map(move |(i, n)| (first + i, *n))
    }

    fn index_at_rank(&self, rank_from_1: u64) -> Option<usize> {
        if rank_from_1 == 0 || rank_from_1 > self.count {
            return None;
        }
        let mut seen = 0u64;
        self.used()
            .find(|(_, n)| {
                seen = add_counts(seen, *n);
                seen >= rank_from_1
            })
            .map(|(index, _)| index)
    }

    fn bounds_within(&self, index: usize) -> (u64, u64) {
        let (low, high) = bucket_bounds(index);
        let high = if index == BUCKETS - 1 { self.max } else { high };
        (low.max(self.min), high.min(self.max))
    }

    fn midpoint(&self, index: usize) -> u64 {
        let (low, high) = bucket_bounds(index);
        (low + (high - low) / 2).clamp(self.min, self.max)
    }
}

pub(crate) fn add_counts(a: u64, b: u64) -> u64 {
    a.saturating_add(b).min(COUNT_MAX)
}

fn add_sums(a: u128, b: u128) -> u128 {
    a.saturating_add(b).min(SUM_MAX)
}

/// Returns the nearest rank, ceil(q * n) clamped to 1..=n; `None` for n = 0 or if `q` is NaN.
///
/// The trap is that 0.07 * 100 = 7.000000000000001 in binary: a product within its own rounding error of a whole number
/// is treated as that number.
pub(crate) fn nearest_rank(q: f64, n: u64) -> Option<u64> {
    if n == 0 || q.is_nan() {
        return None;
    }
    if q >= 1.0 {
        return Some(n);
    }
    Some((ceil_forgiving(q.max(0.0) * n as f64, 4.0 * f64::EPSILON) as u64).clamp(1, n))
}

/// Rounds `x` up, unless it is within `relative` of a whole number: then returns that number.
pub(crate) fn ceil_forgiving(x: f64, relative: f64) -> f64 {
    let whole = x.round();
    if (x - whole).abs() <= relative * x.abs() { whole } else { x.ceil() }
}

impl Clone for Hist {
    /// Copies only the used buckets; the clone has the same storage as the original.
    fn clone(&self) -> Self {
        let counts = vec![0; self.counts.len()].into();
        let mut clone = Hist { counts, first: self.first, is_compact: self.is_compact, ..Self::on_demand() };
        clone.merge(self);
        clone
    }
}

impl Default for Hist {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Hist {
    /// Compares the contents, regardless of storage.
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.sum, self.min, self.max) == (other.count, other.sum, other.min, other.max)
            && self.cells(self.used_range()) == other.cells(other.used_range())
    }
}

impl Eq for Hist {}

impl fmt::Debug for Hist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hist({} values", self.count)?;
        if let (Some(min), Some(mean), Some(max)) = (self.min(), self.mean(), self.max()) {
            write!(f, ", {min}..={max}, mean {mean:.1}")?;
        }
        f.write_str(")")
    }
}

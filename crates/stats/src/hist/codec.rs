//! The sparse encoding of a histogram.
//!
//! ```text
//! empty:  0
//! else:   LAYOUT_ID  min  max-min  sum  cell...
//! cell:   2*(count-1) + g  [gap if g = 1]
//! ```
//!
//! All numbers are LEB128. The first cell is the bucket of `min`; a cell with a gap skips that many empty buckets; the
//! cell that reaches the bucket of `max` is the last, so no length is stored. Adjacent buckets with up to 64 values,
//! which are most of a second of a run, cost one byte each.

use super::{BLOCK, COUNT_MAX, Hist, LAYOUT_ID, SUM_MAX, add_counts, add_sums, bucket_of};
use crate::{Error, varint};

/// Represents an empty histogram, which means the same in every layout.
const EMPTY: u8 = 0;

impl Hist {
    /// Appends the sparse encoding: 1 byte if empty, otherwise about 1 to 2 bytes per used bucket. The encoding is
    /// canonical: equal histograms give equal bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        if self.is_empty() {
            out.push(EMPTY);
            return;
        }
        out.push(LAYOUT_ID);
        varint::put(out, self.min.into());
        varint::put(out, (self.max - self.min).into());
        varint::put(out, self.sum);
        let mut next = self.used_range().start;
        for (index, n) in self.used() {
            let gap = (index - next) as u128;
            varint::put(out, u128::from(n - 1) << 1 | u128::from(gap > 0));
            if gap > 0 {
                varint::put(out, gap);
            }
            next = index + 1;
        }
    }

    /// Decodes one histogram from the front of `bytes`. An empty one allocates nothing, any other up to 38 KiB.
    ///
    /// # Errors
    /// Returns an error if the bytes end early, use another layout, or are contradictory; `bytes` then points anywhere
    /// within the input.
    pub fn decode(bytes: &mut &[u8]) -> Result<Hist, Error> {
        Self::decode_within(bytes, |_| Ok(()))
    }

    /// Decodes like [`Hist::decode`]; `ask` receives the number of buckets before they are allocated.
    pub(crate) fn decode_within(
        bytes: &mut &[u8],
        ask: impl FnOnce(usize) -> Result<(), Error>,
    ) -> Result<Hist, Error> {
        let mut hist = Hist::on_demand();
        // What is decoded is exactly what was encoded, also above the limit.
        hist.add_encoded(bytes, ask, |_, n| n)?;
        Ok(hist)
    }

    /// Adds the histogram at the front of `bytes`, as [`Hist::merge`] does after [`Hist::decode`]; returns whether it
    /// has values. After an error, a part of them may have been added.
    pub(crate) fn merge_encoded_within(
        &mut self,
        bytes: &mut &[u8],
        ask: impl FnOnce(usize) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        self.add_encoded(bytes, ask, add_counts)
    }

    fn add_encoded(
        &mut self,
        bytes: &mut &[u8],
        ask: impl FnOnce(usize) -> Result<(), Error>,
        add: impl Fn(u64, u64) -> u64,
    ) -> Result<bool, Error> {
        match varint::take_byte(bytes)? {
            EMPTY => return Ok(false),
            LAYOUT_ID => {}
            found => {
                return Err(Error::UnknownVersion { what: "histogram layout", found, known: LAYOUT_ID });
            }
        }
        let min = varint::take_u64(bytes)?;
        let max = min
            .checked_add(varint::take_u64(bytes)?)
            .ok_or(Error::Malformed { what: "the largest value is wider than 64 bits" })?;
        let sum = varint::take(bytes)?;
        let (first, last) = (bucket_of(min), bucket_of(max));
        ask(last + 1 - first + 2 * BLOCK)?;
        self.cover(first..last + 1);
        let cells = self.cells_mut(first..last + 1);
        let (mut next, mut count) = (first, 0);
        while next <= last {
            let (n, index) = match **bytes {
                // Most cells are one byte: a few values, directly after the previous bucket.
                [head, ref rest @ ..] if head & 0x81 == 0 => {
                    *bytes = rest;
                    (u64::from(head >> 1) + 1, next)
                }
                // Most others are two: a gap of less than a power of two.
                [head, gap @ 1..0x80, ref rest @ ..] if head & 0x81 == 1 && next > first => {
                    *bytes = rest;
                    (u64::from(head >> 1) + 1, next + usize::from(gap))
                }
                _ => take_cell(bytes, next, first)?,
            };
            let Some(cell) = cells.get_mut(index - first) else {
                return Err(Error::Malformed { what: "a bucket is above the largest value" });
            };
            *cell = add(*cell, n);
            count = add_counts(count, n);
            next = index + 1;
        }
        if !sum_is_possible(count, min, max, sum) {
            return Err(Error::Malformed { what: "the sum is impossible for these counts" });
        }
        self.count = add_counts(self.count, count);
        self.sum = add_sums(self.sum, sum);
        self.min = self.min.min(min);
        self.max = self.max.max(max);
        Ok(true)
    }
}

/// Returns whether `count` values, of which one is `min` and one is `max`, can have this sum. A saturated value limits
/// nothing.
fn sum_is_possible(count: u64, min: u64, max: u64, sum: u128) -> bool {
    let (min, max) = (u128::from(min), u128::from(max));
    let others = u128::from(count - 1);
    let lowest = min.saturating_mul(others).saturating_add(max);
    let highest = max.saturating_mul(others).saturating_add(min);
    let is_saturated = count >= COUNT_MAX || sum == SUM_MAX;
    sum <= SUM_MAX && (is_saturated || (lowest..=highest).contains(&sum))
}

/// Decodes one cell: its count and its bucket. `next` is the bucket right after the previous cell.
fn take_cell(bytes: &mut &[u8], next: usize, first: usize) -> Result<(u64, usize), Error> {
    let head = varint::take(bytes)?;
    let n = u64::try_from((head >> 1) + 1)
        .map_err(|_| Error::Malformed { what: "a count is wider than 64 bits" })?;
    if head & 1 == 0 {
        return Ok((n, next));
    }
    let gap = varint::take_u64(bytes)?;
    if gap == 0 || next == first {
        return Err(Error::Malformed { what: "a gap is not allowed here" });
    }
    Ok((n, next.saturating_add(usize::try_from(gap).unwrap_or(usize::MAX))))
}

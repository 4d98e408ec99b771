//! Maps values to buckets. All stored data depends on this: a change requires a new [`LAYOUT_ID`].
//!
//! Each value below 256 has its own bucket. Above, every power of two has 128 equal buckets, so a bucket at value v is
//! at most v/128 wide, and its midpoint is at most v/256 away.

/// Identifies this layout in encoded histograms.
pub const LAYOUT_ID: u8 = 1;

/// The largest value with full resolution: 2^44 - 1, which is 4.8 hours in nanoseconds.
pub const VALUE_MAX: u64 = (1 << 44) - 1;

/// Number of buckets: 256 single values, then 128 for each exponent from 8 to 43.
pub const BUCKETS: usize = 256 + (44 - 8) * 128;

/// log2 of the number of buckets per power of two.
const SUB_BITS: u32 = 7;

/// Returns the bucket of `value`; values above [`VALUE_MAX`] share the last. Monotone, always below [`BUCKETS`].
#[inline]
pub fn bucket_of(value: u64) -> usize {
    let value = value.min(VALUE_MAX);
    // With the lowest exponent pinned to 7, the same line works for small values: shift 0, index = value.
    let exponent = 63 - (value | 1 << SUB_BITS).leading_zeros();
    let shift = exponent - SUB_BITS;
    // value >> shift keeps the leading one, so it is in 128..=255: adjacent exponents join up.
    ((shift as usize) << SUB_BITS) + (value >> shift) as usize
}

/// Returns the smallest and the largest value (inclusive) of a bucket. An index past the end means the last bucket,
/// which ends at [`VALUE_MAX`] although larger values are counted there, too.
pub fn bucket_bounds(index: usize) -> (u64, u64) {
    let index = index.min(BUCKETS - 1);
    let shift = (index >> SUB_BITS).saturating_sub(1);
    let low = ((index - (shift << SUB_BITS)) as u64) << shift;
    (low, low + ((1 << shift) - 1))
}

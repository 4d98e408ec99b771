//! Numbers of user-defined metrics as cells that add up exactly, in any order.

/// Trends store numbers in thousandths: numbers below 1/1000 are 0, and those above 2^44/1000 are in the last bucket.
pub const THOUSANDTHS: f64 = 1_000.0;

/// Parts of a whole in [`parts_of`].
const BILLION: f64 = 1e9;

/// Splits a nonnegative number into its integer part and billionths. Returns `None` for other or too large numbers.
pub fn parts_of(value: f64) -> Option<(u64, u64)> {
    if !(0.0..18e18).contains(&value) {
        return None;
    }
    let whole = value.trunc();
    // Both are below 2^64, as checked above.
    Some((whole as u64, ((value - whole) * BILLION).round() as u64))
}

/// Joins a sum of such parts into a number.
pub fn counted(whole: u64, billionths: u64) -> f64 {
    whole as f64 + billionths as f64 / BILLION
}

/// Returns a number as bits with the same order, so that the maximum of numbers is the maximum of their bits. (IEEE 754
/// bits have the order of positive numbers, and the reverse order of negative ones.) 0 and `u64::MAX` are not used.
pub fn ordered(value: f64) -> Option<u64> {
    // -0 is 0.
    let bits = (value + 0.0).to_bits();
    value.is_finite().then_some(if bits >> 63 == 0 { bits | 1 << 63 } else { !bits })
}

/// Returns the number of such bits.
pub fn from_ordered(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

//! Numbers of user-defined metrics as cells that add up exactly, whatever the order.

/// Trends hold numbers in thousandths: below 1/1000 they are 0, and above 2^44/1000 all in the last bucket.
pub const THOUSANDTHS: f64 = 1_000.0;

/// Parts of a whole in [`parts_of`].
const BILLION: f64 = 1e9;

/// A number that is not negative as its whole and the billionths behind it; `None`: it is none, or too large.
pub fn parts_of(value: f64) -> Option<(u64, u64)> {
    if !(0.0..18e18).contains(&value) {
        return None;
    }
    let whole = value.trunc();
    // Both are below 2^64 by the line above.
    Some((whole as u64, ((value - whole) * BILLION).round() as u64))
}

/// The other way round, of a sum of such parts.
pub fn counted(whole: u64, billionths: u64) -> f64 {
    whole as f64 + billionths as f64 / BILLION
}

/// A number as bits that rise with it, so that the greatest of many is that of their bits (the order of IEEE 754
/// is that of its bits for positive numbers, and the reverse for negative ones). 0 and `u64::MAX` belong to no
/// number.
pub fn ordered(value: f64) -> Option<u64> {
    // -0 is 0.
    let bits = (value + 0.0).to_bits();
    value.is_finite().then_some(if bits >> 63 == 0 { bits | 1 << 63 } else { !bits })
}

/// The other way round.
pub fn from_ordered(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

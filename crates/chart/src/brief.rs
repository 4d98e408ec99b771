//! Chart numbers as a page carries them, no longer than the display needs. Otherwise, thousands of seconds times a
//! dozen series would be most of the file, and digits after the sixth most of that.

use plimsoll_plan::phrase::{quantity, ratio};
use serde::ser::{SerializeSeq, Serializer};

/// Significant digits. Most displayed numbers have three.
const DIGITS: i32 = 6;
/// 2^53: a float represents every whole number up to this one exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the value rounded to six significant digits; a whole number stays as it is.
pub fn rounded(value: f64) -> f64 {
    if !value.is_finite() || value.fract() == 0.0 {
        return value;
    }
    let places = DIGITS - 1 - value.abs().log10().floor() as i32;
    // Parsing text gives the float nearest to the decimal number; multiplying by a power of ten does not always.
    let text = match places {
        1.. => format!("{value:.*}", places as usize),
        _ => format!("{value:.0}"),
    };
    let short: f64 = text.parse().unwrap_or(value);
    // Rounding twice would show 1.2349996 as 1.24, but the document's own digits give 1.23. Percentages near 100 and
    // numbers above a thousand show more than three digits.
    let describe = |value: f64| [format!("{value:.2e}"), ratio(value), quantity(value)];
    if describe(short) == describe(value) { short } else { value }
}

/// Serializes values, with `null` for a missing one.
///
/// # Errors
/// Returns the serializer's errors.
pub fn maybe<S: Serializer>(values: &[Option<f64>], to: S) -> Result<S::Ok, S::Error> {
    let mut all = to.serialize_seq(Some(values.len()))?;
    for value in values {
        let value = value.filter(|value| value.is_finite()).map(rounded);
        match value {
            // Without `.0`.
            Some(whole) if whole.fract() == 0.0 && whole.abs() < EXACT => {
                all.serialize_element(&(whole as i64))?;
            }
            other => all.serialize_element(&other)?,
        }
    }
    all.end()
}

/// Serializes the values of an x axis, none of which is missing. Quantiles close to 1 and points in time keep all their
/// digits.
///
/// # Errors
/// Returns the serializer's errors.
pub fn exact<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
    let mut all = to.serialize_seq(Some(values.len()))?;
    for value in values {
        match value.fract() == 0.0 && value.abs() < EXACT {
            true => all.serialize_element(&(*value as i64))?,
            false => all.serialize_element(value)?,
        }
    }
    all.end()
}

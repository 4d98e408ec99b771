//! Numbers of charts as a page carries them: as short as what is shown of them allows. Thousands of seconds times a
//! dozen series would otherwise be most of the file, and most of that the digits behind the sixth.

use plimsoll_plan::phrase::{quantity, ratio};
use serde::ser::{SerializeSeq, Serializer};

/// Digits that count. Most of what is shown has three.
const DIGITS: i32 = 6;
/// Up to here a float holds every whole number, 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The value with six digits that count; a whole number stays what it is.
pub fn rounded(value: f64) -> f64 {
    if !value.is_finite() || value.fract() == 0.0 {
        return value;
    }
    let places = DIGITS - 1 - value.abs().log10().floor() as i32;
    // Text gives the nearest float of the decimal number; a product by a power of ten does not always.
    let text = match places {
        1.. => format!("{value:.*}", places as usize),
        _ => format!("{value:.0}"),
    };
    let short: f64 = text.parse().unwrap_or(value);
    // Rounded twice, 1.2349996 would be shown as 1.24 where the document's own digits give 1.23.
    // Per cents near 100 and numbers above a thousand have more digits than three.
    let describe = |value: f64| [format!("{value:.2e}"), ratio(value), quantity(value)];
    if describe(short) == describe(value) { short } else { value }
}

/// Values, `null` where there is none.
///
/// # Errors
/// Those of the serializer.
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

/// Values that are all there, of an x axis: quantiles close to 1 and instants keep all their digits.
///
/// # Errors
/// Those of the serializer.
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

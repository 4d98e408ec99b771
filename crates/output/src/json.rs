//! The summary as one JSON document: the same figures as everywhere else, unrounded.

use crate::Error;
use plimsoll_analysis::summary::Summary;
use plimsoll_experiment::compare::Comparison;
use plimsoll_experiment::compare::gate::Gated;
use serde::Serialize;

/// Pretty-printed, fields in the order of the schema, a line break at the end. A number that is not finite becomes
/// `null`: JSON has no other word for it.
///
/// # Errors
/// When the summary holds something that JSON cannot express.
pub fn to_string(s: &Summary) -> Result<String, Error> {
    document(s)
}

/// The same for any other result.
///
/// # Errors
/// As [`to_string`].
pub fn document<T: Serialize>(value: &T) -> Result<String, Error> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(text)
}

/// Comparisons, each with what the gate says of it.
///
/// # Errors
/// As [`to_string`].
pub fn comparisons(comparisons: &[Comparison], gate: &[Gated]) -> Result<String, Error> {
    #[derive(Serialize)]
    struct Document<'a> {
        comparisons: &'a [Comparison],
        /// One per comparison.
        gate: &'a [Gated],
    }
    document(&Document { comparisons, gate })
}

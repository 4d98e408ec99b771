//! The summary as one JSON document: the same figures as everywhere else, unrounded.

use crate::Error;
use plimsoll_record::summary::Summary;
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

//! The timeline as NDJSON: one JSON object a line and second, fields as in `timeline` of the JSON document.

use crate::Error;
use plimsoll_record::summary::Summary;

/// One line per tick, each ended by a line feed.
///
/// # Errors
/// As [`crate::json::to_string`].
pub fn to_string(s: &Summary) -> Result<String, Error> {
    let mut out = String::new();
    for second in &s.timeline {
        out.push_str(&serde_json::to_string(second)?);
        out.push('\n');
    }
    Ok(out)
}

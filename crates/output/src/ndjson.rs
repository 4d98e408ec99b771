//! The timeline as NDJSON: one JSON object a line and second, fields as in `timeline` of the JSON document,
//! and under `watched` what monitors saw in that second.

use crate::Error;
use plimsoll_analysis::summary::{Second, Summary};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    second: &'a Second,
    /// By monitor, part, number and unit, as the columns of the CSV are named.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    watched: BTreeMap<String, f64>,
}

/// One line per tick, each ended by a line feed.
///
/// # Errors
/// As [`crate::json::to_string`].
pub fn to_string(s: &Summary) -> Result<String, Error> {
    let mut out = String::new();
    for second in &s.timeline {
        let to_s = second.from_s + second.length_s;
        let seen = s.courses.iter().filter_map(|c| Some((c.key(), c.within(second.from_s, to_s)?)));
        let line = Line { second, watched: seen.collect() };
        out.push_str(&serde_json::to_string(&line)?);
        out.push('\n');
    }
    Ok(out)
}

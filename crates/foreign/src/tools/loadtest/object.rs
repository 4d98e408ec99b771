//! The result of loadtest's function: an object in JSON, or as JavaScript prints it, without quotes around the names.
//! Times are cut to whole milliseconds, the mean is rounded to a tenth, and requests include the failed ones.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{Comma, count, leading, plain};
use crate::tools::text::Text;

/// Reads the object whose first known field is on this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    if field(text.at(at)).is_none_or(|(name, _)| name != "totalRequests") {
        return None;
    }
    let mut entry = Entry::new(Tool::Loadtest, text, at);
    let (end, mut next, mut inner) = (text.end(at), at, String::new());
    while next < end {
        let (line, number) = (text.at(next), text.number(next));
        next += 1;
        if line.starts_with('}') {
            entry.take(number);
            if inner.is_empty() {
                break;
            }
            inner.clear();
            continue;
        }
        let Some((name, value)) = field(line) else { continue };
        if value == "{" {
            name.clone_into(&mut inner);
            entry.take(number);
        } else if let Some(list) = value.strip_prefix('{') {
            for part in list.trim_end_matches([',', '}', ' ']).split(',') {
                if let Some((key, value)) = field(part) {
                    put(&mut entry, name, key, value, (number, line));
                }
            }
        } else if inner.is_empty() {
            put(&mut entry, "", name, value, (number, line));
        } else {
            let group = inner.clone();
            put(&mut entry, &group, name, value, (number, line));
        }
    }
    entry.label("", "clients");
    if entry.row.label.is_empty() {
        "loadtest".clone_into(&mut entry.row.label);
    }
    entry.finish(document).then_some(next)
}

/// `"rps": 109,` and `rps: 109,` by name and value.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().split_once(':')?;
    let name = name.trim().trim_matches(['"', '\'']);
    Some((name, value.trim().trim_end_matches(',').trim()))
}

fn put(entry: &mut Entry, group: &str, name: &str, value: &str, place: (u32, &str)) {
    let line = place.0;
    let cut = || {
        let figure = plain(value, 1e-3, "ms", line)?;
        Some(Figure { low: figure.value, high: figure.value + 1e-3, ..figure })
    };
    let rounded = |unit: f64, step: f64| {
        let (number, "") = leading(value, Comma::Groups)? else { return None };
        let figure = number.figure(unit, "", value, line);
        Some(Figure { low: figure.value - step / 2.0, high: figure.value + step / 2.0, ..figure })
    };
    let figure = match (group, name) {
        ("", "totalRequests") => (Measure::Requests, count(value, line)),
        ("", "totalErrors") => (Measure::Errors, count(value, line)),
        ("", "totalTimeSeconds") => (Measure::Duration, plain(value, 1.0, "s", line)),
        ("", "rps" | "effectiveRps") => (Measure::Rate, rounded(1.0, 1.0)),
        ("", "meanLatencyMs") => (Measure::Mean, rounded(1e-3, 1e-4)),
        ("", "maxLatencyMs") => (Measure::Max, cut()),
        ("", "minLatencyMs") => (Measure::Min, cut()),
        ("", "clients" | "concurrency") => (Measure::Users, count(value, line)),
        ("percentiles", share) => {
            if let Ok(share) = share.parse() {
                entry.percentile(share, cut(), place);
            }
            return;
        }
        ("errorCodes", code) => {
            entry.other(format!("status {code}"), count(value, line), place);
            return;
        }
        _ => {
            entry.take(line);
            return;
        }
    };
    entry.put(figure.0, figure.1, place);
}

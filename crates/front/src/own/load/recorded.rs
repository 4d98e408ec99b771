//! Recorded arrivals: a file with one timestamp, or one interval, per line.

use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::{Node, Value};
use plimsoll_build::source::Pos;
use plimsoll_plan::unit::duration_ns;
use std::sync::Arc;

/// No run lasts this long. A later timestamp is a date, and the first one becomes the start.
const DATE_NS: f64 = 366.0 * 86_400e9;

/// How to read the lines of a file.
#[derive(Default)]
struct Manner {
    gaps: bool,
    /// Nanoseconds in the unit of a number without one.
    unit_ns: Option<f64>,
    speed: Option<f64>,
}

/// Reads the arrival times, in nanoseconds from the start, ascending.
pub fn read(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Arc<[u64]>> {
    let mut manner = Manner::default();
    let mut file: Option<(String, Pos)> = None;
    let before = r.wrong.len();
    match &node.value {
        Value::Map(entries) => {
            for entry in entries {
                let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
                match key {
                    of::Replay::File => file = r.text(node, row).map(|text| (text.to_owned(), node.pos)),
                    of::Replay::Format => {
                        manner.gaps = r
                            .choice(node, row, &[("timestamps", false), ("intervals", true)])
                            .unwrap_or_default()
                    }
                    of::Replay::Unit => {
                        let words = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];
                        manner.unit_ns = r.choice(node, row, &words);
                    }
                    of::Replay::Speed => {
                        let so_far = r.wrong.len();
                        manner.speed = r.number(node, row).filter(|speed| *speed > 0.0);
                        if manner.speed.is_none() && r.wrong.len() == so_far {
                            r.expected(node, row, "write a number above 0");
                        }
                    }
                }
            }
        }
        _ => file = r.text(node, row).map(|text| (text.to_owned(), node.pos)),
    }
    let Some((name, pos)) = file else {
        if r.wrong.len() == before {
            r.expected(node, row, "name the file");
        }
        return None;
    };
    let text = String::from_utf8_lossy(&r.content(&name, pos)?).into_owned();
    match instants(&text, &manner) {
        Ok(all) => (r.wrong.len() == before).then(|| all.into()),
        Err((line, message, hint)) => {
            let place = if line == 0 { format!("`{name}`") } else { format!("line {line} of `{name}`") };
            r.complain("F032", pos, format!("{place}: {message}"), hint);
            None
        }
    }
}

type ReplayError = (usize, String, &'static str);

fn instants(text: &str, manner: &Manner) -> Result<Vec<u64>, ReplayError> {
    let mut all: Vec<f64> = Vec::new();
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let number = i + 1;
        let ns = time_ns(line, manner.unit_ns).map_err(|(message, hint)| (number, message, hint))?;
        let last = all.last().copied().unwrap_or(0.0);
        if !manner.gaps && ns < last {
            let message = format!("`{line}` is earlier than the timestamp before it");
            return Err((
                number,
                message,
                "sort the file, or write `format: intervals` if these are intervals",
            ));
        }
        all.push(if manner.gaps { last + ns } else { ns });
    }
    let Some(first) = all.first().copied() else {
        return Err((0, "no arrivals".into(), "write one timestamp or one interval per line"));
    };
    let origin = if first > DATE_NS { first } else { 0.0 };
    let speed = manner.speed.unwrap_or(1.0);
    let end_ns = (all.last().copied().unwrap_or(first) - origin) / speed;
    if end_ns > DATE_NS {
        return Err((0, "the arrivals last longer than a year".into(), "check the `unit` of the numbers"));
    }
    Ok(all.iter().map(|ns| ((ns - origin) / speed) as u64).collect())
}

/// Parses a duration such as `1.5s`, or a number in the configured unit.
fn time_ns(text: &str, unit_ns: Option<f64>) -> Result<f64, (String, &'static str)> {
    match (text.parse::<f64>(), unit_ns) {
        (Ok(number), Some(unit_ns)) if number.is_finite() && number >= 0.0 => Ok(number * unit_ns),
        (Ok(number), _) if number < 0.0 || !number.is_finite() => Err((
            format!("invalid time `{text}`"),
            "write a number such as `12.5`, or a time such as `250ms`",
        )),
        (Ok(_), _) => Err((
            format!("missing unit in `{text}`"),
            "set the unit of all numbers with `replay: { file: ..., unit: ms }`, or write it after each",
        )),
        (Err(_), _) => duration_ns(text).map(|ns| ns as f64).map_err(|_| {
            (
                format!("invalid time `{}`", plimsoll_build::sentence::short(text)),
                "write a number such as `12.5`, or a time such as `250ms`",
            )
        }),
    }
}

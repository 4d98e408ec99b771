//! Arrivals as they were recorded: a file with one instant, or one gap, in a line.

use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::{Node, Value};
use crate::source::Pos;
use plimsoll_plan::unit::duration_ns;
use std::sync::Arc;

/// A run is never this long: an instant behind it is a date, counted from the first.
const DATE_NS: f64 = 366.0 * 86_400e9;

/// How the lines of a file are meant.
#[derive(Default)]
struct Manner {
    gaps: bool,
    /// Nanoseconds in a bare number's unit.
    unit_ns: Option<f64>,
    speed: Option<f64>,
}

/// Reads the instants, ns from the start, ascending.
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
                            r.expected(node, row, "give a number above 0");
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
            let message = format!("`{line}` lies before the instant above it");
            return Err((number, message, "sort the file, or say that it holds gaps: `format: intervals`"));
        }
        all.push(if manner.gaps { last + ns } else { ns });
    }
    let Some(first) = all.first().copied() else {
        return Err((0, "no line holds an arrival".into(), "write one instant or one gap a line"));
    };
    let origin = if first > DATE_NS { first } else { 0.0 };
    let speed = manner.speed.unwrap_or(1.0);
    let end_ns = (all.last().copied().unwrap_or(first) - origin) / speed;
    if end_ns > DATE_NS {
        return Err((0, "the arrivals last longer than a year".into(), "check the `unit` of its numbers"));
    }
    Ok(all.iter().map(|ns| ((ns - origin) / speed) as u64).collect())
}

/// `1.5s`, or a number in the unit that was given.
fn time_ns(text: &str, unit_ns: Option<f64>) -> Result<f64, (String, &'static str)> {
    match (text.parse::<f64>(), unit_ns) {
        (Ok(number), Some(unit_ns)) if number.is_finite() && number >= 0.0 => Ok(number * unit_ns),
        (Ok(number), _) if number < 0.0 || !number.is_finite() => Err((
            format!("`{text}` is no time"),
            "expected a number such as `12.5`, or a time such as `250ms`",
        )),
        (Ok(_), _) => Err((
            format!("`{text}` has no unit"),
            "say which: `replay: { file: ..., unit: ms }`; or write it behind every number",
        )),
        (Err(_), _) => duration_ns(text).map(|ns| ns as f64).map_err(|_| {
            (
                format!("`{}` is no time", crate::sentence::short(text)),
                "expected a number such as `12.5`, or a time such as `250ms`",
            )
        }),
    }
}

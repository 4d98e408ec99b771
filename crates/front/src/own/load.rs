//! `load:`, how much and for how long; of the whole file, or of one scenario.

mod climb;
mod recorded;
mod shape;

use super::key::{Row, Section, of};
use super::reader::Reader;
use super::search;
use super::yaml::{Entry, Node, Value};
use crate::source::Pos;
use plimsoll_plan::Problem;
use plimsoll_plan::diag::Field;
use plimsoll_plan::draft::{LoadDraft, key as field};
use plimsoll_plan::experiment::{Find, Step, Until};
use plimsoll_plan::load::Arrivals;
use plimsoll_plan::unit;

/// What a `load:` says.
#[derive(Debug, Default)]
pub struct Load {
    pub draft: LoadDraft,
    /// The key at the left edge says the same.
    pub graceful_stop_ns: Option<u64>,
    /// A ladder from the level that is written.
    pub ladder: Option<Find>,
}

/// Reads a `load:`; `section` says whose it is.
pub fn read(node: &Node, row: &Row, section: Section, r: &mut Reader<'_>) -> Load {
    let mut whole = Load::default();
    let Some(entries) = r.map(node, row) else { return whole };
    let load = &mut whole.draft;
    contradictions(entries, r);
    let torn = refuse_torn(entries, r);
    let mut climb = climb::Climb::default();
    for entry in entries.iter().filter(|entry| !torn.contains(&entry.pos)) {
        let (node, Some((row, key))) = (&entry.value, r.key_in(section, entry)) else { continue };
        if let Some(field) = field_of(key) {
            r.mark(field, node.pos);
        }
        match key {
            // In the closed model a user holds one connection, so both words fill one field.
            of::Load::Users | of::Load::Connections => load.connections = r.count(node, row),
            of::Load::Arrivals => arrivals(node, row, load, r),
            of::Load::Spread => load.arrivals = r.parsed(node, row, spread),
            of::Load::Stages => load.stages = shape::stages(node, row, r),
            of::Load::Rows => load.stages = shape::rows(node, row, r),
            of::Load::Spike => load.stages = shape::spike(node, row, r),
            of::Load::Steps => load.stages = shape::ladder(node, row, r),
            of::Load::Recorded => load.recorded = recorded::read(node, row, r),
            of::Load::Duration => {
                load.duration_ns = r.parsed(node, row, unit::duration_ns).or(load.duration_ns)
            }
            of::Load::Requests => load.requests_total = r.whole(node, row),
            of::Load::Iterations => load.iterations = r.whole(node, row).or(load.iterations),
            of::Load::Loops => load.loops = r.whole(node, row),
            of::Load::Step => climb.step = r.parsed(node, row, Step::parse),
            of::Load::Every => climb.every_ns = search::every(node, row, r),
            of::Load::Until => climb.until = r.parsed(node, row, Until::parse),
            of::Load::GracefulStop => whole.graceful_stop_ns = r.parsed(node, row, unit::duration_ns),
        }
    }
    whole.ladder = climb.settle(entries, load, r);
    whole
}

/// In braces a comma ends the value: `stages: 30s:100, 1m:100` is a key `1m:100` without a value, and of `1,000` is
/// left 1. Returns the places of the keys that are no keys.
fn refuse_torn(entries: &[Entry], r: &mut Reader<'_>) -> Vec<Pos> {
    let mut torn = Vec::new();
    let mut owner: Option<(&Entry, String)> = None;
    let is_rest = |entry: &Entry| {
        let begins = entry.key.starts_with(|c: char| c.is_ascii_digit());
        begins && matches!(&entry.value.value, Value::Scalar(scalar) if scalar.text.is_empty())
    };
    for (i, entry) in entries.iter().enumerate() {
        if !is_rest(entry) {
            owner = match &entry.value.value {
                Value::Scalar(scalar) => Some((entry, scalar.text.clone())),
                _ => None,
            };
            continue;
        }
        let Some((first, text)) = &mut owner else { continue };
        let is_one_number = is_thousands(text, &entry.key);
        text.push_str(if is_one_number { "" } else { ", " });
        text.push_str(&entry.key);
        torn.push(entry.pos);
        if entries.get(i + 1).is_some_and(is_rest) {
            continue;
        }
        let message = format!("in braces a comma ends the value of `{}`", first.key);
        let hint = if first.key == "stages" {
            format!("put the stages in quotes: `\"{text}\"`")
        } else if is_one_number {
            format!("write `{text}`")
        } else if !LEVELS.contains(&first.key.as_str()) {
            format!("`{}` takes one value", first.key)
        } else {
            let per_s = if first.key == "arrivals" { "/s" } else { "" };
            let stages = as_stages(text).unwrap_or_else(|| format!("10s:100{per_s}, 20s:300{per_s}"));
            format!("`{}` is one level; several are `stages: \"{stages}\"`", first.key)
        };
        r.complain("F011", first.value.pos, message, hint);
    }
    torn
}

/// Keys whose value is one level of the load.
const LEVELS: [&str; 4] = ["users", "connections", "rate", "arrivals"];

/// `10` and `000/s`: a number with a comma between its thousands.
fn is_thousands(before: &str, rest: &str) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits == 3 && !before.is_empty() && before.bytes().all(|b| b.is_ascii_digit())
}

/// `100/s for 3s, 300/s for 6s` in the words of stages; `None`: it is not said how long each lasts.
fn as_stages(text: &str) -> Option<String> {
    let each = text.split(", ").map(|one| {
        let (level, time) = one.split_once(" for ")?;
        Some(format!("{}:{}", time.trim(), level.trim()))
    });
    Some(each.collect::<Option<Vec<_>>>()?.join(", "))
}

/// The field of the draft behind a key, if diagnostics of the seal name it.
fn field_of(key: of::Load) -> Option<Field> {
    match key {
        of::Load::Users | of::Load::Connections => Some(field::CONNECTIONS),
        of::Load::Arrivals | of::Load::Recorded => Some(field::RATE),
        of::Load::Spread => Some(field::ARRIVALS),
        of::Load::Stages | of::Load::Rows | of::Load::Spike | of::Load::Steps => Some(field::STAGES),
        of::Load::Duration => Some(field::DURATION),
        of::Load::Requests => Some(field::TOTAL),
        of::Load::Iterations => Some(field::ITERATIONS),
        of::Load::Loops => Some(field::LOOPS),
        of::Load::Step | of::Load::Every | of::Load::Until | of::Load::GracefulStop => None,
    }
}

fn spread(text: &str) -> Result<Arrivals, Problem> {
    match text {
        "constant" => Ok(Arrivals::Constant),
        "poisson" => Ok(Arrivals::Poisson),
        _ => Err(Problem::new(
            format!("`{text}` is no spread of arrivals"),
            "expected `constant` or `poisson`",
        )),
    }
}

/// A rate; or so many arrivals over a time, which is a rate with an end.
fn arrivals(node: &Node, row: &Row, load: &mut LoadDraft, r: &mut Reader<'_>) {
    let Some(text) = r.written(node, row) else { return };
    let Some((number, time)) = text.split_once(" over ") else {
        load.rate_per_s = r.parsed(node, row, unit::rate_per_s);
        return;
    };
    let number = number.trim();
    let Some(arrivals) = number.parse::<u64>().ok().filter(|n| *n > 0) else {
        let message = format!("`{number}` is no number of arrivals");
        r.complain("F015", node.pos, message, "write plain digits, such as `10000 over 15s`");
        return;
    };
    match unit::duration_ns(time) {
        Err(problem) => r.complain_of(node.pos, problem),
        Ok(0) => r.complain(
            "F015",
            node.pos,
            "arrivals over no time at all",
            "give them a time, such as `10000 over 15s`",
        ),
        Ok(duration_ns) => {
            load.rate_per_s = Some(arrivals as f64 * 1e9 / duration_ns as f64);
            load.iterations = Some(arrivals);
            load.duration_ns = Some(duration_ns);
        }
    }
}

/// What the seal cannot see any more, because two keys fill one field. The later key is blamed.
fn contradictions(entries: &[Entry], r: &mut Reader<'_>) {
    let pos = |name: &str| entries.iter().find(|e| e.key == name).map(|e| e.pos);
    if let Some(users) = pos("users") {
        for (other, message, hint) in [
            (
                "connections",
                "`users` and `connections` contradict each other: every user holds one connection",
                "keep `users`; `connections` caps a load that is given by `arrivals`",
            ),
            (
                "arrivals",
                "`users` and `arrivals` contradict each other: users wait for answers, arrivals do not",
                "keep one; the most connections of `arrivals` are set with `connections`",
            ),
        ] {
            if let Some(other) = pos(other) {
                r.complain("F017", users.max(other), message, hint);
            }
        }
    }
    const SHAPES: [&str; 7] = ["users", "arrivals", "stages", "rows", "spike", "steps", "recorded"];
    // Those in front have sentences of their own, here or in the seal.
    for (i, second) in SHAPES.iter().enumerate().skip(3) {
        for first in &SHAPES[..i] {
            if let (Some(one), Some(other)) = (pos(first), pos(second)) {
                let message = format!("`{first}` and `{second}` both say how much load there is");
                r.complain("F017", one.max(other), message, "keep one");
            }
        }
    }
    for (shape, other) in
        [("rows", "duration"), ("spike", "duration"), ("steps", "duration"), ("recorded", "spread")]
    {
        if let (Some(one), Some(other_pos)) = (pos(shape), pos(other)) {
            let message = format!("`{shape}` and `{other}` contradict each other");
            let hint = match other {
                "spread" => "recorded arrivals come when they came",
                _ => "keep the first: it says how long the run is",
            };
            r.complain("F017", one.max(other_pos), message, hint);
        }
    }
    let counted = entries.iter().find(|entry| {
        entry.key == "arrivals"
            && matches!(&entry.value.value, Value::Scalar(scalar) if scalar.text.contains(" over "))
    });
    if let Some(counted) = counted {
        for other in ["duration", "iterations"] {
            if let Some(other_pos) = pos(other) {
                let message = format!("`{other}`, and `arrivals` says so many over a time");
                r.complain("F017", counted.pos.max(other_pos), message, "keep one");
            }
        }
    }
}

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
    let mut total = None;
    for entry in entries.iter().filter(|entry| !torn.contains(&entry.pos)) {
        let (node, Some((row, key))) = (&entry.value, r.key_in(section, entry)) else { continue };
        if let Some(field) = field_of(key) {
            r.mark(field, node.pos);
        }
        match key {
            of::Load::Users => load.users = r.count(node, row),
            of::Load::MaxConnections => load.max_connections = r.count(node, row),
            of::Load::Rate => load.rate_per_s = r.parsed(node, row, unit::rate_per_s),
            of::Load::TotalArrivals => total = r.whole(node, row).map(|number| (number, node.pos)),
            of::Load::Arrivals => load.arrivals = r.parsed(node, row, arrivals),
            of::Load::Stages => load.stages = shape::stages(node, row, r),
            of::Load::Schedule => load.stages = shape::schedule(node, row, r),
            of::Load::Spike => load.stages = shape::spike(node, row, r),
            of::Load::Staircase => load.stages = shape::staircase(node, row, r),
            of::Load::Replay => load.recorded = recorded::read(node, row, r),
            of::Load::Duration => load.duration_ns = r.parsed(node, row, unit::duration_ns),
            of::Load::Requests => load.requests_total = r.whole(node, row),
            of::Load::Iterations => load.iterations = r.whole(node, row),
            of::Load::IterationsPerUser => load.iterations_per_user = r.whole(node, row),
            of::Load::Step => climb.step = r.parsed(node, row, Step::parse),
            of::Load::StepDuration => climb.step_duration_ns = search::length(node, row, r),
            of::Load::StopWhen => climb.stop_when = r.parsed(node, row, Until::parse),
            of::Load::GracefulStop => whole.graceful_stop_ns = r.parsed(node, row, unit::duration_ns),
        }
    }
    if let Some((number, pos)) = total {
        spread(number, pos, entries, load, r);
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
            let per_s = if first.key == "rate" { "/s" } else { "" };
            let stages = as_stages(text).unwrap_or_else(|| format!("10s:100{per_s}, 20s:300{per_s}"));
            format!("`{}` is one level; several are `stages: \"{stages}\"`", first.key)
        };
        r.complain("F011", first.value.pos, message, hint);
    }
    torn
}

/// Keys whose value is one level of the load.
const LEVELS: [&str; 3] = ["users", "max_connections", "rate"];

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
        of::Load::Users => Some(field::USERS),
        of::Load::MaxConnections => Some(field::MAX_CONNECTIONS),
        of::Load::Rate | of::Load::TotalArrivals | of::Load::Replay => Some(field::RATE),
        of::Load::Arrivals => Some(field::ARRIVALS),
        of::Load::Stages | of::Load::Schedule | of::Load::Spike | of::Load::Staircase => Some(field::STAGES),
        of::Load::Duration => Some(field::DURATION),
        of::Load::Requests => Some(field::TOTAL),
        of::Load::Iterations => Some(field::ITERATIONS),
        of::Load::IterationsPerUser => Some(field::ITERATIONS_PER_USER),
        of::Load::Step | of::Load::StepDuration | of::Load::StopWhen | of::Load::GracefulStop => None,
    }
}

fn arrivals(text: &str) -> Result<Arrivals, Problem> {
    match text {
        "constant" => Ok(Arrivals::Constant),
        "poisson" => Ok(Arrivals::Poisson),
        _ => {
            let hint = match unit::rate_per_s(text) {
                Ok(_) => format!("a rate is written `rate: {text}`; expected `constant` or `poisson`"),
                Err(_) => "expected `constant` or `poisson`".to_owned(),
            };
            Err(Problem::new(format!("`{text}` is no spread of arrivals"), hint))
        }
    }
}

/// So many arrivals over the duration, which is a rate with an end.
fn spread(number: u64, pos: Pos, entries: &[Entry], load: &mut LoadDraft, r: &mut Reader<'_>) {
    let has_duration = entries.iter().any(|entry| entry.key == "duration");
    match load.duration_ns {
        _ if number == 0 => {
            r.complain("F015", pos, "a total of 0 arrivals sends nothing", "give at least 1");
        }
        None if !has_duration => {
            let message = "`total_arrivals` without the time over which they are spread";
            r.complain("F016", pos, message, "add it, such as `duration: 15s`");
        }
        // What cannot be read, or is none, is reported where it stands.
        None | Some(0) => {}
        Some(duration_ns) => {
            load.rate_per_s = Some(number as f64 * 1e9 / duration_ns as f64);
            load.iterations = Some(number);
            load.is_total = true;
        }
    }
}

/// What the seal cannot see any more, because two keys fill one field. The later key is blamed.
fn contradictions(entries: &[Entry], r: &mut Reader<'_>) {
    let pos = |name: &str| entries.iter().find(|e| e.key == name).map(|e| e.pos);
    if let Some(users) = pos("users") {
        for (other, message, hint) in [
            (
                "max_connections",
                "`users` and `max_connections` contradict each other: every user holds one connection",
                "keep `users`; `max_connections` caps a load that is given by a `rate`",
            ),
            (
                "rate",
                "`users` and `rate` contradict each other: users wait for answers, arrivals do not",
                "keep one; the most connections of a `rate` are set with `max_connections`",
            ),
        ] {
            if let Some(other) = pos(other) {
                r.complain("F017", users.max(other), message, hint);
            }
        }
    }
    const SHAPES: [&str; 8] =
        ["users", "rate", "stages", "total_arrivals", "schedule", "spike", "staircase", "replay"];
    // Those in front have sentences of their own, here or in the seal.
    for (i, second) in SHAPES.iter().enumerate().skip(3) {
        for first in &SHAPES[..i] {
            if let (Some(one), Some(other)) = (pos(first), pos(second)) {
                let message = format!("`{first}` and `{second}` both say how much load there is");
                r.complain("F017", one.max(other), message, "keep one");
            }
        }
    }
    for (shape, other) in [
        ("schedule", "duration"),
        ("spike", "duration"),
        ("staircase", "duration"),
        ("replay", "arrivals"),
        ("total_arrivals", "iterations"),
    ] {
        if let (Some(one), Some(other_pos)) = (pos(shape), pos(other)) {
            let message = format!("`{shape}` and `{other}` contradict each other");
            let hint = match other {
                "arrivals" => "recorded arrivals come when they came",
                "iterations" => "keep the first: it says how many iterations there are",
                _ => "keep the first: it says how long the run is",
            };
            r.complain("F017", one.max(other_pos), message, hint);
        }
    }
}

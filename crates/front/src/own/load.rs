//! `load:`: the load model of the whole file, or of one scenario.

mod climb;
mod recorded;
mod shape;

use super::key::{Row, Section, of};
use super::reader::Reader;
use super::search;
use super::yaml::{Entry, Node, Value};
use plimsoll_build::nearest::nearest;
use plimsoll_build::source::Pos;
use plimsoll_plan::Problem;
use plimsoll_plan::diag::Field;
use plimsoll_plan::draft::{LoadDraft, key as field};
use plimsoll_plan::experiment::{Find, Step, Until};
use plimsoll_plan::load::Arrivals;
use plimsoll_plan::unit;

/// The content of a `load:`.
#[derive(Debug, Default)]
pub struct Load {
    pub draft: LoadDraft,
    /// Also a key at the top level.
    pub graceful_stop_ns: Option<u64>,
    /// A ladder that starts from the configured level.
    pub ladder: Option<Find>,
}

/// Reads a `load:`. `section` says whether it belongs to the file or to a scenario.
pub fn read(node: &Node, row: &Row, section: Section, r: &mut Reader<'_>) -> Load {
    let mut whole = Load::default();
    let Some(entries) = r.map(node, row) else { return whole };
    let load = &mut whole.draft;
    contradictions(entries, r);
    let torn = refuse_torn(entries, r);
    let mut climb = climb::Climb::default();
    let mut total = None;
    for entry in entries.iter().filter(|entry| !torn.contains(&entry.pos)) {
        if let Some(hint) = ramp_as_stages(entry, entries) {
            r.complain("F011", entry.pos, format!("unknown key `{}` {}", entry.key, section.name()), hint);
            continue;
        }
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

/// Reports values that a comma cut in two. In braces, `stages: 30s:100, 1m:100` makes a key `1m:100` without a value,
/// and `1,000` becomes 1. Returns the places of the keys that are remains of values.
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
        let message = format!("the comma ends the value of `{}`", first.key);
        let hint = if first.key == "stages" {
            format!("put the stages in quotes: `\"{text}\"`")
        } else if is_one_number {
            format!("write `{text}`")
        } else if !LEVELS.contains(&first.key.as_str()) {
            format!("write one value for `{}`", first.key)
        } else {
            let per_s = if first.key == "rate" { "/s" } else { "" };
            let stages = as_stages(text).unwrap_or_else(|| format!("10s:100{per_s}, 20s:300{per_s}"));
            format!("write one level for `{}`, or several as `stages: \"{stages}\"`", first.key)
        };
        r.complain("F011", first.value.pos, message, hint);
    }
    torn
}

/// Keys whose value is one level of the load.
const LEVELS: [&str; 3] = ["users", "max_connections", "rate"];

/// Returns whether two pieces are a number with a thousands separator, such as `10` and `000/s`.
fn is_thousands(before: &str, rest: &str) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits == 3 && !before.is_empty() && before.bytes().all(|b| b.is_ascii_digit())
}

/// Returns the text of a value that is one scalar.
fn written<'n>(entries: &'n [Entry], name: &str) -> Option<&'n str> {
    match &entries.iter().find(|entry| entry.key == name)?.value.value {
        Value::Scalar(scalar) if !scalar.text.is_empty() => Some(&scalar.text),
        _ => None,
    }
}

/// Rewrites the ramp-up of JMeter, which is a part of the duration, as stages with the file's own numbers.
fn ramp_as_stages(entry: &Entry, entries: &[Entry]) -> Option<String> {
    if !matches!(entry.key.as_str(), "ramp_up" | "rampup" | "ramp") {
        return None;
    }
    let seconds = |name: &str| {
        let ns = unit::duration_ns(written(entries, name)?).ok()?;
        (ns % unit::SECOND_NS == 0).then_some(ns / unit::SECOND_NS)
    };
    let users: u32 = written(entries, "users")?.parse().ok()?;
    let (ramp, whole) = (seconds(&entry.key)?, seconds("duration")?);
    let hold = whole.checked_sub(ramp).filter(|hold| *hold > 0)?;
    Some(format!(
        "replace `users`, `duration`, and `{}` with `stages: \"{ramp}s:{users}, {hold}s:{users}\"` (up to {users} \
         users in {ramp} s, then {hold} s more)",
        entry.key
    ))
}

/// Rewrites `100/s for 3s, 300/s for 6s` as stages. Returns `None` if a level has no duration.
fn as_stages(text: &str) -> Option<String> {
    let each = text.split(", ").map(|one| {
        let (level, time) = one.split_once(" for ")?;
        Some(format!("{}:{}", time.trim(), level.trim()))
    });
    Some(each.collect::<Option<Vec<_>>>()?.join(", "))
}

/// Returns the field of the draft that a key sets, if diagnostics of the seal name it.
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
                Ok(_) => format!("to set the rate, write `rate: {text}`"),
                Err(_) => match nearest(text, ["constant", "poisson"]) {
                    Some(right) => format!("did you mean `{right}`?"),
                    None => "write `arrivals: constant` or `arrivals: poisson`".to_owned(),
                },
            };
            Err(Problem::new(format!("invalid arrivals `{text}`: expected `constant` or `poisson`"), hint))
        }
    }
}

/// Spreads a number of arrivals over the duration, which makes a rate with an end.
fn spread(number: u64, pos: Pos, entries: &[Entry], load: &mut LoadDraft, r: &mut Reader<'_>) {
    let has_duration = entries.iter().any(|entry| entry.key == "duration");
    match load.duration_ns {
        _ if number == 0 => {
            r.complain("F015", pos, "`total_arrivals` must be at least 1", "write a number such as `10000`");
        }
        None if !has_duration => {
            let message = "missing `duration`: `total_arrivals` are spread over it";
            r.complain("F016", pos, message, "add a duration, such as `duration: 15s`");
        }
        // An invalid duration and one of 0 are reported at their place.
        None | Some(0) => {}
        Some(duration_ns) => {
            load.rate_per_s = Some(number as f64 * 1e9 / duration_ns as f64);
            load.iterations = Some(number);
            load.is_total = true;
        }
    }
}

/// Reports contradictions that the seal cannot see, because two keys set one field. The later key gets the blame.
fn contradictions(entries: &[Entry], r: &mut Reader<'_>) {
    let pos = |name: &str| entries.iter().find(|e| e.key == name).map(|e| e.pos);
    if let Some(users) = pos("users") {
        let number = written(entries, "users").unwrap_or("10");
        let limit = format!(
            "keep one of them; to limit the connections of `rate`, write `max_connections: {number}` instead of \
             `users: {number}`"
        );
        for (other, message, hint) in [
            (
                "max_connections",
                "`users` and `max_connections` contradict each other: each user has one connection",
                "keep `users` (`max_connections` limits the connections of a `rate`)",
            ),
            (
                "rate",
                "`users` and `rate` contradict each other: users wait for responses, arrivals do not",
                limit.as_str(),
            ),
        ] {
            if let Some(other) = pos(other) {
                r.complain("F017", users.max(other), message, hint);
            }
        }
    }
    const SHAPES: [&str; 8] =
        ["users", "rate", "stages", "total_arrivals", "schedule", "spike", "staircase", "replay"];
    // The first three have their own messages, above or in the seal.
    for (i, second) in SHAPES.iter().enumerate().skip(3) {
        for first in &SHAPES[..i] {
            if let (Some(one), Some(other)) = (pos(first), pos(second)) {
                let message = format!("`{first}` and `{second}` both set the load");
                r.complain("F017", one.max(other), message, "keep one of them");
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
                "arrivals" => "remove `arrivals`, because recorded arrivals keep their times".to_owned(),
                "iterations" => format!("remove `iterations`, because `{shape}` sets their number"),
                _ => format!("remove `duration`, because `{shape}` sets it"),
            };
            r.complain("F017", one.max(other_pos), message, hint);
        }
    }
}

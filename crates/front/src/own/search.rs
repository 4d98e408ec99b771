//! `find:`: a search instead of one run, with what it varies, its range, and how it ends.
//!
//! The search sets the level and the duration of each run, so nothing else in the file may set them: if a `duration`
//! were ignored, the test would not be the one in the file.

use super::key::{Row, Section, of};
use super::reader::Reader;
use super::yaml::{Entry, Node, Value};
use plimsoll_build::source::Pos;
use plimsoll_plan::Problem;
use plimsoll_plan::draft::Draft;
use plimsoll_plan::experiment::{Find, Step, Until};
use plimsoll_plan::unit;

/// A wider interval would be a guess.
const WIDEST: f64 = 0.5;
/// More repeats would take too long.
const MOST_CONFIRMING: u32 = 100;

/// Reads a `find:`.
pub fn read(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Find> {
    let entries = r.map(node, row)?;
    let before = r.wrong.len();
    let mut find = Find::default();
    // `vary` comes first, wherever it is in the file, because it says what levels are.
    let vary = entries.iter().find(|entry| entry.key == "vary");
    if let Some((entry, row)) = vary.and_then(|entry| Some((entry, r.row(Section::Find, entry)?))) {
        find.users = r.choice(&entry.value, row, &[("rate", false), ("users", true)]).unwrap_or_default();
    }
    for entry in entries.iter().filter(|entry| entry.key != "vary") {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            // Read above, before the others.
            of::Find::Vary => {}
            of::Find::From => find.from = level(node, row, find.users, r),
            of::Find::To => find.to = level(node, row, find.users, r),
            of::Find::Step => find.step = r.parsed(node, row, Step::parse),
            of::Find::StopWhen => find.stop_when = r.parsed(node, row, Until::parse),
            of::Find::StepDuration => find.step_duration_ns = length(node, row, r),
            of::Find::Precision => find.precision = r.parsed(node, row, precision),
            of::Find::MaxTime => find.max_time_ns = length(node, row, r),
            of::Find::Confirm => find.confirm = confirm(node, row, r),
        }
    }
    contradictions(entries, &find, r);
    (r.wrong.len() == before).then_some(find)
}

fn level(node: &Node, row: &Row, users: bool, r: &mut Reader<'_>) -> Option<f64> {
    r.parsed(node, row, |text| {
        if !users {
            return unit::rate_per_s(text);
        }
        let number = text.parse::<u32>().ok().filter(|number| *number > 0);
        number.map(f64::from).ok_or_else(|| {
            Problem::new(
                format!("invalid number of users `{text}`: `vary: users` expects a whole number"),
                "write a number such as `100`",
            )
        })
    })
}

/// Reads the duration of a level, which must be above 0.
pub fn length(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<u64> {
    r.parsed(node, row, |text| match unit::duration_ns(text)? {
        0 => {
            let message = format!("`{}` must be longer than 0", row.name);
            Err(Problem::new(message, "write a duration such as `15s`"))
        }
        ns => Ok(ns),
    })
}

fn precision(text: &str) -> Result<f64, Problem> {
    let ratio = unit::ratio(text)?;
    match ratio > 0.0 && ratio <= WIDEST {
        true => Ok(ratio),
        false => Err(Problem::new(
            format!("invalid precision `{text}`: it must be above 0% and at most 50%"),
            "write a percentage such as `2%`",
        )),
    }
}

fn confirm(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<u32> {
    let number = r.count(node, row)?;
    if (1..=MOST_CONFIRMING).contains(&number) {
        return Some(number);
    }
    let message = format!("invalid `confirm`: expected 1–{MOST_CONFIRMING}, found `{number}`");
    r.complain("F015", node.pos, message, "write a number such as `3`");
    None
}

fn contradictions(entries: &[Entry], find: &Find, r: &mut Reader<'_>) {
    let pos = |name: &str| entries.iter().find(|entry| entry.key == name).map(|entry| entry.pos);
    // Valid levels are above 0; invalid ones are reported at their place.
    if let (Some(from), Some(to), Some(at)) = (find.from, find.to, pos("to"))
        && from >= to
    {
        let message = "`to` must be above `from`";
        r.complain("F017", at, message, "write the first level as `from`, and the highest as `to`");
    }
    let Some(step) = pos("step") else {
        if let Some(stop_when) = pos("stop_when") {
            let message = "missing `step`: `stop_when` requires it";
            r.complain(
                "F016",
                stop_when,
                message,
                "add a step, such as `step: x1.10`, or remove `stop_when`",
            );
        }
        return;
    };
    if pos("stop_when").or(pos("to")).is_none() {
        r.complain(
            "F016",
            step,
            "missing stop condition: `step` requires `stop_when` or `to`",
            "add one of them, such as `stop_when: offered - achieved > 5%` or `to: 5000/s`",
        );
    }
    for name in ["precision", "confirm"] {
        if let Some(other) = pos(name) {
            let message =
                format!("`step` and `{name}` contradict each other: with `step`, each level runs once");
            r.complain(
                "F017",
                step.max(other),
                message,
                "remove one of them (without `step`, the search bisects and confirms its result)",
            );
        }
    }
}

/// Reports keys of the file's `load` that set what the search sets.
pub fn judge_load(pos: Pos, users: bool, load: Option<&Node>, r: &mut Reader<'_>) {
    let Some(Node { value: Value::Map(entries), .. }) = load else { return };
    const LEVELS: [&str; 8] =
        ["users", "rate", "total_arrivals", "stages", "schedule", "spike", "staircase", "replay"];
    const ENDS: [&str; 4] = ["duration", "requests", "iterations", "iterations_per_user"];
    for entry in entries {
        let name = entry.key.as_str();
        let (message, hint) = if name == "step" {
            ("`find` and `step` under `load` are two searches".to_owned(), "keep one of them")
        // A search over users has no connection limit: each user has one connection.
        } else if LEVELS.contains(&name) || users && name == "max_connections" {
            (
                format!("`find` and `{name}` both set the level"),
                "remove it, and write the first level as `from` under `find`",
            )
        } else if ENDS.contains(&name) {
            (
                format!("`find` and `{name}` both set the length of the runs"),
                "remove it, and write `step_duration` under `find`",
            )
        } else {
            continue;
        };
        r.complain("F017", pos.max(entry.pos), message, hint);
    }
}

/// Sets the first level of a search as the load of its draft, so that the draft is validated as its kind of load. The
/// search sets the level of each run.
pub fn stand_in(find: &Find, draft: &mut Draft) {
    match find.users {
        true => draft.load.users = Some(find.from.map_or(1, |users| users as u32)),
        false => draft.load.rate_per_s = Some(find.from.unwrap_or(1.0)),
    }
}

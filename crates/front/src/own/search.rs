//! `find:`, a search in place of one run: what it varies, from where to where, and how it ends.
//!
//! The search sets the level and the length of each of its runs, so that nothing else in the file may: a `duration`
//! that is ignored would be about another test than the one that is written.

use super::key::{Row, Section, of};
use super::reader::Reader;
use super::yaml::{Entry, Node, Value};
use crate::source::Pos;
use plimsoll_plan::Problem;
use plimsoll_plan::draft::Draft;
use plimsoll_plan::experiment::{Find, Step, Until};
use plimsoll_plan::unit;

/// Wider than this, an answer would be a guess.
const WIDEST: f64 = 0.5;
/// More repeats than anybody waits for.
const MOST_CONFIRMING: u32 = 100;

/// Reads a `find:`.
pub fn read(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Find> {
    let entries = r.map(node, row)?;
    let before = r.wrong.len();
    let mut find = Find::default();
    // What levels are has to be known before the levels are read, wherever it stands.
    let vary = entries.iter().find(|entry| entry.key == "vary");
    if let Some((entry, row)) = vary.and_then(|entry| Some((entry, r.row(Section::Find, entry)?))) {
        find.users = r.choice(&entry.value, row, &[("rate", false), ("users", true)]).unwrap_or_default();
    }
    for entry in entries.iter().filter(|entry| entry.key != "vary") {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            // Read in front of the others.
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
                format!("`{text}` is no number of users"),
                "`vary: users` expects whole numbers such as `100`",
            )
        })
    })
}

/// The length of a level, above 0.
pub fn length(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<u64> {
    r.parsed(node, row, |text| match unit::duration_ns(text)? {
        0 => Err(Problem::new("a level that lasts no time shows nothing", "give it a time such as `15s`")),
        ns => Ok(ns),
    })
}

fn precision(text: &str) -> Result<f64, Problem> {
    let ratio = unit::ratio(text)?;
    match ratio > 0.0 && ratio <= WIDEST {
        true => Ok(ratio),
        false => Err(Problem::new(
            format!("an answer within `{text}` cannot be sought"),
            "expected a part such as `2%`, at most `50%`",
        )),
    }
}

fn confirm(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<u32> {
    let number = r.count(node, row)?;
    if (1..=MOST_CONFIRMING).contains(&number) {
        return Some(number);
    }
    let message = format!("`{number}` confirming runs confirm nothing, or never end");
    r.complain("F015", node.pos, message, format!("expected 1 to {MOST_CONFIRMING}, such as `3`"));
    None
}

fn contradictions(entries: &[Entry], find: &Find, r: &mut Reader<'_>) {
    let pos = |name: &str| entries.iter().find(|entry| entry.key == name).map(|entry| entry.pos);
    // Both are above 0 where they could be read; what could not is reported there.
    if let (Some(from), Some(to), Some(at)) = (find.from, find.to, pos("to"))
        && from >= to
    {
        let message = "`to` is not above `from`: there is no level between them";
        r.complain("F017", at, message, "`from` is the first level, `to` the highest that is tried");
    }
    let Some(step) = pos("step") else {
        if let Some(stop_when) = pos("stop_when") {
            let message = "`stop_when` ends a ladder, and no `step` says how its levels rise";
            r.complain(
                "F016",
                stop_when,
                message,
                "add one, such as `step: x1.10`; a search without ends with its answer",
            );
        }
        return;
    };
    if pos("stop_when").or(pos("to")).is_none() {
        r.complain(
            "F016",
            step,
            "nothing says when the ladder ends",
            "add an end, such as `stop_when: offered - achieved > 5%` or `to: 5000/s`",
        );
    }
    for name in ["precision", "confirm"] {
        if let Some(other) = pos(name) {
            let message =
                format!("`step` and `{name}` contradict each other: a ladder visits each level once");
            r.complain(
                "F017",
                step.max(other),
                message,
                "leave `step` out to have the answer enclosed and confirmed",
            );
        }
    }
}

/// Whether the load beside a search leaves the level to it. `load` is what the file has under that key.
pub fn judge_load(pos: Pos, users: bool, load: Option<&Node>, r: &mut Reader<'_>) {
    let Some(Node { value: Value::Map(entries), .. }) = load else { return };
    const LEVELS: [&str; 8] =
        ["users", "rate", "total_arrivals", "stages", "schedule", "spike", "staircase", "replay"];
    const ENDS: [&str; 4] = ["duration", "requests", "iterations", "iterations_per_user"];
    for entry in entries {
        let name = entry.key.as_str();
        let (message, hint) = if name == "step" {
            ("`find` and a ladder under `load` are two searches".to_owned(), "keep one")
        // With users as levels there is nothing to cap: each holds one connection.
        } else if LEVELS.contains(&name) || users && name == "max_connections" {
            (
                format!("`find` sets the level, and so does `{name}`"),
                "leave it out; `from` names the first level",
            )
        } else if ENDS.contains(&name) {
            (
                format!("`find` says how long its runs are, and so does `{name}`"),
                "write `step_duration` under `find`",
            )
        } else {
            continue;
        };
        r.complain("F017", pos.max(entry.pos), message, hint);
    }
}

/// The first level of a search as the load of its draft, so that the draft is judged as the kind of load that it will
/// be. The search sets each level that it runs.
pub fn stand_in(find: &Find, draft: &mut Draft) {
    match find.users {
        true => draft.load.users = Some(find.from.map_or(1, |users| users as u32)),
        false => draft.load.rate_per_s = Some(find.from.unwrap_or(1.0)),
    }
}

//! `load:`, how much and for how long.

use super::key::{Row, Section};
use super::one_or_more;
use super::reader::Reader;
use super::yaml::{Entry, Node, Pos, Value};
use plimsoll_plan::draft::{Draft, key as field};
use plimsoll_plan::load::{Arrivals, Profile, stages};
use plimsoll_plan::unit;

/// Reads `load:` into the draft.
pub fn read(node: &Node, row: &Row, draft: &mut Draft, r: &mut Reader<'_>) {
    let Some(entries) = r.map(node, row) else { return };
    contradictions(entries, r);
    for entry in entries {
        let (node, Some(row)) = (&entry.value, r.row(Section::Load, entry)) else { continue };
        r.mark(field_of(row.name), node.pos);
        match row.name {
            // In the closed model a user holds one connection, so both words fill one field.
            "users" | "connections" => draft.connections = r.count(node, row),
            "arrivals" => draft.rate_per_s = r.parsed(node, row, unit::rate_per_s),
            "spread" => draft.arrivals = r.parsed(node, row, spread),
            "stages" => draft.stages = profile(node, row, r),
            "duration" => draft.duration_ns = r.parsed(node, row, unit::duration_ns),
            "requests" => draft.requests_total = r.whole(node, row),
            _ => {}
        }
    }
}

fn field_of(name: &str) -> &'static str {
    match name {
        "users" | "connections" => field::CONNECTIONS,
        "arrivals" => field::RATE,
        "spread" => field::ARRIVALS,
        "stages" => field::STAGES,
        "duration" => field::DURATION,
        _ => field::TOTAL,
    }
}

fn spread(text: &str) -> Result<Arrivals, String> {
    match text {
        "constant" => Ok(Arrivals::Constant),
        "poisson" => Ok(Arrivals::Poisson),
        _ => Err(format!("`{text}` is no spread of arrivals; expected `constant` or `poisson`")),
    }
}

/// What the seal cannot see any more, because two keys fill one field. The later key is blamed.
fn contradictions(entries: &[Entry], r: &mut Reader<'_>) {
    let pos = |name: &str| entries.iter().find(|e| e.key == name).map(|e| e.pos);
    let Some(users) = pos("users") else { return };
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

/// A profile from its list, or from the text that the flag takes. Each stage is read by the one grammar that there
/// is; only to blame the right one, stages are tried one by one when the whole is refused.
fn profile(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<(Profile, bool)> {
    let mut written: Vec<(Pos, String)> = Vec::new();
    let items = one_or_more(node);
    for item in items {
        let text = match &item.value {
            Value::Map(entries) => stage(item.pos, entries, r),
            _ => r.written(item, row).map(str::to_owned),
        };
        written.extend(text.map(|text| (item.pos, text)));
    }
    if written.len() < items.len() {
        return None;
    }
    let is_rate = |text: &str| text.contains('/');
    // One stage that makes any other lawful: it lasts and it is above 0.
    let alone = |text: &str| stages(&format!("{text},1s:1{}", if is_rate(text) { "/s" } else { "" }));
    for (pos, text) in &written {
        if let Err(sentence) = alone(text) {
            r.complain_sentence(*pos, &sentence.replace(",1s:1/s`", "`").replace(",1s:1`", "`"));
            return None;
        }
    }
    let whole = written.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(",");
    if whole.is_empty() {
        r.complain("F015", node.pos, "there is no stage", format!("expected {}", row.expects));
        return None;
    }
    stages(&whole).map_err(|sentence| r.complain_sentence(node.pos, &sentence)).ok()
}

/// `{ duration: 10s, users: 100 }` as the flag would write it: `10s:100`.
fn stage(pos: Pos, entries: &[Entry], r: &mut Reader<'_>) -> Option<String> {
    let before = r.wrong.len();
    let (mut time, mut level) = (None, None);
    for entry in entries {
        let (node, Some(row)) = (&entry.value, r.row(Section::Stage, entry)) else { continue };
        if row.name == "duration" {
            time = r.parsed(node, row, |text| unit::duration_ns(text).map(|_| text.to_owned()));
            continue;
        }
        if level.is_some() {
            r.complain("F017", entry.pos, "a stage has either `users` or `arrivals`", "keep one");
        }
        level = match row.name {
            "users" => r.count(node, row).map(|users| users.to_string()),
            _ => r.written(node, row).map(|t| if t.contains('/') { t.to_owned() } else { format!("{t}/s") }),
        };
    }
    if r.wrong.len() > before {
        return None;
    }
    match (time, level) {
        (Some(time), Some(level)) => Some(format!("{time}:{level}")),
        (time, _) => {
            let (missing, hint) = match time {
                None => ("duration", "add how long it lasts, such as `duration: 10s`"),
                Some(_) => ("users", "add a level, such as `users: 100` or `arrivals: 100/s`"),
            };
            r.complain("F016", pos, format!("this stage lacks `{missing}`"), hint);
            None
        }
    }
}

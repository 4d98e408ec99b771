//! Extractions: values out of an answer, for the steps to come.

use super::rule;
use crate::own::key::{Row, Section};
use crate::own::work::Work;
use crate::own::yaml::{Node, Value};
use plimsoll_plan::answer::{Extract, Pick, Source};
use plimsoll_plan::script::Ask;
use plimsoll_plan::value::{Escape, Text};

/// Reads `extract:` into the request.
pub fn read(node: &Node, row: &Row, ask: &mut Ask, w: &mut Work<'_>) {
    let Some(entries) = w.r.map(node, row) else { return };
    if entries.is_empty() {
        w.r.expected(node, row, "name at least one value");
    }
    // First the places, then the names: a default may use what was known before, not what this answer gives.
    let found: Vec<_> = entries.iter().map(|entry| (entry, place(&entry.value, row, w))).collect();
    for (entry, place) in found {
        let slot = w.slot(&entry.key, entry.pos);
        if let (Some(into), Some((from, pick, default))) = (slot, place) {
            ask.extracts.push(Extract { into, name: entry.key.clone(), from, pick, default });
        }
    }
}

type Place = (Source, Pick, Option<Text>);

fn place(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Place> {
    let Value::Map(entries) = &node.value else {
        let text = w.r.written(node, row)?.to_owned();
        let from = match text.as_str() {
            "status" => Source::Status,
            "body" => Source::Body,
            path if path.starts_with('$') => {
                rule::json_path(path, node.pos, w)?;
                Source::Json(path.to_owned())
            }
            _ => {
                let message = format!("`{}` is no place in an answer", crate::own::expression::short(&text));
                let hint = "write a JSONPath such as `$.token`, `status`, `body`, `{ header: Location }`, \
                            `{ cookie: sid }` or `{ regex: \"id=([0-9]+)\" }`";
                w.r.complain("F015", node.pos, message, hint);
                return None;
            }
        };
        return Some((from, Pick::First, None));
    };
    let before = w.r.wrong.len();
    let mut from: Option<(&'static str, Source)> = None;
    let (mut pick, mut default, mut group, mut groups) = (None, None, None, None);
    for entry in entries {
        let (node, Some(row)) = (&entry.value, w.r.row(Section::Extract, entry)) else { continue };
        let source = match row.name {
            "pick" => {
                let words = [
                    ("first", Pick::First),
                    ("last", Pick::Last),
                    ("random", Pick::Random),
                    ("count", Pick::Count),
                ];
                pick = w.r.choice(node, row, &words).map(|pick| (pick, entry.pos));
                continue;
            }
            "default" => {
                default = w.template(node, row, Escape::None);
                continue;
            }
            "group" => {
                group = w.r.count(node, row).map(|number| (number, entry.pos));
                continue;
            }
            "json" => {
                let path = w.r.text(node, row)?.to_owned();
                rule::json_path(&path, node.pos, w)?;
                Source::Json(path)
            }
            "regex" => {
                let pattern = w.r.text(node, row)?.to_owned();
                groups = Some(rule::regex(&pattern, node.pos, w)?);
                Source::Regex { pattern, group: 0 }
            }
            "header" => Source::Header(w.r.text(node, row)?.to_owned()),
            _ => Source::Cookie(w.r.text(node, row)?.to_owned()),
        };
        if let Some((first, _)) = &from {
            let message = format!("`{first}` and `{}` in one extraction", row.name);
            w.r.complain("F017", entry.pos, message, "keep one");
        }
        from = Some((row.name, source));
    }
    let Some((key, mut from)) = from else {
        if w.r.wrong.len() == before {
            w.r.expected(node, row, "name `json`, `regex`, `header` or `cookie`");
        }
        return None;
    };
    match (&mut from, groups) {
        (Source::Regex { group: chosen, .. }, Some(groups)) => {
            // Whoever writes a group means it; without one, the whole match.
            let usual = u32::from(groups > 0);
            let (number, pos) = group.unwrap_or((usual, node.pos));
            if number as usize > groups {
                let message = format!("group {number} of a pattern that has {groups}");
                w.r.complain("F015", pos, message, "groups are counted from 1 by their opening brackets");
                return None;
            }
            *chosen = number as u16;
        }
        _ => {
            if let Some((_, pos)) = group {
                w.r.complain("F017", pos, format!("`{key}` has no groups"), "`group` belongs to `regex`");
            }
        }
    }
    if let (Some((_, pos)), Source::Cookie(_)) = (&pick, &from) {
        w.r.complain("F017", *pos, "of a cookie there is one", "leave out `pick`");
    }
    (w.r.wrong.len() == before).then(|| (from, pick.map_or(Pick::First, |(pick, _)| pick), default))
}

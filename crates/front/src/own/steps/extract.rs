//! Extractions: values from a response, for later steps.

use super::{rule, source};
use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::{Node, Value};
use plimsoll_build::draft::{ExtractDraft, NameDraft, TextDraft};
use plimsoll_plan::answer::{Pick, Source};
use plimsoll_plan::phrase::counted;
use plimsoll_plan::value::Escape;

/// Reads `extract:`.
pub fn read(node: &Node, row: &Row, r: &mut Reader<'_>) -> Vec<ExtractDraft> {
    let Some(entries) = r.map(node, row) else { return Vec::new() };
    if entries.is_empty() {
        r.expected(node, row, "add at least one value");
    }
    let all = entries.iter().map(|entry| {
        let (from, default) = place(&entry.value, row, r)
            .map_or((None, None), |(from, pick, default)| (Some((from, pick)), default));
        let into = NameDraft { name: entry.key.clone(), pos: entry.pos };
        ExtractDraft { into, from, default }
    });
    all.collect()
}

/// A place, what to take from it, and what to use if it has nothing.
pub type Place = (Source, Pick, Option<TextDraft>);

/// Reads the place of a value.
pub fn place(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Place> {
    let Value::Map(entries) = &node.value else {
        let text = r.written(node, row)?.to_owned();
        let from = match text.as_str() {
            "status" => Source::Status,
            "body" => Source::Body,
            path if path.starts_with('$') => {
                rule::json_path(path, node.pos, r)?;
                Source::Json(path.to_owned())
            }
            _ => {
                let message =
                    format!("unknown place `{}` in a response", plimsoll_build::sentence::short(&text));
                let name = match text.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c)) {
                    true => text.as_str(),
                    false => "token",
                };
                let hint = format!(
                    "write a JSONPath such as `$.{name}`, `status`, `body`, `{{ header: Location }}`, \
                     `{{ cookie: sid }}`, or `{{ regex: \"id=([0-9]+)\" }}`"
                );
                r.complain("F015", node.pos, message, hint);
                return None;
            }
        };
        return Some((from, Pick::First, None));
    };
    let before = r.wrong.len();
    let mut from: Option<(&'static str, Source)> = None;
    let (mut pick, mut default, mut group, mut groups) = (None, None, None, None);
    let attribute = entries.iter().find(|entry| entry.key == "attribute");
    let attribute = attribute.and_then(|entry| {
        let (row, _) = r.key::<of::Extract>(entry)?;
        Some((r.text(&entry.value, row)?.to_owned(), entry.pos))
    });
    for entry in entries {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        let found = match key {
            of::Extract::Attribute => continue,
            of::Extract::XPath => {
                let text = r.text(node, row)?.to_owned();
                source::xpath(&text, node.pos, r)?
            }
            of::Extract::Css => {
                let text = r.text(node, row)?.to_owned();
                source::css(&text, attribute.as_ref().map(|(name, _)| name.as_str()), node.pos, r)?
            }
            of::Extract::JmesPath => {
                let text = r.text(node, row)?.to_owned();
                source::jmespath(&text, node.pos, r)?
            }
            of::Extract::Boundary => source::boundary(node, row, r)?,
            of::Extract::Pick => {
                let words = [
                    ("first", Pick::First),
                    ("last", Pick::Last),
                    ("random", Pick::Random),
                    ("count", Pick::Count),
                ];
                pick = r.choice(node, row, &words).map(|pick| (pick, entry.pos));
                continue;
            }
            of::Extract::Default => {
                default = r.template(node, row, Escape::None);
                continue;
            }
            of::Extract::Group => {
                group = r.count(node, row).map(|number| (number, entry.pos));
                continue;
            }
            of::Extract::Json => {
                let path = r.text(node, row)?.to_owned();
                rule::json_path(&path, node.pos, r)?;
                Source::Json(path)
            }
            of::Extract::Regex => {
                let pattern = r.text(node, row)?.to_owned();
                groups = Some(rule::regex(&pattern, node.pos, r)?);
                Source::Regex { pattern, group: 0 }
            }
            of::Extract::Header => Source::Header(r.text(node, row)?.to_owned()),
            of::Extract::Cookie => Source::Cookie(r.text(node, row)?.to_owned()),
        };
        if let Some((first, _)) = &from {
            let message = format!("`{first}` and `{}` in one extraction", row.name);
            r.complain("F017", entry.pos, message, "keep one of them");
        }
        from = Some((row.name, found));
    }
    let Some((key, mut from)) = from else {
        if r.wrong.len() == before {
            r.expected(
                node,
                row,
                "add `json`, `xpath`, `css`, `jmespath`, `regex`, `boundary`, `header`, or `cookie`",
            );
        }
        return None;
    };
    match (&mut from, groups) {
        (Source::Regex { group: chosen, .. }, Some(groups)) => {
            // Without `group`, the first group; without groups, the whole match.
            let usual = u32::from(groups > 0);
            let (number, pos) = group.unwrap_or((usual, node.pos));
            if number as usize > groups {
                let message =
                    format!("invalid group `{number}`: the pattern has {}", counted(groups as u64, "group"));
                r.complain("F015", pos, message, "count the opening parentheses of the groups, from 1");
                return None;
            }
            *chosen = number as u16;
        }
        _ => {
            if let Some((_, pos)) = group {
                let message = format!("`group` does not apply to `{key}`");
                r.complain("F017", pos, message, "remove `group`, or use `regex`");
            }
        }
    }
    if let (Some((_, pos)), false) = (&attribute, matches!(from, Source::Css { .. })) {
        let message = format!("`attribute` does not apply to `{key}`");
        r.complain("F017", *pos, message, "remove `attribute`, or use `css`");
    }
    if let (Some((Pick::First, pos)), Source::JmesPath(_)) = (&pick, &from) {
        let message = "`pick: first` does not apply to `jmespath`: its value may be a whole list";
        r.complain("F017", *pos, message, "remove `pick`, and end the expression with `| [0]`");
    }
    if let (Some((_, pos)), Source::Cookie(_)) = (&pick, &from) {
        let message = "`pick` does not apply to `cookie`: a cookie has one value";
        r.complain("F017", *pos, message, "remove `pick`");
    }
    (r.wrong.len() == before).then(|| (from, pick.map_or(Pick::First, |(pick, _)| pick), default))
}

//! Steps: what a user does, one after the other. The reader of each kind has a file of its own.

mod body;
mod check;
mod condition;
mod control;
mod extract;
mod files;
mod headers;
mod path;
mod pause;
mod request;
mod rule;
mod stream;

use super::key::{METHODS, Row, STEPS, SYNONYMS, Section, find};
use super::work::Work;
use super::yaml::{Entry, Node, Scalar, Value};
use crate::nearest::nearest;
use plimsoll_plan::script;

pub use control::{order, weight};
pub use pause::delay;
pub use request::redirects;
pub use rule::regex_of;

/// A list of steps, of which there must be one.
pub fn list(node: &Node, row: &Row, w: &mut Work<'_>) -> Vec<script::Node> {
    let Some(items) = w.r.list(node, row) else { return Vec::new() };
    if items.is_empty() {
        let message = format!("`{}` has no steps", row.name);
        w.r.complain("F016", node.pos, message, "name at least one, such as `- get: /pick`");
    }
    items.iter().flat_map(|item| step(item, w)).collect()
}

/// One step; several nodes when a pause hangs behind a request, none when its mistakes are reported.
pub fn step(item: &Node, w: &mut Work<'_>) -> Vec<script::Node> {
    let Value::Map(entries) = &item.value else {
        let hint = match &item.value {
            Value::Scalar(Scalar { spoiled: true, .. }) => return Vec::new(),
            Value::Scalar(Scalar { text, .. })
                if METHODS.iter().any(|m| text.starts_with(&format!("{m}:"))) =>
            {
                "write a space behind the colon: `- get: /pick`"
            }
            _ => "expected a method with a path, such as `- get: /pick`",
        };
        w.r.complain("F014", item.pos, "this is no request", hint);
        return Vec::new();
    };
    let has = |name: &str| entries.iter().any(|entry| entry.key == name);
    let kinds: Vec<(&str, Section)> = STEPS
        .iter()
        .filter(|(name, section)| has(name) && (*section != Section::Think || entries.len() == 1))
        .copied()
        .collect();
    let section = match kinds.as_slice() {
        [] => {
            // Another tool's word for a step that holds steps: what stands beside it is right then.
            let is_step = |entry: &&Entry| {
                let ours = SYNONYMS.iter().find(|(s, name, _)| *s == Section::Request && *name == entry.key);
                ours.is_some_and(|(_, _, ours)| find(Section::Request, ours).is_none())
            };
            if let Some(entry) = entries.iter().find(is_step) {
                w.r.row(Section::Request, entry);
                return Vec::new();
            }
            // A misspelt step that holds steps: they are right where they are.
            if has("steps") || has("then") {
                let beside = ["steps", "then", "else", "most", "mix", "weight"];
                let names = || STEPS.iter().map(|(name, _)| *name);
                if let Some((entry, right)) = entries
                    .iter()
                    .filter(|entry| !beside.contains(&entry.key.as_str()))
                    .find_map(|entry| Some((entry, nearest(&entry.key, names())?)))
                {
                    let message = format!("there is no step `{}`", entry.key);
                    w.r.complain("F011", entry.pos, message, format!("did you mean `{right}`?"));
                    return Vec::new();
                }
            }
            Section::Request
        }
        [(_, section), rest @ ..] => {
            if let Some((other, _)) = rest.iter().find(|(_, other)| other != section) {
                let pos =
                    entries.iter().find(|entry| entry.key == *other).map_or(item.pos, |entry| entry.pos);
                let message = format!("`{}` and `{other}` in one step", kinds[0].0);
                w.r.complain("F017", pos, message, "begin a new step with a `-` in front");
                return Vec::new();
            }
            *section
        }
    };
    match section {
        Section::Request => request::read(item, entries, w),
        Section::Think => pause::think(entries, w),
        Section::Set => files::set(entries, w),
        Section::Append => files::append(entries, w),
        Section::Generate => files::generate(item, entries, w),
        _ => control::read(section, item, entries, w),
    }
    .unwrap_or_default()
}

/// The entries of a step by the rows of its section; what has none is reported.
fn known<'n>(section: Section, entries: &'n [Entry], w: &mut Work<'_>) -> Vec<(&'static Row, &'n Entry)> {
    entries.iter().filter_map(|entry| w.r.row(section, entry).map(|row| (row, entry))).collect()
}

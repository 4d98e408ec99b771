//! Rules for a text: what it must equal, contain, match, or exceed. Patterns and paths are validated before the load.

use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::one_or_more;
use crate::own::yaml::{Node, Scalar, Value};
use plimsoll_build::draft::{RuleDraft, TextDraft};
use plimsoll_build::sentence::short;
use plimsoll_build::source::{Complaint, Pos};
use plimsoll_plan::answer::Rule;
use plimsoll_plan::value::Escape;

/// The meaning of a text without a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bare {
    Equals,
    Contains,
}

/// Reads a text, or a mapping of rules that must all be true.
pub fn read(node: &Node, row: &Row, bare: Bare, r: &mut Reader<'_>) -> Vec<RuleDraft> {
    let entries = match &node.value {
        Value::Map(entries) => entries,
        // In JSON, null is a value.
        Value::Scalar(Scalar { text, plain: true, pieces, .. })
            if bare == Bare::Equals && pieces.is_empty() && matches!(text.as_str(), "~" | "null") =>
        {
            return vec![RuleDraft::Equals(TextDraft::of("null"))];
        }
        _ => {
            let text = r.template(node, row, Escape::None);
            return text
                .map(|text| match bare {
                    Bare::Equals => RuleDraft::Equals(text),
                    Bare::Contains => RuleDraft::Contains(text),
                })
                .into_iter()
                .collect();
        }
    };
    if entries.is_empty() {
        r.expected(node, row, "write a rule such as `{ equals: 5 }`");
    }
    entries
        .iter()
        .filter_map(|entry| {
            let (row, key) = r.key(entry)?;
            one(&entry.value, row, key, r)
        })
        .collect()
}

fn one(node: &Node, row: &Row, key: of::Rule, r: &mut Reader<'_>) -> Option<RuleDraft> {
    Some(match key {
        of::Rule::Equals => RuleDraft::Equals(r.template(node, row, Escape::None)?),
        of::Rule::Not => RuleDraft::Differs(r.template(node, row, Escape::None)?),
        of::Rule::Contains => RuleDraft::Contains(r.template(node, row, Escape::None)?),
        of::Rule::NotContains => RuleDraft::Lacks(r.template(node, row, Escape::None)?),
        of::Rule::Matches => {
            let pattern = r.written(node, row)?.to_owned();
            regex(&pattern, node.pos, r)?;
            RuleDraft::Fixed(Rule::Matches(pattern))
        }
        of::Rule::Exists => match r.truth(node, row)? {
            true => RuleDraft::Fixed(Rule::Exists),
            false => RuleDraft::Fixed(Rule::Absent),
        },
        of::Rule::LessThan => RuleDraft::Fixed(Rule::Below(r.number(node, row)?)),
        of::Rule::AtMost => RuleDraft::Fixed(Rule::AtMost(r.number(node, row)?)),
        of::Rule::MoreThan => RuleDraft::Fixed(Rule::Above(r.number(node, row)?)),
        of::Rule::AtLeast => RuleDraft::Fixed(Rule::AtLeast(r.number(node, row)?)),
        of::Rule::In => {
            let items = one_or_more(node);
            if items.is_empty() {
                r.expected(node, row, "add at least one value");
                return None;
            }
            let texts: Vec<_> = items.iter().map(|item| r.template(item, row, Escape::None)).collect();
            RuleDraft::OneOf(texts.into_iter().collect::<Option<_>>()?)
        }
    })
}

/// Validates a pattern. Returns its number of groups.
pub fn regex(pattern: &str, pos: Pos, r: &mut Reader<'_>) -> Option<usize> {
    tried(pattern, pos).map_err(|complaint| r.take(complaint)).ok()
}

/// Like [`regex`], but leaves it to the caller to report the complaint.
pub fn tried(pattern: &str, pos: Pos) -> Result<usize, Complaint> {
    regex::Regex::new(pattern).map(|regex| regex.captures_len() - 1).map_err(|error| {
        let text = error.to_string();
        // The last line has the reason; those above draw an arrow under the place.
        let why = text.lines().last().unwrap_or_default().trim().trim_start_matches("error: ");
        let message = format!("invalid regular expression `{}`: {why}", short(pattern));
        let hint = "write it in the syntax of Rust's `regex`, without look-arounds and back-references";
        Complaint::new("F028", pos, message, hint)
    })
}

/// Validates a JSONPath.
pub fn json_path(path: &str, pos: Pos, r: &mut Reader<'_>) -> Option<()> {
    match serde_json_path::JsonPath::parse(path) {
        Ok(_) => Some(()),
        Err(error) => {
            let is_plain = path.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && path.chars().all(|c| c.is_ascii_alphanumeric() || "_.[]".contains(c));
            let why = match error.message() {
                _ if !path.starts_with('$') => "it must begin with `$`".to_owned(),
                // The parser says no more than that.
                "parser error" => {
                    format!("syntax error after `{}`", short(&valid_part(path)))
                }
                why => why.to_owned(),
            };
            let hint = match is_plain {
                true => format!("write `$.{path}`"),
                false => {
                    "write it in the syntax of RFC 9535, such as `$.items[0].id` or `$..price`".to_owned()
                }
            };
            r.complain("F028", pos, format!("invalid JSONPath `{}`: {why}", short(path)), hint);
            None
        }
    }
}

/// Returns the longest beginning of a path that is valid by itself.
fn valid_part(path: &str) -> String {
    let ends = path.char_indices().map(|(at, _)| at).rev();
    let valid = ends.map(|end| &path[..end]).find(|part| serde_json_path::JsonPath::parse(part).is_ok());
    valid.unwrap_or("$").to_owned()
}

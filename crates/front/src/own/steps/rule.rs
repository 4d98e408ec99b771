//! Rules on a text: what it must be, hold, match or exceed; and the patterns and paths that are tried before the load.

use crate::own::key::{Row, Section};
use crate::own::one_or_more;
use crate::own::reader::Reader;
use crate::own::work::Work;
use crate::own::yaml::{Node, Pos, Scalar, Value};
use plimsoll_plan::answer::Rule;
use plimsoll_plan::value::Escape;

/// What a bare text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bare {
    Equals,
    Contains,
}

/// A text, or a mapping of rules that must hold together.
pub fn read(node: &Node, row: &Row, bare: Bare, w: &mut Work<'_>) -> Vec<Rule> {
    let entries = match &node.value {
        Value::Map(entries) => entries,
        // In JSON, nothing is a value of its own.
        Value::Scalar(Scalar { text, plain: true, pieces, .. })
            if bare == Bare::Equals && pieces.is_empty() && matches!(text.as_str(), "~" | "null") =>
        {
            return vec![Rule::Equals(plimsoll_plan::value::Text::literal("null"))];
        }
        _ => {
            let text = w.template(node, row, Escape::None);
            return text
                .map(|text| match bare {
                    Bare::Equals => Rule::Equals(text),
                    Bare::Contains => Rule::Contains(text),
                })
                .into_iter()
                .collect();
        }
    };
    if entries.is_empty() {
        w.r.expected(node, row, "write a rule such as `{ equals: 5 }`");
    }
    entries
        .iter()
        .filter_map(|entry| {
            let row = w.r.row(Section::Rule, entry)?;
            one(&entry.value, row, w)
        })
        .collect()
}

fn one(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Rule> {
    Some(match row.name {
        "equals" => Rule::Equals(w.template(node, row, Escape::None)?),
        "not" => Rule::Differs(w.template(node, row, Escape::None)?),
        "contains" => Rule::Contains(w.template(node, row, Escape::None)?),
        "lacks" => Rule::Lacks(w.template(node, row, Escape::None)?),
        "matches" => {
            let pattern = w.r.written(node, row)?.to_owned();
            regex(&pattern, node.pos, w)?;
            Rule::Matches(pattern)
        }
        "exists" => match w.r.truth(node, row)? {
            true => Rule::Exists,
            false => Rule::Absent,
        },
        "less_than" => Rule::Below(w.r.number(node, row)?),
        "at_most" => Rule::AtMost(w.r.number(node, row)?),
        "more_than" => Rule::Above(w.r.number(node, row)?),
        "at_least" => Rule::AtLeast(w.r.number(node, row)?),
        _ => {
            let items = one_or_more(node);
            if items.is_empty() {
                w.r.expected(node, row, "name at least one");
                return None;
            }
            let texts: Vec<_> = items.iter().map(|item| w.template(item, row, Escape::None)).collect();
            Rule::OneOf(texts.into_iter().collect::<Option<_>>()?)
        }
    })
}

/// How a rule reads in the name of its check. Values that only the load knows are shown as `${...}`.
pub fn in_words(rule: &Rule) -> String {
    match rule {
        Rule::Exists => "exists".into(),
        Rule::Absent => "is absent".into(),
        Rule::Equals(text) => format!("is {}", short(&text.shown())),
        Rule::Differs(text) => format!("is not {}", short(&text.shown())),
        Rule::Contains(text) => format!("contains {}", short(&text.shown())),
        Rule::Lacks(text) => format!("lacks {}", short(&text.shown())),
        Rule::Matches(pattern) => format!("matches /{}/", short(pattern)),
        Rule::Below(number) => format!("< {number}"),
        Rule::AtMost(number) => format!("<= {number}"),
        Rule::Above(number) => format!("> {number}"),
        Rule::AtLeast(number) => format!(">= {number}"),
        Rule::OneOf(texts) => {
            format!("is one of {}", short(&texts.iter().map(|t| t.shown()).collect::<Vec<_>>().join(", ")))
        }
    }
}

fn short(text: &str) -> String {
    crate::own::expression::short(text)
}

/// Tries a pattern; how many groups it has.
pub fn regex(pattern: &str, pos: Pos, w: &mut Work<'_>) -> Option<usize> {
    regex_of(pattern, pos, &mut w.r)
}

/// As [`regex`], where there is no script.
pub fn regex_of(pattern: &str, pos: Pos, r: &mut Reader<'_>) -> Option<usize> {
    match regex::Regex::new(pattern) {
        Ok(regex) => Some(regex.captures_len() - 1),
        Err(error) => {
            let text = error.to_string();
            // The last line says what is wrong; those above draw an arrow under the place.
            let why = text.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
            let message = format!("`{}` is no regular expression: {why}", short(pattern));
            let hint =
                "mend it; there are no look-arounds and no back-references, so that no answer takes for ever";
            r.complain("F028", pos, message, hint);
            None
        }
    }
}

/// Tries a JSONPath.
pub fn json_path(path: &str, pos: Pos, w: &mut Work<'_>) -> Option<()> {
    match serde_json_path::JsonPath::parse(path) {
        Ok(_) => Some(()),
        Err(error) => {
            let message = format!("`{}` is no JSONPath: {}", short(path), error.message());
            let hint = "write it as RFC 9535 says, such as `$.items[0].id` or `$..price`";
            w.r.complain("F028", pos, message, hint);
            None
        }
    }
}

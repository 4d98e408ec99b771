//! Headers.

use crate::own::reader::Reader;
use crate::own::yaml::{Entry, Node, Scalar, Value, one_or_more};
use plimsoll_build::draft::{HeaderDraft, TextDraft};
use plimsoll_build::source::Pos;
use plimsoll_plan::value::Escape;

/// Reads a mapping of names to values. A list of values sends the header several times.
pub fn read(entries: &[Entry], r: &mut Reader<'_>) -> Vec<HeaderDraft> {
    let mut all = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        if let Some(first) = entries[..i].iter().find(|e| e.key.eq_ignore_ascii_case(&entry.key)) {
            r.complain(
                "F013",
                entry.pos,
                format!("duplicate header: `{}` and `{}` differ only in case", first.key, entry.key),
                "write several values as a list: `Name: [a, b]`",
            );
        }
        // A name with an expression is already reported.
        for value in one_or_more(&entry.value).iter().filter(|_| !entry.key.contains("${")) {
            if let Some(value) = one(&entry.key, entry.pos, value, r) {
                all.push(HeaderDraft { name: entry.key.clone(), value, pos: entry.pos });
            }
        }
    }
    all
}

fn one(name: &str, pos: Pos, value: &Node, r: &mut Reader<'_>) -> Option<TextDraft> {
    match &value.value {
        Value::Scalar(Scalar { spoiled: true, .. }) => None,
        // Numbers and Booleans are sent as written, because headers are text.
        Value::Scalar(scalar) if !scalar.plain || !matches!(scalar.text.as_str(), "" | "~" | "null") => {
            Some(match scalar.pieces.is_empty() {
                true => TextDraft::of(scalar.text.trim_matches([' ', '\t'])),
                false => r.filled(scalar, value.pos, Escape::None, &str::to_owned),
            })
        }
        Value::Scalar(_) => {
            let message = format!("missing value of header `{name}`");
            r.complain("F014", pos, message, "write `\"\"` to send it empty");
            None
        }
        Value::List(_) | Value::Map(_) => {
            let message = format!("invalid value of header `{name}`: expected text");
            let hint = "write `Name: value`, or `Name: [a, b]` to send it twice";
            r.complain("F014", value.pos, message, hint);
            None
        }
    }
}

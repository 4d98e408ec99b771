//! Headers and authentication.

use crate::build::draft::{AuthDraft, HeaderDraft, TextDraft};
use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::{Entry, Node, Scalar, Value, one_or_more};
use crate::source::Pos;
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

/// Reads `auth:`. Returns `None` if it reported a mistake.
pub fn auth(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<AuthDraft> {
    if let Value::Scalar(Scalar { text, pieces, .. }) = &node.value
        && text == "none"
        && pieces.is_empty()
    {
        return Some(AuthDraft::None);
    }
    let entries = r.map(node, row)?;
    if entries.len() != 1 {
        r.expected(node, row, "write either `basic` or `bearer`");
        return None;
    }
    let entry = &entries[0];
    match r.key(entry)? {
        (row, of::Auth::Bearer) => {
            let mut text = TextDraft::of("Bearer ");
            text.text(r.template(&entry.value, row, Escape::None)?);
            Some(AuthDraft::Header(text))
        }
        (row, of::Auth::Basic) => basic(&entry.value, row, r),
    }
}

fn basic(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<AuthDraft> {
    let (mut user, mut password) = (None, None);
    let before = r.wrong.len();
    for entry in r.map(node, row)? {
        let Some((row, key)) = r.key(entry) else { continue };
        let text = r.template(&entry.value, row, Escape::None);
        match key {
            of::Basic::User => user = text,
            of::Basic::Password => password = text,
        }
    }
    let (Some(user), Some(password)) = (user, password) else {
        if r.wrong.len() == before {
            r.expected(node, row, "write both `user` and `password`");
        }
        return None;
    };
    Some(AuthDraft::Basic { user, password, pos: node.pos })
}

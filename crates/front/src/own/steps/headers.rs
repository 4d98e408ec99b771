//! Headers of a request: its own, those of the file that it does not replace, and what its other keys imply.

use crate::header;
use crate::own::expression::Piece;
use crate::own::key::{Row, Section, find};
use crate::own::one_or_more;
use crate::own::template::Build;
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Pos, Scalar, Value};
use plimsoll_plan::request::base64;
use plimsoll_plan::value::{Escape, Hole, Part, Secret, Text};

/// Headers in the order sent.
pub type Headers = Vec<(String, Text)>;

pub fn has(all: &Headers, name: &str) -> bool {
    all.iter().any(|(n, _)| n.eq_ignore_ascii_case(name))
}

/// Names to values; a list of values sends the header several times.
pub fn read(entries: &[Entry], w: &mut Work<'_>) -> Headers {
    let mut all = Headers::new();
    for (i, entry) in entries.iter().enumerate() {
        if let Some(first) = entries[..i].iter().find(|e| e.key.eq_ignore_ascii_case(&entry.key)) {
            w.r.complain(
                "F013",
                entry.pos,
                format!("`{}` and `{}` are one header: case does not count", first.key, entry.key),
                "give several values as a list: `Name: [a, b]`",
            );
        }
        // A name that would be filled in is reported already.
        for value in one_or_more(&entry.value).iter().filter(|_| !entry.key.contains("${")) {
            if let Some(text) = one(&entry.key, entry.pos, value, w) {
                all.push((entry.key.clone(), text));
            }
        }
    }
    all
}

fn one(name: &str, pos: Pos, value: &Node, w: &mut Work<'_>) -> Option<Text> {
    match &value.value {
        Value::Scalar(Scalar { spoiled: true, .. }) => None,
        // Numbers and truth values are sent as written: in a header there is only text.
        Value::Scalar(Scalar { text, plain, .. })
            if !plain || !matches!(text.as_str(), "" | "~" | "null") =>
        {
            let Value::Scalar(scalar) = &value.value else { return None };
            let literals: String = match scalar.pieces.is_empty() {
                true => text.trim_matches([' ', '\t']).to_owned(),
                false => scalar.pieces.iter().map(literal).collect(),
            };
            if let Err(sentence) = header::check(name, &literals) {
                w.r.complain_sentence(pos, &sentence);
                return None;
            }
            if scalar.pieces.is_empty() {
                return Some(Text::literal(literals));
            }
            w.filled(scalar, value.pos, Escape::None, &str::to_owned)
        }
        Value::Scalar(_) => {
            let message = format!("the header `{name}` has no value");
            w.r.complain("F014", pos, message, "write `\"\"` to send it empty");
            None
        }
        _ => {
            let message = format!("the value of the header `{name}` is no text");
            w.r.complain(
                "F014",
                value.pos,
                message,
                "write `Name: value`, or `Name: [a, b]` to send it twice",
            );
            None
        }
    }
}

fn literal(piece: &Piece) -> &str {
    match piece {
        Piece::Literal(text) => text,
        Piece::Expression { .. } => "",
    }
}

/// What `auth:` says.
pub enum Auth {
    None,
    Header(Text),
}

/// Reads `auth:`; nothing when its mistakes are reported.
pub fn auth(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Auth> {
    if let Value::Scalar(Scalar { text, pieces, .. }) = &node.value
        && text == "none"
        && pieces.is_empty()
    {
        return Some(Auth::None);
    }
    let entries = w.r.map(node, row)?;
    if entries.len() != 1 {
        w.r.expected(node, row, "name one way");
        return None;
    }
    let entry = &entries[0];
    let row = w.r.row(Section::Auth, entry)?;
    if row.name == "bearer" {
        let token = w.template(&entry.value, row, Escape::None)?;
        let mut build = Build::default();
        build.literal("Bearer ");
        build.text(token);
        return Some(Auth::Header(build.finish()));
    }
    basic(&entry.value, row, w).map(Auth::Header)
}

/// `Basic`, coded before the load when nothing in it changes from request to request.
fn basic(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Text> {
    let (mut user, mut password) = (None, None);
    let before = w.r.wrong.len();
    for entry in w.r.map(node, row)? {
        let Some(row) = w.r.row(Section::Basic, entry) else { continue };
        let text = w.template(&entry.value, row, Escape::None);
        if row.name == "user" { user = text } else { password = text }
    }
    let (Some(user), Some(password)) = (&user, &password) else {
        if w.r.wrong.len() == before {
            let row = find(Section::Auth, "basic")?;
            w.r.expected(node, row, "give both `user` and `password`");
        }
        return None;
    };
    let (Some(name), Some(word)) = (user.fixed(), password.fixed()) else {
        let mut pair = Build::default();
        pair.text(user.clone());
        pair.literal(":");
        pair.text(password.clone());
        let mut build = Build::default();
        build.literal("Basic ");
        build.part(Part::Hole(Hole::Base64(Box::new(pair.finish())), Escape::None));
        return Some(build.finish());
    };
    if name.contains(&b':') {
        w.r.complain(
            "F015",
            node.pos,
            "a user name cannot hold `:`",
            "what stands behind it would be password",
        );
        return None;
    }
    let coded = base64(&[name, vec![b':'], word].concat());
    let is_secret = |text: &Text| text.parts.iter().any(|part| matches!(part, Part::Secret(_)));
    let mut build = Build::default();
    build.literal("Basic ");
    if is_secret(user) || is_secret(password) {
        let secret = Secret::new(&coded);
        w.script.secrets.push(secret.clone());
        build.part(Part::Secret(secret));
    } else {
        build.literal(&coded);
    }
    Some(build.finish())
}

//! Bodies: text, a file, JSON, a form, or several parts.

use crate::own::json::{self, Sink};
use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::work::Work;
use crate::own::yaml::one_or_more;
use crate::own::yaml::{Node, Scalar, Value};
use plimsoll_build::draft::{BodyDraft, TextDraft};
use plimsoll_build::escape;
use plimsoll_plan::value::Escape;

/// The key that gives a body.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    Json,
    Text,
    File,
    Form,
    Multipart,
    /// Read by its own reader.
    Graphql,
}

/// Reads the value of one of the keys that give a body.
pub fn read(node: &Node, row: &Row, shape: Shape, w: &mut Work<'_>) -> Option<BodyDraft> {
    match shape {
        Shape::Json => json(node, w),
        Shape::Text => {
            if matches!(node.value, Value::Map(_) | Value::List(_)) {
                let hint = "write a structured body with `json`";
                w.r.complain("F014", node.pos, "invalid `body`: expected text", hint);
                return None;
            }
            match &node.value {
                Value::Scalar(scalar) if !scalar.pieces.is_empty() => w.r.template(node, row, Escape::None),
                _ => w.r.text(node, row).map(TextDraft::of),
            }
            .map(|text| BodyDraft { text, media_type: None })
        }
        Shape::File => {
            let name = w.r.text(node, row)?;
            let bytes = w.r.content(name, node.pos)?;
            Some(BodyDraft { text: TextDraft::of(bytes), media_type: None })
        }
        Shape::Form => form(node, row, w),
        Shape::Multipart => multipart(node, row, w),
        Shape::Graphql => None,
    }
}

fn json(node: &Node, w: &mut Work<'_>) -> Option<BodyDraft> {
    if let Value::Scalar(Scalar { text, plain: false, .. }) = &node.value
        && text.trim_start().starts_with(['{', '['])
    {
        w.r.complain(
            "F014",
            node.pos,
            "invalid `json`: quoted JSON is text and would be sent in quotes",
            "remove the quotes (JSON is YAML), or send the text unchanged with `body`",
        );
        return None;
    }
    let text = json_text(node, &mut w.r)?;
    Some(BodyDraft { text, media_type: Some("application/json".into()) })
}

/// Writes a value as JSON with expressions. Returns `None` if it reported a mistake.
pub fn json_text(node: &Node, r: &mut Reader<'_>) -> Option<TextDraft> {
    let mut sink = Json { text: TextDraft::default(), r };
    let rendered = json::render(node, &mut sink);
    let text = sink.text;
    match rendered {
        Ok(()) => Some(text),
        Err((pos, message, hint)) => {
            r.complain("F015", pos, message, hint);
            None
        }
    }
}

struct Json<'r, 'a> {
    text: TextDraft,
    r: &'r Reader<'a>,
}

impl Sink for Json<'_, '_> {
    fn literal(&mut self, text: &str) {
        self.text.literal(text);
    }

    fn open(&mut self, node: &Node, quoted: bool) {
        let Value::Scalar(scalar) = &node.value else { return };
        let quote = if quoted { "\"" } else { "" };
        self.text.literal(quote);
        let escape = if quoted { Escape::Json } else { Escape::None };
        self.text.text(self.r.filled(scalar, node.pos, escape, &escape::json));
        self.text.literal(quote);
    }
}

/// Reads an `application/x-www-form-urlencoded` body. A list of values sends a field several times.
fn form(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<BodyDraft> {
    let mut body = TextDraft::default();
    let mut whole = true;
    let mut first = true;
    for entry in w.r.map(node, row)? {
        for value in one_or_more(&entry.value) {
            if !std::mem::take(&mut first) {
                body.literal("&");
            }
            body.literal(escape::escaped(&entry.key, Escape::Form));
            body.literal("=");
            match w.r.template(value, row, Escape::Form) {
                Some(text) => body.text(text),
                None => whole = false,
            }
        }
    }
    let media_type = Some("application/x-www-form-urlencoded".into());
    whole.then_some(BodyDraft { text: body, media_type })
}

/// A part of a `multipart/form-data` body (RFC 7578).
struct Part {
    field: String,
    file_name: Option<String>,
    media_type: Option<String>,
    content: TextDraft,
}

fn multipart(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<BodyDraft> {
    let entries = w.r.map(node, row)?;
    let parts: Vec<Option<Part>> =
        entries.iter().map(|entry| part(&entry.key, &entry.value, row, w)).collect();
    let parts = parts.into_iter().collect::<Option<Vec<Part>>>()?;
    if parts.is_empty() {
        w.r.expected(node, row, "add at least one part");
        return None;
    }
    let boundary = boundary(&parts);
    let mut body = TextDraft::default();
    for part in parts {
        let mut head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quotable(&part.field));
        if let Some(name) = &part.file_name {
            head.push_str(&format!("; filename=\"{}\"", quotable(name)));
        }
        if let Some(media_type) = &part.media_type {
            head.push_str(&format!("\r\nContent-Type: {media_type}"));
        }
        body.literal(head);
        body.literal("\r\n\r\n");
        body.text(part.content);
        body.literal("\r\n");
    }
    body.literal(format!("--{boundary}--\r\n"));
    let media_type = Some(format!("multipart/form-data; boundary={boundary}"));
    Some(BodyDraft { text: body, media_type })
}

fn part(field: &str, node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Part> {
    let mut made =
        Part { field: field.to_owned(), file_name: None, media_type: None, content: TextDraft::default() };
    let Value::Map(entries) = &node.value else {
        made.content = w.r.template(node, row, Escape::None)?;
        return Some(made);
    };
    let before = w.r.wrong.len();
    let (mut given, mut name) = (0, None);
    for entry in entries {
        let (node, Some((row, key))) = (&entry.value, w.r.key(entry)) else { continue };
        match key {
            of::Part::Path => {
                given += 1;
                let Some(path) = w.r.text(node, row) else { continue };
                if let Some(bytes) = w.r.content(path, node.pos) {
                    made.content = TextDraft::of(bytes);
                }
                let last = path.rsplit('/').next().unwrap_or(path);
                made.file_name.get_or_insert(last.to_owned());
                // The type of a file that the sender does not know (RFC 7578 section 4.4).
                made.media_type.get_or_insert("application/octet-stream".into());
            }
            of::Part::Text => {
                given += 1;
                made.content = w.r.template(node, row, Escape::None).unwrap_or_default();
            }
            of::Part::Type => {
                let text = w.r.text(node, row)?;
                if let Err(problem) = plimsoll_build::header::check("Content-Type", text) {
                    w.r.complain_of(node.pos, problem);
                }
                made.media_type = Some(text.to_owned());
            }
            of::Part::Name => name = w.r.text(node, row).map(str::to_owned),
        }
    }
    if given != 1 && w.r.wrong.len() == before {
        let message = format!("part `{field}` requires either `path` or `text`");
        w.r.complain(
            "F016",
            node.pos,
            message,
            "write `{ path: photo.png, type: image/png }` or `{ text: hello }`",
        );
    }
    made.file_name = name.or(made.file_name);
    (w.r.wrong.len() == before).then_some(made)
}

/// Escapes a name for quotes, as browsers do (HTML, multipart/form-data encoding).
fn quotable(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// Returns a line that no part contains. The same file gives the same boundary, so that runs can be compared.
fn boundary(parts: &[Part]) -> String {
    let literals: Vec<Vec<u8>> = parts.iter().map(|part| part.content.literals()).collect();
    let holds =
        |word: &str| literals.iter().any(|bytes| bytes.windows(word.len()).any(|w| w == word.as_bytes()));
    let mut number = 0u32;
    loop {
        let word = format!("plimsoll-part-7d1f94a2c6b8{number:04}");
        // Each number excludes some content; content is finite, so this ends.
        if !holds(&word) {
            return word;
        }
        number += 1;
    }
}

//! Bodies: text, a file, JSON, a form, or several parts.

use crate::own::escape;
use crate::own::json::{self, Sink};
use crate::own::key::{Row, Section};
use crate::own::one_or_more;
use crate::own::template::Build;
use crate::own::work::Work;
use crate::own::yaml::{Node, Scalar, Value};
use plimsoll_plan::value::{Escape, Text};

/// A body with the media type that its key implies.
pub struct Body {
    pub text: Text,
    pub media_type: Option<String>,
}

/// Reads the value of one of the keys that give a body.
pub fn read(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Body> {
    match row.name {
        "json" => json(node, w),
        "body" => {
            if matches!(node.value, Value::Map(_) | Value::List(_)) {
                let hint = "a structured body is written with `json`";
                w.r.complain("F014", node.pos, "`body` expects text", hint);
                return None;
            }
            match &node.value {
                Value::Scalar(scalar) if !scalar.pieces.is_empty() => w.template(node, row, Escape::None),
                _ => w.r.text(node, row).map(Text::literal),
            }
            .map(|text| Body { text, media_type: None })
        }
        "body_file" => {
            let name = w.r.text(node, row)?;
            let bytes = w.r.content(name, node.pos)?;
            Some(Body { text: Text::literal(bytes), media_type: None })
        }
        "form" => form(node, row, w),
        _ => multipart(node, row, w),
    }
}

fn json(node: &Node, w: &mut Work<'_>) -> Option<Body> {
    if let Value::Scalar(Scalar { text, plain: false, .. }) = &node.value
        && text.trim_start().starts_with(['{', '['])
    {
        w.r.complain(
            "F014",
            node.pos,
            "this is a text that holds JSON: it would be sent in quotes",
            "take the quotes away (JSON is YAML), or send the text as it is with `body`",
        );
        return None;
    }
    let mut sink = Json { build: Build::default(), w, whole: true };
    if let Err((pos, message, hint)) = json::render(node, &mut sink) {
        sink.w.r.complain("F015", pos, message, hint);
        return None;
    }
    let Json { build, whole, .. } = sink;
    whole.then(|| Body { text: build.finish(), media_type: Some("application/json".into()) })
}

struct Json<'w, 'a> {
    build: Build,
    w: &'w mut Work<'a>,
    whole: bool,
}

impl Sink for Json<'_, '_> {
    fn literal(&mut self, text: &str) {
        self.build.literal(text);
    }

    fn open(&mut self, node: &Node, quoted: bool) {
        let Value::Scalar(scalar) = &node.value else { return };
        let quote = if quoted { "\"" } else { "" };
        self.build.literal(quote);
        let escape = if quoted { Escape::Json } else { Escape::None };
        match self.w.filled(scalar, node.pos, escape, &json::escaped) {
            Some(text) => self.build.text(text),
            None => self.whole = false,
        }
        self.build.literal(quote);
    }
}

/// `application/x-www-form-urlencoded`; a list of values sends a field several times.
fn form(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Body> {
    let mut build = Build::default();
    let mut whole = true;
    let mut first = true;
    for entry in w.r.map(node, row)? {
        for value in one_or_more(&entry.value) {
            if !std::mem::take(&mut first) {
                build.literal("&");
            }
            build.literal(escape::escaped(&entry.key, Escape::Form));
            build.literal("=");
            match w.template(value, row, Escape::Form) {
                Some(text) => build.text(text),
                None => whole = false,
            }
        }
    }
    let media_type = Some("application/x-www-form-urlencoded".into());
    whole.then(|| Body { text: build.finish(), media_type })
}

/// A part of a `multipart/form-data` body (RFC 7578).
struct Part {
    field: String,
    file_name: Option<String>,
    media_type: Option<String>,
    content: Text,
}

fn multipart(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Body> {
    let entries = w.r.map(node, row)?;
    let parts: Vec<Option<Part>> =
        entries.iter().map(|entry| part(&entry.key, &entry.value, row, w)).collect();
    let parts = parts.into_iter().collect::<Option<Vec<Part>>>()?;
    if parts.is_empty() {
        w.r.expected(node, row, "name at least one part");
        return None;
    }
    let boundary = boundary(&parts);
    let mut build = Build::default();
    for part in parts {
        let mut head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quotable(&part.field));
        if let Some(name) = &part.file_name {
            head.push_str(&format!("; filename=\"{}\"", quotable(name)));
        }
        if let Some(media_type) = &part.media_type {
            head.push_str(&format!("\r\nContent-Type: {media_type}"));
        }
        build.literal(head);
        build.literal("\r\n\r\n");
        build.text(part.content);
        build.literal("\r\n");
    }
    build.literal(format!("--{boundary}--\r\n"));
    let media_type = Some(format!("multipart/form-data; boundary={boundary}"));
    Some(Body { text: build.finish(), media_type })
}

fn part(field: &str, node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Part> {
    let mut made =
        Part { field: field.to_owned(), file_name: None, media_type: None, content: Text::default() };
    let Value::Map(entries) = &node.value else {
        made.content = w.template(node, row, Escape::None)?;
        return Some(made);
    };
    let before = w.r.wrong.len();
    let (mut given, mut name) = (0, None);
    for entry in entries {
        let (node, Some(row)) = (&entry.value, w.r.row(Section::Part, entry)) else { continue };
        match row.name {
            "path" => {
                given += 1;
                let Some(path) = w.r.text(node, row) else { continue };
                if let Some(bytes) = w.r.content(path, node.pos) {
                    made.content = Text::literal(bytes);
                }
                let last = path.rsplit('/').next().unwrap_or(path);
                made.file_name.get_or_insert(last.to_owned());
                // What the sender does not know of a file (RFC 7578 section 4.4).
                made.media_type.get_or_insert("application/octet-stream".into());
            }
            "text" => {
                given += 1;
                made.content = w.template(node, row, Escape::None).unwrap_or_default();
            }
            "type" => {
                let text = w.r.text(node, row)?;
                if let Err(sentence) = crate::header::check("Content-Type", text) {
                    w.r.complain_sentence(node.pos, &sentence);
                }
                made.media_type = Some(text.to_owned());
            }
            _ => name = w.r.text(node, row).map(str::to_owned),
        }
    }
    if given != 1 && w.r.wrong.len() == before {
        let message = format!("the part `{field}` needs either `path` or `text`");
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

/// Names stand in quotes; browsers write these three signs so (HTML, multipart/form-data encoding).
fn quotable(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// A line that no part holds. The same file gives the same boundary, so that runs can be compared.
fn boundary(parts: &[Part]) -> String {
    let literals: Vec<Vec<u8>> = parts.iter().map(|part| literal_bytes(&part.content)).collect();
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

fn literal_bytes(text: &Text) -> Vec<u8> {
    let mut all = Vec::new();
    for part in &text.parts {
        if let plimsoll_plan::value::Part::Literal(bytes) = part {
            all.extend_from_slice(bytes);
        }
    }
    all
}

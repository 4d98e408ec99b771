//! Checks against files: JSON Schema, OpenAPI, and stored headers. Each file is read and tried before the load.

use crate::own::json::{self, Sink};
use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::{Node, Value, tree};
use plimsoll_build::compiles;
use plimsoll_build::draft::{On, OpenApiDraft, SubjectDraft};
use plimsoll_build::sentence::short;
use plimsoll_build::source::{Pos, Source};
use plimsoll_plan::answer::{Dialect, Schema, Subject};
use std::rc::Rc;
use std::sync::Arc;

/// Reads `schema:`, the name of a file or the schema itself.
pub fn schema(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<SubjectDraft> {
    let (value, words) = match &node.value {
        Value::Map(_) => (inline(node, r)?, "body fits the schema".to_owned()),
        _ => {
            let name = r.text(node, row)?.to_owned();
            (document(&name, node.pos, r)?, format!("body fits {}", short(&name)))
        }
    };
    let schema = Schema { text: value.to_string(), dialect: Dialect::Own };
    match compiles(&value, Dialect::Own) {
        Ok(()) => Some(SubjectDraft { words, on: On::Fixed(Subject::Schema(Arc::new(schema))) }),
        Err(problem) => {
            r.wrong.push(r.source.wrong("F038", node.pos, problem.message, problem.hint));
            None
        }
    }
}

fn inline(node: &Node, r: &mut Reader<'_>) -> Option<serde_json::Value> {
    let mut sink = Fixed { text: String::new(), open: None };
    if let Err((pos, message, hint)) = json::render(node, &mut sink) {
        r.complain("F015", pos, message, hint);
        return None;
    }
    if let Some(pos) = sink.open {
        let message = "a schema must be known before the load starts";
        r.complain("F030", pos, message, "write it without `${...}`, or use only names from `vars`");
        return None;
    }
    serde_json::from_str(&sink.text)
        .map_err(|e| r.complain("F015", node.pos, format!("invalid schema: {e}"), ""))
        .ok()
}

/// A JSON text without expressions.
struct Fixed {
    text: String,
    /// The place of the first expression.
    open: Option<Pos>,
}

impl Sink for Fixed {
    fn literal(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn open(&mut self, node: &Node, _: bool) {
        self.open.get_or_insert(node.pos);
        self.text.push_str("null");
    }
}

/// Reads a file of JSON or YAML. Mistakes in YAML have their places in that file.
fn document(name: &str, pos: Pos, r: &mut Reader<'_>) -> Option<serde_json::Value> {
    let bytes = r.content(name, pos)?;
    let Ok(text) = String::from_utf8(bytes) else {
        r.complain("F015", pos, format!("`{name}` is not UTF-8"), "save it as UTF-8");
        return None;
    };
    if text.trim().is_empty() {
        r.complain("F015", pos, format!("`{name}` is empty"), "check the file");
        return None;
    }
    if text.trim_start().starts_with('{') {
        let read = serde_json::from_str(&text);
        return read
            .map_err(|e| {
                r.complain("F015", pos, format!("`{name}` is not valid JSON: {e}"), "correct the file")
            })
            .ok();
    }
    let source = Source::new(&text, name);
    let before = r.wrong.len();
    let node = match tree(&text, &source, &mut r.wrong) {
        Ok(node) if r.wrong.len() == before => node,
        Ok(_) => return None,
        Err(diagnostic) => {
            r.wrong.push(diagnostic);
            return None;
        }
    };
    let mut sink = Fixed { text: String::new(), open: None };
    if let Err((pos, message, hint)) = json::render(&node, &mut sink) {
        r.wrong.push(source.wrong("F015", pos, message, hint));
        return None;
    }
    serde_json::from_str(&sink.text)
        .map_err(|e| r.complain("F015", pos, format!("`{name}` is invalid: {e}"), ""))
        .ok()
}

/// Reads `openapi:`.
pub fn openapi(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<SubjectDraft> {
    let (mut file, mut path, mut method) = (None, None, None);
    match &node.value {
        Value::Map(entries) => {
            let before = r.wrong.len();
            for entry in entries {
                match r.key(entry) {
                    Some((row, of::OpenApi::File)) => {
                        file = r.text(&entry.value, row).map(|name| (name.to_owned(), entry.value.pos));
                    }
                    Some((row, of::OpenApi::Path)) => path = r.text(&entry.value, row).map(str::to_owned),
                    Some((row, of::OpenApi::Method)) => {
                        method = r.text(&entry.value, row).map(str::to_ascii_uppercase);
                    }
                    None => {}
                }
            }
            if file.is_none() && r.wrong.len() == before {
                r.expected(node, row, "add `file`");
            }
        }
        _ => file = r.text(node, row).map(|name| (name.to_owned(), node.pos)),
    }
    let (file, pos) = file?;
    let document = Rc::new(document(&file, pos, r)?);
    let words = format!("body fits {},", short(&file));
    Some(SubjectDraft { words, on: On::OpenApi(OpenApiDraft { document, file, path, method, pos }) })
}

/// Reads `header_snapshot:`. The file has lines `Name: value`, such as the output of `curl -sI`.
pub fn header_snapshot(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<SubjectDraft> {
    let (mut file, mut names) = (None, Vec::new());
    let before = r.wrong.len();
    for entry in r.map(node, row)? {
        match r.key(entry) {
            Some((row, of::HeaderSnapshot::File)) => {
                file = r.text(&entry.value, row).map(|name| (name.to_owned(), entry.value.pos));
            }
            Some((row, of::HeaderSnapshot::Headers)) => {
                for item in r.list(&entry.value, row).unwrap_or_default() {
                    names.extend(r.text(item, row).map(str::to_owned));
                }
            }
            None => {}
        }
    }
    let Some((file, pos)) = file.filter(|_| !names.is_empty()) else {
        if r.wrong.len() == before {
            r.expected(node, row, "write both `file` and `headers`");
        }
        return None;
    };
    let bytes = r.content(&file, pos)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut stored: Vec<(&str, &str)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end();
        // The status line of curl, and the empty line at the end.
        if line.is_empty() || number == 0 && line.starts_with("HTTP/") {
            continue;
        }
        let Some((name, value)) = line.split_once(':') else {
            let message = format!("invalid line {} of `{file}`: `{}`", number + 1, short(line));
            r.complain("F015", pos, message, "write header lines such as `Content-Type: text/html`");
            return None;
        };
        stored.push((name.trim(), value.trim()));
    }
    let values = |name: &str| {
        let own = stored.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        own.map(|(_, value)| (*value).to_owned()).collect()
    };
    let headers: Vec<(String, Vec<String>)> = names.iter().map(|name| (name.clone(), values(name))).collect();
    let words = format!("headers as in {}", short(&file));
    Some(SubjectDraft { words, on: On::Fixed(Subject::HeaderSnapshot(headers)) })
}

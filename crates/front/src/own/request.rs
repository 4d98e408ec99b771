//! One request of a scenario: its method, path, headers and body.

use super::json;
use super::key::{METHODS, Row, Section, find};
use super::one_or_more;
use super::reader::Reader;
use super::site::{Headers, Site};
use super::yaml::{Entry, Node, Value};
use crate::body::from_file;
use crate::{default_name, header};
use plimsoll_plan::Request;

/// One request; `None` when its mistakes are reported.
pub fn read(item: &Node, site: &mut Site, r: &mut Reader<'_>) -> Option<Request> {
    let Value::Map(entries) = &item.value else {
        let hint = match &item.value {
            Value::Scalar { text, .. } if METHODS.iter().any(|m| text.starts_with(&format!("{m}:"))) => {
                "write a space behind the colon: `- get: /pick`"
            }
            _ => "expected a method with a path, such as `- get: /pick`",
        };
        r.complain("F014", item.pos, "this is no request", hint);
        return None;
    };

    let before = r.wrong.len();
    let mut line: Option<(&'static str, &Node)> = None;
    let mut body: Option<(&'static str, Option<Vec<u8>>)> = None;
    let (mut name, mut own) = (None, Vec::new());
    for entry in entries {
        let (node, Some(row)) = (&entry.value, r.row(Section::Request, entry)) else { continue };
        match row.name {
            "name" => name = r.text(node, row).map(str::to_owned),
            "headers" => own = headers(node, row, r),
            "json" | "body" | "body_file" => {
                if let Some((first, _)) = body {
                    let message = format!("`{first}` and `{}` both give the body", row.name);
                    r.complain("F017", entry.pos, message, "keep one");
                } else {
                    body = Some((row.name, read_body(node, row, r)));
                }
            }
            method => match line {
                Some((first, _)) => {
                    let message = format!("`{first}` and `{method}` in one request");
                    r.complain("F017", entry.pos, message, "begin a new request with a `-` in front");
                }
                None => line = Some((method, node)),
            },
        }
    }
    let Some((method, path)) = line else {
        // A misspelt method is reported already.
        if r.wrong.len() == before {
            r.complain(
                "F016",
                item.pos,
                "this request has no method and path",
                "add them, such as `get: /pick`",
            );
        }
        return None;
    };
    let at = find(Section::Request, method).and_then(|row| r.written(path, row)).map(str::to_owned);
    let url = at.and_then(|at| site.join(&at, path.pos, r))?;
    if r.wrong.len() > before {
        return None;
    }

    let is_json = matches!(body, Some(("json", _)));
    let headers = site.headers(own, is_json, url.credentials.as_deref());
    let body = body.and_then(|(_, bytes)| bytes);
    if let Err(sentence) = header::check_length(&headers, body.as_deref()) {
        r.complain_sentence(item.pos, &sentence);
        return None;
    }
    let method = method.to_ascii_uppercase();
    Some(Request {
        name: name.unwrap_or_else(|| default_name(&method, &url.path)),
        method,
        path: url.path,
        headers,
        body,
    })
}

/// Names to values; a list of values sends the header several times.
pub fn headers(node: &Node, row: &Row, r: &mut Reader<'_>) -> Headers {
    let mut all = Headers::new();
    let entries: &[Entry] = r.map(node, row).unwrap_or_default();
    for (i, entry) in entries.iter().enumerate() {
        if let Some(first) = entries[..i].iter().find(|e| e.key.eq_ignore_ascii_case(&entry.key)) {
            r.complain(
                "F013",
                entry.pos,
                format!("`{}` and `{}` are one header: case does not count", first.key, entry.key),
                "give several values as a list: `Name: [a, b]`",
            );
        }
        for value in one_or_more(&entry.value) {
            match &value.value {
                // Numbers and truth values are sent as written: in a header there is only text.
                Value::Scalar { text, plain } if !plain || !matches!(text.as_str(), "" | "~" | "null") => {
                    let text = text.trim_matches([' ', '\t']);
                    match header::check(&entry.key, text) {
                        Ok(()) => all.push((entry.key.clone(), text.to_owned())),
                        Err(sentence) => r.complain_sentence(entry.pos, &sentence),
                    }
                }
                Value::Scalar { .. } => {
                    let message = format!("the header `{}` has no value", entry.key);
                    r.complain("F014", entry.pos, message, "write `\"\"` to send it empty");
                }
                _ => {
                    let message = format!("the value of the header `{}` is no text", entry.key);
                    r.complain(
                        "F014",
                        value.pos,
                        message,
                        "write `Name: value`, or `Name: [a, b]` to send it twice",
                    );
                }
            }
        }
    }
    all
}

fn read_body(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Vec<u8>> {
    match row.name {
        "json" => {
            if let Value::Scalar { text, plain: false } = &node.value
                && text.trim_start().starts_with(['{', '['])
            {
                r.complain(
                    "F014",
                    node.pos,
                    "this is a text that holds JSON: it would be sent in quotes",
                    "take the quotes away (JSON is YAML), or send the text as it is with `body`",
                );
                return None;
            }
            let mut out = String::new();
            match json::render(node, &mut out) {
                Ok(()) => Some(out.into_bytes()),
                Err((pos, message, hint)) => {
                    r.complain("F015", pos, message, hint);
                    None
                }
            }
        }
        "body" => {
            if matches!(node.value, Value::Map(_) | Value::List(_)) {
                r.complain(
                    "F014",
                    node.pos,
                    "`body` expects text",
                    "a structured body is written with `json`",
                );
                return None;
            }
            r.text(node, row).map(|text| text.as_bytes().to_vec())
        }
        _ => {
            let name = r.text(node, row)?;
            from_file(name, r.folder).map_err(|sentence| r.complain_sentence(node.pos, &sentence)).ok()
        }
    }
}

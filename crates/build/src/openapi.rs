//! The responses that an OpenAPI document describes for a request: resolved by path, method, and status.
//!
//! Schemas of version 3.1 are JSON Schema. Those of 3.0 are close to draft 4; `nullable` is resolved here, and so is
//! `writeOnly`, whose properties a response need not have.

use crate::draft::OpenApiDraft;
use crate::json_schema::compiles;
use crate::nearest::nearest;
use crate::sentence::short;
use plimsoll_plan::Problem;
use plimsoll_plan::answer::{Described, DescribedResponse, Dialect, Schema};
use plimsoll_plan::script::Ask;
use plimsoll_plan::value::{Part, Text};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Longest chain of references that is followed.
const REFERENCES_MAX: usize = 32;

/// Returns the responses of the operation that a request calls.
///
/// # Errors
/// Returns an error if the document does not describe the request, or describes it wrongly; `None` if the path of the
/// request is unknown.
pub fn described(draft: &OpenApiDraft, ask: &Ask) -> Result<Described, Option<Problem>> {
    let file = &draft.file;
    let document = &*draft.document;
    let dialect = dialect(document, file)?;
    let paths = document.get("paths").and_then(Value::as_object);
    let paths = paths.ok_or_else(|| Problem::new(format!("`{file}` has no `paths`"), "check the file"))?;
    let path = match &draft.path {
        Some(path) => path.clone(),
        None if ask.path.is_empty() => return Err(None),
        None => fitting(document, paths, &ask.path).ok_or_else(|| {
            let message =
                format!("no path of `{file}` fits the request path `{}`", short(&describe(&ask.path)));
            Problem::new(message, "name one: `openapi: { file: ..., path: \"/users/{id}\" }`")
        })?,
    };
    let Some(item) = paths.get(&path) else {
        let hint = match nearest(&path, paths.keys().map(String::as_str)) {
            Some(right) => format!("did you mean `{right}`?"),
            None => "write a path as the document writes it, such as `/users/{id}`".to_owned(),
        };
        return Err(Some(Problem::new(format!("unknown path `{}` in `{file}`", short(&path)), hint)));
    };
    let method = draft.method.as_deref().unwrap_or(&ask.method);
    let operation = resolved(document, item, file)?.get(method.to_ascii_lowercase());
    let operation = operation.ok_or_else(|| {
        let message = format!("`{file}` describes no `{method}` for `{path}`");
        Problem::new(message, "name another `path` or `method`")
    })?;
    let all = operation.get("responses").and_then(Value::as_object);
    let all = all.ok_or_else(|| {
        Problem::new(
            format!("`{file}` describes no responses to `{method} {path}`"),
            "add them, or remove the check",
        )
    })?;
    let root = prepared(document, dialect);
    let mut responses = Vec::new();
    for (status, response) in all {
        let range = range(status).ok_or_else(|| {
            let message = format!("invalid status `{}` of `{method} {path}` in `{file}`", short(status));
            Problem::new(message, "write a code such as `200`, a class such as `2XX`, or `default`")
        })?;
        let at =
            format!("/paths/{}/{}/responses/{}", token(&path), method.to_ascii_lowercase(), token(status));
        let schema = match place(document, response, at, file)? {
            None => None,
            Some(at) => {
                let value = rooted(&root, &at);
                compiles(&value, dialect).map_err(|problem| {
                    Problem::new(
                        format!("`{file}`, {method} {path}, status {status}: {}", problem.message),
                        problem.hint,
                    )
                })?;
                Some(Arc::new(Schema { text: value.to_string(), dialect }))
            }
        };
        responses.push(DescribedResponse { statuses: range, schema });
    }
    // A code before a class, and a class before the default.
    responses.sort_by_key(|response| response.statuses.1 - response.statuses.0);
    Ok(Described { operation: format!("{method} {path}"), responses })
}

fn dialect(document: &Value, file: &str) -> Result<Dialect, Problem> {
    let version = document.get("openapi").and_then(Value::as_str).unwrap_or_default();
    if version.starts_with("3.0") {
        return Ok(Dialect::Draft4);
    }
    if version.starts_with("3.1") || version.starts_with("3.2") {
        return Ok(Dialect::Draft202012);
    }
    let message = match (document.get("swagger").is_some(), version) {
        (true, _) => format!("`{file}` is Swagger 2.0, which is not supported"),
        (false, "") => format!("`{file}` is not an OpenAPI document: it has no `openapi`"),
        (false, version) => format!("`{file}` has the unsupported OpenAPI version `{}`", short(version)),
    };
    Err(Problem::new(message, "use a document of OpenAPI 3.0 or 3.1"))
}

/// Returns the path of the document that fits the path of a request best: the one with the most fixed segments.
fn fitting(document: &Value, paths: &Map<String, Value>, path: &Text) -> Option<String> {
    let wanted = segments(path);
    let mut bases: Vec<Vec<String>> = vec![Vec::new()];
    for server in document.get("servers").and_then(Value::as_array).into_iter().flatten() {
        let url = server.get("url").and_then(Value::as_str).unwrap_or_default();
        let path = url.split_once("://").map_or(url, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
        bases.push(path.split('/').filter(|one| !one.is_empty()).map(str::to_owned).collect());
    }
    let mut best: Option<(usize, &String)> = None;
    for known in paths.keys() {
        let template: Vec<&str> = known.split('/').filter(|one| !one.is_empty()).collect();
        for base in &bases {
            let parts: Vec<&str> = base.iter().map(String::as_str).chain(template.iter().copied()).collect();
            let fits = parts.len() == wanted.len()
                && parts.iter().zip(&wanted).all(|(part, wanted)| match wanted {
                    Some(text) => part.contains('{') || part == text,
                    None => part.contains('{'),
                });
            let fixed = parts.iter().filter(|part| !part.contains('{')).count();
            if fits && best.is_none_or(|(most, _)| fixed > most) {
                best = Some((fixed, known));
            }
        }
    }
    best.map(|(_, known)| known.clone())
}

/// Returns the segments of a path without its query; `None` is one that changes with every request.
fn segments(path: &Text) -> Vec<Option<String>> {
    let mut all: Vec<Option<String>> = Vec::new();
    let mut open = String::new();
    let mut changes = false;
    let mut end = |open: &mut String, changes: &mut bool| {
        let segment = std::mem::take(open);
        match std::mem::take(changes) {
            true => all.push(None),
            false if segment.is_empty() => {}
            false => all.push(Some(segment)),
        }
    };
    'parts: for part in &path.parts {
        let Part::Literal(bytes) = part else {
            changes = true;
            continue;
        };
        for sign in String::from_utf8_lossy(bytes).chars() {
            match sign {
                '?' => break 'parts,
                '/' => end(&mut open, &mut changes),
                _ => open.push(sign),
            }
        }
    }
    end(&mut open, &mut changes);
    all
}

fn describe(path: &Text) -> String {
    segments(path).iter().map(|one| format!("/{}", one.as_deref().unwrap_or("${...}"))).collect()
}

/// Returns the codes of a key of `responses`.
fn range(status: &str) -> Option<(u16, u16)> {
    if status == "default" {
        return Some((100, 999));
    }
    if let Some(class) = status.strip_suffix("XX").or(status.strip_suffix("xx")) {
        let class: u16 = class.parse().ok().filter(|class| (1..=5).contains(class))?;
        return Some((class * 100, class * 100 + 99));
    }
    status.parse().ok().filter(|code| (100..=599).contains(code)).map(|code| (code, code))
}

/// Follows `$ref` to an object of the same document.
fn resolved<'d>(document: &'d Value, value: &'d Value, file: &str) -> Result<&'d Value, Problem> {
    let mut value = value;
    for _ in 0..REFERENCES_MAX {
        let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return Ok(value) };
        value = target(document, reference).ok_or_else(|| unknown(reference, file))?;
    }
    Err(Problem::new(format!("too many references in `{file}`"), "remove the circle of `$ref`"))
}

fn target<'d>(document: &'d Value, reference: &str) -> Option<&'d Value> {
    document.pointer(reference.strip_prefix('#')?)
}

fn unknown(reference: &str, file: &str) -> Problem {
    let message = format!("`$ref: {}` leads nowhere in `{file}`", short(reference));
    Problem::new(message, "point it to a place in the same document, such as `#/components/schemas/User`")
}

/// Returns the place of the schema for a JSON body; `None` if the response has none.
fn place(document: &Value, response: &Value, at: String, file: &str) -> Result<Option<String>, Problem> {
    let (mut response, mut at) = (response, at);
    for _ in 0..REFERENCES_MAX {
        let Some(reference) = response.get("$ref").and_then(Value::as_str) else { break };
        response = target(document, reference).ok_or_else(|| unknown(reference, file))?;
        at = reference.trim_start_matches('#').to_owned();
    }
    let Some(content) = response.get("content").and_then(Value::as_object) else { return Ok(None) };
    let rank = |media: &str| {
        let media = media.split(';').next().unwrap_or_default().trim();
        match media {
            "application/json" => Some(0),
            _ if media.ends_with("+json") => Some(1),
            "application/*" => Some(2),
            "*/*" => Some(3),
            _ => None,
        }
    };
    let best = content
        .iter()
        .filter_map(|(media, about)| Some((rank(media)?, media, about)))
        .min_by_key(|one| one.0);
    Ok(best
        .filter(|(_, _, about)| about.get("schema").is_some())
        .map(|(_, media, _)| format!("{at}/content/{}/schema", token(media))))
}

/// Escapes a token of a JSON Pointer (RFC 6901 section 3).
fn token(text: &str) -> String {
    text.replace('~', "~0").replace('/', "~1")
}

/// Returns the document as a schema that begins at one of its places. Its own `$ref` still lead to its other places.
fn rooted(root: &Value, at: &str) -> Value {
    // A reference is a URI, in which braces and other signs of paths are percent-encoded (RFC 6901 section 6).
    let mut fragment = String::from("#");
    for byte in at.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                fragment.push(char::from(byte));
            }
            _ => fragment.push_str(&format!("%{byte:02X}")),
        }
    }
    let mut all = root.as_object().cloned().unwrap_or_default();
    all.insert("$ref".into(), json!(fragment));
    Value::Object(all)
}

/// Returns the document with its schemas in the words of JSON Schema.
fn prepared(document: &Value, dialect: Dialect) -> Value {
    let mut root = document.clone();
    prepare(&mut root, dialect);
    root
}

fn prepare(value: &mut Value, dialect: Dialect) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| prepare(item, dialect)),
        Value::Object(object) => {
            object.values_mut().for_each(|inner| prepare(inner, dialect));
            let hidden: Vec<String> = object
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .filter(|(_, about)| about.get("writeOnly") == Some(&json!(true)))
                .map(|(name, _)| name.clone())
                .collect();
            if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut)
                && !hidden.is_empty()
            {
                required.retain(|name| !hidden.iter().any(|hidden| name == hidden));
                // Draft 4 allows no empty list.
                if required.is_empty() {
                    object.remove("required");
                }
            }
            if dialect == Dialect::Draft4 && object.get("nullable") == Some(&json!(true)) {
                nullable(object);
            }
        }
        _ => {}
    }
}

/// Resolves `nullable: true` of OpenAPI 3.0: null is another type, and another value of `enum`.
fn nullable(object: &mut Map<String, Value>) {
    object.remove("nullable");
    if let Some(Value::String(kind)) = object.get("type").cloned() {
        object.insert("type".into(), json!([kind, "null"]));
        if let Some(values) = object.get_mut("enum").and_then(Value::as_array_mut)
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
        return;
    }
    // Without a type, as around `allOf`, the schema is one of two alternatives.
    let own = std::mem::take(object);
    object.insert("anyOf".into(), json!([Value::Object(own), { "type": "null" }]));
}

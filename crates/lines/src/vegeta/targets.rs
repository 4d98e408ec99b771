//! Targets of Vegeta as JSON: an object on each line.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_build::{header, requests};
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Draft, Problem};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Target {
    #[serde(default)]
    method: String,
    #[serde(default)]
    url: String,
    /// Base64.
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    header: BTreeMap<String, Vec<String>>,
}

/// Reads the list; `file` is its name in diagnostics.
///
/// # Errors
/// Returns every mistake with its line.
pub fn json(text: &str, file: &str) -> Result<Draft, Vec<Diagnostic>> {
    let (mut draft, mut wrong) = (Draft::default(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        if let Err(problem) = add(&mut draft, line) {
            let line = number as u32 + 1;
            let place = Place::Text { file: file.to_owned(), line, column: 1, excerpt: String::new() };
            wrong.push(Diagnostic::of("C003", place, problem));
        }
    }
    if draft.requests.is_empty() && wrong.is_empty() {
        let hint = "write `{\"method\": \"GET\", \"url\": \"http://127.0.0.1:8080/\"}`";
        wrong.push(Diagnostic::new("C003", Place::Whole, format!("`{file}` has no targets"), hint));
    }
    if wrong.is_empty() { Ok(draft) } else { Err(wrong) }
}

fn add(draft: &mut Draft, line: &str) -> Result<(), Problem> {
    let target: Target = serde_json::from_str(line)
        .map_err(|e| Problem::new(format!("invalid target: {e}"), "write a JSON object on each line"))?;
    if target.method.is_empty() {
        return Err(Problem::new("missing `method` of a target", "add it, such as `\"method\": \"GET\"`"));
    }
    requests::add(draft, &target.method, &target.url)?;
    let Some(request) = draft.requests.last_mut() else { return Ok(()) };
    for (name, values) in &target.header {
        for value in values {
            header::check(name, value)?;
            request.headers.push((name.clone(), value.clone()));
        }
    }
    if let Some(body) = target.body {
        let decoded = STANDARD.decode(&body);
        request.body = Some(decoded.map_err(|_| Problem::new("invalid `body`", "encode it in Base64"))?);
    }
    Ok(())
}

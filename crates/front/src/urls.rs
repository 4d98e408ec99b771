//! A list of requests, one a line, as Vegeta's text format has it: `METHOD URL`, headers on the lines that follow, the
//! body as `@file`.

use crate::body::from_file;
use crate::{default_name, header, message_and_hint};
use plimsoll_plan::diag::Place;
use plimsoll_plan::request::{base64, url};
use plimsoll_plan::{Diagnostic, Draft, Request, Target};
use std::path::Path;

/// Reads the list. `file` is its name in diagnostics; paths of bodies start at `folder`.
///
/// # Errors
/// Returns every mistake with its line.
pub fn parse(text: &str, file: &str, folder: &Path) -> Result<Draft, Vec<Diagnostic>> {
    let mut list = List { draft: Draft::default(), wrong: Vec::new(), file };
    for (number, line) in text.lines().enumerate() {
        list.line(number as u32 + 1, line, folder);
    }
    if list.draft.requests.is_empty() && list.wrong.is_empty() {
        let message = format!("`{file}` names no request");
        list.wrong.push(Diagnostic::new("C003", Place::Whole, message, "write `GET http://127.0.0.1:8080/`"));
    }
    if list.wrong.is_empty() { Ok(list.draft) } else { Err(list.wrong) }
}

/// Adds the request of one URL to a draft that loads the same origin.
///
/// # Errors
/// Returns a sentence if it is not a URL, or one of another origin.
pub fn add(draft: &mut Draft, method: &str, text: &str) -> Result<(), String> {
    let url = url(text)?;
    match &draft.target {
        None => draft.target = Some(url.target),
        Some(target) if *target == url.target => {}
        Some(target) => {
            return Err(format!(
                "`{}` and `{}` are two origins, and a run loads one; start a run for each",
                origin(target),
                origin(&url.target)
            ));
        }
    }
    let headers = match &url.credentials {
        Some(pair) => vec![("Authorization".to_owned(), format!("Basic {}", base64(pair.as_bytes())))],
        None => Vec::new(),
    };
    let name = default_name(method, &url.path);
    draft.requests.push(Request { name, method: method.to_owned(), path: url.path, headers, body: None });
    Ok(())
}

fn origin(target: &Target) -> String {
    format!("{}://{}", if target.tls { "https" } else { "http" }, target.authority())
}

struct List<'a> {
    draft: Draft,
    wrong: Vec<Diagnostic>,
    file: &'a str,
}

impl List<'_> {
    fn line(&mut self, number: u32, line: &str, folder: &Path) {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        let read = match first_line(text) {
            Some((method, url)) => add(&mut self.draft, method, url),
            None => self.more(text, folder),
        };
        if let Err(sentence) = read {
            let (message, hint) = message_and_hint(&sentence);
            let column = (line.len() - line.trim_start().len()) as u32 + 1;
            // A header may be secret, so the line is named and not shown.
            let place =
                Place::Text { file: self.file.to_owned(), line: number, column, excerpt: String::new() };
            self.wrong.push(Diagnostic::new("C003", place, message, hint));
        }
    }

    /// A header or the body of the request above.
    fn more(&mut self, text: &str, folder: &Path) -> Result<(), String> {
        let Some(request) = self.draft.requests.last_mut() else {
            return Err("a line before the first request; begin with `GET http://127.0.0.1:8080/`".into());
        };
        match text.strip_prefix('@') {
            Some("") => return Err("missing file name after `@`; write `@body.json`".into()),
            Some(_) if request.body.is_some() => {
                return Err(format!("a second body for `{}`; keep one", request.name));
            }
            Some(name) => request.body = Some(from_file(&folder.join(name))?),
            None => request.headers.push(header::parse(text)?),
        }
        Ok(())
    }
}

/// `GET http://host/path`, or the URL alone.
fn first_line(text: &str) -> Option<(&str, &str)> {
    let is_url = |text: &str| text.split_once("://").is_some_and(|(scheme, _)| is_word(scheme));
    match text.split_once(char::is_whitespace) {
        Some((method, url)) if is_word(method) && is_url(url.trim()) => Some((method, url.trim())),
        None if is_url(text) => Some(("GET", text)),
        _ => None,
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic())
}

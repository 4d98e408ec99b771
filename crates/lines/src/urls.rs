//! A list of requests, one per line, in Vegeta's text format: `METHOD URL`, then headers on separate lines, and the
//! body as `@file`.

use plimsoll_build::body::from_file;
use plimsoll_build::header;
use plimsoll_build::requests;
use plimsoll_plan::Problem;
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Draft};
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
        let message = format!("`{file}` has no requests");
        list.wrong.push(Diagnostic::new("C003", Place::Whole, message, "write `GET http://127.0.0.1:8080/`"));
    }
    if list.wrong.is_empty() { Ok(list.draft) } else { Err(list.wrong) }
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
            Some((method, url)) => requests::add(&mut self.draft, method, url),
            None => self.more(text, folder),
        };
        if let Err(problem) = read {
            let column = (line.len() - line.trim_start().len()) as u32 + 1;
            // A header may be secret, so the diagnostic does not show the line.
            let place =
                Place::Text { file: self.file.to_owned(), line: number, column, excerpt: String::new() };
            self.wrong.push(Diagnostic::of("C003", place, problem));
        }
    }

    /// Reads a header or the body of the previous request.
    fn more(&mut self, text: &str, folder: &Path) -> Result<(), Problem> {
        let Some(request) = self.draft.requests.last_mut() else {
            return Err(Problem::new(
                "unexpected line before the first request",
                "begin with `GET http://127.0.0.1:8080/`",
            ));
        };
        match text.strip_prefix('@') {
            Some("") => return Err(Problem::new("missing file name after `@`", "write `@body.json`")),
            Some(_) if request.body.is_some() => {
                let message = format!("duplicate body of `{}`", request.name);
                return Err(Problem::new(message, "keep one of them"));
            }
            Some(name) => request.body = Some(from_file(&folder.join(name))?),
            None => request.headers.push(header::parse(text)?),
        }
        Ok(())
    }
}

/// Splits `GET http://host/path` into method and URL, or reads a URL alone.
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

//! Failures on one line, `error: <sentence>`, with the fix on the next.

use crate::line::{Line, write_all};
use crate::style::{Look, TextStyle};
use std::fmt;

/// Renders a sentence and its hints, one per line; a sentence of several lines is joined into one.
pub fn render(sentence: &str, hint: Option<&str>, look: &Look) -> String {
    let sentence = sentence.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let mut lines = vec![Line::of(TextStyle::Bad, "error:").text(" ").text(&sentence)];
    for hint in hint.into_iter().flat_map(str::lines).filter(|hint| !hint.trim().is_empty()) {
        lines.push(Line::of(TextStyle::Accent, "  help:").text(" ").text(hint.trim()));
    }
    write_all(&lines, look)
}

/// Errors of this crate: a document that cannot be serialized as JSON or compressed into a page.
#[derive(Debug)]
pub enum Error {
    Json(serde_json::Error),
    Packing(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Json(error) => write!(f, "the summary cannot be written as JSON: {error}"),
            Error::Packing(error) => write!(f, "the data of the page cannot be packed: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Json(error) => Some(error),
            Error::Packing(error) => Some(error),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Error {
        Error::Json(error)
    }
}

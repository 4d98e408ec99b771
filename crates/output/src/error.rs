//! Bad news on one screen line: `plimsoll: <sentence>`, and how to mend it on the next.

use crate::line::{Line, write_all};
use crate::style::{Ink, Look};
use std::fmt;

/// A sentence and its hints. Errors that bring their hint on a line of their own (as this project's do) can be given
/// whole as `sentence`: every line but the first becomes a hint.
pub fn render(sentence: &str, hint: Option<&str>, look: &Look) -> String {
    let mut told = sentence.lines();
    let first = told.next().unwrap_or_default();
    let mut lines = vec![Line::of(Ink::Bad, "plimsoll:").text(" ").text(first)];
    for hint in told.chain(hint.into_iter().flat_map(str::lines)) {
        let hint = hint.trim();
        let hint = hint.strip_prefix("hint:").unwrap_or(hint).trim();
        if !hint.is_empty() {
            lines.push(Line::of(Ink::Accent, "  hint:").text(" ").text(hint));
        }
    }
    write_all(&lines, look)
}

/// What can go wrong in this crate: a document that cannot be written as JSON, or not be packed into a page.
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

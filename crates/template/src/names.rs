//! Known names, for errors about unknown ones. A misspelled placeholder is an error with a suggestion, because an empty
//! place in a report would look like a missing value.

use minijinja::{Error, ErrorKind};
use std::sync::{Mutex, PoisonError};

/// Maximum number of names in a hint; a run has hundreds of requests.
const SHOWN: usize = 24;

/// The last lookup that found nothing.
#[derive(Debug, Default)]
pub struct Missed {
    /// The kind of the result: `run`.
    kind: String,
    last: Mutex<Option<Miss>>,
}

#[derive(Debug, Clone)]
struct Miss {
    name: String,
    /// Where it was looked up: `totals`, empty for the whole document.
    of: String,
    known: Vec<String>,
}

impl Missed {
    pub fn of(kind: &str) -> Missed {
        Missed { kind: kind.to_owned(), ..Missed::default() }
    }

    pub fn note(&self, name: &str, of: &str, known: impl Iterator<Item = String>) {
        let miss = Miss { name: name.to_owned(), of: of.to_owned(), known: known.collect() };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(miss);
    }

    /// Returns the message and the hint.
    pub fn describe(&self) -> (String, String) {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(miss) = last else {
            return ("unknown name".into(), "`--json` prints all names".into());
        };
        let of = match miss.of.as_str() {
            // A template for another kind of result is distinguished from a typo.
            "" => format!("the result of {} {}", article(&self.kind), self.kind),
            of => format!("`{of}`"),
        };
        let known: Vec<&str> = miss.known.iter().map(String::as_str).collect();
        (format!("{of} has no `{}`", miss.name), there_is(&miss.name, &known))
    }
}

/// Returns the error `unknown chart `timelin``, with the hint `known: `timeline`, `heat``.
pub fn no_such(what: &str, name: &str, known: &[&str]) -> Error {
    hinted(format!("unknown {what} `{name}`"), there_is(name, known))
}

/// An error of plimsoll: an error of the template engine carries a message, and the hint is its source.
pub fn hinted(sentence: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, sentence.into()).with_source(Hint(hint.into()))
}

/// Returns the hint of an error that [`hinted`] made; empty for others.
pub fn hint_of(error: &Error) -> String {
    let source = std::error::Error::source(error);
    source.and_then(|source| source.downcast_ref::<Hint>()).map_or_else(String::new, |hint| hint.0.clone())
}

#[derive(Debug)]
struct Hint(String);

impl std::fmt::Display for Hint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Hint {}

fn there_is(name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return "there are none".into();
    }
    // The closest name comes first.
    let mut sorted: Vec<(usize, &str)> = known.iter().map(|one| (distance(name, one), *one)).collect();
    sorted.sort_by_key(|(far, _)| *far);
    let near = sorted.first().filter(|(far, one)| *far <= 1 + one.len() / 4).map(|(_, one)| *one);
    let list: Vec<String> = known.iter().take(SHOWN).map(|one| format!("`{one}`")).collect();
    let more = if known.len() > SHOWN { format!(" and {} more", known.len() - SHOWN) } else { String::new() };
    let all = format!("known: {}{more}", list.join(", "));
    near.map_or_else(|| all.clone(), |near| format!("did you mean `{near}`? {all}"))
}

/// Returns the number of letters to change, add, or remove (Levenshtein 1966).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let changed = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

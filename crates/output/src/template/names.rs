//! Which names there are where somebody wrote one that is not: a misspelt gap is said with what would have been right,
//! because an empty gap in a report is read as nothing to report.

use std::sync::{Mutex, PoisonError};

/// Names in a hint; a run has requests by the hundred.
const SHOWN: usize = 24;

/// The last look-up that found nothing.
#[derive(Debug, Default)]
pub struct Missed {
    /// What the result is of: `run`.
    kind: String,
    last: Mutex<Option<Miss>>,
}

#[derive(Debug, Clone)]
struct Miss {
    name: String,
    /// Where it was looked for: `totals`, empty for the whole.
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

    /// Sentence and hint.
    pub fn told(&self) -> (String, String) {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(miss) = last else {
            return ("a name that is not there".into(), "`--json` prints everything that there is".into());
        };
        let of = match miss.of.as_str() {
            // A template for another kind of result is told from a slip of the pen.
            "" => format!("the result of {} {}", article(&self.kind), self.kind),
            of => format!("`{of}`"),
        };
        let known: Vec<&str> = miss.known.iter().map(String::as_str).collect();
        (format!("{of} has no `{}`", miss.name), there_is(&miss.name, &known))
    }
}

/// `there is no chart `timelin`; there are `timeline`, `heat``: sentence and hint in one text.
pub fn no_such(what: &str, name: &str, known: &[&str]) -> String {
    format!("there is no {what} `{name}`; {}", there_is(name, known))
}

fn there_is(name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return "nothing is there at all".into();
    }
    // What is meant stands in front.
    let mut sorted: Vec<(usize, &str)> = known.iter().map(|one| (distance(name, one), *one)).collect();
    sorted.sort_by_key(|(far, _)| *far);
    let near = sorted.first().filter(|(far, one)| *far <= 1 + one.len() / 4).map(|(_, one)| *one);
    let list: Vec<String> = known.iter().take(SHOWN).map(|one| format!("`{one}`")).collect();
    let more = if known.len() > SHOWN { format!(" and {} more", known.len() - SHOWN) } else { String::new() };
    let all = format!("there are {}{more}", list.join(", "));
    near.map_or_else(|| all.clone(), |near| format!("is it `{near}`? {all}"))
}

/// Letters to change, add or take away (Levenshtein 1966).
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

//! What kind of text a file holds, by its name first and by its content where the name says nothing.

use std::path::Path;

/// Who can read a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An experiment file of our own.
    Own,
    /// Known, named, and not readable yet.
    NotYet(&'static str),
    /// Nothing that we know.
    Unknown,
}

/// Endings that settle the matter.
const ENDINGS: &[(&str, &str)] = &[
    ("jmx", "JMeter plan"),
    ("har", "HAR recording"),
    ("lua", "wrk script"),
    ("scala", "Gatling simulation"),
    ("py", "Locust file"),
];

/// A program in JavaScript or TypeScript may be a k6 script; its text says.
const PROGRAMS: [&str; 5] = ["js", "mjs", "cjs", "ts", "mts"];

/// Each is a sign of a k6 script: its module, or the function that k6 calls.
const K6_MARKS: [&str; 3] = ["'k6/", "\"k6/", "export default function"];

/// Words of a text that settle the matter where the ending does not: all of a row must occur.
const MARKS: &[(&[&str], &str)] = &[
    (&["<jmeterTestPlan"], "JMeter plan"),
    (&["\"log\"", "\"entries\""], "HAR recording"),
    (&["\"_postman_id\""], "Postman collection"),
    (&["'k6/http'"], "k6 script"),
    (&["\"k6/http\""], "k6 script"),
];

/// Keys at the left edge of a YAML text that belong to somebody else's format.
const FOREIGN_KEYS: &[(&str, &str)] = &[
    ("openapi:", "OpenAPI description"),
    ("swagger:", "OpenAPI description"),
    ("config:", "Artillery script"),
    ("execution:", "Taurus configuration"),
];

/// Says what a file holds. `text` may be missing when the name alone has to do, or when it is not UTF-8.
pub fn detect(path: &Path, text: Option<&str>) -> Kind {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    if let Some((_, name)) = ENDINGS.iter().find(|(e, _)| *e == ending) {
        return Kind::NotYet(name);
    }
    if PROGRAMS.contains(&ending.as_str()) {
        return match text {
            // The name alone: the usual guess.
            None => Kind::NotYet("k6 script"),
            Some(text) if K6_MARKS.iter().any(|mark| text.contains(mark)) => Kind::NotYet("k6 script"),
            Some(_) => Kind::Unknown,
        };
    }
    let text = text.unwrap_or_default();
    let opens_a_line = |word: &str| text.lines().any(|line| line.starts_with(word));
    let ours = opens_a_line("scenarios:") && opens_a_line("target:");
    if matches!(ending.as_str(), "yaml" | "yml") {
        // A file with both of our keys is ours with a mistake, whatever else it holds.
        return match FOREIGN_KEYS.iter().find(|(key, _)| !ours && opens_a_line(key)) {
            Some((_, name)) => Kind::NotYet(name),
            None => Kind::Own,
        };
    }
    if let Some((_, name)) = MARKS.iter().find(|(words, _)| words.iter().all(|w| text.contains(w))) {
        return Kind::NotYet(name);
    }
    if opens_a_line("scenarios:") || opens_a_line("target:") { Kind::Own } else { Kind::Unknown }
}

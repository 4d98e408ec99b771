//! Detects the format of a file, first by its name, then by its content.

use std::path::Path;

/// The format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plimsoll experiment file.
    Own,
    /// A known format that is not supported yet, with its name.
    NotYet(&'static str),
    /// A k6 script, which `plimsoll run` runs.
    Script,
    /// A test plan of JMeter, which `plimsoll run` runs.
    TestPlan,
    /// An unknown format.
    Unknown,
}

/// File extensions that identify a format.
const ENDINGS: &[(&str, &str)] = &[
    ("har", "HAR recording"),
    ("lua", "wrk script"),
    ("scala", "Gatling simulation"),
    ("py", "Locust file"),
];

/// Extensions of JavaScript and TypeScript files, which are k6 scripts if their content says so.
const PROGRAMS: [&str; 5] = ["js", "mjs", "cjs", "ts", "mts"];

/// Each marks a k6 script: its module, or the function that k6 calls.
const K6_MARKS: [&str; 3] = ["'k6/", "\"k6/", "export default function"];

/// Words that identify a format if the extension does not: all words of a row must occur.
const MARKS: &[(&[&str], &str)] =
    &[(&["\"log\"", "\"entries\""], "HAR recording"), (&["\"_postman_id\""], "Postman collection")];

/// Top-level YAML keys of other formats.
const FOREIGN_KEYS: &[(&str, &str)] = &[
    ("openapi:", "OpenAPI description"),
    ("swagger:", "OpenAPI description"),
    ("config:", "Artillery script"),
    ("execution:", "Taurus configuration"),
];

/// Formats whose replacement has a page.
const PAGES: &[(&str, &str)] = &[("wrk script", "docs/how-to/come-from-wrk.md")];

/// Returns the fix for a file in an unsupported format that has a how-to page.
pub fn rewrite_hint(format: &str) -> Option<String> {
    let (_, page) = PAGES.iter().find(|(name, _)| *name == format)?;
    Some(format!("write it as an experiment file; `{page}` shows how"))
}

/// Detects the format of a file. Without `text`, the name alone decides.
pub fn detect(path: &Path, text: Option<&str>) -> Kind {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    if let Some((_, name)) = ENDINGS.iter().find(|(e, _)| *e == ending) {
        return Kind::NotYet(name);
    }
    if ending == "jmx" {
        return Kind::TestPlan;
    }
    if PROGRAMS.contains(&ending.as_str()) {
        return match text {
            // Only the name is known: most likely a k6 script.
            None => Kind::Script,
            Some(text) if K6_MARKS.iter().any(|mark| text.contains(mark)) => Kind::Script,
            Some(_) => Kind::Unknown,
        };
    }
    let text = text.unwrap_or_default();
    let opens_a_line = |word: &str| text.lines().any(|line| line.starts_with(word));
    let ours = opens_a_line("scenarios:") && opens_a_line("target:");
    if matches!(ending.as_str(), "yaml" | "yml") {
        // A file with both keys is a plimsoll file with a mistake, even if it contains foreign keys.
        return match FOREIGN_KEYS.iter().find(|(key, _)| !ours && opens_a_line(key)) {
            Some((_, name)) => Kind::NotYet(name),
            None => Kind::Own,
        };
    }
    if ["'k6/http'", "\"k6/http\""].iter().any(|mark| text.contains(mark)) {
        return Kind::Script;
    }
    if text.contains("<jmeterTestPlan") {
        return Kind::TestPlan;
    }
    if let Some((_, name)) = MARKS.iter().find(|(words, _)| words.iter().all(|w| text.contains(w))) {
        return Kind::NotYet(name);
    }
    if opens_a_line("scenarios:") || opens_a_line("target:") { Kind::Own } else { Kind::Unknown }
}

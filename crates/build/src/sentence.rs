//! Building blocks of diagnostics and of request names.

/// Returns the beginning of a text, on one line, so that a long value does not bury the sentence around it.
pub fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut out = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == LONGEST {
            out.push_str("...");
            break;
        }
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Joins names as `a`, `b`, and `c`, each in backticks.
pub fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "and")
}

/// Joins names as `a`, `b`, or `c`, each in backticks.
pub fn alternatives<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "or")
}

fn joined<'a>(names: impl IntoIterator<Item = &'a str>, word: &str) -> String {
    let names: Vec<String> = names.into_iter().map(|n| format!("`{n}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} {word} {other}"),
        [rest @ .., last] => format!("{}, {word} {last}", rest.join(", ")),
    }
}

/// Returns the name of a request without a `name`. It contains no secret, because every report shows it.
pub fn default_name(method: &str, path: &str) -> String {
    format!("{method} {}", plimsoll_plan::request::redacted_path(path))
}

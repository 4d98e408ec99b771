//! Pieces that sentences of diagnostics and names of requests are made of.

/// The beginning of a text in one line: a long one would drown the sentence.
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

/// `a`, `b` and `c`, each in backticks.
pub fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|n| format!("`{n}`")).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

/// What a request is called when its author gave it no name; holds no secret, because it stands in every report.
pub fn default_name(method: &str, path: &str) -> String {
    format!("{method} {}", plimsoll_plan::request::redacted_path(path))
}

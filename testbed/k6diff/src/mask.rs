//! Replaces what differs between any two runs.

/// Replaces numbers with their units, and runs of spaces.
pub fn numbers(text: &str) -> String {
    let mut out = String::new();
    // Users are sampled each second, so short tests have none in k6.
    for line in text.lines().filter(|line| !line.trim_start().starts_with("vus")) {
        out.push_str(&line_of(line));
        out.push('\n');
    }
    out
}

/// Units of times and sizes, which depend on the number.
const UNITS: [&str; 11] = ["µs", "ms", "ns", "kB", "MB", "GB", "s", "m", "h", " B", " kB"];

fn line_of(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let is_inside = out.ends_with(|last: char| last.is_alphanumeric() || last == '_' || last == '(');
        if first.is_ascii_digit() && !is_inside {
            let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            rest = &rest[length..];
            while let Some(unit) = UNITS.iter().find(|unit| is_unit(rest, unit)) {
                rest = &rest[unit.len()..];
                let more = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
                rest = &rest[more..];
            }
            out.push('#');
        } else if first == ' ' && out.ends_with(' ') && !out.trim().is_empty() {
            rest = &rest[1..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out.trim_end().to_owned()
}

fn is_unit(text: &str, unit: &str) -> bool {
    text.strip_prefix(unit).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphabetic()))
}

/// Returns a number with two digits: histograms are exact to less than 1%.
pub fn rounded(value: f64) -> String {
    format!("{value:.1e}")
}

/// Returns `file:line:column` of a frame, without folders and without what follows.
pub fn place(frame: &str) -> String {
    let words = frame.split_whitespace().map(|word| {
        let word = word.trim_start_matches('(').rsplit('/').next().unwrap_or(word);
        let word = word.trim_end_matches(')');
        match word.rsplit_once('(') {
            Some((before, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => before,
            _ => word,
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Replaces the values of a digest that depend on chance.
pub fn digest(value: &str) -> String {
    let Some(fields) = value.strip_prefix("Digest ") else { return value.to_owned() };
    let field = |text: &str| match text.trim().split_once('=') {
        Some((name @ ("cnonce" | "response"), _)) => format!("{name}=(random)"),
        Some((name, value)) => format!("{name}={}", value.trim_matches('"')),
        None => text.trim().to_owned(),
    };
    let mut fields: Vec<String> = fields.split(',').map(field).collect();
    fields.sort();
    format!("Digest {}", fields.join(", "))
}

//! Prefixes of lines: a log adds its time or the name of a container to each line of an output, and a comment in code
//! has its marks.

/// The text without them, line by line; none if no line has one.
pub fn without(text: &str) -> Option<String> {
    let bare: Vec<&str> = text.lines().map(time).map(comment).map(container).collect();
    // A log of one container has its name in each line after the time.
    let first = |line: &&str| line.split_once(' ').map(|(word, _)| word.to_owned());
    let words: Vec<String> = bare.iter().filter_map(first).collect();
    let common = words.first().filter(|word| words.len() > 3 && words.iter().all(|other| other == *word));
    let strip = |line: &&str| match common {
        Some(word) => line.strip_prefix(word.as_str()).map_or("", str::trim_start).to_owned(),
        None => (*line).to_owned(),
    };
    let stripped: Vec<String> = bare.iter().map(strip).collect();
    let is_other = stripped.iter().zip(text.lines()).any(|(bare, line)| bare != line);
    is_other.then(|| stripped.join("\n"))
}

/// `2025-04-22T12:10:31.863906658Z `, `2025-04-22 12:10:31,863 `, `[12:10:31] `.
fn time(line: &str) -> &str {
    let mut rest = line.trim_start().trim_start_matches('[');
    for _ in 0..2 {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        let is_clock = word.len() >= 8
            && word.matches(':').count() >= 2
            && word.chars().all(|c| c.is_ascii_digit() || ":.,-+TZ]".contains(c));
        let is_date = word.len() == 10 && word.chars().all(|c| c.is_ascii_digit() || c == '-' || c == '/');
        match (is_clock, is_date) {
            (true, _) => return after.trim_start(),
            (_, true) => rest = after,
            _ => break,
        }
    }
    line
}

/// `# `, `// `, `* `, `-- `; not fortio's own `# target`.
fn comment(line: &str) -> &str {
    const OWN: [&str; 3] = ["# target", "# range", "# Socket"];
    let body = line.trim_start();
    if OWN.iter().any(|own| body.starts_with(own)) {
        return line;
    }
    ["//", "#", "*", "--"].iter().find_map(|mark| body.strip_prefix(mark)?.strip_prefix(' ')).unwrap_or(line)
}

/// `bench_1   | ` of docker compose.
fn container(line: &str) -> &str {
    let Some((name, rest)) = line.split_once('|') else { return line };
    let name = name.trim();
    let is_name = !name.is_empty()
        && name.contains(char::is_alphabetic)
        && name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
    if is_name { rest.strip_prefix(' ').unwrap_or(rest) } else { line }
}

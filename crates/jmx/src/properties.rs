//! Files of Java properties: `name=value` lines.

/// Returns the properties of a file, in their order. A backslash at the end of a line continues it; `\n`, `\t`, and
/// `\uXXXX` are escapes; `#` and `!` begin comments.
pub fn parse(text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut lines = text.lines();
    while let Some(first) = lines.next() {
        let mut line = first.trim_start().to_owned();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        while continues(&line) {
            line.pop();
            match lines.next() {
                Some(next) => line.push_str(next.trim_start()),
                None => break,
            }
        }
        let (name, value) = split(&line);
        all.push((unescaped(name), unescaped(value)));
    }
    all
}

/// Returns whether a line ends with an odd number of backslashes.
fn continues(line: &str) -> bool {
    line.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1
}

/// Splits a line at its first `=`, `:`, or space that has no backslash before it.
fn split(line: &str) -> (&str, &str) {
    let mut is_escaped = false;
    for (at, c) in line.char_indices() {
        if !is_escaped && (matches!(c, '=' | ':') || c.is_whitespace()) {
            let rest = line[at..].trim_start();
            let value = rest.strip_prefix(['=', ':']).unwrap_or(rest);
            return (&line[..at], value.trim_start());
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    (line, "")
}

fn unescaped(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => result.push('\n'),
            Some('t') => result.push('\t'),
            Some('r') => result.push('\r'),
            Some('f') => result.push('\u{c}'),
            Some('u') => {
                let digits: String = rest.by_ref().take(4).collect();
                result.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            Some(other) => result.push(other),
            None => {}
        }
    }
    result
}

//! Text in Markdown: foreign text contains no markup.

use plimsoll_plan::phrase::is_harmful;

/// Escapes text so that Markdown does not interpret it: marks are escaped, and line breaks become blanks.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' | '*' | '_' | '[' | ']' | '#' | '~' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if is_harmful(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Escapes foreign text so that it contains no markup.
pub fn escaped(text: &str) -> String {
    escape(text)
}

/// Returns a sentence whose commands in backticks stay unescaped, because they are meant for copying.
pub fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // A name with a backtick makes their number odd: then none of them is markup.
    if parts.len().is_multiple_of(2) {
        return escape(text).replace('`', "'");
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => escape(part),
        _ => format!("`{}`", code(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Returns text between backticks: only the bar of a table can be escaped there, and a backtick would end it.
pub fn code(text: &str) -> String {
    text.replace('`', "'").replace('|', "\\|").replace(is_harmful, " ")
}

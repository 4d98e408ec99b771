//! Text from outside made harmless: in Markdown, between backticks, in XML.

/// Nothing in it is a link, a tag, an emphasis or the end of a table's cell.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' | '*' | '_' | '[' | ']' | '#' | '~' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A sentence: escaped but for what stands between backticks.
pub fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // A name with a backtick of its own leaves an odd one: then none of them means anything.
    if parts.len().is_multiple_of(2) {
        return escape(text).replace('`', "'");
    }
    let code = |part: &str| part.replace('|', "\\|").replace(|c: char| c.is_control(), " ");
    let part = |(at, part): (usize, &&str)| {
        if at.is_multiple_of(2) { escape(part) } else { format!("`{}`", code(part)) }
    };
    parts.iter().enumerate().map(part).collect()
}

/// For attributes and content of XML 1.0: characters that it does not know at all become a blank.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c if c.is_control() || matches!(u32::from(c), 0xfffe | 0xffff) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

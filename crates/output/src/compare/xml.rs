//! Escapes external text for XML.

use plimsoll_plan::phrase::is_harmful;

/// Escapes text for attributes and content of XML 1.0; characters that XML does not allow become spaces.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c if is_harmful(c) || matches!(u32::from(c), 0xfffe | 0xffff) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

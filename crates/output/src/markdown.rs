//! The report for READMEs and pull requests: the same values in the same order, as CommonMark with tables.

use crate::{document, run};
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::Summary;
use plimsoll_chart::Chart;
use plimsoll_plan::phrase::is_harmful;

/// Returns the report. Foreign text is escaped, so that a name can neither break a table nor become a link or a tag.
pub fn to_string(s: &Summary) -> String {
    let report = document::markdown(&run::document(s, &Picture::default(), &[], None));
    format!("{report}\n<sub>plimsoll {}</sub>\n", escape(&s.tool_version))
}

/// Returns images of charts next to the report, each with the path of its file. What a chart shows is its alternative
/// text.
pub fn pictures(all: &[(&Chart, String)]) -> String {
    let mut out = String::from("\n### Charts\n");
    for (chart, path) in all {
        let about = if chart.subtitle.is_empty() { "" } else { ": " };
        let about = escape(&format!("{}{about}{}", chart.title, chart.subtitle));
        // Between angle brackets, blanks and parentheses are literal; further angle brackets would not be.
        let path = path.replace('\\', "/").replace('<', "%3C").replace('>', "%3E");
        let path: String = path.chars().map(|c| if is_harmful(c) { ' ' } else { c }).collect();
        let path = if path.contains([' ', '(', ')']) { format!("<{path}>") } else { path };
        out.push_str(&format!("\n![{about}]({path})\n"));
    }
    if all.is_empty() { String::new() } else { out }
}

/// Escapes text so that Markdown does not interpret it: marks are escaped, and line breaks become blanks.
pub(crate) fn escape(text: &str) -> String {
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
pub(crate) fn prose(text: &str) -> String {
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
pub(crate) fn code(text: &str) -> String {
    text.replace('`', "'").replace('|', "\\|").replace(is_harmful, " ")
}

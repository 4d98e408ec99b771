//! The report for READMEs and pull requests: the same figures in the same order, as CommonMark with tables.

mod script;

use crate::document::part;
use crate::next::hints;
use crate::{run, trust, words};
use plimsoll_analysis::summary::{Caution, Severity, Summary};
use plimsoll_chart::Chart;
use plimsoll_plan::phrase::is_harmful;

/// The report. What came from outside is escaped, so that a name can neither break a table nor become a link or a
/// tag.
pub fn to_string(s: &Summary) -> String {
    let mut out = format!("## {}: {}\n\n", words::outcome(s.verdict.result), prose(words::sentence(s)));
    let setting = words::setting(s);
    out.push_str(&format!("`{}` ({})\n", code(&s.name), escape(&setting.join(", "))));
    next(s, &mut out);
    cautions(s, &mut out);
    out.push_str(&part(&run::thresholds::section(s)));
    generator(s, &mut out);
    for section in
        [run::figures::section(s), run::times::percentiles(s), run::times::bands(s), run::checks::section(s)]
    {
        out.push_str(&part(&section));
    }
    script::samples(s, &mut out);
    run::parts(s).iter().for_each(|section| out.push_str(&part(section)));
    out.push_str(&part(&run::watched::section(s)));
    out.push_str(&format!("\n<sub>plimsoll {}</sub>\n", escape(&s.tool_version)));
    out
}

/// Pictures that lie beside the report, each with the path of its file: what they show is their text for those who do
/// not see them.
pub fn pictures(all: &[(&Chart, String)]) -> String {
    let mut out = String::from("\n### Pictures\n");
    for (chart, path) in all {
        let about = if chart.subtitle.is_empty() { "" } else { ": " };
        let about = escape(&format!("{}{about}{}", chart.title, chart.subtitle));
        // Between angle brackets blanks and parentheses mean nothing; brackets of its own would.
        let path = path.replace('\\', "/").replace('<', "%3C").replace('>', "%3E");
        let path: String = path.chars().map(|c| if is_harmful(c) { ' ' } else { c }).collect();
        let path = if path.contains([' ', '(', ')']) { format!("<{path}>") } else { path };
        out.push_str(&format!("\n![{about}]({path})\n"));
    }
    if all.is_empty() { String::new() } else { out }
}

/// Why the verdict is so and what to do, as on the page and in the terminal.
fn next(s: &Summary, out: &mut String) {
    let mut last = None;
    for hint in hints(s, None) {
        if last.replace(hint.is_next) != Some(hint.is_next) {
            out.push_str(if hint.is_next { "\n**Next**\n\n" } else { "\n**Why**\n\n" });
        }
        out.push_str(&format!("- {}\n", prose(&hint.text)));
    }
}

/// Before any figure, as in the terminal: doubts first.
fn cautions(s: &Summary, out: &mut String) {
    let mut sorted: Vec<&Caution> = s.cautions.iter().collect();
    sorted.sort_by_key(|c| c.weight);
    if !sorted.is_empty() {
        out.push_str("\n### Cautions\n\n");
    }
    for c in sorted {
        let advice = c.advice();
        let (weight, title) = (words::weight(c.weight), escape(&c.title()));
        out.push_str(&format!(
            "- **{title}** ({weight}, `{}`): {}",
            code(c.kind.code()),
            prose(&c.evidence_text())
        ));
        out.push_str(&if advice.is_empty() {
            "\n".into()
        } else {
            format!(". *Advice:* {}\n", prose(&advice))
        });
    }
}

/// The trust box. Words instead of coloured signs: pages show neither colour nor a fixed width.
fn generator(s: &Summary, out: &mut String) {
    let mut table = Table::new("The load generator", &["", "", ""]);
    for row in trust::rows(s) {
        let sign = match row.weight {
            None => "ok",
            Some(Severity::Note) => "note",
            Some(Severity::Warning) => "**!**",
            Some(Severity::Inconclusive) => "**x**",
        };
        let facts: Vec<String> = row.facts.iter().map(|f| escape(f)).collect();
        table.row([sign.into(), escape(&row.label), facts.join("; ")]);
    }
    table.write(out);
}

/// A table with a heading; cells are escaped already.
struct Table {
    text: String,
}

impl Table {
    fn new(title: &str, heads: &[&str]) -> Table {
        let rule = "|---".repeat(heads.len());
        Table { text: format!("\n### {title}\n\n| {} |\n{rule}|\n", heads.join(" | ")) }
    }

    fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }

    fn write(self, out: &mut String) {
        out.push_str(&self.text);
    }
}

/// Text that means nothing to Markdown: marks are escaped, line breaks become blanks.
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

/// A text from outside that is to be no markup.
pub fn escaped(text: &str) -> String {
    escape(text)
}

/// A sentence with commands between backticks: those stay as they are, because they are there to be copied.
pub(crate) fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // A name with a backtick of its own leaves an odd one: then none of them means anything.
    if parts.len().is_multiple_of(2) {
        return escape(text).replace('`', "'");
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => escape(part),
        _ => format!("`{}`", code(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Text between backticks: nothing can be escaped there but the bar of a table, and a backtick would end it.
pub(crate) fn code(text: &str) -> String {
    text.replace('`', "'").replace('|', "\\|").replace(is_harmful, " ")
}

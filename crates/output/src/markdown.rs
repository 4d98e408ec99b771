//! The report for READMEs and pull requests: the same values in the same order, as CommonMark with tables.

use crate::{document, run};
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::Summary;
use plimsoll_chart::Chart;
use plimsoll_document::escape::escape;
use plimsoll_plan::phrase::is_harmful;

pub use plimsoll_document::escape::escaped;

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

//! The comparison in a pull request: GitHub flavoured Markdown.

use super::next::hints;
use super::{footing, interval, long_word, maybe_change, overall, p_value, peaks, values};
use crate::format::ratio;
use crate::markdown::{escape, prose};
use plimsoll_analysis::summary::Weight;
use plimsoll_experiment::compare::{Comparison, Overall, cell_name};

/// One section for each comparison: the verdict, the figures, the doubts.
pub fn markdown(comparisons: &[Comparison]) -> String {
    let mut out = String::from("## Comparison\n");
    if comparisons.is_empty() {
        out.push_str("\nNothing was compared.\n");
    }
    for c in comparisons {
        out.push('\n');
        verdict(c, &mut out);
        out.push('\n');
        body(c, &mut out);
    }
    out
}

/// The same for the summary of a workflow: the verdicts at a glance, everything else folded.
pub fn github_summary(comparisons: &[Comparison]) -> String {
    let mut out = String::from("## Comparison\n");
    if comparisons.is_empty() {
        out.push_str("\nNothing was compared.\n");
    }
    for c in comparisons {
        out.push('\n');
        verdict(c, &mut out);
        out.push_str("\n<details>\n<summary>");
        out.push_str(&format!("{} figures, {}", c.figures.len(), doubts_in_words(c)));
        // Without the blank line what follows would be taken for HTML.
        out.push_str("</summary>\n\n");
        body(c, &mut out);
        out.push_str("\n</details>\n");
    }
    out
}

fn verdict(c: &Comparison, out: &mut String) {
    let sign = match c.verdict {
        Overall::Faster | Overall::FewerErrors | Overall::NoDifference => ":white_check_mark:",
        Overall::Slower | Overall::MoreErrors => ":x:",
        Overall::Mixed | Overall::CannotTell => ":warning:",
    };
    out.push_str(&format!("{sign} **{}**: {}\n", overall(c.verdict), prose(&c.sentence)));
}

fn body(c: &Comparison, out: &mut String) {
    let hints = hints(c, None);
    for (is_next, title) in [(false, "Why"), (true, "Next")] {
        let own = hints.iter().filter(|hint| hint.is_next == is_next);
        let told: Vec<String> = own.map(|hint| prose(&hint.text)).collect();
        if !told.is_empty() {
            out.push_str(&format!("**{title}**: {}\n\n", told.join(" ")));
        }
    }
    let (a, b) = (escape(&c.a.name), escape(&c.b.name));
    let place = if c.cell.is_empty() { String::new() } else { format!("at {}", escape(&cell_name(&c.cell))) };
    if !c.figures.is_empty() {
        out.push_str(&format!(
            "| {place} | {a} | {b} | change | {} interval | p (Holm) | verdict |\n",
            ratio(c.confidence)
        ));
        out.push_str("|---|--:|--:|--:|--:|--:|---|\n");
    }
    for row in &c.figures {
        let bold = if row.verdict.is_worse() || row.verdict.is_better() { "**" } else { "" };
        out.push_str(&format!(
            "| {} | {} | {} | {bold}{}{bold} | {} | {} | {bold}{}{bold} |\n",
            escape(&row.figure),
            escape(&values(row)[0]),
            escape(&values(row)[1]),
            maybe_change(row, row.difference),
            interval(row),
            escape(&p_value(row.p_adjusted)),
            escape(&long_word(row)),
        ));
    }
    if !c.watched.is_empty() {
        out.push_str(&format!("\n| watched | {a} | {b} |\n|---|--:|--:|\n"));
    }
    for row in &c.watched {
        let [a, b] = peaks(row);
        out.push_str(&format!("| {} | {} | {} |\n", escape(&row.what), escape(&a), escape(&b)));
    }
    if !c.doubts.is_empty() {
        out.push('\n');
    }
    for doubt in &c.doubts {
        let word = match doubt.weight {
            Weight::Inconclusive => "**forbids a verdict**: ",
            Weight::Warning => "**warning**: ",
            Weight::Note => "note: ",
        };
        out.push_str(&format!("- {word}{} (`{}`)\n", prose(&doubt.sentence), doubt.code));
    }
    out.push_str(&format!("\n{}.\n", escape(&footing(c))));
}

fn doubts_in_words(c: &Comparison) -> String {
    match c.doubts.len() {
        0 => "no doubts".into(),
        1 => "1 doubt".into(),
        n => format!("{n} doubts"),
    }
}

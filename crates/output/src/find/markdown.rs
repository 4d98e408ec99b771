//! The answer for a README or a pull request.

use super::next::hints;
use super::{cautions, errors, facts, hides, level, outcome, purpose, value, verdict, with_bounds};
use crate::markdown::{escape, prose};
use crate::next::Hint;
use plimsoll_experiment::search::Answer;

/// The sentence, the facts, the curve and the steps, as CommonMark with tables.
pub fn markdown(answer: &Answer) -> String {
    let mut out = format!("## {}\n\n", escape(&answer.sentence));
    let hints = hints(answer);
    for (is_next, title) in [(false, "Why"), (true, "Next")] {
        let told: Vec<&Hint> = hints.iter().filter(|hint| hint.is_next == is_next).collect();
        if !told.is_empty() {
            let lines: Vec<String> = told.iter().map(|hint| format!("- {}\n", prose(&hint.text))).collect();
            out.push_str(&format!("**{title}**\n\n{}\n", lines.concat()));
        }
    }
    for (label, fact) in facts(answer) {
        out.push_str(&format!("- {label}: {}\n", escape(&fact)));
    }
    for (_, caution) in cautions(answer) {
        out.push_str(&format!("- caution: {}\n", prose(&caution)));
    }
    let unit = if answer.users { "users" } else { "offered" };
    if !answer.curve.is_empty() {
        head(
            &mut out,
            "The curve",
            &[unit, "achieved", "p50 (95 %)", "p99 (95 %)", "errors", "runs", "thresholds"],
        );
        for p in &answer.curve {
            let cells = [
                level(p.level, answer.users),
                level(p.achieved_rate_per_s, false),
                with_bounds(p.p50),
                with_bounds(p.p99),
                errors(p.error_ratio),
                p.runs.to_string(),
                verdict(p),
            ];
            row(&mut out, &cells);
        }
    }
    if !answer.steps.is_empty() {
        head(
            &mut out,
            "The runs",
            &["run", "for", unit, "achieved", "p50", "p99", "errors", "outcome", "cautions"],
        );
        for step in &answer.steps {
            let cells = [
                (step.turn + 1).to_string(),
                purpose(step.purpose).into(),
                level(step.level, answer.users || step.purpose == plimsoll_plan::experiment::Purpose::Floor),
                level(step.achieved_rate_per_s, false),
                value(step.p50),
                value(step.p99),
                errors(step.error_ratio),
                outcome(step),
                step.cautions.join(", "),
            ];
            row(&mut out, &cells);
        }
    }
    if hides(answer) {
        out.push_str(&format!("\n{}\n", escape(crate::words::DASH)));
    }
    out
}

fn head(out: &mut String, title: &str, columns: &[&str]) {
    out.push_str(&format!(
        "\n### {title}\n\n| {} |\n|{}\n",
        columns.join(" | "),
        " --- |".repeat(columns.len())
    ));
}

fn row(out: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
    out.push_str(&format!("| {} |\n", cells.join(" | ")));
}

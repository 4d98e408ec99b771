//! What decides: the verdict and the cautions.

use super::{heading, indented, outcome_ink};
use crate::line::{Line, flow, wrap};
use crate::next::hints;
use crate::style::{Look, TextStyle};
use crate::words;
use plimsoll_analysis::summary::{Caution, Outcome, Severity, Summary};

/// A heavy rule that carries the word, the sentence, why it is so and what to do next, and what was run.
pub fn verdict(s: &Summary, look: &Look, columns: usize, run_file: Option<&str>) -> Vec<Line> {
    let (rule, ink) = (look.signs().heavy_rule, outcome_ink(s.verdict.result));
    let badge = match s.verdict.result {
        Outcome::Pass => TextStyle::BadgeGood,
        Outcome::Fail => TextStyle::BadgeBad,
        Outcome::Inconclusive | Outcome::Interrupted => TextStyle::BadgeWarn,
    };
    let word = format!(" {} ", words::outcome(s.verdict.result));
    let head = Line::of(ink, &rule.repeat(2)).ink(badge, &word);
    let rest = columns.saturating_sub(head.width());
    let mut lines = vec![head.ink(ink, &rule.repeat(rest))];
    lines.extend(
        wrap(words::sentence(s), columns - 2).iter().map(|l| indented(Line::of(TextStyle::Strong, l))),
    );
    lines.extend(next(s, columns, run_file));
    let setting = words::setting(s).iter().map(|fact| Line::of(TextStyle::Dim, fact)).collect();
    let name = s.name.as_str();
    lines.push(indented(Line::of(TextStyle::Accent, name).cut(columns - 2, look)));
    if !name.contains(&s.target) {
        lines.push(indented(Line::new().text(&s.target).cut(columns - 2, look)));
    }
    lines.extend(flow(setting, columns - 2, look).into_iter().map(indented));
    lines
}

/// Reasons and steps; the first of each kind names it.
fn next(s: &Summary, columns: usize, run_file: Option<&str>) -> Vec<Line> {
    const LABEL: usize = 6;
    let mut lines = Vec::new();
    let mut last = None;
    for hint in hints(s, run_file) {
        let name = if hint.is_next { "next" } else { "why" };
        for part in wrap(&hint.text, columns.saturating_sub(2 + LABEL)) {
            let label = if last == Some(name) { "" } else { name };
            lines.push(indented(Line::of(TextStyle::Accent, label).pad(LABEL).text(&part)));
            last = Some(name);
        }
    }
    lines
}

/// Every doubt with its evidence and its mend.
pub fn cautions(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    if s.cautions.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![heading("cautions", "")];
    // The heaviest first; those of one weight stay in the order in which they were raised.
    let mut sorted: Vec<&Caution> = s.cautions.iter().collect();
    sorted.sort_by_key(|c| c.weight);
    for caution in sorted {
        lines.extend(one(caution, look, columns));
    }
    lines
}

/// A sign and a colour for a weight; the twin for "nothing found" is in the trust box.
pub fn sign(weight: Severity, look: &Look) -> (&'static str, TextStyle) {
    match weight {
        Severity::Inconclusive => (look.signs().bad, TextStyle::Bad),
        Severity::Warning => (look.signs().warn, TextStyle::Warn),
        Severity::Note => (look.signs().note, TextStyle::Accent),
    }
}

fn one(caution: &Caution, look: &Look, columns: usize) -> Vec<Line> {
    const INDENT: usize = 5;
    let (sign, ink) = sign(caution.weight, look);
    let title = Line::of(ink, sign).text(" ").ink(TextStyle::Strong, &caution.title());
    let mut lines =
        vec![indented(title.text("  ").ink(TextStyle::Dim, caution.kind.code())).cut(columns, look)];
    let mut paragraph = |first: &str, text: &str| {
        let room = columns - INDENT - crate::line::width(first);
        let hang = " ".repeat(crate::line::width(first));
        for (at, text) in wrap(text, room).iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            let front = if at == 0 { first } else { &hang };
            lines.push(Line::new().text(&" ".repeat(INDENT)).ink(TextStyle::Accent, front).text(text));
        }
    };
    paragraph("", &caution.evidence_text());
    paragraph(look.signs().arrow, &caution.advice());
    lines
}

//! Findings of an audit as they are told: the sentence, its arithmetic, the published lines with their figures marked.

use crate::document::{Block, Finding, Findings, Form, Quote};
use crate::line::width;
use plimsoll_audit::{Audit, Certainty, Finding as Found, Grade};

/// The anchor of a finding, by its place in the audit.
pub fn anchor(at: usize) -> String {
    format!("finding-{}", at + 1)
}

/// All findings of a grade.
pub fn findings(audit: &Audit, grade: Grade) -> Vec<Block> {
    let of = audit.findings.iter().enumerate().filter(|(_, found)| found.grade == grade);
    let finding = |(at, found): (usize, &Found)| {
        let word = match found.certainty {
            Certainty::Proved => "proved",
            Certainty::Likely => "likely",
            Certainty::Possible => "possible",
        };
        Finding {
            id: Some(anchor(at)),
            code: found.rule.into(),
            arithmetic: aligned(&found.arithmetic),
            quotes: quotes(audit, found),
            explanation: found.explanation.clone(),
            advice: found.advice.clone(),
            ..Finding::new(super::tone(Some(grade)), word, found.sentence.clone())
        }
    };
    let all: Vec<Finding> = of.map(finding).collect();
    vec![Block::Findings(Findings { form: Form::Proof, all })]
}

/// What is not there needs no quote.
pub fn missing(audit: &Audit) -> Vec<Block> {
    let all: Vec<&Found> = audit.findings.iter().filter(|found| found.grade == Grade::Missing).collect();
    let tone = super::tone(Some(Grade::Missing));
    let finding = |(title, advice): (String, String)| Finding { advice, ..Finding::new(tone, "", title) };
    let all = gaps(audit, &all).into_iter().map(finding).collect();
    vec![Block::Findings(Findings { form: Form::Gap, all })]
}

/// Lines that a finding quotes, each once, in the order of the finding.
fn quotes(audit: &Audit, finding: &Found) -> Vec<Quote> {
    let mut all: Vec<Quote> = Vec::new();
    for quote in &finding.quotes {
        match all.iter_mut().find(|known| known.file == quote.file && known.line == quote.line) {
            Some(known) => known.figures.push(quote.text.clone()),
            None => {
                let source = audit.sources.get(&quote.file).and_then(|lines| lines.get(&quote.line));
                // A tab is as wide as the terminal likes: underlines would miss their figures.
                let source = source.map(|s| s.trim().replace('\t', "  ")).filter(|s| !s.is_empty());
                let (file, figures) = (quote.file.clone(), vec![quote.text.clone()]);
                all.push(Quote { file, line: quote.line, source, figures });
            }
        }
    }
    all
}

/// What is missing in several files is said once: sentence and advice, with the files if there is a choice.
fn gaps(audit: &Audit, findings: &[&Found]) -> Vec<(String, String)> {
    let mut all: Vec<(&Found, Vec<&str>)> = Vec::new();
    for finding in findings {
        let file = finding.quotes.first().map(|quote| quote.file.as_str());
        match all.iter_mut().find(|(f, _)| f.sentence == finding.sentence && f.advice == finding.advice) {
            Some((_, files)) => files.extend(file),
            None => all.push((finding, file.into_iter().collect())),
        }
    }
    let named = |(finding, mut files): (&Found, Vec<&str>)| {
        files.dedup();
        let of = if audit.files.len() > 1 && !files.is_empty() {
            format!(" ({})", files.join(", "))
        } else {
            String::new()
        };
        (finding.sentence.clone() + &of, finding.advice.clone())
    };
    all.into_iter().map(named).collect()
}

/// Names of rows in a column of their own, each said once: `(label, calculation)`.
fn aligned(arithmetic: &[String]) -> Vec<(String, String)> {
    const LABEL: usize = 28;
    let split = |line: &String| {
        let (label, text) = line.split_once(": ")?;
        // A name has no equals sign: a calculation may hold a colon too.
        (!label.contains('=')).then(|| (label.to_owned(), text.to_owned()))
    };
    let pairs: Vec<_> = arithmetic.iter().map(split).collect();
    if arithmetic.len() < 2 || pairs.iter().any(Option::is_none) {
        return arithmetic.iter().map(|line| (String::new(), line.clone())).collect();
    }
    let pairs: Vec<(String, String)> = pairs.into_iter().flatten().collect();
    let longest = pairs.iter().map(|(label, _)| width(label)).max().unwrap_or(0).min(LABEL);
    let mut last = "";
    let mut out = Vec::new();
    for (label, text) in &pairs {
        let shown = if label == last { "" } else { label };
        let cut: String = if width(shown) > longest {
            shown.chars().take(longest - 1).chain(['~']).collect()
        } else {
            shown.into()
        };
        let pad = " ".repeat((longest + 2).saturating_sub(width(&cut)));
        out.push((cut + &pad, text.clone()));
        last = label;
    }
    out
}

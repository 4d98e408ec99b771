//! Findings of an audit for display: the sentence, its arithmetic, and the published lines with their values marked.

use crate::document::{Block, Finding, Findings, Form, Quote};
use crate::line::width;
use plimsoll_audit::{Audit, Certainty, Finding as Found, Grade};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The anchor of a finding, by its place in the audit.
pub fn anchor(at: usize) -> String {
    format!("finding-{}", at + 1)
}

/// Returns all findings of a grade.
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
            code: [&[found.rule], &found.also[..]].concat().join(", "),
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

/// Returns the findings of missing facts, which need no quotes.
pub fn missing(audit: &Audit) -> Vec<Block> {
    let all: Vec<&Found> = audit.findings.iter().filter(|found| found.grade == Grade::Missing).collect();
    let tone = super::tone(Some(Grade::Missing));
    let finding = |(title, advice): (String, String)| Finding { advice, ..Finding::new(tone, "", title) };
    let all = gaps(audit, &all).into_iter().map(finding).collect();
    vec![Block::Findings(Findings { form: Form::Gap, all })]
}

/// Returns the lines that a finding quotes, each once, in the order of the finding.
fn quotes(audit: &Audit, finding: &Found) -> Vec<Quote> {
    let mut all: Vec<Quote> = Vec::new();
    // A finding may quote each row of a long table.
    let mut known: HashMap<_, usize> = HashMap::new();
    for quote in &finding.quotes {
        match known.entry((quote.file.as_str(), quote.line)) {
            Entry::Occupied(at) => all[*at.get()].figures.push(quote.text.clone()),
            Entry::Vacant(new) => {
                new.insert(all.len());
                let source = audit.sources.get(&quote.file).and_then(|lines| lines.get(&quote.line));
                // The width of a tab depends on the terminal, so underlines would miss their values.
                let source = source.map(|s| s.trim().replace('\t', "  ")).filter(|s| !s.is_empty());
                let (file, figures) = (quote.file.clone(), vec![quote.text.clone()]);
                all.push(Quote { file, line: quote.line, source, figures });
            }
        }
    }
    all
}

/// Returns each fact that is missing in several files once: sentence and advice, with the files if there is a choice.
fn gaps(audit: &Audit, findings: &[&Found]) -> Vec<(String, String)> {
    let mut all: Vec<(&Found, Vec<&str>)> = Vec::new();
    let mut known = HashMap::new();
    for finding in findings {
        let file = finding.quotes.first().map(|quote| quote.file.as_str());
        let at = *known.entry((&finding.sentence, &finding.advice)).or_insert(all.len());
        match all.get_mut(at) {
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

/// Returns names of rows in their own column, each once: `(label, calculation)`.
fn aligned(arithmetic: &[String]) -> Vec<(String, String)> {
    const LABEL: usize = 28;
    let split = |line: &String| {
        let (label, text) = line.split_once(": ")?;
        // A name contains no equals sign, while a calculation may also contain a colon.
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

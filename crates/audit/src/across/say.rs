//! How the rules of this folder say what they found: one builder for findings, one way to write a number.

use crate::foreign::model::{Claim, Document, Figure, Measure, Row, Statement};
use crate::{Certainty, Finding, Grade, Quote};

/// Where a rule puts what it finds.
pub struct Out<'a> {
    pub rule: &'static str,
    pub grade: Grade,
    pub findings: &'a mut Vec<Finding>,
}

impl Out<'_> {
    /// Begins a finding; it counts from here on.
    pub fn say(&mut self, certainty: Certainty, sentence: String) -> Saying<'_> {
        self.findings.push(Finding {
            rule: self.rule,
            grade: self.grade,
            certainty,
            sentence,
            arithmetic: Vec::new(),
            explanation: String::new(),
            advice: String::new(),
            quotes: Vec::new(),
            also: Vec::new(),
        });
        let at = self.findings.len() - 1;
        Saying { finding: &mut self.findings[at] }
    }
}

/// A finding in the making.
pub struct Saying<'a> {
    finding: &'a mut Finding,
}

impl Saying<'_> {
    pub fn line(self, text: impl Into<String>) -> Self {
        self.finding.arithmetic.push(text.into());
        self
    }

    pub fn lines(self, texts: impl IntoIterator<Item = String>) -> Self {
        self.finding.arithmetic.extend(texts);
        self
    }

    pub fn explained(self, text: &str) -> Self {
        self.finding.explanation = text.to_owned();
        self
    }

    pub fn advise(self, text: &str) -> Self {
        self.finding.advice = text.to_owned();
        self
    }

    pub fn at(self, document: &Document, line: u32, text: impl Into<String>) -> Self {
        // Thousands of rows may share a cause; a reader looks at some of their lines.
        const SHOWN: usize = 200;
        if self.finding.quotes.len() == SHOWN {
            return self;
        }
        let quote = Quote { file: document.name.clone(), line, text: text.into() };
        if !self.finding.quotes.contains(&quote) {
            self.finding.quotes.push(quote);
        }
        self
    }

    pub fn figure(self, document: &Document, figure: &Figure) -> Self {
        self.at(document, figure.line, figure.written.clone())
    }

    pub fn figures(mut self, document: &Document, row: &Row, measures: &[Measure]) -> Self {
        for figure in measures.iter().filter_map(|m| row.figures.get(m)) {
            self = self.figure(document, figure);
        }
        self
    }

    pub fn claim(self, document: &Document, claim: &Claim) -> Self {
        self.at(document, claim.line, claim.text.clone())
    }

    pub fn describe(self, document: &Document, said: &Statement) -> Self {
        self.at(document, said.line, said.text.trim())
    }
}

/// `1,359`, `87.8`, `0.0304`: four significant digits, whole above a thousand.
pub fn num(value: f64) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    if value.abs() >= 1e15 {
        return format!("{value:.3e}");
    }
    if value.abs() >= 1_000.0 {
        let digits = format!("{:.0}", value.abs());
        let mut grouped = String::new();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        return if value < 0.0 { format!("-{grouped}") } else { grouped };
    }
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    let decimals = (3 - magnitude).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// `27 ms`, `1.35 s`, `36.3 min`.
pub fn time(seconds: f64) -> String {
    match seconds.abs() {
        s if s < 1.0 => format!("{} ms", num(seconds * 1e3)),
        s if s < 120.0 => format!("{} s", num(seconds)),
        s if s < 7_200.0 => format!("{} min", num(seconds / 60.0)),
        _ => format!("{} h", num(seconds / 3_600.0)),
    }
}

/// `8.1%`.
pub fn share(value: f64) -> String {
    format!("{:.1}%", value * 100.0)
}

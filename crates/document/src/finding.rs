//! A finding: a sign, a sentence, evidence, and advice.

use super::{Quote, Tone};

/// A list of findings.
pub struct Findings {
    pub form: Form,
    pub all: Vec<Finding>,
}

/// The amount of detail in text outputs; a page shows everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// With its arithmetic and the quoted lines.
    Proof,
    /// One line and the advice, for findings without evidence.
    Gap,
    /// A rating on one line: its word precedes the sentence.
    Line,
    /// A name and its sentence.
    Named,
    /// A caution with its evidence and advice.
    Doubt,
}

/// One finding. Empty parts are omitted.
pub struct Finding {
    pub tone: Tone,
    /// The page's anchor.
    pub id: Option<String>,
    pub title: String,
    /// The meaning of the sign: `likely`.
    pub word: String,
    /// A stable code for machines and searches.
    pub code: String,
    /// Lines of arithmetic, each after the name of its row.
    pub arithmetic: Vec<(String, String)>,
    pub quotes: Vec<Quote>,
    /// Evidence, one line each.
    pub evidence: Vec<String>,
    /// A possible reason.
    pub explanation: String,
    pub advice: String,
    /// Anchor and name of the place that shows it, for a page.
    pub link: Option<(String, &'static str)>,
}

/// Lines of arithmetic that are shown open; Markdown has all of them.
pub const ARITHMETIC: usize = 12;
/// Quoted lines; the others are only named.
pub const QUOTES: usize = 3;

impl Finding {
    /// A sign, its word, and a sentence.
    pub fn new(tone: Tone, word: impl Into<String>, title: impl Into<String>) -> Finding {
        Finding {
            tone,
            id: None,
            title: title.into(),
            word: word.into(),
            code: String::new(),
            arithmetic: Vec::new(),
            quotes: Vec::new(),
            evidence: Vec::new(),
            explanation: String::new(),
            advice: String::new(),
            link: None,
        }
    }

    /// Quoted places, and the names of the others.
    pub fn quoted(&self) -> (&[Quote], Option<String>) {
        let (shown, rest) = self.quotes.split_at(self.quotes.len().min(QUOTES));
        (shown, (!rest.is_empty()).then(|| super::quote::names(rest)))
    }
}

//! Something found: a sign, a sentence, what says so, and what to do.

use super::{Quote, Tone};

/// Findings one below the other.
pub struct Findings {
    pub form: Form,
    pub all: Vec<Finding>,
}

/// How much a text output says of each; a page says all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// With its arithmetic and the lines that it quotes.
    Proof,
    /// A line and what to do: nothing is there to be shown.
    Gap,
    /// A judgement in a line: the word of the judgement stands before the sentence.
    Line,
    /// A name and what is to be said of it.
    Named,
    /// A doubt with its evidence and what to do.
    Doubt,
}

/// One of them. What is empty is not told.
pub struct Finding {
    pub tone: Tone,
    /// The page's anchor.
    pub id: Option<String>,
    pub title: String,
    /// What the sign says: `likely`.
    pub word: String,
    /// Stable, for machines and searches.
    pub code: String,
    /// Lines of arithmetic, each behind the name of its row.
    pub arithmetic: Vec<(String, String)>,
    pub quotes: Vec<Quote>,
    /// What says so, a line each.
    pub evidence: Vec<String>,
    /// Why it may be so.
    pub explanation: String,
    pub advice: String,
    /// Anchor and name of what shows it, for a page.
    pub link: Option<(String, &'static str)>,
}

/// Lines of arithmetic that stand open; Markdown has them all.
pub const ARITHMETIC: usize = 12;
/// Lines that are quoted; further ones are named.
pub const QUOTES: usize = 3;

impl Finding {
    /// A sign, the word that it stands for, and a sentence.
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

    /// Places that are quoted, and the names of those that are not.
    pub fn quoted(&self) -> (&[Quote], Option<String>) {
        let (shown, rest) = self.quotes.split_at(self.quotes.len().min(QUOTES));
        (shown, (!rest.is_empty()).then(|| super::quote::names(rest)))
    }
}

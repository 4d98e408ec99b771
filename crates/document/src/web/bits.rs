//! Parts that pages of several results share in addition to [`super::piece`]: ids that stay unique if one page shows
//! several results, verdicts on one line, and findings of more than two sentences.

use super::piece::{Tone, sign};
use maud::{Markup, html};

/// The place of something on a page. The parts of a page with several results have their own ids, and lower-level
/// headings.
#[derive(Debug, Clone, Default)]
pub struct At {
    /// Prefix of the id of every chart: `p2-`; empty on a page of one experiment.
    pub part: String,
    /// Prefix of every other id: `p2-c1-`.
    prefix: String,
}

impl At {
    /// Returns the place in a part of a page with several experiments.
    pub fn part(number: usize) -> At {
        let part = format!("p{number}-");
        At { prefix: part.clone(), part }
    }

    /// Returns the place of one of several of a kind.
    pub fn below(&self, prefix: &str) -> At {
        At { part: self.part.clone(), prefix: self.id(prefix) }
    }

    pub fn id(&self, id: &str) -> String {
        format!("{}{id}", self.prefix)
    }

    /// Returns a heading below that of the section.
    pub fn heading(&self, text: &str) -> Markup {
        match self.part.is_empty() {
            true => html! { h3 { (text) } },
            false => html! { h5 { (text) } },
        }
    }
}

/// Returns a verdict for a line of text or a cell: sign and word.
pub fn status(tone: Tone, word: &str) -> Markup {
    html! { span.said.{(tone.class())} { (sign(tone)) " " (word) } }
}

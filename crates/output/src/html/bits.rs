//! What pages of several results have in common beyond [`super::piece`]: ids that stay unique where one page shows
//! several results, verdicts in a line of text, findings with more than two sentences.

use super::piece::{Tone, sign};
use maud::{Markup, html};

/// Where on a page something stands. The parts of a page of several results have ids of their own, and headings lower
/// down.
#[derive(Debug, Clone, Default)]
pub struct At {
    /// Stands before the id of every chart: `p2-`; empty on a page of one experiment.
    pub part: String,
    /// Stands before every other id: `p2-c1-`.
    prefix: String,
}

impl At {
    /// In a part of a page of several experiments.
    pub fn part(number: usize) -> At {
        let part = format!("p{number}-");
        At { prefix: part.clone(), part }
    }

    /// One of several of a kind.
    pub fn below(&self, prefix: &str) -> At {
        At { part: self.part.clone(), prefix: self.id(prefix) }
    }

    pub fn id(&self, id: &str) -> String {
        format!("{}{id}", self.prefix)
    }

    /// A heading below that of the section.
    pub fn heading(&self, text: &str) -> Markup {
        match self.part.is_empty() {
            true => html! { h3 { (text) } },
            false => html! { h5 { (text) } },
        }
    }
}

/// A verdict in a line of text or in a cell: sign and word.
pub fn status(tone: Tone, word: &str) -> Markup {
    html! { span.said.{(tone.class())} { (sign(tone)) " " (word) } }
}

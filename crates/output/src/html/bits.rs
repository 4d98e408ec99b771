//! The pieces that pages of several results are made of: badges, figures that can be copied, tables that can be sorted.
//!
//! A number arrives with its text, which is that of the terminal, and with its full value for the script; here nothing
//! is rounded again.

use maud::{Markup, html};
use plimsoll_record::summary::Outcome;

/// Where on a page something stands. The parts of a page of several results have ids of their own, and headings one
/// level lower.
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
        match self.prefix.is_empty() {
            true => html! { h3 { (text) } },
            false => html! { h5 { (text) } },
        }
    }
}

/// How a result is felt; the word that stands beside it says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Pass,
    Fail,
    Doubt,
    Plain,
}

impl Tone {
    pub fn of(outcome: Outcome) -> Tone {
        match outcome {
            Outcome::Pass => Tone::Pass,
            Outcome::Fail => Tone::Fail,
            Outcome::Inconclusive => Tone::Doubt,
        }
    }

    pub fn class(self) -> &'static str {
        match self {
            Tone::Pass => "pass",
            Tone::Fail => "fail",
            Tone::Doubt => "doubt",
            Tone::Plain => "plain",
        }
    }

    /// For those who do not tell the colours apart.
    fn sign(self) -> &'static str {
        match self {
            Tone::Pass => "✓",
            Tone::Fail => "✗",
            Tone::Doubt => "!",
            Tone::Plain => "·",
        }
    }
}

/// A verdict: word, sign and colour.
pub fn badge(tone: Tone, word: &str) -> Markup {
    html! { span class={ "badge " (tone.class()) } { span.sign aria-hidden="true" { (tone.sign()) } " " (word) } }
}

/// The same in a line of text or a cell.
pub fn word(tone: Tone, word: &str) -> Markup {
    html! { span class={ "word " (tone.class()) } { span.sign aria-hidden="true" { (tone.sign()) } " " (word) } }
}

/// A sentence of ours: what stands between backticks is there to be copied.
pub fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // A name with a backtick of its own leaves an odd one: then none of them means anything.
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

/// A figure outside of a table: a click copies it.
pub fn figure(raw: Option<f64>, text: &str) -> Markup {
    match raw.filter(|raw| raw.is_finite()) {
        Some(raw) => html! { data.figure value=(raw) { (text) } },
        None => html! { (text) },
    }
}

/// The facts at the head of a page, each a figure with its name.
pub fn tiles(tiles: &[(&str, Markup)]) -> Markup {
    html! {
        dl.tiles { @for (name, value) in tiles { div.tile { dt { (name) } dd { (value) } } } }
    }
}

/// Names and what they are.
pub fn facts(facts: &[(&str, Markup)]) -> Markup {
    html! {
        dl.facts { @for (name, fact) in facts { dt { (name) } dd { (fact) } } }
    }
}

/// A cell of a table.
pub enum Cell {
    Text(Markup),
    /// Sorted by its full value; `None`: nothing is known.
    Number(Option<f64>, String),
    /// The same with more than text, such as a link or a doubt.
    Figure(Option<f64>, Markup),
}

impl Cell {
    pub fn text(text: impl AsRef<str>) -> Cell {
        let text = text.as_ref();
        Cell::Text(html! { (text) })
    }

    pub fn count(n: u64) -> Cell {
        Cell::Number(Some(n as f64), crate::format::count(n))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Number,
    Text,
}

/// A table as the script knows them: sortable, searchable, to be copied. The first cell of a row names it.
pub fn table(id: &str, caption: &str, heads: &[(&str, Kind)], rows: &[Vec<Cell>]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table.data #{ "table-" (id) } data-sortable data-filterable {
                caption { (caption) }
                thead { tr { @for (head, kind) in heads {
                    th scope="col" data-kind=(if *kind == Kind::Number { "number" } else { "text" }) { (head) }
                } } }
                tbody { @for row in rows { tr { @for (at, cell) in row.iter().enumerate() { (one(at, cell)) } } } }
            }
        }
    }
}

fn one(at: usize, cell: &Cell) -> Markup {
    let raw = match cell {
        Cell::Text(_) => None,
        Cell::Number(raw, _) | Cell::Figure(raw, _) => raw.filter(|raw| raw.is_finite()),
    };
    let is_number = !matches!(cell, Cell::Text(_));
    let class = is_number.then_some("number");
    let inner = match cell {
        Cell::Text(markup) | Cell::Figure(_, markup) => markup.clone(),
        Cell::Number(_, text) => html! { (text) },
    };
    html! {
        @if at == 0 {
            th scope="row" class=[class] data-v=[raw] { (inner) }
        } @else {
            td class=[class] data-v=[raw] { (inner) }
        }
    }
}

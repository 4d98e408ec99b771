//! A report as data: verdict, sentences, tables of typed cells, lists, findings, and charts, in reading order.
//!
//! A report is one function from a result to a [`Document`]. The terminal, Markdown, and the page are three writers
//! that know nothing about the subject of a report. Where they differ on purpose (the terminal's one screen, the
//! page's charts and anchors), a property of the block defines it: [`On`], a shorter title, or how many lines are open.

#![forbid(unsafe_code)]

mod choice;
pub mod error;
pub mod escape;
mod examples;
mod finding;
pub mod format;
mod html;
pub mod line;
mod markdown;
mod quote;
pub mod style;
mod table;
mod terminal;
pub mod text;
pub mod web;

use crate::text::chart::Pool;
use std::borrow::Cow;

pub use choice::{more, rest, telling, worst};
pub use error::Error;
pub use examples::{Example, Examples};
pub use finding::{Finding, Findings, Form};
pub use html::{head, page, sections};
pub use markdown::write as markdown;
pub use quote::Quote;
pub use style::Look;
pub use table::{Cell, Column, Mark, Place, Rows, Spread, Table, Value};
pub use terminal::{screen, write as terminal};

/// A complete report.
pub struct Document {
    pub tone: Tone,
    /// The subject: the page's first heading.
    pub name: Sentence,
    /// The verdict, its reasons, and the main results.
    pub head: Vec<Block>,
    pub sections: Vec<Section>,
}

/// A part with a heading. It is omitted in an output in which it has nothing to show.
pub struct Section {
    /// The page's anchor.
    pub id: &'static str,
    pub title: Cow<'static, str>,
    /// The heading of the terminal if it differs; none if it is empty.
    pub brief: Option<String>,
    /// Text next to the heading of the terminal, which readers need to understand the section.
    pub aside: String,
    /// In the terminal: the content below the heading is indented.
    pub indent: usize,
    pub edge: Edge,
    /// In the terminal: placed alongside the previous section, if there is room.
    pub is_adjacent: bool,
    /// In the terminal: the heading is shown even without content.
    pub is_alone: bool,
    pub on: On,
    /// The outputs whose text has the heading.
    pub titled: On,
    pub blocks: Vec<Block>,
}

impl Section {
    pub fn new(id: &'static str, title: impl Into<Cow<'static, str>>, blocks: Vec<Block>) -> Section {
        let (title, on) = (title.into(), On::ALL);
        let (brief, aside) = (None, String::new());
        let edge = Edge::None;
        let [is_adjacent, is_alone] = [false; 2];
        Section { id, title, brief, aside, indent: 0, edge, is_adjacent, is_alone, on, titled: on, blocks }
    }

    /// Indents the content below the heading.
    pub fn indented(self) -> Section {
        Section { indent: 2, ..self }
    }

    /// Sets a different heading for the terminal; none if it is empty.
    pub fn brief(self, title: impl Into<String>) -> Section {
        Section { brief: Some(title.into()), ..self }
    }

    pub fn on(self, on: On) -> Section {
        Section { on, ..self }
    }

    /// Restricts the section to these outputs.
    pub fn only(self, on: On) -> Section {
        Section { on: self.on.and(on), ..self }
    }

    pub fn edge(self, edge: Edge) -> Section {
        Section { edge, ..self }
    }

    pub fn adjacent(self) -> Section {
        Section { is_adjacent: true, ..self }
    }

    /// Adds text next to the heading of the terminal.
    pub fn aside(self, aside: impl Into<String>) -> Section {
        Section { aside: aside.into(), ..self }
    }

    /// Shows the heading only in these outputs; above a single table, a heading is redundant.
    pub fn titled(self, titled: On) -> Section {
        Section { titled, ..self }
    }
}

/// The separator of a section in the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    None,
    /// A rule after its heading.
    Rule,
}

/// The outputs that show something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct On(u8);

impl On {
    /// The terminal's default view: one screen.
    pub const SCREEN: On = On(1);
    pub const MARKDOWN: On = On(2);
    pub const HTML: On = On(4);
    /// The terminal with `--full`.
    pub const DETAIL: On = On(8);
    /// Both views of the terminal.
    pub const TERMINAL: On = On(9);
    /// All outputs except a page.
    pub const TEXT: On = On(11);
    /// All outputs except the default view.
    pub const UNABRIDGED: On = On(14);
    /// All outputs that can draw a bar.
    pub const DRAWN: On = On(13);
    /// Outputs with more columns than a terminal.
    pub const FULL: On = On(6);
    pub const ALL: On = On(15);

    /// Returns the outputs of both.
    pub const fn and(self, other: On) -> On {
        On(self.0 & other.0)
    }

    /// Returns whether it is shown in one of these.
    pub const fn has(self, other: On) -> bool {
        self.0 & other.0 != 0
    }
}

/// A rating. Each output has a sign and a color for it, and a word next to it has the same meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Pass,
    Fail,
    Doubt,
    Note,
}

/// One unit of reading.
pub enum Block {
    /// Shown only in some outputs.
    Only(On, Box<Block>),
    /// In the terminal: indented.
    Indented(Vec<Block>),
    /// A heading below that of the section.
    Heading(String),
    Verdict(Verdict),
    Setting(Setting),
    Sentence(Sentence),
    /// The word of a verdict, and its sentence.
    Badge(Tone, String, String),
    /// Reasons, one paragraph each.
    Reasons(Vec<Hint>),
    /// Next steps, numbered, one action each.
    Steps(Vec<Hint>),
    /// A reason that overrules all following results; a page frames it below a heading.
    Overruling(&'static str, Vec<Block>),
    Tiles(Vec<Tile>),
    Facts(Vec<Fact>),
    Findings(Findings),
    Health(Vec<Vital>),
    Examples(Examples),
    List(List),
    Table(Table),
    /// Small curves of letters for the terminal, and the axis below them.
    Courses(Vec<Course>, Option<Axis>),
    /// Alongside each other if a page is wide enough; with the room that they need.
    Pair(Room, Vec<Vec<Block>>),
    /// A command to copy.
    Command(String),
    /// Folded below a line of a page that opens it.
    Folded(Folded),
    Parts(Parts),
    /// The charts with these ids, or with ids of this prefix if it ends with a dash. Only a page draws them.
    Charts(Vec<String>),
}

impl Block {
    pub fn only(self, on: On) -> Block {
        Block::Only(on, Box::new(self))
    }
}

/// A verdict and its sentence.
pub struct Verdict {
    pub tone: Tone,
    pub word: String,
    pub sentence: String,
    pub form: Heading,
}

/// The beginning of a verdict in text outputs; a page has a badge and a sentence.
pub enum Heading {
    /// The word next to the sentence. In the terminal, the rest of the head is aligned with the sentence.
    Lead,
    /// The sentence, which contains the word.
    Answer,
    /// The word.
    Badge,
}

/// What was measured, and how.
pub struct Setting {
    pub name: String,
    /// The target of the load, unless the name contains it.
    pub target: String,
    pub facts: Vec<String>,
    /// Shown only in detailed outputs.
    pub details: Vec<String>,
    /// Shown on a page.
    pub more: Vec<String>,
}

/// The prominence of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Plain,
    Strong,
    /// The name of the report, for outputs without a page around it.
    Title,
    /// The question that the report answers.
    Question,
    /// Instructions for reading the following content.
    Lead,
    Soft,
    Faint,
    /// Ordinary text on a page; dim in the terminal.
    Quiet,
}

/// A paragraph with commands in backticks.
pub struct Sentence {
    pub role: Role,
    /// Pieces of text, each with its own role.
    pub parts: Vec<(Role, String)>,
}

impl Sentence {
    pub fn new(role: Role, text: impl Into<String>) -> Sentence {
        Sentence { role, parts: vec![(Role::Plain, text.into())] }
    }

    /// Appends prominent words and the text after them.
    pub fn strong(mut self, word: &str, then: &str) -> Sentence {
        self.parts.extend([(Role::Strong, word.into()), (Role::Plain, then.into())]);
        self
    }

    /// Appends optional words and the text after them.
    pub fn soft(mut self, words: &str, then: &str) -> Sentence {
        self.parts.extend([(Role::Soft, words.into()), (Role::Plain, then.into())]);
        self
    }

    fn text(&self) -> String {
        self.parts.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// Returns a paragraph.
pub fn sentence(role: Role, text: impl Into<String>) -> Block {
    Block::Sentence(Sentence::new(role, text))
}

/// A name and its value.
pub struct Fact {
    pub label: Cow<'static, str>,
    pub value: Value,
    /// The tone of the first of several facts, in the terminal.
    pub tone: Option<Tone>,
    pub on: On,
}

impl Fact {
    pub fn new(label: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Fact {
        Fact::of(label, Value::Prose(text.into()))
    }

    pub fn of(label: impl Into<Cow<'static, str>>, value: Value) -> Fact {
        Fact { label: label.into(), value, tone: None, on: On::ALL }
    }

    /// Emphasizes the first of several facts in the terminal.
    pub fn led(self, tone: Tone) -> Fact {
        Fact { tone: Some(tone), ..self }
    }
}

/// A reason or a next step.
pub struct Hint {
    /// One or two sentences, with commands in backticks.
    pub text: String,
    /// The command of a step, which follows its text.
    pub command: Option<String>,
    /// Anchor and name of the place that shows it.
    pub link: Option<(String, &'static str)>,
}

/// One of the main results at the top of a page.
pub struct Tile {
    pub label: String,
    pub value: Value,
    /// Small text below it.
    pub asides: Vec<String>,
    /// Set if a threshold on it was missed.
    pub tone: Option<Tone>,
}

impl Tile {
    pub fn new(label: &str, value: Value) -> Tile {
        Tile { label: label.into(), value, asides: Vec::new(), tone: None }
    }

    /// Adds small text below it, unless it is empty.
    pub fn with(mut self, aside: impl Into<String>) -> Tile {
        self.asides.extend(Some(aside.into()).filter(|text| !text.is_empty()));
        self
    }

    pub fn toned(self, tone: Option<Tone>) -> Tile {
        Tile { tone, ..self }
    }
}

/// A line of health: sign, label, facts.
pub struct Vital {
    pub tone: Tone,
    /// The meaning of the sign.
    pub word: &'static str,
    pub label: String,
    pub facts: Vec<String>,
}

/// An unordered list.
pub struct List {
    pub items: Vec<String>,
    /// The number of items in the terminal and on a page; Markdown has all.
    pub brief: usize,
    pub most: usize,
}

/// Values over time or over levels, from 0 to `top`, with one or a few letters each.
pub struct Course {
    pub label: String,
    /// `None` if it only serves as a comparison.
    pub tone: Option<Tone>,
    pub values: Vec<Option<f64>>,
    pub pool: Pool,
    pub top: f64,
    /// `top` as text.
    pub scale: String,
}

/// The axis of curves over time: both ends, and a mark between them at a share of the length.
pub struct Axis {
    pub ends: [String; 2],
    pub mark: Option<(f64, &'static str)>,
}

/// The room that blocks alongside each other need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    Narrow,
    Broad,
}

/// Content that few readers need.
pub struct Folded {
    pub title: String,
    pub inner: Inner,
}

pub enum Inner {
    Blocks(Vec<Block>),
    /// Source text, shown only on a page, and not when the page is printed.
    Source(String),
}

/// Reports within a report, each with its first line.
pub struct Parts {
    pub all: Vec<(Document, VerdictParts)>,
    /// Above this number, the terminal shows one sentence for each.
    pub brief: usize,
    /// Above this number, a page folds them.
    pub open: usize,
    /// The heading above them in Markdown.
    pub title: &'static str,
}

/// Tone, word, and sentence of a verdict on one line.
pub type VerdictParts = (Tone, &'static str, String);

//! A report as data: verdict, sentences, tables of typed cells, lists, findings and charts, in the order in which they
//! are read.
//!
//! A report is one function from what was found to a [`Document`]; the terminal, Markdown and the page are three
//! writers that know nothing of what a report is about. Where they differ on purpose (the terminal's one screen, the
//! page's pictures and anchors), a property of the block says so: [`On`], a shorter title, how many lines stand open.

mod choice;
mod examples;
mod finding;
mod html;
mod markdown;
mod quote;
mod table;
mod terminal;

use crate::terminal::chart::Pool;
use std::borrow::Cow;

pub use choice::{more, rest, telling, worst};
pub use examples::{Example, Examples};
pub use finding::{Finding, Findings, Form};
pub use html::{head, page, sections};
pub use markdown::write as markdown;
pub use quote::Quote;
pub use table::{Cell, Column, Mark, Place, Rows, Spread, Table, Value};
pub use terminal::{screen, write as terminal};

/// A whole report.
pub struct Document {
    pub tone: Tone,
    /// What it is about: the page's first heading.
    pub name: Sentence,
    /// The verdict, why it is so, and the few figures that people ask for.
    pub head: Vec<Block>,
    pub sections: Vec<Section>,
}

/// A part with a heading. One that has nothing to show in an output is not in it.
pub struct Section {
    /// The page's anchor.
    pub id: &'static str,
    pub title: Cow<'static, str>,
    /// The heading of the terminal, where it is another; none where it is empty.
    pub brief: Option<String>,
    /// Beside the heading of the terminal: what needs to be known to read what follows.
    pub aside: String,
    /// In the terminal: what stands below the heading is moved in.
    pub indent: usize,
    pub edge: Edge,
    /// In the terminal: beside the section before it, where there is room.
    pub is_adjacent: bool,
    /// In the terminal: its heading says enough where nothing is below it.
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

    /// Moved in by as much as a heading stands out.
    pub fn indented(self) -> Section {
        Section { indent: 2, ..self }
    }

    /// With another heading in the terminal; none where it is empty.
    pub fn brief(self, title: impl Into<String>) -> Section {
        Section { brief: Some(title.into()), ..self }
    }

    pub fn on(self, on: On) -> Section {
        Section { on, ..self }
    }

    /// In no other outputs than these.
    pub fn only(self, on: On) -> Section {
        Section { on: self.on.and(on), ..self }
    }

    pub fn edge(self, edge: Edge) -> Section {
        Section { edge, ..self }
    }

    pub fn adjacent(self) -> Section {
        Section { is_adjacent: true, ..self }
    }

    /// With words beside the heading of the terminal.
    pub fn aside(self, aside: impl Into<String>) -> Section {
        Section { aside: aside.into(), ..self }
    }

    /// With a heading only in these outputs: where there is one table, a heading says nothing.
    pub fn titled(self, titled: On) -> Section {
        Section { titled, ..self }
    }
}

/// What sets a section off in the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    None,
    /// A rule behind its heading.
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
    /// All outputs without a page.
    pub const TEXT: On = On(11);
    /// Everything but one screen.
    pub const UNABRIDGED: On = On(14);
    /// All outputs that can draw a bar.
    pub const DRAWN: On = On(13);
    /// Outputs with more columns than a terminal.
    pub const FULL: On = On(6);
    pub const ALL: On = On(15);

    /// In the outputs of both.
    pub const fn and(self, other: On) -> On {
        On(self.0 & other.0)
    }

    /// Whether it is shown in one of these.
    pub const fn has(self, other: On) -> bool {
        self.0 & other.0 != 0
    }
}

/// How good something is. Each output has a sign and a color for it; a word says the same beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Pass,
    Fail,
    Doubt,
    Note,
}

/// One thing to read.
pub enum Block {
    /// Only in some outputs.
    Only(On, Box<Block>),
    /// In the terminal: moved in.
    Indented(Vec<Block>),
    /// Below that of the section.
    Heading(String),
    Verdict(Verdict),
    Setting(Setting),
    Sentence(Sentence),
    /// A word of judgement, and what is said of it.
    Badge(Tone, String, String),
    /// Reasons, one paragraph each.
    Reasons(Vec<Hint>),
    /// Next steps, numbered, one action each.
    Steps(Vec<Hint>),
    /// What overrules all that follows: a page has it in a frame, with a heading.
    Overruling(&'static str, Vec<Block>),
    Tiles(Vec<Tile>),
    Facts(Vec<Fact>),
    Findings(Findings),
    Health(Vec<Vital>),
    Examples(Examples),
    List(List),
    Table(Table),
    /// Small curves out of letters, for the terminal, and what stands below them.
    Courses(Vec<Course>, Option<Axis>),
    /// Beside each other where a page is wide enough; how much room they need.
    Pair(Room, Vec<Vec<Block>>),
    /// A command to be copied.
    Command(String),
    /// Behind a line of a page that opens it.
    Folded(Folded),
    Parts(Parts),
    /// The charts with these ids, or whose ids begin so where one ends in a dash; only a page draws them.
    Charts(Vec<String>),
}

impl Block {
    pub fn only(self, on: On) -> Block {
        Block::Only(on, Box::new(self))
    }
}

/// What came out.
pub struct Verdict {
    pub tone: Tone,
    pub word: String,
    pub sentence: String,
    pub form: Heading,
}

/// How the text outputs begin with a verdict; a page has badge and sentence.
pub enum Heading {
    /// With the word and the sentence beside it; in the terminal the rest of the head is aligned with the sentence.
    Lead,
    /// With the sentence: it says the word.
    Answer,
    /// With the word.
    Badge,
}

/// What was measured, and how.
pub struct Setting {
    pub name: String,
    /// Where the load went, which a name may hold already.
    pub target: String,
    pub facts: Vec<String>,
    /// Not on one screen.
    pub details: Vec<String>,
    /// For a page.
    pub more: Vec<String>,
}

/// How loud a sentence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Plain,
    Strong,
    /// Names the report where there is no page around it.
    Title,
    /// What was asked.
    Question,
    /// Says how to read what follows.
    Lead,
    Soft,
    Faint,
    /// As a page's ordinary text; the terminal has it dim.
    Quiet,
}

/// A paragraph, commands between backticks.
pub struct Sentence {
    pub role: Role,
    /// In stretches of their own role.
    pub parts: Vec<(Role, String)>,
}

impl Sentence {
    pub fn new(role: Role, text: impl Into<String>) -> Sentence {
        Sentence { role, parts: vec![(Role::Plain, text.into())] }
    }

    /// Goes on with words that stand out, and with what follows them.
    pub fn strong(mut self, word: &str, then: &str) -> Sentence {
        self.parts.extend([(Role::Strong, word.into()), (Role::Plain, then.into())]);
        self
    }

    /// Goes on with words that may be passed over, and with what follows them.
    pub fn soft(mut self, words: &str, then: &str) -> Sentence {
        self.parts.extend([(Role::Soft, words.into()), (Role::Plain, then.into())]);
        self
    }

    fn text(&self) -> String {
        self.parts.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// A paragraph.
pub fn sentence(role: Role, text: impl Into<String>) -> Block {
    Block::Sentence(Sentence::new(role, text))
}

/// A name and what it is.
pub struct Fact {
    pub label: Cow<'static, str>,
    pub value: Value,
    /// Of what stands first, in the terminal.
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

    /// What stands first is what one looks for.
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

/// One of the few figures at the head of a page.
pub struct Tile {
    pub label: String,
    pub value: Value,
    /// What stands small below it.
    pub asides: Vec<String>,
    /// Where it was judged, and did not hold.
    pub tone: Option<Tone>,
}

impl Tile {
    pub fn new(label: &str, value: Value) -> Tile {
        Tile { label: label.into(), value, asides: Vec::new(), tone: None }
    }

    /// Nothing where the text is empty.
    pub fn with(mut self, aside: impl Into<String>) -> Tile {
        self.asides.extend(Some(aside.into()).filter(|text| !text.is_empty()));
        self
    }

    pub fn toned(self, tone: Option<Tone>) -> Tile {
        Tile { tone, ..self }
    }
}

/// A line of what something says of itself: sign, label, facts.
pub struct Vital {
    pub tone: Tone,
    /// What the sign says.
    pub word: &'static str,
    pub label: String,
    pub facts: Vec<String>,
}

/// Items without an order.
pub struct List {
    pub items: Vec<String>,
    /// Those that the terminal and a page show; Markdown has all.
    pub brief: usize,
    pub most: usize,
}

/// Values over time or over levels, one letter or a few for each, from 0 to `top`.
pub struct Course {
    pub label: String,
    /// None: it is there to be compared with.
    pub tone: Option<Tone>,
    pub values: Vec<Option<f64>>,
    pub pool: Pool,
    pub top: f64,
    /// `top` in words.
    pub scale: String,
}

/// What courses over time stand on: both ends, and a mark between them at a share of the way.
pub struct Axis {
    pub ends: [String; 2],
    pub mark: Option<(f64, &'static str)>,
}

/// How wide what stands beside something else is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    Narrow,
    Broad,
}

/// What few want to see.
pub struct Folded {
    pub title: String,
    pub inner: Inner,
}

pub enum Inner {
    Blocks(Vec<Block>),
    /// As it was written; nobody prints it.
    Source(String),
}

/// Reports within a report, each with the line that it begins with.
pub struct Parts {
    pub all: Vec<(Document, VerdictParts)>,
    /// More of them are one sentence each in the terminal.
    pub brief: usize,
    /// More of them are folded in a page.
    pub open: usize,
    /// Above them in Markdown.
    pub title: &'static str,
}

/// Tone, word and sentence of a verdict in a line.
pub type VerdictParts = (Tone, &'static str, String);

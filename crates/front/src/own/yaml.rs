//! Reads YAML into a tree that records the place of every value. No other file uses the parser.
//!
//! Rejected although YAML has them: tags and merge keys (they change values out of sight), a second document, and keys
//! that are not text. Aliases are resolved within a budget, because nine lines of them can mean a billion nodes.

use super::braces;
use super::syntax;
use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span};
use plimsoll_build::expression::Piece;
use plimsoll_build::source::{Pos, Source};
use plimsoll_plan::Diagnostic;
use std::collections::HashMap;

/// Deepest nesting: more than any handwritten body needs, and shallow enough for recursion over the tree.
const DEEPEST: usize = 64;
/// Maximum number of nodes, including those that aliases repeat.
const MOST_NODES: usize = 1_000_000;

/// One value.
#[derive(Debug, Clone)]
pub struct Node {
    pub pos: Pos,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub enum Value {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A single value as text, and the expressions in it.
#[derive(Debug, Clone, Default)]
pub struct Scalar {
    pub text: String,
    /// Written without quotes, so that `5`, `true`, and an empty value are not text.
    pub plain: bool,
    /// The whole text came from one expression, so that quotes around it say nothing about its kind.
    pub filled: bool,
    /// Literals and expressions in their order, if the load fills in any expression; if empty, `text` is complete.
    pub pieces: Vec<Piece>,
    /// An expression in it is wrong, which has been reported.
    pub spoiled: bool,
    /// Bytes of literal text before the first expression as written; constants count as expressions. `None` if the
    /// text has no expression.
    pub first: Option<usize>,
}

/// A key with its value.
#[derive(Debug, Clone)]
pub struct Entry {
    pub key: String,
    pub pos: Pos,
    pub value: Node,
}

/// Returns the items of a list, or one value as a list of one.
pub fn one_or_more(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(list) => list,
        _ => std::slice::from_ref(node),
    }
}

/// Reads a text into a tree. Mistakes that leave the tree usable (a duplicate key, a tag) go into `wrong`.
///
/// # Errors
/// Returns an error if the text is empty, or at the place from which it is not valid YAML.
pub fn tree(text: &str, source: &Source<'_>, wrong: &mut Vec<Diagnostic>) -> Result<Node, Diagnostic> {
    let mut builder =
        Builder { source, wrong, open: Vec::new(), anchors: HashMap::new(), nodes: 0, root: None };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| broken(&error, source))?;
        if !builder.take(event, &span)? {
            break;
        }
    }
    builder.root.ok_or_else(|| {
        source.wrong(
            "F010",
            Pos::TOP,
            "the file is empty",
            "write at least `target:` and `scenarios:`, such as `scenarios: { browse: [ { get: /pick } ] }`",
        )
    })
}

fn pos_of(span: &Span) -> Pos {
    Pos { line: span.start.line() as u32, column: span.start.col() as u32 + 1 }
}

fn broken(error: &ScanError, source: &Source<'_>) -> Diagnostic {
    let pos = Pos { line: error.marker().line() as u32, column: error.marker().col() as u32 + 1 };
    let (pos, message, hint) = syntax::explain(error.kind(), pos, source);
    source.wrong("F010", pos, message, hint)
}

/// A list or mapping whose end has not come yet.
struct Open {
    pos: Pos,
    anchor: usize,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        /// The key that waits for its value; the inner `None` is a rejected key.
        key: Option<(Option<String>, Pos)>,
    },
}

struct Builder<'a, 'w> {
    source: &'a Source<'a>,
    wrong: &'w mut Vec<Diagnostic>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    root: Option<Node>,
}

impl Builder<'_, '_> {
    /// Takes one event. Returns false at a second document, which is rejected and not read.
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<bool, Diagnostic> {
        let pos = pos_of(span);
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                self.wrong.push(self.source.wrong(
                    "F010",
                    pos,
                    "unexpected second document",
                    "write one experiment per file, and remove the line `---`",
                ));
                return Ok(false);
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.is_some(), span);
                let plain = style == ScalarStyle::Plain;
                // A missing value (`get:`) arrives as a `~` of no length.
                let text = if plain && span.start == span.end { String::new() } else { text.into_owned() };
                let scalar = Scalar { text, plain, ..Scalar::default() };
                self.put(Node { pos, value: Value::Scalar(scalar) }, anchor)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse_tag(tag.is_some(), span);
                self.begin(pos, anchor, Items::List(Vec::new()))?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse_tag(tag.is_some(), span);
                self.begin(pos, anchor, Items::Map { entries: Vec::new(), key: None })?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(Open { pos, anchor, items }) = self.open.pop() {
                    let value = match items {
                        Items::List(list) => Value::List(list),
                        Items::Map { entries, .. } => Value::Map(entries),
                    };
                    self.put(Node { pos, value }, anchor)?;
                }
            }
            Event::Alias(anchor) => {
                let Some((size, height)) = self.anchors.get(&anchor).map(extent) else {
                    return Err(self.source.wrong(
                        "F010",
                        pos,
                        "this alias is inside the value that it repeats",
                        "write the value out",
                    ));
                };
                // Before the copy is made, because a few nested aliases can mean a billion nodes.
                self.budget(pos, size, height)?;
                // The copy keeps its original place, which is where a mistake in it is fixed.
                if let Some(node) = self.anchors.get(&anchor).cloned() {
                    self.put(node, 0)?;
                }
            }
            _ => {}
        }
        Ok(true)
    }

    fn begin(&mut self, pos: Pos, anchor: usize, items: Items) -> Result<(), Diagnostic> {
        self.budget(pos, 1, 1)?;
        self.open.push(Open { pos, anchor, items });
        Ok(())
    }

    fn budget(&mut self, pos: Pos, size: usize, height: usize) -> Result<(), Diagnostic> {
        self.nodes = self.nodes.saturating_add(size);
        if self.nodes > MOST_NODES || self.open.len() + height > DEEPEST {
            let what = if self.nodes > MOST_NODES {
                format!("the file has more than {MOST_NODES} values, including aliases")
            } else {
                format!("values are nested more than {DEEPEST} levels deep")
            };
            return Err(self.source.wrong(
                "F010",
                pos,
                what,
                "move large bodies into separate files: `body_file: name`",
            ));
        }
        Ok(())
    }

    /// Adds a finished node to the list or mapping that contains it.
    fn put(&mut self, node: Node, anchor: usize) -> Result<(), Diagnostic> {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        if matches!(node.value, Value::Scalar(_)) {
            self.budget(node.pos, 1, 0)?;
        }
        match self.open.last_mut().map(|open| &mut open.items) {
            None => self.root = Some(node),
            Some(Items::List(list)) => list.push(node),
            Some(Items::Map { entries, key }) => match key.take() {
                // `{{token}}`: an outer mapping whose key is the inner one.
                None if matches!(node.value, Value::Map(_))
                    && let Some((at, what, fix)) = braces::meant_as_text(node.pos, self.source) =>
                {
                    return Err(self.source.wrong("F010", at, what, fix));
                }
                None => *key = Some((key_text(&node, self.source, self.wrong), node.pos)),
                Some((None, _)) => {}
                Some((Some(name), pos)) => match entries.iter().find(|e| e.key == name) {
                    Some(first) => self.wrong.push(self.source.wrong(
                        "F013",
                        pos,
                        format!("duplicate key `{name}`, first written on line {}", first.pos.line),
                        "keep one of the two",
                    )),
                    None => entries.push(Entry { key: name, pos, value: node }),
                },
            },
        }
        Ok(())
    }

    fn refuse_tag(&mut self, tagged: bool, span: &Span) {
        if tagged {
            let pos = span.tag_span().map_or(pos_of(span), |tag| pos_of(&tag));
            self.wrong.push(self.source.wrong(
                "F012",
                pos,
                "tags (`!name`) are not supported",
                "write the value itself, and put text that begins with `!` in quotes",
            ));
        }
    }
}

/// Returns the text of a key, or `None` for one that was rejected.
fn key_text(node: &Node, source: &Source<'_>, wrong: &mut Vec<Diagnostic>) -> Option<String> {
    match &node.value {
        Value::Scalar(Scalar { text, plain: true, .. }) if text == "<<" => {
            let hint = "write the keys out, or repeat a whole value with an alias";
            wrong.push(source.wrong("F012", node.pos, "merge keys (`<<`) are not supported", hint));
            None
        }
        Value::Scalar(Scalar { text, .. }) if !text.is_empty() => Some(text.clone()),
        Value::Scalar(_) => {
            wrong.push(source.wrong("F014", node.pos, "empty key", "write a name before the colon"));
            None
        }
        _ => {
            let hint = "write a name before the colon";
            wrong.push(source.wrong(
                "F014",
                node.pos,
                "invalid key: expected text, found a list or a mapping",
                hint,
            ));
            None
        }
    }
}

/// Returns the number of nodes, and the number of levels of lists and mappings.
fn extent(node: &Node) -> (usize, usize) {
    let fold = |(size, height): (usize, usize), child: &Node| {
        let (s, h) = extent(child);
        (size + s, height.max(h + 1))
    };
    match &node.value {
        Value::Scalar(_) => (1, 0),
        Value::List(list) => list.iter().fold((1, 1), fold),
        Value::Map(entries) => entries.iter().map(|e| &e.value).fold((1, 1), fold),
    }
}

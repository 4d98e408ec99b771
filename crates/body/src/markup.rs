//! The tree of an HTML or XML body, in document order, for XPath and CSS selectors.
//!
//! Nodes are in one list: an element comes before its attributes, and these before its content. So the order of nodes
//! is that of their numbers, and a subtree is a range. Elements of HTML have no namespace.

mod html;
mod text;
mod xml;

pub use text::html_json;

use plimsoll_plan::head::Head;
use std::cmp::Ordering;
use xpath_eval::{ExpandedName, Node, NodeKind};

/// Maximum number of nodes: a body of 16 MB of `<a>` would take gigabytes.
const NODES_MAX: usize = 1_000_000;

/// A parsed body.
#[derive(Debug, Default)]
pub struct Document {
    items: Vec<Item>,
    /// All values and texts, one after another.
    texts: String,
    /// Prefixes that the document declares, each with its first namespace.
    prefixes: Vec<(String, String)>,
}

#[derive(Debug)]
struct Item {
    kind: NodeKind,
    /// The root is its own parent.
    parent: u32,
    /// The number after the last node of the subtree.
    end: u32,
    name: Option<Box<Name>>,
    text: (u32, u32),
}

#[derive(Debug)]
struct Name {
    namespace: Option<String>,
    local: String,
}

/// The body of one response as a tree, built by the first query that needs it.
#[derive(Debug, Default)]
pub enum Markup {
    #[default]
    Unread,
    Unreadable(&'static str),
    Read(Document),
}

impl Markup {
    /// Returns the tree of `body`. The type of the response decides how to read it; without one, its beginning does.
    ///
    /// # Errors
    /// Returns why the body has no tree.
    pub fn of(&mut self, head: Head<'_>, body: &[u8]) -> Result<&Document, &'static str> {
        if let Markup::Unread = self {
            let text = String::from_utf8_lossy(body);
            let read = match is_xml(head, &text) {
                true => xml::read(&text),
                false => html::read(&text),
            };
            *self = read.map_or_else(Markup::Unreadable, Markup::Read);
        }
        match self {
            Markup::Read(document) => Ok(document),
            Markup::Unreadable(why) => Err(why),
            Markup::Unread => Err("the body is not markup"),
        }
    }
}

/// Returns whether a body is XML (RFC 7303: `application/xml`, `text/xml`, and types that end in `+xml`).
fn is_xml(head: Head<'_>, text: &str) -> bool {
    let media = head.field("content-type").unwrap_or_default();
    let media =
        media.split(|sign| *sign == b';').next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
    match media.as_slice() {
        b"text/html" => false,
        other if other.ends_with(b"/xml") || other.ends_with(b"+xml") => true,
        _ => text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with("<?xml"),
    }
}

impl Document {
    fn new() -> Document {
        let mut document = Document::default();
        document.add(NodeKind::Root, 0, None, "");
        document
    }

    /// Adds a node after all others. Returns its number.
    fn add(&mut self, kind: NodeKind, parent: u32, name: Option<Box<Name>>, text: &str) -> u32 {
        let number = self.items.len() as u32;
        let begin = self.texts.len() as u32;
        self.texts.push_str(text);
        let text = (begin, self.texts.len() as u32);
        self.items.push(Item { kind, parent, end: number + 1, name, text });
        number
    }

    /// Ends the subtree of a node at the last node.
    fn close(&mut self, number: u32) {
        let end = self.items.len() as u32;
        if let Some(item) = self.items.get_mut(number as usize) {
            item.end = end;
        }
    }

    fn declare(&mut self, prefix: &str, namespace: &str) {
        if !self.prefixes.iter().any(|(known, _)| known == prefix) {
            self.prefixes.push((prefix.to_owned(), namespace.to_owned()));
        }
    }

    /// Returns the namespace of a prefix that the document declares.
    pub fn namespace(&self, prefix: &str) -> Option<String> {
        self.prefixes.iter().find(|(known, _)| known == prefix).map(|(_, namespace)| namespace.clone())
    }

    pub fn root(&self) -> Place<'_> {
        Place { document: self, number: 0 }
    }
}

/// A node.
#[derive(Clone, Copy)]
pub struct Place<'d> {
    document: &'d Document,
    number: u32,
}

impl PartialEq for Place<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number && std::ptr::eq(self.document, other.document)
    }
}

impl Eq for Place<'_> {}

impl<'d> Place<'d> {
    /// proof: numbers come from the list, which never shrinks.
    fn item(self) -> &'d Item {
        &self.document.items[self.number as usize]
    }

    fn text_of(self, item: &Item) -> &'d str {
        self.document.texts.get(item.text.0 as usize..item.text.1 as usize).unwrap_or_default()
    }

    fn at(self, number: u32) -> Place<'d> {
        Place { number, ..self }
    }

    pub fn is_element(self) -> bool {
        self.item().kind == NodeKind::Element
    }

    /// Calls `each` with every piece of text in the node, in document order.
    pub fn texts(self, mut each: impl FnMut(&'d str)) {
        let item = self.item();
        if !matches!(item.kind, NodeKind::Root | NodeKind::Element) {
            return each(self.text_of(item));
        }
        let inside = self.document.items.get(self.number as usize + 1..item.end as usize).unwrap_or_default();
        for inner in inside.iter().filter(|inner| inner.kind == NodeKind::Text) {
            each(self.text_of(inner));
        }
    }
}

/// The nodes directly below an element, one after another.
struct Below<'d> {
    of: Place<'d>,
    next: u32,
    end: u32,
    attributes: bool,
}

impl<'d> Iterator for Below<'d> {
    type Item = Place<'d>;

    fn next(&mut self) -> Option<Place<'d>> {
        while self.next < self.end {
            let place = self.of.at(self.next);
            let is_attribute = place.item().kind == NodeKind::Attribute;
            if self.attributes && !is_attribute {
                return None;
            }
            self.next = place.item().end;
            if self.attributes == is_attribute {
                return Some(place);
            }
        }
        None
    }
}

impl<'d> Place<'d> {
    fn below(self, attributes: bool) -> Below<'d> {
        Below { of: self, next: self.number + 1, end: self.item().end, attributes }
    }
}

impl<'d> Node<'d> for Place<'d> {
    fn kind(self) -> NodeKind {
        self.item().kind
    }

    fn parent(self) -> Option<Self> {
        (self.number > 0).then(|| self.at(self.item().parent))
    }

    fn children(self) -> impl Iterator<Item = Self> + 'd {
        self.below(false)
    }

    fn attributes(self) -> impl Iterator<Item = Self> + 'd {
        self.below(true)
    }

    fn namespaces(self) -> impl Iterator<Item = Self> + 'd {
        std::iter::empty()
    }

    fn expanded_name(self) -> Option<ExpandedName> {
        let name = self.item().name.as_ref()?;
        Some(ExpandedName { namespace_uri: name.namespace.clone(), local_name: name.local.clone() })
    }

    fn string_value(self) -> String {
        let mut all = String::new();
        self.texts(|text| all.push_str(text));
        all
    }

    fn document_order(self, other: Self) -> Ordering {
        self.number.cmp(&other.number)
    }

    fn is_id_attribute(self) -> bool {
        self.item().name.as_ref().is_some_and(|name| name.local == "id")
    }
}

//! Reads HTML as browsers do: the parser repairs what is wrong, so every text has a tree.

use super::{Document, NODES_MAX, Name};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, parse_document};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use xpath_eval::NodeKind;

/// Deepest nesting, as in browsers: the time that the parser takes grows with it at every tag.
const DEPTH_MAX: usize = 512;
/// Number of bytes to parse before the limits are checked.
const PIECE_BYTES: usize = 4_096;

/// Returns the tree of an HTML text.
///
/// # Errors
/// Returns an error if it has too many nodes, or nests them too deeply.
pub(super) fn read(text: &str) -> Result<Document, &'static str> {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let options = ParseOpts { tree_builder, ..ParseOpts::default() };
    let sink = Sink::default();
    let size = Rc::clone(&sink.size);
    let mut parser = parse_document(sink, options);
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.ceil_char_boundary(PIECE_BYTES.min(rest.len()));
        let (piece, behind) = rest.split_at(end);
        parser.process(StrTendril::from(piece));
        rest = behind;
        let Size { nodes, depth } = size.get();
        if nodes > NODES_MAX {
            return Err("the body has more than 1,000,000 nodes");
        }
        if depth > DEPTH_MAX {
            return Err("the body nests elements deeper than 512 levels");
        }
    }
    Ok(in_order(&parser.finish()))
}

/// The size of the tree so far.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    nodes: usize,
    /// Of the deepest node.
    depth: usize,
}

/// A node while the tree is built, when the parser may still move it.
#[derive(Debug)]
struct Made {
    kind: NodeKind,
    name: String,
    text: String,
    attributes: Vec<(String, String)>,
    parent: Option<usize>,
    children: Vec<usize>,
    depth: usize,
}

/// The nodes so far; the first is the root.
struct Sink {
    nodes: RefCell<Vec<Made>>,
    /// The name of what is not an element.
    nameless: Rc<QualName>,
    /// Shared with the reader, which stops at the limits.
    size: Rc<Cell<Size>>,
}

impl Default for Sink {
    fn default() -> Sink {
        let root = made(NodeKind::Root, String::new(), String::new());
        let nameless = QualName::new(None, html5ever::ns!(), html5ever::local_name!(""));
        Sink { nodes: RefCell::new(vec![root]), nameless: Rc::new(nameless), size: Rc::default() }
    }
}

fn made(kind: NodeKind, name: String, text: String) -> Made {
    Made { kind, name, text, attributes: Vec::new(), parent: None, children: Vec::new(), depth: 0 }
}

/// A node with the name that the parser asks for; only the name of an element matters.
#[derive(Clone)]
struct Handle {
    number: usize,
    name: Rc<QualName>,
}

impl Sink {
    fn nameless(&self, number: usize) -> Handle {
        Handle { number, name: Rc::clone(&self.nameless) }
    }

    fn add(&self, node: Made) -> usize {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(node);
        nodes.len() - 1
    }

    /// Inserts a node into `parent` before its child number `at`. Text joins the text before it.
    fn insert(&self, parent: usize, at: usize, child: NodeOrText<Handle>) {
        let child = match child {
            NodeOrText::AppendNode(node) => {
                self.detach(node.number);
                node.number
            }
            NodeOrText::AppendText(text) => {
                let mut nodes = self.nodes.borrow_mut();
                let before = at.checked_sub(1).and_then(|at| nodes[parent].children.get(at)).copied();
                if let Some(before) = before.filter(|before| nodes[*before].kind == NodeKind::Text) {
                    return nodes[before].text.push_str(&text);
                }
                nodes.push(made(NodeKind::Text, String::new(), text.to_string()));
                nodes.len() - 1
            }
        };
        let mut nodes = self.nodes.borrow_mut();
        nodes[child].parent = Some(parent);
        let depth = nodes[parent].depth + 1;
        nodes[child].depth = depth;
        let size = Size { nodes: nodes.len(), depth: depth.max(self.size.get().depth) };
        self.size.set(size);
        let at = at.min(nodes[parent].children.len());
        nodes[parent].children.insert(at, child);
    }

    fn detach(&self, number: usize) {
        let mut nodes = self.nodes.borrow_mut();
        if let Some(parent) = nodes[number].parent.take() {
            // Moved nodes are at the end, so a search from there stays short however long the list is.
            let children = &mut nodes[parent].children;
            if let Some(at) = children.iter().rposition(|child| *child == number) {
                children.remove(at);
            }
        }
    }

    /// Returns the parent of a node, and its place among the children.
    fn place(&self, number: usize) -> Option<(usize, usize)> {
        let nodes = self.nodes.borrow();
        let parent = nodes[number].parent?;
        let at = nodes[parent].children.iter().rposition(|child| *child == number)?;
        Some((parent, at))
    }
}

fn pairs(attributes: Vec<Attribute>) -> impl Iterator<Item = (String, String)> {
    attributes.into_iter().map(|one| (one.name.local.to_string(), one.value.to_string()))
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Vec<Made>;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Vec<Made> {
        self.nodes.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        self.nameless(0)
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Handle {
        let mut node = made(NodeKind::Element, name.local.to_string(), String::new());
        node.attributes.extend(pairs(attributes));
        Handle { number: self.add(node), name: Rc::new(name) }
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.nameless(self.add(made(NodeKind::Comment, String::new(), text.to_string())))
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Handle {
        let node = made(NodeKind::ProcessingInstruction, target.to_string(), data.to_string());
        self.nameless(self.add(node))
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let at = self.nodes.borrow()[parent.number].children.len();
        self.insert(parent.number, at, child);
    }

    fn append_based_on_parent_node(&self, element: &Handle, before: &Handle, child: NodeOrText<Handle>) {
        match self.place(element.number) {
            Some((parent, at)) => self.insert(parent, at, child),
            None => self.append(before, child),
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// The content of a template belongs to the template, as in the text.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        one.number == other.number
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        if let NodeOrText::AppendNode(node) = &child {
            self.detach(node.number);
        }
        if let Some((parent, at)) = self.place(sibling.number) {
            self.insert(parent, at, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        let mut nodes = self.nodes.borrow_mut();
        let own = &mut nodes[target.number].attributes;
        for (name, value) in pairs(attributes) {
            if !own.iter().any(|(known, _)| *known == name) {
                own.push((name, value));
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.detach(target.number);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let mut nodes = self.nodes.borrow_mut();
        let moved = std::mem::take(&mut nodes[node.number].children);
        for child in &moved {
            nodes[*child].parent = Some(new_parent.number);
        }
        nodes[new_parent.number].children.extend(moved);
    }
}

/// Copies the tree in document order.
fn in_order(nodes: &[Made]) -> Document {
    let mut document = Document::new();
    // (number here, the node, its next child) of each open node.
    let mut open: Vec<(u32, usize, usize)> = vec![(0, 0, 0)];
    while let Some((number, node, next)) = open.last_mut() {
        let Some(child) = nodes[*node].children.get(*next).copied() else {
            document.close(*number);
            open.pop();
            continue;
        };
        *next += 1;
        let parent = *number;
        let Made { kind, name, text, attributes, .. } = &nodes[child];
        let named = |name: &str| Some(Box::new(Name { namespace: None, local: name.to_owned() }));
        let name = matches!(kind, NodeKind::Element | NodeKind::ProcessingInstruction)
            .then(|| named(name))
            .flatten();
        let number = document.add(*kind, parent, name, text);
        for (name, value) in attributes {
            document.add(NodeKind::Attribute, number, named(name), value);
        }
        open.push((number, child, 0));
    }
    document
}

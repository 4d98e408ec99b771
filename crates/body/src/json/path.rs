//! JSONPath (RFC 9535): a path to a single place scans the bytes of the response, and any other path uses a tree.
//!
//! The tree is used only to find the *places* of nodes. Their text comes from the response, so that a number keeps all
//! of its digits in both cases.

use super::scan::{NotJson, Span, Step, locate, without_mark};
use super::singular;
use serde_json::Value;
use serde_json_path::{JsonPath, LocatedNodeList, PathElement};
use std::borrow::Cow;

/// A compiled path. A wildcard selects the members of an object in the order of their names.
#[derive(Debug)]
pub struct Path(Way);

#[derive(Debug)]
enum Way {
    Singular(Vec<Step<'static>>),
    General(JsonPath),
}

/// The tree of one text, built by the first path that needs it, and used by the others.
#[derive(Debug, Default)]
pub enum Tree {
    #[default]
    Unread,
    NotJson,
    Read(Value),
}

/// The nodes that a path selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selected {
    pub count: usize,
    /// The picked node, as a place in the text without its byte order mark.
    pub span: Option<Span>,
}

impl Path {
    /// Compiles a path.
    ///
    /// # Errors
    /// Returns an error with the place of the mistake if the path is invalid.
    pub fn compile(text: &str) -> Result<Path, String> {
        if let Some(steps) = singular::parse(text) {
            return Ok(Path(Way::Singular(steps)));
        }
        let path = JsonPath::parse(text).map_err(|error| format!("invalid JSONPath `{text}`: {error}"))?;
        Ok(Path(Way::General(path)))
    }

    /// Returns whether it needs no tree.
    pub fn is_singular(&self) -> bool {
        matches!(self.0, Way::Singular(_))
    }

    /// Returns the name at the end of the path, if any, which is the name of the value.
    pub fn last_name(&self) -> Option<&str> {
        match &self.0 {
            Way::Singular(steps) => steps.iter().rev().find_map(|step| match step {
                Step::Name(name) => Some(&**name),
                Step::Index(_) => None,
            }),
            Way::General(_) => None,
        }
    }

    /// Selects nodes in `text`. `pick` gets the number of nodes, at least 1, and returns the index of one. `tree` must
    /// belong to this text.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON.
    pub fn select(
        &self,
        text: &[u8],
        tree: &mut Tree,
        pick: impl FnOnce(usize) -> usize,
    ) -> Result<Selected, NotJson> {
        let text = without_mark(text);
        let path = match &self.0 {
            Way::Singular(steps) => {
                let span = locate(text, steps)?;
                return Ok(Selected { count: usize::from(span.is_some()), span });
            }
            Way::General(path) => path,
        };
        if let Tree::Unread = tree {
            *tree = serde_json::from_slice(text).map_or(Tree::NotJson, Tree::Read);
        }
        let Tree::Read(value) = tree else { return Err(NotJson) };
        let nodes = path.query_located(value);
        let count = nodes.len();
        let span = match count {
            0 => None,
            _ => locate(text, &steps_to(&nodes, pick(count)))?,
        };
        Ok(Selected { count, span })
    }

    /// Returns the places of all selected nodes in `text` without its byte order mark. `tree` must belong to this text.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON.
    pub fn all(&self, text: &[u8], tree: &mut Tree) -> Result<Vec<Span>, NotJson> {
        let text = without_mark(text);
        let path = match &self.0 {
            Way::Singular(steps) => return Ok(locate(text, steps)?.into_iter().collect()),
            Way::General(path) => path,
        };
        if let Tree::Unread = tree {
            *tree = serde_json::from_slice(text).map_or(Tree::NotJson, Tree::Read);
        }
        let Tree::Read(value) = tree else { return Err(NotJson) };
        let nodes = path.query_located(value);
        let mut places = Vec::with_capacity(nodes.len());
        for number in 0..nodes.len() {
            places.extend(locate(text, &steps_to(&nodes, number))?);
        }
        Ok(places)
    }

    /// Appends the text of the first selected node to `out`. Returns false if there is none, or `text` is not JSON.
    pub fn first(&self, text: &[u8], out: &mut Vec<u8>) -> bool {
        match self.select(text, &mut Tree::Unread, |_| 0) {
            Ok(Selected { span: Some(span), .. }) => {
                append(text, span, out);
                true
            }
            _ => false,
        }
    }
}

/// Returns the text of a node: strings without quotes and escapes, anything else unchanged. `room` is used only for
/// escapes.
pub fn excerpt<'t>(text: &'t [u8], span: Span, room: &'t mut Vec<u8>) -> &'t [u8] {
    if !span.escaped {
        // proof: a span is always inside the text that it was found in.
        return &without_mark(text)[span.begin..span.end];
    }
    room.clear();
    append(text, span, room);
    room
}

/// Appends the text of a node to `out`, as [`excerpt`] returns it.
pub fn append(text: &[u8], span: Span, out: &mut Vec<u8>) {
    let raw = &without_mark(text)[span.begin..span.end];
    match span.escaped {
        true => super::text::unescape(raw, out),
        false => out.extend_from_slice(raw),
    }
}

fn steps_to<'n>(nodes: &'n LocatedNodeList<'_>, number: usize) -> Vec<Step<'n>> {
    let Some(node) = nodes.get(number) else { return Vec::new() };
    let step = |element: &'n PathElement<'_>| match element {
        PathElement::Name(name) => Step::Name(Cow::Borrowed(*name)),
        PathElement::Index(index) => Step::Index(*index as i64),
    };
    node.location().iter().map(step).collect()
}

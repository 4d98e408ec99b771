//! XML -> elements.
//!
//! A file has the root `jmeterTestPlan` with one `hashTree`. In a `hashTree`, each element is followed by the
//! `hashTree` of its children.

use super::{Property, Raw, Value};
use crate::code;
use crate::place::Source;
use crate::text::Pos;
use plimsoll_plan::{Diagnostic, Problem};
use roxmltree::{Document, Node, ParsingOptions};
use std::borrow::Cow;

/// Elements and texts of a file: those of the largest plans are some 100,000.
const MOST_NODES: u32 = 2_000_000;

/// Levels of elements: beyond them, a plan is not one that a person made.
const MOST_LEVELS: usize = 200;

/// Reads the elements of a file: the children of its outermost `hashTree`.
///
/// # Errors
/// Returns an error with its place if the text is not XML or not a plan.
pub(crate) fn parse(source: &Source) -> Result<Vec<Raw>, Diagnostic> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let text = masked(&source.text);
    let document = Document::parse_with_options(&text, options).map_err(|e| broken(source, &e))?;
    let root = document.root_element();
    let reader = Reader { source };
    if root.tag_name().name() != "jmeterTestPlan" {
        let problem = Problem::new(
            format!("`{}` is not the root of a test plan", root.tag_name().name()),
            "pass a file that JMeter has saved: its root is `jmeterTestPlan`",
        );
        return Err(source.diagnostic(code::XML, reader.pos(root), problem));
    }
    let Some(tree) = root.children().find(|child| child.has_tag_name("hashTree")) else {
        let problem = Problem::new("the plan has no `hashTree`", "save the plan with JMeter 2.3 or newer");
        return Err(source.diagnostic(code::XML, reader.pos(root), problem));
    };
    reader.elements(tree, 0)
}

/// Replaces the first of the control characters that XML does not have; the others follow. No text has these
/// noncharacters of Unicode.
const MASK: u32 = 0xFDD0;
/// Fills the rest of a masked reference.
const FILL: char = '\u{7F}';

/// Replaces references to control characters, such as `&#x10;`, which JMeter writes and reads although XML does not
/// have them. All places stay where they are: a masked reference has the same length.
fn masked(text: &str) -> Cow<'_, str> {
    let (mut masked, mut copied, mut from) = (String::new(), 0, 0);
    while let Some(at) = text[from..].find("&#").map(|at| from + at) {
        from = at + 2;
        let Some(end) = text[from..].bytes().take(12).position(|byte| byte == b';').map(|end| from + end)
        else {
            continue;
        };
        let number = match text[from..end].strip_prefix('x') {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => text[from..end].parse(),
        };
        let Ok(number @ (..=8 | 11 | 12 | 14..=31)) = number else { continue };
        let Some(sign) = char::from_u32(MASK + number) else { continue };
        masked.push_str(&text[copied..at]);
        masked.push(sign);
        masked.extend(std::iter::repeat_n(FILL, end + 1 - at - sign.len_utf8()));
        copied = end + 1;
        from = copied;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    masked.push_str(&text[copied..]);
    Cow::Owned(masked)
}

/// Returns a text with the control characters that were masked.
fn unmasked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_filled = false;
    for sign in text.chars() {
        match u32::from(sign).checked_sub(MASK).filter(|number| *number < 32).and_then(char::from_u32) {
            Some(control) => out.push(control),
            None if sign == FILL && is_filled => continue,
            None => out.push(sign),
        }
        is_filled = (MASK..MASK + 32).contains(&u32::from(sign));
    }
    out
}

fn broken(source: &Source, error: &roxmltree::Error) -> Diagnostic {
    let at = error.pos();
    let pos = match error {
        roxmltree::Error::DtdDetected => source.pos(source.text.find("<!DOCTYPE").unwrap_or(0)),
        roxmltree::Error::UnclosedRootNode => source.pos(source.text.len()),
        _ => Pos { file: source.file, line: at.row, column: at.col },
    };
    let (message, hint) = match error {
        roxmltree::Error::DtdDetected => {
            ("a document type is not supported".to_owned(), "remove the lines from `<!DOCTYPE` to `>`")
        }
        roxmltree::Error::NodesLimitReached => {
            (format!("more than {MOST_NODES} elements"), "split the plan into several")
        }
        roxmltree::Error::UnclosedRootNode => {
            ("the file ends before its last element".to_owned(), "copy the whole file")
        }
        roxmltree::Error::UnexpectedCloseTag(expected, found, _) => (
            format!("`</{found}>` closes `<{expected}>`"),
            "close each element, or open the plan in JMeter and save it again",
        ),
        other => {
            let text = other.to_string();
            // Line and column are those of the diagnostic.
            let text = text.rsplit_once(" at ").map_or(text.as_str(), |(text, _)| text);
            (format!("invalid XML: {text}"), "open the plan in JMeter and save it again")
        }
    };
    source.diagnostic(code::XML, pos, Problem::new(message, hint))
}

struct Reader<'a> {
    source: &'a Source,
}

impl Reader<'_> {
    fn pos(&self, node: Node<'_, '_>) -> Pos {
        self.source.pos(node.range().start)
    }

    fn elements(&self, tree: Node<'_, '_>, level: usize) -> Result<Vec<Raw>, Diagnostic> {
        if level > MOST_LEVELS {
            let problem = Problem::new(
                format!("elements are nested more than {MOST_LEVELS} levels deep"),
                "use fewer levels of controllers",
            );
            return Err(self.source.diagnostic(code::XML, self.pos(tree), problem));
        }
        let mut all: Vec<Raw> = Vec::new();
        for node in tree.children().filter(Node::is_element) {
            if node.has_tag_name("hashTree") {
                match all.last_mut() {
                    Some(parent) => parent.children.extend(self.elements(node, level + 1)?),
                    None => {
                        let problem =
                            Problem::new("a `hashTree` without an element before it", "save the plan again");
                        return Err(self.source.diagnostic(code::XML, self.pos(node), problem));
                    }
                }
            } else {
                all.push(self.element(node)?);
            }
        }
        Ok(all)
    }

    fn element(&self, node: Node<'_, '_>) -> Result<Raw, Diagnostic> {
        let last = |class: &str| class.rsplit('.').next().unwrap_or_default().to_owned();
        let properties = self.properties(node, 0)?;
        let own = |name: &str| super::find(&properties, name).map(|property| property.text().to_owned());
        let name = node.attribute("testname").map(str::to_owned).or_else(|| own("TestElement.name"));
        let enabled = node.attribute("enabled").map(str::to_owned).or_else(|| own("TestElement.enabled"));
        let form = node.attribute("guiclass").map(str::to_owned).or_else(|| own("TestElement.gui_class"));
        Ok(Raw {
            class: last(node.tag_name().name()),
            form: last(&form.unwrap_or_default()),
            name: unmasked(&name.unwrap_or_default()),
            is_enabled: enabled.as_deref() != Some("false"),
            properties,
            children: Vec::new(),
            pos: self.pos(node),
        })
    }

    fn properties(&self, node: Node<'_, '_>, level: usize) -> Result<Vec<Property>, Diagnostic> {
        if level > MOST_LEVELS {
            let problem =
                Problem::plain(format!("properties are nested more than {MOST_LEVELS} levels deep"));
            return Err(self.source.diagnostic(code::XML, self.pos(node), problem));
        }
        let mut all = Vec::new();
        for child in node.children().filter(Node::is_element) {
            let kind = child.tag_name().name();
            let is_text = child.children().all(|inner| !inner.is_element());
            let value = match kind {
                "stringProp" => Value::Text { text: text(child), is_string: true },
                "boolProp" | "intProp" | "longProp" | "floatProp" | "doubleProp" | "FloatProperty" => {
                    // Fractions, and all of them in older versions, are written as `<doubleProp><name/><value/>`.
                    let value = child.children().find(|inner| inner.has_tag_name("value"));
                    Value::Text { text: text(value.unwrap_or(child)).trim().to_owned(), is_string: false }
                }
                // Objects such as the settings of listeners have tags without a type.
                "elementProp" | "collectionProp" | "mapProp" | "objProp" | "testelement" => {
                    Value::Many(self.properties(child, level + 1)?)
                }
                _ if is_text => Value::Text { text: text(child), is_string: true },
                _ => Value::Many(self.properties(child, level + 1)?),
            };
            let name = match child.attribute("name") {
                Some(name) => name.to_owned(),
                None => {
                    let inner = child.children().find(|inner| !is_text && inner.has_tag_name("name"));
                    inner.map_or_else(|| kind.to_owned(), |inner| text(inner).trim().to_owned())
                }
            };
            all.push(Property { name, value, pos: self.pos(child) });
        }
        Ok(all)
    }
}

/// Returns the whole text of an element, which may have comments or CDATA between.
fn text(node: Node<'_, '_>) -> String {
    unmasked(&node.children().filter(Node::is_text).filter_map(|part| part.text()).collect::<String>())
}

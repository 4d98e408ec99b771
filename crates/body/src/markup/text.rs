//! The tree of an HTML text as JSON, for scripts that search it themselves.

use super::{Item, Place, html};
use std::fmt::Write as _;
use xpath_eval::NodeKind;

/// Returns the tree of an HTML text as a JSON array of the nodes at its top: a text is a string, a comment is
/// `{"m": text}`, and an element is `{"n": name, "a": [name, value, ...], "c": [node, ...]}`.
///
/// # Errors
/// Returns an error if the text has too many nodes, or nests them too deeply.
pub fn html_json(text: &str) -> Result<String, &'static str> {
    let document = html::read(text)?;
    let root = document.root();
    let mut out = String::with_capacity(text.len() * 2);
    out.push('[');
    // (number after the subtree, whether its next child is the first one) of each open node.
    let mut open: Vec<(u32, bool)> = vec![(root.item().end, true)];
    let mut number = 1;
    while number < root.item().end {
        close(&mut open, number, &mut out);
        let place = root.at(number);
        let item = place.item();
        number += 1;
        if !matches!(item.kind, NodeKind::Element | NodeKind::Text | NodeKind::Comment) {
            continue;
        }
        if open.last_mut().is_some_and(|(_, is_first)| !std::mem::replace(is_first, false)) {
            out.push(',');
        }
        match item.kind {
            NodeKind::Text => quoted(place.text_of(item), &mut out),
            NodeKind::Comment => {
                out.push_str("{\"m\":");
                quoted(place.text_of(item), &mut out);
                out.push('}');
            }
            _ => {
                number = begin(place, item, number, &mut out);
                open.push((item.end, true));
            }
        }
    }
    close(&mut open, u32::MAX, &mut out);
    // The root has closed with the end of an element; it is an array only.
    out.truncate(out.len() - "]}".len());
    out.push(']');
    Ok(out)
}

/// Writes an element up to its content; returns the number of the first node of the content.
fn begin(place: Place<'_>, item: &Item, mut number: u32, out: &mut String) -> u32 {
    out.push_str("{\"n\":");
    quoted(item.name.as_ref().map_or("", |name| &name.local), out);
    out.push_str(",\"a\":[");
    let first = number;
    while number < item.end {
        let attribute = place.at(number);
        let of = attribute.item();
        if of.kind != NodeKind::Attribute {
            break;
        }
        if number > first {
            out.push(',');
        }
        quoted(of.name.as_ref().map_or("", |name| &name.local), out);
        out.push(',');
        quoted(attribute.text_of(of), out);
        number += 1;
    }
    out.push_str("],\"c\":[");
    number
}

/// Closes the elements that end before a node.
fn close(open: &mut Vec<(u32, bool)>, number: u32, out: &mut String) {
    while open.last().is_some_and(|(end, _)| *end <= number) {
        open.pop();
        out.push_str("]}");
    }
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for sign in text.chars() {
        match sign {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{0}'..='\u{1f}' => {
                // Writing to a text cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(sign));
            }
            _ => out.push(sign),
        }
    }
    out.push('"');
}

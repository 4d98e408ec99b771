//! The path and the query of a request.

use crate::own::key::Row;
use crate::own::work::Work;
use crate::own::yaml::{Node, Value, one_or_more};
use plimsoll_build::draft::{PathDraft, QueryDraft, TextDraft};
use plimsoll_plan::value::Escape;

/// Reads a path. With `encode`, values and spaces are percent-encoded.
pub fn read(node: &Node, row: &Row, encode: bool, w: &mut Work<'_>) -> Option<PathDraft> {
    let escape = if encode { Escape::Percent } else { Escape::None };
    let text = match &node.value {
        Value::Scalar(scalar) if !scalar.pieces.is_empty() && !scalar.spoiled => {
            w.r.filled(scalar, node.pos, escape, &str::to_owned)
        }
        _ => TextDraft::of(w.r.written(node, row)?),
    };
    Some(PathDraft { text, encode, pos: node.pos })
}

/// Reads `query:`.
pub fn query(node: &Node, row: &Row, encode: bool, w: &mut Work<'_>) -> Vec<QueryDraft> {
    let escape = if encode { Escape::Percent } else { Escape::None };
    let mut all = Vec::new();
    for entry in w.r.map(node, row).unwrap_or_default() {
        for value in one_or_more(&entry.value) {
            let text = w.r.template(value, row, escape);
            all.extend(text.map(|text| QueryDraft { key: entry.key.clone(), value: text, pos: value.pos }));
        }
    }
    all
}

//! Reads texts with expressions out of the tree.

use super::key::Row;
use super::reader::{Reader, is_null};
use super::yaml::{Node, Scalar, Value};
use plimsoll_build::draft::{Open, PartDraft, TextDraft};
use plimsoll_build::escape::escaped;
use plimsoll_build::expression::Piece;
use plimsoll_build::source::Pos;
use plimsoll_plan::value::Escape;

impl Reader<'_> {
    /// Reads a text, a number, or a Boolean as written. Literals and values are escaped in the same way.
    pub fn template(&mut self, node: &Node, row: &Row, escape: Escape) -> Option<TextDraft> {
        match &node.value {
            Value::Scalar(Scalar { spoiled: true, .. }) => None,
            Value::Scalar(scalar) if scalar.plain && is_null(&scalar.text) && scalar.pieces.is_empty() => {
                self.expected(node, row, "write `\"\"` for an empty text");
                None
            }
            Value::Scalar(scalar) => {
                Some(self.filled(scalar, node.pos, escape, &|text| escaped(text, escape)))
            }
            Value::List(_) | Value::Map(_) => {
                self.expected(node, row, "");
                None
            }
        }
    }

    /// Returns the text of a scalar, with its literals changed by `literal`.
    pub fn filled(
        &self,
        scalar: &Scalar,
        pos: Pos,
        escape: Escape,
        literal: &dyn Fn(&str) -> String,
    ) -> TextDraft {
        match scalar.pieces.is_empty() {
            true => TextDraft::of(literal(&scalar.text)),
            false => self.pieces(&scalar.pieces, pos, escape, literal),
        }
    }

    /// Returns the text of pieces; the first piece is at or after `pos`.
    pub fn pieces(
        &self,
        pieces: &[Piece],
        pos: Pos,
        escape: Escape,
        literal: &dyn Fn(&str) -> String,
    ) -> TextDraft {
        let mut text = TextDraft::default();
        for piece in pieces {
            match piece {
                Piece::Literal(written) => text.literal(literal(written)),
                Piece::Expression { written, means } => text.parts.push(PartDraft::Open(Open {
                    means: means.clone(),
                    written: written.clone(),
                    at: self.source.within(pos, written),
                    escape,
                })),
            }
        }
        text
    }
}

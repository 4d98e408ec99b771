//! Drafts of texts with expressions.

use crate::expression::Expression;
use crate::source::Pos;
use plimsoll_plan::value::Escape;

/// A text whose names have no numbers yet.
#[derive(Debug, Clone, Default)]
pub struct TextDraft {
    pub parts: Vec<PartDraft>,
}

/// A piece of a [`TextDraft`].
#[derive(Debug, Clone)]
pub enum PartDraft {
    /// Bytes for sending.
    Literal(Vec<u8>),
    Open(Open),
}

/// An expression.
#[derive(Debug, Clone)]
pub struct Open {
    pub means: Expression,
    /// With its `${}`.
    pub written: String,
    pub at: Pos,
    /// The escaping of its value.
    pub escape: Escape,
}

impl TextDraft {
    /// Adds bytes for sending; adjacent literals are joined.
    pub fn literal(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        match self.parts.last_mut() {
            _ if bytes.is_empty() => {}
            Some(PartDraft::Literal(before)) => before.extend_from_slice(bytes),
            _ => self.parts.push(PartDraft::Literal(bytes.to_vec())),
        }
    }

    pub fn text(&mut self, text: TextDraft) {
        for part in text.parts {
            match part {
                PartDraft::Literal(bytes) => self.literal(bytes),
                part @ PartDraft::Open(_) => self.parts.push(part),
            }
        }
    }

    pub fn of(bytes: impl AsRef<[u8]>) -> TextDraft {
        let mut text = TextDraft::default();
        text.literal(bytes);
        text
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the bytes that are sent regardless of the expressions.
    pub fn literals(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for part in &self.parts {
            if let PartDraft::Literal(bytes) = part {
                all.extend_from_slice(bytes);
            }
        }
        all
    }

    /// Returns the text for names of series: literals as sent, expressions as written.
    pub fn written(&self) -> String {
        let mut all = String::new();
        for part in &self.parts {
            match part {
                PartDraft::Literal(bytes) => all.push_str(&String::from_utf8_lossy(bytes)),
                PartDraft::Open(open) => all.push_str(&open.written),
            }
        }
        all
    }
}

//! Texts with expressions in them, as drafts.

use crate::build::expression::Expression;
use crate::source::Pos;
use plimsoll_plan::value::Escape;

/// A text in which names are still names.
#[derive(Debug, Clone, Default)]
pub struct TextDraft {
    pub parts: Vec<PartDraft>,
}

/// A piece of a [`TextDraft`].
#[derive(Debug, Clone)]
pub enum PartDraft {
    /// As it is sent.
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
    /// How its value is escaped.
    pub escape: Escape,
}

impl TextDraft {
    /// Adds bytes as they are sent; neighbours are joined.
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

    /// What is sent whatever is filled in.
    pub fn literals(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for part in &self.parts {
            if let PartDraft::Literal(bytes) = part {
                all.extend_from_slice(bytes);
            }
        }
        all
    }

    /// For names of series: literals as they are sent, expressions as they are written.
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

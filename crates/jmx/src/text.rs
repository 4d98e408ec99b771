//! Texts of a test plan: literals, `${variable}`, and `${__function(arguments)}`.
//!
//! The syntax is that of JMeter's `FunctionParser`. A backslash before `$`, `,`, or another backslash disappears, but
//! only in a text with a variable or a function, and in arguments; all others stay as written.

mod parse;

use std::sync::Arc;

/// A place in a file of the plan: lines and columns start at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Pos {
    /// Index in [`crate::plan::TestPlan::files`].
    pub file: u16,
    pub line: u32,
    pub column: u32,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Literal(String),
    /// `${NAME}`. If it is undefined, JMeter keeps the text `${NAME}`.
    Variable(String),
    Call(Call),
}

/// A call of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// With its underscores, such as `__time`.
    pub name: String,
    /// Not trimmed; JMeter's functions trim most of theirs.
    pub arguments: Vec<Text>,
    /// As written, from `${` to `}`.
    pub source: String,
}

/// A compiled text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// As written.
    pub source: Arc<str>,
    /// Empty for an empty text. Neighboring literals are merged.
    pub parts: Vec<Part>,
    pub pos: Pos,
}

impl Text {
    /// Compiles the text of a property.
    ///
    /// # Errors
    /// Returns an error if a call lacks its closing brace.
    pub fn new(source: &str, pos: Pos) -> Result<Text, String> {
        parse::property(source, pos)
    }

    /// Returns a text without variables and functions.
    pub fn literal(source: &str, pos: Pos) -> Text {
        let parts = if source.is_empty() { Vec::new() } else { vec![Part::Literal(source.to_owned())] };
        Text { source: source.into(), parts, pos }
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the value of a text without variables and functions.
    pub fn fixed(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Calls `visit` for each part, also those of arguments.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Part)) {
        for part in &self.parts {
            visit(part);
            if let Part::Call(call) = part {
                for argument in &call.arguments {
                    argument.visit(visit);
                }
            }
        }
    }
}

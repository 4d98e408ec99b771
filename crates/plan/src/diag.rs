//! What is wrong with what the user wrote: a code, a place, a sentence and the mend.

/// Where the offending text stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A field of the draft, by its key in the experiment file; a front turns it into a line or a flag.
    Field(&'static str),
    /// A flag of the command line, as typed.
    Flag(String),
    /// A place in a file; lines and columns count from 1.
    Text { file: String, line: u32, column: u32, excerpt: String },
    /// The text as a whole.
    Whole,
}

/// One mistake. Everything that a person needs to mend it without opening the manual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable, for `grep` and for documents: `P001`.
    pub code: &'static str,
    pub place: Place,
    /// Lower-case fragment: what was found and what was expected.
    pub message: String,
    /// How to mend it, a whole sentence in lower case; empty when the message says it already.
    pub hint: String,
}

impl Diagnostic {
    pub fn new(
        code: &'static str,
        place: Place,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { code, place, message: message.into(), hint: hint.into() }
    }

    /// A mistake in one field of a draft.
    pub fn field(
        code: &'static str,
        key: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::new(code, Place::Field(key), message, hint)
    }
}

//! What is wrong with what the user wrote: a code, a place, a sentence and the mend.

/// A field of a draft, by the words that people have for it; all are in [`crate::draft::key`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Field {
    /// As an experiment file spells it, and as diagnostics name it.
    pub key: &'static str,
    /// The flag that says the same, or those that have the last word where none does.
    pub flag: &'static str,
}

/// Where the offending text stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A field of the draft; a front turns it into a line or a flag.
    Field(Field),
    /// A flag of the command line, as typed.
    Flag(String),
    /// A place in a file; lines and columns count from 1.
    Text { file: String, line: u32, column: u32, excerpt: String },
    /// The text as a whole.
    Whole,
}

/// What is wrong with a text and how to mend it, said by whoever reads the text and does not know where it stands.
/// [`Diagnostic::of`] gives it a code and a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Lower-case fragment: what was found and what was expected.
    pub message: String,
    /// How to mend it, a whole sentence in lower case; empty when the message says it already.
    pub hint: String,
}

impl Problem {
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    /// One whose message says how to mend it, or that nothing mends.
    pub fn plain(message: impl Into<String>) -> Self {
        Self::new(message, "")
    }

    /// The same of a part: `front` says which, in front of the message.
    pub fn within(self, front: impl std::fmt::Display) -> Self {
        Self { message: format!("{front}{}", self.message), ..self }
    }
}

/// Both in one line, for whoever has no place of its own for the hint.
impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "; {}", self.hint) }
    }
}

impl std::error::Error for Problem {}

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

    /// A mistake at its place.
    pub fn of(code: &'static str, place: Place, problem: Problem) -> Self {
        Self { code, place, message: problem.message, hint: problem.hint }
    }

    /// A mistake in one field of a draft.
    pub fn field(
        code: &'static str,
        field: Field,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::new(code, Place::Field(field), message, hint)
    }
}

//! Diagnostics for user input: a code, a place, a message, and a help line.

/// A field of a draft, with its names; all are in [`crate::draft::key`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Field {
    /// The key in an experiment file, which diagnostics show.
    pub key: &'static str,
    /// The flag that sets the same, or the flags that override the key if there is none.
    pub flag: &'static str,
}

/// The place of a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A field of the draft; a front end turns it into a line or a flag.
    Field(Field),
    /// A command-line flag, as typed.
    Flag(String),
    /// A place in a file; lines and columns start at 1.
    Text { file: String, line: u32, column: u32, excerpt: String },
    /// The whole text.
    Whole,
}

/// A mistake without its place: [`Diagnostic::of`] adds a code and a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong and what was expected: a fragment in lower case, without a period.
    pub message: String,
    /// How to fix it: an imperative in lower case, without a period. Empty if the message says it.
    pub hint: String,
}

impl Problem {
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    /// Returns a problem without a help line.
    pub fn plain(message: impl Into<String>) -> Self {
        Self::new(message, "")
    }

    /// Returns the problem with a prefix before its message.
    pub fn within(self, front: impl std::fmt::Display) -> Self {
        Self { message: format!("{front}{}", self.message), ..self }
    }
}

/// Shows message and help on one line.
impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "; {}", self.hint) }
    }
}

impl std::error::Error for Problem {}

/// One mistake, with everything that a user needs to fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code, such as `P001`, for searches and documentation.
    pub code: &'static str,
    pub place: Place,
    /// What is wrong and what was expected: a fragment in lower case, without a period.
    pub message: String,
    /// How to fix it: an imperative in lower case, without a period. Empty if the message says it.
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

    /// Returns a problem at a place.
    pub fn of(code: &'static str, place: Place, problem: Problem) -> Self {
        Self { code, place, message: problem.message, hint: problem.hint }
    }

    /// Returns a mistake in a field of a draft.
    pub fn field(
        code: &'static str,
        field: Field,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::new(code, Place::Field(field), message, hint)
    }
}

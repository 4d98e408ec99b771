//! Values that change with every request: a [`Text`] is literal bytes with placeholders, which are filled in for each
//! send.
//!
//! Names are resolved before the load: a placeholder has the number of a variable's slot or of a data column.

use crate::Problem;
use crate::request::REDACTED;
use std::fmt;
use std::sync::Arc;

/// Slot of a variable of each user (extracted, set).
pub type VarId = u16;
/// Slot of a value that setup extracted, the same for all users.
pub type GlobalId = u16;
/// Index of a feeder in the script.
pub type FeederId = u16;
/// Index of a column of a feeder.
pub type ColumnId = u16;

/// Literal bytes and placeholders, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Text {
    pub parts: Vec<Part>,
}

/// A piece of a [`Text`].
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Literal(Arc<[u8]>),
    /// A literal from `${secret.X}` that no output may show, already escaped.
    Secret(Secret),
    Placeholder(Placeholder, Escape),
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Placeholder {
    Var(VarId),
    Global(GlobalId),
    Column {
        feeder: FeederId,
        column: ColumnId,
    },
    Call(Function),
    /// A text that is filled in and then encoded in Base64 (RFC 4648 section 4): `user:password` of basic
    /// authentication whose parts change with every request.
    Base64(Box<Text>),
}

/// How a value is escaped for its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Escape {
    /// Unchanged (raw bodies, and headers; a header value with a line end is never sent).
    #[default]
    None,
    /// Inside the quotes of a JSON string (RFC 8259 section 7).
    Json,
    /// For a path segment or a query component: percent-encodes everything except unreserved characters (RFC 3986).
    Percent,
    /// For `application/x-www-form-urlencoded`: like `Percent`, but a space becomes `+`.
    Form,
}

/// A generated value.
#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// A UUID of version 4, in lower case.
    Uuid,
    Now(TimeFormat),
    /// A counter over all users of this machine, in the order of use. `id` identifies the counter.
    Counter {
        id: u16,
        start: i64,
        step: i64,
    },
    /// A random number, including both ends.
    RandomInt {
        low: i64,
        high: i64,
    },
    RandomString {
        length: u32,
        alphabet: Alphabet,
    },
    /// Number of the virtual user over all machines, starting at 1.
    User,
    /// Number of the user's iteration, starting at 1.
    Iteration,
}

/// The format of a date and time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeFormat {
    /// `2026-01-31T12:00:00.123Z`
    Iso,
    /// Whole seconds since 1970.
    Unix,
    UnixMs,
    UnixNs,
    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
    Http,
    /// `%Y %m %d %H %M %S %L` (milliseconds) `%j %%`, in UTC; validated by [`TimeFormat::parse`].
    Pattern(String),
}

impl TimeFormat {
    /// Parses the argument of `${now(...)}`.
    ///
    /// # Errors
    /// Returns an error that names an unknown format or specifier.
    pub fn parse(text: &str) -> Result<TimeFormat, Problem> {
        match text {
            "" | "iso" => return Ok(TimeFormat::Iso),
            "unix" => return Ok(TimeFormat::Unix),
            "unix_ms" => return Ok(TimeFormat::UnixMs),
            "unix_ns" => return Ok(TimeFormat::UnixNs),
            "http" => return Ok(TimeFormat::Http),
            _ if !text.contains('%') => {
                return Err(Problem::new(
                    format!("unknown time format `{text}`"),
                    "write `iso`, `unix`, `unix_ms`, `unix_ns`, `http`, or a pattern such as `%Y-%m-%d`",
                ));
            }
            _ => {}
        }
        let mut signs = text.chars();
        while let Some(sign) = signs.next() {
            if sign == '%' {
                match signs.next() {
                    Some('Y' | 'm' | 'd' | 'H' | 'M' | 'S' | 'L' | 'j' | '%') => {}
                    other => {
                        let sign = other.map_or(String::new(), |c| c.to_string());
                        return Err(Problem::new(
                            format!("unknown specifier `%{sign}`"),
                            "use one of `%Y %m %d %H %M %S %L %j %%`",
                        ));
                    }
                }
            }
        }
        Ok(TimeFormat::Pattern(text.to_owned()))
    }
}

/// The character set of a random string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Alphabet {
    /// `a-zA-Z0-9`
    #[default]
    Alphanumeric,
    /// `a-zA-Z`
    Letters,
    /// `0-9`
    Digits,
    /// `0-9a-f`
    Hex,
}

/// Text that prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    pub fn new(text: &str) -> Secret {
        Secret(text.into())
    }

    /// Returns the value. Use it only for sending, and for removing it from failure examples.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl Text {
    /// Returns a text without placeholders.
    pub fn literal(bytes: impl AsRef<[u8]>) -> Text {
        let bytes = bytes.as_ref();
        Text { parts: if bytes.is_empty() { Vec::new() } else { vec![Part::Literal(bytes.into())] } }
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub fn push_literal(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.parts.push(Part::Literal(bytes.into()));
        }
    }

    /// Returns the bytes if there is nothing to fill in. Secrets count as literals.
    pub fn fixed(&self) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        for part in &self.parts {
            match part {
                Part::Literal(bytes) => all.extend_from_slice(bytes),
                Part::Secret(secret) => all.extend_from_slice(secret.reveal().as_bytes()),
                Part::Placeholder(..) => return None,
            }
        }
        Some(all)
    }

    /// Returns the text for output: secrets as `***`, placeholders as `${...}`.
    pub fn describe(&self) -> String {
        let mut all = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(bytes) => all.push_str(&String::from_utf8_lossy(bytes)),
                Part::Secret(_) => all.push_str(REDACTED),
                Part::Placeholder(hole, _) => all.push_str(&hole.describe()),
            }
        }
        all
    }
}

impl Placeholder {
    /// Returns a short name by kind, because only the front end knows the names in the file.
    pub fn describe(&self) -> String {
        match self {
            Placeholder::Var(_) | Placeholder::Global(_) => "${variable}".into(),
            Placeholder::Column { .. } => "${data}".into(),
            Placeholder::Call(function) => format!("${{{}}}", function.name()),
            Placeholder::Base64(_) => REDACTED.into(),
        }
    }
}

impl Function {
    /// Returns the name in `${name(...)}`.
    pub const fn name(&self) -> &'static str {
        match self {
            Function::Uuid => "uuid",
            Function::Now(_) => "now",
            Function::Counter { .. } => "counter",
            Function::RandomInt { .. } => "random_int",
            Function::RandomString { .. } => "random_string",
            Function::User => "user",
            Function::Iteration => "iteration",
        }
    }

    /// All names, for diagnostics and the schema.
    pub const NAMES: &'static [&'static str] =
        &["uuid", "now", "counter", "random_int", "random_string", "user", "iteration"];
}

//! Values that change from request to request: a [`Text`] is literal bytes with holes, filled each time it is sent.
//!
//! Names are resolved before the load: a hole knows the slot of a variable or the column of a feeder by number.

use crate::Problem;
use crate::request::REDACTED;
use std::fmt;
use std::sync::Arc;

/// Slot of a variable of each user (extracted, set).
pub type VarId = u16;
/// Slot of a value that the set-up extracted, the same for all users.
pub type GlobalId = u16;
/// Index of a feeder in the script.
pub type FeederId = u16;
/// Index of a column of a feeder.
pub type ColumnId = u16;

/// Literal bytes and holes, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Text {
    pub parts: Vec<Part>,
}

/// A piece of a [`Text`].
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Literal(Arc<[u8]>),
    /// A literal that no artefact may show: from `${secret.X}`, escaped already.
    Secret(Secret),
    Placeholder(Placeholder, Escape),
}

/// What fills a hole.
#[derive(Debug, Clone, PartialEq)]
pub enum Placeholder {
    Var(VarId),
    Global(GlobalId),
    Column {
        feeder: FeederId,
        column: ColumnId,
    },
    Call(Function),
    /// A text that is filled first and then coded in Base64 (RFC 4648 section 4): `user:password` of basic
    /// authentication whose parts change from request to request.
    Base64(Box<Text>),
}

/// How a value is changed so that it means itself where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Escape {
    /// As it is (raw bodies, headers; a header value with a line end is never sent).
    #[default]
    None,
    /// Inside the quotes of a JSON string (RFC 8259 section 7).
    Json,
    /// A segment of a path or a query component: everything but unreserved characters percent-encoded (RFC 3986).
    Percent,
    /// `application/x-www-form-urlencoded`: as `Percent`, but a space is `+`.
    Form,
}

/// A value that is made, not looked up.
#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// Version 4, lower case.
    Uuid,
    Now(TimeFormat),
    /// Counts over all users of this machine, in the order of use; `id` tells counters apart.
    Counter {
        id: u16,
        start: i64,
        step: i64,
    },
    /// Both ends included.
    RandomInt {
        low: i64,
        high: i64,
    },
    RandomString {
        length: u32,
        alphabet: Alphabet,
    },
    /// Number of the virtual user, from 1, over all machines.
    User,
    /// Number of the user's own iteration, from 1.
    Iteration,
}

/// How an instant is written.
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
    /// `%Y %m %d %H %M %S %L` (milliseconds) `%j %%`, in UTC; checked by [`TimeFormat::parse`].
    Pattern(String),
}

impl TimeFormat {
    /// Reads what stands in `${now(...)}`.
    ///
    /// # Errors
    /// A sentence naming the sign that is not known.
    pub fn parse(text: &str) -> Result<TimeFormat, Problem> {
        match text {
            "" | "iso" => return Ok(TimeFormat::Iso),
            "unix" => return Ok(TimeFormat::Unix),
            "unix_ms" => return Ok(TimeFormat::UnixMs),
            "unix_ns" => return Ok(TimeFormat::UnixNs),
            "http" => return Ok(TimeFormat::Http),
            _ if !text.contains('%') => {
                return Err(Problem::new(
                    format!("`{text}` is no format of time"),
                    "expected `iso`, `unix`, `unix_ms`, `unix_ns`, `http` or a pattern \
                     such as `%Y-%m-%d`",
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
                            format!("`%{sign}` is no sign of a time"),
                            "there are `%Y %m %d %H %M %S %L %j %%`",
                        ));
                    }
                }
            }
        }
        Ok(TimeFormat::Pattern(text.to_owned()))
    }
}

/// What a random string is made of.
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

    /// The value itself: for the wire and for cutting it out of samples, nothing else.
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
    /// A text without holes.
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

    /// The bytes when there is nothing to fill in; secrets count as literals.
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

    /// As any artefact may show it: secrets as `***`, holes as `${...}`.
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
    /// A short name by kind; the names that were written are known to the front alone.
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
    /// The name in `${name(...)}`.
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

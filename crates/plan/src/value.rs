//! Values that change with every request: a [`Text`] is literal bytes with placeholders, which are filled in for each
//! send.
//!
//! Names are resolved before the load: a placeholder has the number of a variable's slot or of a data column.

mod fake;
mod moment;

pub use fake::{Fake, Locale};
pub use moment::{Moment, Shift, Zone};

use crate::Problem;
use crate::auth::JwtKey;
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
    /// A text that is filled in, and then hashed or encoded.
    Derived(Box<Derived>),
    /// The time of the last response to a request of this user; the number is that of the timing in the script.
    Timing(u16),
    /// A part of the request that is being rendered; only in its headers.
    Request(RequestPart),
}

/// A text and what is made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived {
    pub how: Transform,
    pub text: Text,
}

/// A function of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Transform {
    /// RFC 4648 section 4, with padding.
    Base64,
    /// RFC 4648 section 5, without padding.
    Base64Url,
    /// The inverse of either; a text that is not Base64 cannot be sent.
    Base64Decode,
    /// Two lower-case hexadecimal digits for each byte.
    Hex,
    /// Percent-encodes everything except unreserved characters (RFC 3986).
    Url,
    Digest {
        algorithm: Digest,
        form: Form,
    },
    /// The text contains the claims of a JSON Web Token, which is signed.
    Jwt {
        key: JwtKey,
        /// The header as JSON.
        header: String,
    },
    /// RFC 2104.
    Hmac {
        algorithm: Digest,
        key: Text,
        form: Form,
    },
}

/// A hash function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digest {
    Md5,
    Sha1,
    Sha256,
    Sha512,
}

/// The form of the bytes of a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    #[default]
    Hex,
    Base64,
    Base64Url,
    /// The bytes themselves, for another function.
    Raw,
}

impl Form {
    /// The forms with their names in expressions.
    pub const NAMED: &'static [(&'static str, Form)] =
        &[("hex", Form::Hex), ("base64", Form::Base64), ("base64url", Form::Base64Url), ("raw", Form::Raw)];
}

/// The names of the functions of a text, which always have arguments.
pub const TEXT_FUNCTIONS: &[&str] = &[
    "md5",
    "sha1",
    "sha256",
    "sha512",
    "hmac_md5",
    "hmac_sha1",
    "hmac_sha256",
    "hmac_sha512",
    "base64",
    "base64url",
    "base64_decode",
    "hex",
    "url",
];

impl Transform {
    /// Returns the name in `${name(...)}`.
    pub const fn name(&self) -> &'static str {
        match self {
            Transform::Base64 => "base64",
            Transform::Base64Url => "base64url",
            Transform::Base64Decode => "base64_decode",
            Transform::Hex => "hex",
            Transform::Url => "url",
            Transform::Jwt { .. } => "jwt",
            Transform::Digest { algorithm, .. } => match algorithm {
                Digest::Md5 => "md5",
                Digest::Sha1 => "sha1",
                Digest::Sha256 => "sha256",
                Digest::Sha512 => "sha512",
            },
            Transform::Hmac { algorithm, .. } => match algorithm {
                Digest::Md5 => "hmac_md5",
                Digest::Sha1 => "hmac_sha1",
                Digest::Sha256 => "hmac_sha256",
                Digest::Sha512 => "hmac_sha512",
            },
        }
    }
}

/// A part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPart {
    Method,
    /// Path and query as sent.
    Path,
    Body,
}

impl RequestPart {
    /// The parts with their names in `${request.NAME}`.
    pub const NAMED: &'static [(&'static str, RequestPart)] =
        &[("method", RequestPart::Method), ("path", RequestPart::Path), ("body", RequestPart::Body)];
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
    /// A time before or after now, or now in a time zone.
    Moment(Box<Moment>),
    /// Made-up data for tests.
    Fake(Fake, Locale),
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
    /// `%Y %m %d %H %M %S %L` (milliseconds) `%j %z %%`, in UTC; validated by [`TimeFormat::parse`].
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
                    Some('Y' | 'm' | 'd' | 'H' | 'M' | 'S' | 'L' | 'j' | 'z' | '%') => {}
                    other => {
                        let sign = other.map_or(String::new(), |c| c.to_string());
                        return Err(Problem::new(
                            format!("unknown specifier `%{sign}`"),
                            "use one of `%Y %m %d %H %M %S %L %j %z %%`",
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
            Placeholder::Derived(derived) => format!("${{{}}}", derived.how.name()),
            Placeholder::Timing(_) => "${timing}".into(),
            Placeholder::Request(_) => "${request}".into(),
        }
    }
}

impl Function {
    /// Returns the name in `${name(...)}`.
    pub const fn name(&self) -> &'static str {
        match self {
            Function::Uuid => "uuid",
            Function::Now(_) | Function::Moment(_) => "now",
            Function::Fake(..) => "fake",
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

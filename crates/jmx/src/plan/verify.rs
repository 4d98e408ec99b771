//! Assertions.

use super::{Script, Subject};
use crate::text::Text;

/// A condition of a sample. It fails if its condition is not met.
#[derive(Debug, Clone, PartialEq)]
pub enum Assertion {
    Response {
        subject: Subject,
        field: ResponseField,
        pattern: Pattern,
        is_negated: bool,
        /// Whether one of the patterns is enough.
        is_any: bool,
        patterns: Vec<Text>,
        /// Whether the sample counts as passed before the test.
        ignores_status: bool,
        /// Replaces the failure message unless empty.
        message: Text,
    },
    Size {
        subject: Subject,
        field: SizeField,
        size: Text,
        comparison: Comparison,
    },
    /// The longest elapsed time in ms.
    Duration {
        limit_ms: Text,
        subject: Subject,
    },
    Json {
        subject: Subject,
        path: Text,
        /// `None`: the path only has to exist.
        value: Option<Text>,
        is_regex: bool,
        expects_null: bool,
        is_inverted: bool,
        /// Whether the path is JMESPath.
        is_jmespath: bool,
    },
    XPath {
        subject: Subject,
        query: Text,
        is_negated: bool,
        is_tolerant: bool,
        /// Whether it is an XPath2 Assertion, which has another message.
        is_second: bool,
        namespaces: Text,
    },
    /// The MD5 of the body, in hexadecimal digits.
    Md5 {
        digest: Text,
    },
    /// The body is well-formed XML.
    Xml,
    Script(Script),
}

/// The part of a sample that a Response Assertion tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResponseField {
    #[default]
    Body,
    Document,
    Code,
    Message,
    ResponseHeaders,
    RequestHeaders,
    RequestData,
    Url,
}

/// How a pattern is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pattern {
    /// A regular expression that is found.
    #[default]
    Contains,
    /// A regular expression that matches everything.
    Matches,
    Equals,
    /// A text that is found.
    Substring,
}

/// What a Size Assertion measures, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SizeField {
    /// Headers and body.
    #[default]
    Response,
    Headers,
    Body,
    Code,
    Message,
}

/// The comparison of a Size Assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Comparison {
    #[default]
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
}

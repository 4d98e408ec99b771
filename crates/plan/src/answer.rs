//! Checks of responses, which can fail a request, and extractions, which fill variables.

use crate::Problem;
use crate::auth::JwtKey;
use crate::grpc::Codes;
use crate::script::Slot;
use crate::value::Text;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Accepted status codes: ranges, including both ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statuses(pub Vec<(u16, u16)>);

impl Statuses {
    pub fn holds(&self, status: u16) -> bool {
        self.0.iter().any(|(low, high)| (*low..=*high).contains(&status))
    }

    /// Returns whether a status code is accepted by default: 200–399.
    pub fn usual(status: u16) -> bool {
        (200..400).contains(&status)
    }

    /// Parses `201`, `2xx`, `200-299`, or several of them separated by commas.
    ///
    /// # Errors
    /// Returns an error that names the invalid part.
    pub fn parse(text: &str) -> Result<Statuses, Problem> {
        let one = |text: &str| {
            text.trim().parse::<u16>().ok().filter(|n| (100..=999).contains(n)).ok_or_else(|| {
                Problem::new(
                    format!("invalid status code `{}`: expected 100–999", text.trim()),
                    "write `201`, `2xx`, `200-299`, or several of them separated by commas",
                )
            })
        };
        let mut all = Vec::new();
        for part in text.split(',') {
            let part = part.trim();
            let class =
                part.strip_suffix("xx").or(part.strip_suffix("XX")).and_then(|c| c.parse::<u16>().ok());
            all.push(match (class, part.split_once('-')) {
                (Some(class @ 1..=9), _) => (class * 100, class * 100 + 99),
                (_, Some((low, high))) => (one(low)?, one(high)?),
                _ => (one(part)?, one(part)?),
            });
        }
        if let Some((low, high)) = all.iter().find(|(low, high)| low > high) {
            let message = format!("invalid range `{low}-{high}`: its first number is above its last");
            return Err(Problem::new(message, format!("write `{high}-{low}`")));
        }
        Ok(Statuses(all))
    }
}

/// A condition on the response. If it is not met, the request has failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The name in reports; unique among the checks of a request.
    pub name: String,
    pub on: Subject,
}

/// The subject of a check. The status is also in [`crate::script::Ask::expect`].
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    Status(Statuses),
    /// The first header of this name; in a gRPC call, also among the trailers.
    Header {
        name: String,
        rule: Rule,
    },
    /// The body as text, decoded.
    Body(Rule),
    /// The first node that a JSONPath (RFC 9535) selects: text without its quotes, anything else as JSON.
    Json {
        path: String,
        rule: Rule,
    },
    /// The first value that an extraction from the same place would take.
    Value {
        from: Source,
        rule: Rule,
    },
    /// The body is JSON that a schema accepts.
    Schema(Arc<Schema>),
    /// The body is what an OpenAPI document describes for its status.
    OpenApi(Box<Described>),
    /// The value is a JSON Web Token with a valid signature and time, and with these claims by JSONPath.
    Jwt(Box<JwtCheck>),
    /// The body of a GraphQL response has no errors. If it has, the request fails as `graphql_errors`.
    NoGraphqlErrors,
    /// These headers have these values, each in the order received. A header without values must be absent.
    HeaderSnapshot(Vec<(String, Vec<String>)>),
    /// Bytes of the body as received, before decoding; both ends are included.
    Length {
        least_bytes: u64,
        most_bytes: u64,
    },
    /// Of the decoded body, in lower-case hexadecimal digits.
    Hash {
        algorithm: Hash,
        hex: String,
    },
    /// From the send to the last byte.
    Duration {
        below_ns: u64,
    },
    /// The status of a gRPC call.
    GrpcStatus(Codes),
    /// The text of the status of a gRPC call, decoded.
    GrpcMessage(Rule),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    Md5,
    Sha1,
    Sha256,
}

/// A check of a JSON Web Token.
#[derive(Debug, Clone, PartialEq)]
pub struct JwtCheck {
    pub from: Source,
    pub key: JwtKey,
    pub claims: Vec<(String, Rule)>,
}

/// A JSON Schema that needs no other document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// As JSON.
    pub text: String,
    pub dialect: Dialect,
}

/// The version of JSON Schema that a schema is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// What its `$schema` names, or draft 2020-12.
    #[default]
    Own,
    /// That of OpenAPI 3.0, with `nullable` already resolved.
    Draft4,
    /// That of OpenAPI 3.1.
    Draft202012,
}

/// The responses that an OpenAPI document describes for one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// The operation, such as `GET /users/{id}`.
    pub operation: String,
    /// The most specific first.
    pub responses: Vec<DescribedResponse>,
}

/// The responses with certain status codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedResponse {
    /// Both ends included.
    pub statuses: (u16, u16),
    /// `None` accepts any body.
    pub schema: Option<Arc<Schema>>,
}

/// A rule for a text that may be missing.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    Exists,
    Absent,
    /// Compared as numbers if both are numbers.
    Equals(Text),
    Differs(Text),
    Contains(Text),
    Lacks(Text),
    /// A regular expression that matches anywhere.
    Matches(String),
    /// A number below another.
    Below(f64),
    AtMost(f64),
    Above(f64),
    AtLeast(f64),
    OneOf(Vec<Text>),
}

/// A value extracted from a response. If it is missing and has no default, the request has failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Extract {
    pub into: Slot,
    /// The name of the variable, which is also in the name of the check that a value was found.
    pub name: String,
    pub from: Source,
    pub pick: Pick,
    pub default: Option<Text>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// JSONPath (RFC 9535).
    Json(String),
    /// A group of the first match; 0 is the whole match.
    Regex {
        pattern: String,
        group: u16,
    },
    /// XPath 1.0 on a body of XML or HTML: the text of a node, or the value of the expression.
    XPath(String),
    /// A CSS selector on a body of HTML or XML: the text of an element, or one of its attributes.
    Css {
        selector: String,
        attribute: Option<String>,
    },
    /// JMESPath on a body of JSON.
    JmesPath(String),
    /// The text between two others. An empty text is the beginning or the end of the body.
    Boundary {
        left: String,
        right: String,
    },
    Header(String),
    /// The value that this response sets.
    Cookie(String),
    Status,
    /// The whole body as text, decoded.
    Body,
}

/// Which of several values to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pick {
    #[default]
    First,
    Last,
    Random,
    /// The number of values.
    Count,
}

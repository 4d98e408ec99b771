//! All values at a place of a response, for callers that number and pick them themselves.

use crate::json::{Path, Span, Tree, append, without_mark};
use crate::markup::Markup;
use crate::query::Query;
use jmespath::{Expression, Rcvar, Variable};
use plimsoll_plan::head::Head;

/// A compiled place with any number of values.
#[derive(Debug)]
pub struct Values(Kind);

#[derive(Debug)]
enum Kind {
    Json(Path),
    Jmes(Expression<'static>),
    Query(Box<Query>),
}

/// Why a response has no values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable(pub &'static str);

impl Values {
    /// Compiles a JSONPath (RFC 9535).
    ///
    /// # Errors
    /// Returns an error with the place of the mistake.
    pub fn json(path: &str) -> Result<Values, String> {
        Path::compile(path).map(|path| Values(Kind::Json(path)))
    }

    /// Compiles a JMESPath. The elements of a list are single values.
    ///
    /// # Errors
    /// Returns an error with the place of the mistake.
    pub fn jmes(expression: &str) -> Result<Values, String> {
        crate::jmes::parsed(expression).map(|expression| Values(Kind::Jmes(expression)))
    }

    /// Compiles an XPath 1.0. An expression that is not a set of nodes has one value.
    ///
    /// # Errors
    /// Returns an error with the place of the mistake.
    pub fn xpath(expression: &str) -> Result<Values, String> {
        Query::xpath(expression).map(|query| Values(Kind::Query(Box::new(query))))
    }

    /// Compiles a CSS selector for the texts of elements, or for one of their attributes.
    ///
    /// # Errors
    /// Returns an error that names the invalid part.
    pub fn css(selector: &str, attribute: Option<&str>) -> Result<Values, String> {
        Query::css(selector, attribute).map(|query| Values(Kind::Query(Box::new(query))))
    }

    /// Returns all values of a decoded body in their order. The type of the response decides how markup is read.
    ///
    /// # Errors
    /// Returns an error if the body is not what the place is in.
    pub fn all(&self, head: Head<'_>, body: &[u8]) -> Result<Vec<String>, Unreadable> {
        self.all_or(head, body, "null")
    }

    /// Returns the same, with a text for each `null` of JSON that a JSONPath finds.
    ///
    /// # Errors
    /// Returns an error if the body is not what the place is in.
    pub fn all_or(&self, head: Head<'_>, body: &[u8], null: &str) -> Result<Vec<String>, Unreadable> {
        match &self.0 {
            Kind::Json(path) => {
                let places = path.all(body, &mut Tree::Unread).map_err(|_| NOT_JSON)?;
                let text = |span: Span| {
                    let mut out = Vec::new();
                    append(body, span, &mut out);
                    // The span of a string has no quotes.
                    let before = span.begin.checked_sub(1).and_then(|at| without_mark(body).get(at));
                    match out == b"null" && before != Some(&b'"') {
                        true => null.to_owned(),
                        false => String::from_utf8_lossy(&out).into_owned(),
                    }
                };
                Ok(places.into_iter().map(text).collect())
            }
            Kind::Jmes(expression) => {
                let text = std::str::from_utf8(without_mark(body)).map_err(|_| NOT_JSON)?;
                let root = Rcvar::new(Variable::from_json(text).map_err(|_| NOT_JSON)?);
                let found = expression
                    .search(root)
                    .map_err(|_| Unreadable("the expression does not fit the body"))?;
                Ok(match &*found {
                    Variable::Null => Vec::new(),
                    Variable::Array(items) => items.iter().map(|item| written(item)).collect(),
                    other => vec![written(other)],
                })
            }
            Kind::Query(query) => query.all((head, body), &mut Markup::Unread).map_err(Unreadable),
        }
    }
}

const NOT_JSON: Unreadable = Unreadable("the body is not JSON");

fn written(value: &Variable) -> String {
    match value {
        Variable::String(text) => text.clone(),
        other => other.to_string(),
    }
}

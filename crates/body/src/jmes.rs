//! Values of JSON by JMESPath.

use crate::choose::{NOTHING, choose};
use crate::json::{Tree, without_mark};
use jmespath::{Expression, Rcvar, Variable};
use plimsoll_plan::answer::Pick;
use plimsoll_stats::random::SplitMix64;
use std::io::Write as _;

/// A compiled expression.
#[derive(Debug)]
pub struct Jmes(Expression<'static>);

/// The body of one response for JMESPath, built by the first expression that needs it.
#[derive(Debug, Default)]
pub enum Variables {
    #[default]
    Unread,
    NotJson,
    Read(Rcvar),
}

impl Jmes {
    /// # Errors
    /// Returns an error with the place of the mistake.
    pub fn compile(text: &str) -> Result<Jmes, String> {
        parsed(text).map(Jmes)
    }

    /// Appends the value to `out`. Its elements are picked from a list, which `Pick::First` leaves whole.
    ///
    /// # Errors
    /// Returns why there is no value.
    pub fn put(
        &self,
        body: &[u8],
        pick: Pick,
        random: &mut SplitMix64,
        variables: &mut Variables,
        out: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        if let Variables::Unread = variables {
            let text = std::str::from_utf8(without_mark(body)).ok();
            let read = text.and_then(|text| Variable::from_json(text).ok());
            *variables = read.map_or(Variables::NotJson, |variable| Variables::Read(Rcvar::new(variable)));
        }
        let Variables::Read(root) = variables else { return Err("the body is not JSON") };
        let found = self.0.search(Rcvar::clone(root)).map_err(|_| "the expression does not fit the body")?;
        match (&*found, pick) {
            (Variable::Null, Pick::Count) => out.push(b'0'),
            (Variable::Null, _) => return Err(NOTHING),
            (_, Pick::First) => put(&found, out),
            (Variable::Array(items), Pick::Count) => {
                // Writing to a vector cannot fail.
                let _ = write!(out, "{}", items.len());
            }
            (Variable::Array(items), _) => {
                let item = choose(pick, items.len(), random).and_then(|number| items.get(number));
                put(item.ok_or(NOTHING)?, out);
            }
            (_, Pick::Count) => out.push(b'1'),
            _ => put(&found, out),
        }
        Ok(())
    }
}

/// Compiles an expression.
///
/// # Errors
/// Returns an error with the place of the mistake.
pub fn parsed(text: &str) -> Result<Expression<'static>, String> {
    jmespath::compile(text).map_err(|error| format!("invalid JMESPath `{text}`: {}", reason(&error)))
}

fn put(value: &Variable, out: &mut Vec<u8>) {
    match value {
        Variable::String(text) => out.extend_from_slice(text.as_bytes()),
        other => out.extend_from_slice(other.to_string().as_bytes()),
    }
}

/// Returns the reason of an error on one line; the original draws an arrow under the expression.
fn reason(error: &jmespath::JmespathError) -> String {
    let text = error.reason.to_string();
    format!("{} at character {}", text.trim_end_matches('.').to_lowercase(), error.column + 1)
}

/// The tree for JSONPath and for schemas.
pub fn tree<'t>(body: &[u8], tree: &'t mut Tree) -> Option<&'t serde_json::Value> {
    if let Tree::Unread = tree {
        *tree = serde_json::from_slice(without_mark(body)).map_or(Tree::NotJson, Tree::Read);
    }
    match tree {
        Tree::Read(value) => Some(value),
        Tree::Unread | Tree::NotJson => None,
    }
}

//! Values of HTML and XML by XPath 1.0 and by CSS selectors.

use crate::choose::{NOTHING, choose};
use crate::markup::{Document, Markup, Place};
use plimsoll_plan::answer::Pick;
use plimsoll_plan::css;
use plimsoll_plan::head::Head;
use plimsoll_stats::random::SplitMix64;
use std::io::Write as _;
use xpath_eval::{EvaluationContext, Expr, Value, evaluate, parse};

/// A compiled expression.
#[derive(Debug)]
pub struct Query {
    expression: Expr,
    /// Whether runs of white space in a text become one space, as a browser shows it.
    is_folded: bool,
}

impl Query {
    /// Compiles an XPath.
    ///
    /// # Errors
    /// Returns an error with the place of the mistake.
    pub fn xpath(text: &str) -> Result<Query, String> {
        let expression = parse(text)
            .map_err(|e| format!("invalid XPath `{text}`: {} at byte {}", e.message, e.position))?;
        Ok(Query { expression, is_folded: false })
    }

    /// Compiles a CSS selector for the texts of elements, or for one of their attributes.
    ///
    /// # Errors
    /// Returns an error that names the invalid part.
    pub fn css(selector: &str, attribute: Option<&str>) -> Result<Query, String> {
        let path = css::xpath(selector).map_err(|problem| problem.message)?;
        let path = match attribute {
            Some(name) => format!("({path})/@*[local-name() = '{name}']"),
            None => path,
        };
        Ok(Query { is_folded: attribute.is_none(), ..Query::xpath(&path)? })
    }

    /// Appends the picked value to `out`.
    ///
    /// # Errors
    /// Returns why there is no value.
    pub fn put(
        &self,
        (head, body): (Head<'_>, &[u8]),
        pick: Pick,
        random: &mut SplitMix64,
        markup: &mut Markup,
        out: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        let document = markup.of(head, body)?;
        match self.value(document)? {
            Value::NodeSet(nodes) => {
                let count = nodes.len();
                if pick == Pick::Count {
                    // Writing to a vector cannot fail.
                    let _ = write!(out, "{count}");
                    return Ok(());
                }
                let place =
                    choose(pick, count, random).and_then(|number| nodes.get(number)).ok_or(NOTHING)?;
                self.text(*place, out);
                Ok(())
            }
            _ if pick == Pick::Count => {
                out.push(b'1');
                Ok(())
            }
            other => {
                out.extend_from_slice(other.to_xpath_string().as_bytes());
                Ok(())
            }
        }
    }

    /// Returns the texts of all nodes, or the one value of an expression that is not a set of nodes.
    ///
    /// # Errors
    /// Returns why the body has no tree.
    pub fn all(
        &self,
        (head, body): (Head<'_>, &[u8]),
        markup: &mut Markup,
    ) -> Result<Vec<String>, &'static str> {
        let document = markup.of(head, body)?;
        Ok(match self.value(document)? {
            Value::NodeSet(nodes) => nodes
                .into_iter()
                .map(|place| {
                    let mut out = Vec::new();
                    self.text(place, &mut out);
                    String::from_utf8_lossy(&out).into_owned()
                })
                .collect(),
            other => vec![other.to_xpath_string()],
        })
    }

    /// Evaluates the expression. Nodes are in document order.
    fn value<'d>(&self, document: &'d Document) -> Result<Value<Place<'d>>, &'static str> {
        let prefixes = |prefix: &str| document.namespace(prefix);
        let mut context = EvaluationContext::new(document.root());
        context.namespaces = Some(&prefixes);
        let mut value =
            evaluate(&self.expression, &context).map_err(|_| "the expression has no value here")?;
        if let Value::NodeSet(nodes) = &mut value {
            nodes.sort_unstable_by(|one, other| xpath_eval::Node::document_order(*one, *other));
        }
        Ok(value)
    }

    fn text(&self, place: Place<'_>, out: &mut Vec<u8>) {
        let begin = out.len();
        match self.is_folded && place.is_element() {
            false => place.texts(|text| out.extend_from_slice(text.as_bytes())),
            true => {
                let mut is_open = false;
                place.texts(|text| {
                    for sign in text.chars() {
                        if sign.is_whitespace() {
                            is_open = out.len() > begin;
                            continue;
                        }
                        if std::mem::take(&mut is_open) {
                            out.push(b' ');
                        }
                        out.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                });
            }
        }
    }
}

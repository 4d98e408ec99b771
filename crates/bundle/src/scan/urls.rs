//! Texts that begin as addresses, and whether they are the address of a request.

use super::{Scanner, UrlAt};
use oxc_ast::AstKind;
use oxc_ast::ast::{CallExpression, Expression};
use oxc_semantic::NodeId;
use oxc_span::{GetSpan, Span};

const SCHEMES: &[&str] = &["http://", "https://", "ws://", "wss://"];

/// Properties of a request in a batch that are not its address.
const NOT_ADDRESSES: &[&str] = &["body", "cookies", "headers", "params", "tags"];

impl<'a> Scanner<'a, '_> {
    /// Notes a text if it begins as an address.
    pub fn text(&mut self, node: NodeId, text: &str, is_head: bool, at: u32) {
        let begins = SCHEMES
            .iter()
            .any(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
        let is_specifier = matches!(
            self.semantic.nodes().parent_kind(node),
            AstKind::ImportDeclaration(_)
                | AstKind::ExportFromDeclaration(_)
                | AstKind::ExportAllDeclaration(_)
                | AstKind::ImportExpression(_)
        );
        if !begins || is_specifier {
            return;
        }
        let is_request = self.is_request_address(node);
        let is_head = is_head || self.is_continued(node);
        let at = self.at(at);
        self.out.urls.push(UrlAt { text: text.to_owned(), is_head, is_request, at });
    }

    /// Returns whether a text is the left side of a concatenation.
    fn is_continued(&self, node: NodeId) -> bool {
        let span = self.kind(node).span();
        match self.kind(self.parent(node)) {
            AstKind::BinaryExpression(one) => one.left.span() == span,
            AstKind::StaticMemberExpression(one) => one.object.span() == span,
            _ => false,
        }
    }

    fn is_request_address(&self, text: NodeId) -> bool {
        let mut node = text;
        let mut is_in_batch = false;
        loop {
            let span = self.kind(node).span();
            let parent = self.parent(node);
            match self.kind(parent) {
                AstKind::BinaryExpression(one) if one.left.span() == span => {}
                AstKind::TaggedTemplateExpression(one) if one.quasi.span == span => {}
                AstKind::StaticMemberExpression(one) if one.object.span() == span => {}
                AstKind::ArrayExpression(_) | AstKind::ObjectExpression(_) => is_in_batch = true,
                AstKind::ObjectProperty(one) => {
                    let name = super::tree::key_name(&one.key, one.computed).unwrap_or_default();
                    if NOT_ADDRESSES.contains(&name.as_str()) {
                        return false;
                    }
                }
                AstKind::CallExpression(call) => {
                    // A method of a text, as in `"http://a/".concat(path)`, continues it.
                    if call.callee.span() != span {
                        return self.is_address_argument(call, span, is_in_batch);
                    }
                }
                _ => return false,
            }
            node = parent;
        }
    }

    fn is_address_argument(&self, call: &CallExpression<'a>, span: Span, is_in_batch: bool) -> bool {
        let position = call.arguments.iter().position(|argument| argument.span() == span);
        match self.http_function(&call.callee).as_deref() {
            Some("batch") => position == Some(0),
            Some("request" | "asyncRequest") => position == Some(1) && !is_in_batch,
            Some(_) => position == Some(0) && !is_in_batch,
            None => false,
        }
    }

    /// Returns the name of a function of `k6/http`.
    fn http_function(&self, callee: &Expression<'a>) -> Option<String> {
        let (root, member) = match callee {
            Expression::Identifier(name) => (&**name, None),
            Expression::StaticMemberExpression(member) => match &member.object {
                Expression::Identifier(name) => (&**name, Some(member.property.name.to_string())),
                // `_http.default.get`, as compilers write it.
                Expression::StaticMemberExpression(inner) if inner.property.name == "default" => {
                    (inner.object.get_identifier_reference()?, Some(member.property.name.to_string()))
                }
                _ => return None,
            },
            _ => return None,
        };
        let origin = self.symbol_of(root).and_then(|symbol| self.origins.get(&symbol))?;
        let is_http = self.out.requests[origin.request].specifier == "k6/http";
        match (is_http, origin.path.as_slice(), member) {
            (true, [], Some(member)) => Some(member),
            (true, [name], None) => Some(name.clone()),
            _ => None,
        }
    }
}

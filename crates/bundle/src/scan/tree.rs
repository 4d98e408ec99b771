//! Questions about the syntax tree that several rules ask.

use super::Scanner;
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, BindingPattern, Expression, IdentifierReference, PropertyKey};
use oxc_semantic::{NodeId, SymbolId};
use oxc_span::{GetSpan, Span};

/// What follows a name: `name.a.b(…)`.
#[derive(Debug)]
pub struct Chain {
    /// Names of members, up to the first that is computed.
    pub path: Vec<String>,
    pub end: End,
    /// The node of the last member, or of the name.
    pub last: NodeId,
}

/// What happens to the last member of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It is called, constructed, or used as the tag of a template.
    Called,
    /// Its value is used.
    Read,
    /// A member with a computed name is read.
    Computed,
    /// It, or a member of it with a computed name, is assigned or deleted.
    Written,
}

impl<'a> Scanner<'a, '_> {
    pub fn kind(&self, node: NodeId) -> AstKind<'a> {
        self.semantic.nodes().kind(node)
    }

    /// Returns the parent of a node. An optional chain is skipped.
    pub fn parent(&self, node: NodeId) -> NodeId {
        let nodes = self.semantic.nodes();
        let mut parent = nodes.parent_id(node);
        while matches!(nodes.kind(parent), AstKind::ChainExpression(_)) {
            parent = nodes.parent_id(parent);
        }
        parent
    }

    /// Follows the members of a name.
    pub fn chain(&self, name: NodeId) -> Chain {
        let mut chain = Chain { path: Vec::new(), end: End::Read, last: name };
        loop {
            let span = self.kind(chain.last).span();
            let parent = self.parent(chain.last);
            match self.kind(parent) {
                AstKind::StaticMemberExpression(member) if member.object.span() == span => {
                    chain.path.push(member.property.name.to_string());
                }
                AstKind::ComputedMemberExpression(member) if member.object.span() == span => {
                    match literal(&member.expression) {
                        Some(name) => chain.path.push(name),
                        None => {
                            chain.end = if self.is_written(parent) { End::Written } else { End::Computed };
                            chain.last = parent;
                            return chain;
                        }
                    }
                }
                _ => {
                    chain.end = self.end(chain.last);
                    return chain;
                }
            }
            chain.last = parent;
        }
    }

    fn end(&self, node: NodeId) -> End {
        let span = self.kind(node).span();
        match self.kind(self.parent(node)) {
            AstKind::CallExpression(call) if call.callee.span() == span => End::Called,
            AstKind::NewExpression(call) if call.callee.span() == span => End::Called,
            AstKind::TaggedTemplateExpression(tagged) if tagged.tag.span() == span => End::Called,
            _ if self.is_written(node) => End::Written,
            _ => End::Read,
        }
    }

    /// Returns whether an expression is the target of an assignment, an update, or `delete`.
    pub fn is_written(&self, node: NodeId) -> bool {
        let span = self.kind(node).span();
        match self.kind(self.parent(node)) {
            AstKind::AssignmentExpression(one) => one.left.span() == span,
            AstKind::UpdateExpression(_)
            | AstKind::ArrayAssignmentTarget(_)
            | AstKind::AssignmentTargetRest(_) => true,
            AstKind::UnaryExpression(one) => one.operator.is_delete(),
            AstKind::AssignmentTargetWithDefault(one) => one.binding.span() == span,
            AstKind::AssignmentTargetPropertyProperty(one) => one.binding.span() == span,
            AstKind::ForInStatement(one) => one.left.span() == span,
            AstKind::ForOfStatement(one) => one.left.span() == span,
            _ => false,
        }
    }

    /// Returns the names of `const { a, b: c } = name`, each with its variable, if the pattern shows all of them.
    pub fn destructured(&self, name: NodeId) -> Option<Vec<(String, Option<SymbolId>, u32)>> {
        let span = self.kind(name).span();
        let AstKind::VariableDeclarator(declarator) = self.kind(self.parent(name)) else { return None };
        if declarator.init.as_ref().is_none_or(|init| init.span() != span) {
            return None;
        }
        pattern_names(&declarator.id)
    }

    pub fn symbol_of(&self, name: &IdentifierReference<'_>) -> Option<SymbolId> {
        let reference = self.semantic.scoping().get_reference(name.reference_id.get()?);
        reference.symbol_id()
    }

    /// Returns whether no variable of the module has this name.
    pub fn is_free_reference(&self, name: &IdentifierReference<'_>) -> bool {
        self.symbol_of(name).is_none()
    }

    /// Returns whether the source uses a name that it does not declare.
    pub fn is_free(&self, name: &str) -> bool {
        self.semantic.scoping().root_unresolved_references().keys().any(|free| *free == name)
    }

    /// Returns whether a function contains the node.
    pub fn is_in_function(&self, node: NodeId) -> bool {
        let mut above = self.semantic.nodes().ancestor_kinds(node);
        above.any(|kind| matches!(kind, AstKind::Function(_) | AstKind::ArrowFunctionExpression(_)))
    }
}

/// Returns the names of an object pattern without a rest and without computed names.
pub fn pattern_names(pattern: &BindingPattern<'_>) -> Option<Vec<(String, Option<SymbolId>, u32)>> {
    let BindingPattern::ObjectPattern(object) = pattern else { return None };
    if object.rest.is_some() {
        return None;
    }
    let names = object.properties.iter().map(|property| {
        let name = key_name(&property.key, property.computed)?;
        let symbol = match &property.value {
            BindingPattern::BindingIdentifier(one) => one.symbol_id.get(),
            _ => None,
        };
        Some((name, symbol, property.span.start))
    });
    names.collect()
}

/// Returns the name of a property if it is known.
pub fn key_name(key: &PropertyKey<'_>, is_computed: bool) -> Option<String> {
    match key {
        PropertyKey::StaticIdentifier(name) if !is_computed => Some(name.name.to_string()),
        PropertyKey::StringLiteral(text) => Some(text.value.to_string()),
        _ => None,
    }
}

/// Returns the value of a text without `${…}`.
pub fn literal(expression: &Expression<'_>) -> Option<String> {
    match expression {
        Expression::StringLiteral(text) => Some(text.value.to_string()),
        Expression::TemplateLiteral(text) if text.expressions.is_empty() => {
            text.quasis.first().and_then(|part| part.value.cooked).map(|part| part.to_string())
        }
        _ => None,
    }
}

/// Returns the value and the place of an argument that is a text without `${…}`.
pub fn literal_argument(argument: Option<&Argument<'_>>) -> Option<(String, Span)> {
    let expression = argument?.as_expression()?;
    Some((literal(expression)?, expression.span()))
}

//! `require("…")`, and the variables that it fills.

use super::tree::{literal_argument, pattern_names};
use super::{Form, Origin, Scanner};
use crate::problem;
use oxc_ast::AstKind;
use oxc_ast::ast::{BindingPattern, CallExpression, Expression};
use oxc_semantic::NodeId;
use oxc_span::GetSpan;

impl<'a> Scanner<'a, '_> {
    /// Finds each use of the free name `require`.
    pub fn find_requires(&mut self) {
        let scoping = self.semantic.scoping();
        let free = scoping.root_unresolved_references();
        let references = free.iter().find(|(name, _)| **name == "require").map(|(_, ids)| ids);
        let nodes: Vec<NodeId> =
            references.into_iter().flatten().map(|id| scoping.get_reference(*id).node_id()).collect();
        for node in nodes {
            self.rename_require(node);
            let parent = self.parent(node);
            if let AstKind::CallExpression(call) = self.kind(parent)
                && call.callee.span() == self.kind(node).span()
            {
                self.require(call, parent);
            }
        }
    }

    /// In an ES module, the parameter has another name.
    fn rename_require(&mut self, node: NodeId) {
        if !self.out.is_es {
            return;
        }
        let span = self.kind(node).span();
        let name = self.out.params.require.clone();
        let text = if self.form(node) == Some(Form::Shorthand) { format!("require: {name}") } else { name };
        self.edit(span.start, span.end, text);
    }

    fn require(&mut self, call: &CallExpression<'a>, node: NodeId) {
        let is_certain = self.is_certain(node);
        let Some((specifier, span)) = literal_argument(call.arguments.first()) else {
            if is_certain {
                let message = "the argument of `require` must be a text without `${…}`";
                self.refuse(problem::COMPUTED, call.span.start, message, "write the path in quotes");
            }
            return;
        };
        let request = self.request(&specifier, span.start);
        let one = &mut self.out.requests[request];
        one.is_required = true;
        one.is_certain |= is_certain;
        self.edit_lines(span.start, span.end, &request.to_string());
        self.name_result(node, request);
    }

    /// Returns whether a module certainly evaluates a call: nothing between it and the top level may skip it.
    fn is_certain(&self, node: NodeId) -> bool {
        let mut above = self.semantic.nodes().ancestor_kinds(node);
        above.all(|kind| {
            matches!(
                kind,
                AstKind::Program(_)
                    | AstKind::VariableDeclaration(_)
                    | AstKind::VariableDeclarator(_)
                    | AstKind::ExpressionStatement(_)
                    | AstKind::AssignmentExpression(_)
                    | AstKind::CallExpression(_)
                    | AstKind::NewExpression(_)
                    | AstKind::StaticMemberExpression(_)
                    | AstKind::ComputedMemberExpression(_)
                    | AstKind::ObjectExpression(_)
                    | AstKind::ObjectProperty(_)
                    | AstKind::ArrayExpression(_)
                    | AstKind::ExportDeclaration(_)
            )
        })
    }

    /// Notes the variables that a call of `require` fills, so that their members count as uses of the module.
    fn name_result(&mut self, call: NodeId, request: usize) {
        let chain = self.chain(call);
        let mut value = chain.last;
        let mut path = chain.path;
        // Compilers wrap the call: `_interopRequireDefault(require("k6/http"))`.
        if let AstKind::CallExpression(outer) = self.kind(self.parent(value))
            && path.is_empty()
            && matches!(&outer.callee, Expression::Identifier(name) if name.name.contains("interopRequire"))
        {
            value = self.parent(value);
        }
        if path.first().is_some_and(|first| first == "default") {
            path.remove(0);
        }
        let span = self.kind(value).span();
        if let AstKind::VariableDeclarator(one) = self.kind(self.parent(value))
            && one.init.as_ref().is_some_and(|init| init.span() == span)
        {
            if let BindingPattern::BindingIdentifier(id) = &one.id
                && let Some(symbol) = id.symbol_id.get()
                && !self.semantic.scoping().symbol_is_mutated(symbol)
            {
                self.origins.insert(symbol, Origin { request, path });
                return;
            }
            if let Some(names) = pattern_names(&one.id) {
                for (name, symbol, at) in names {
                    let mut path = path.clone();
                    if name != "default" {
                        path.push(name);
                    }
                    self.use_of(request, &path, false, at);
                    if let Some(symbol) = symbol {
                        self.origins.insert(symbol, Origin { request, path });
                    }
                }
                return;
            }
        }
        let is_called = matches!(chain.end, super::tree::End::Called);
        let is_unused = matches!(self.kind(self.parent(call)), AstKind::ExpressionStatement(_));
        if !path.is_empty() {
            self.use_of(request, &path, is_called, span.start);
        } else if !is_unused {
            self.use_computed(request, span.start);
        }
    }
}

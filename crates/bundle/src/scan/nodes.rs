//! Rules about single nodes: asynchronous code, prototypes, response bodies, and syntax that is not supported.

use super::tree::{key_name, literal};
use super::{Dynamic, Scanner};
use crate::isolation::Need;
use crate::problem;
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, CallExpression, Expression, IdentifierReference, ImportExpression, NumberBase};
use oxc_semantic::NodeId;
use oxc_span::GetSpan;

/// Members of a response that need its body.
const BODY: &[&str] = &["body", "json", "html", "submitForm", "clickLink"];

impl<'a> Scanner<'a, '_> {
    pub fn visit_nodes(&mut self) {
        for node in self.semantic.nodes() {
            self.visit(node.id(), node.kind());
        }
    }

    fn visit(&mut self, id: NodeId, kind: AstKind<'a>) {
        match kind {
            AstKind::Function(one) if one.r#async => {
                self.need_jobs("it has an async function", one.span.start)
            }
            AstKind::ArrowFunctionExpression(one) if one.r#async => {
                self.need_jobs("it has an async function", one.span.start);
            }
            AstKind::AwaitExpression(one) => self.top_level_await(id, one.span.start),
            AstKind::ForOfStatement(one) if one.r#await => self.top_level_await(id, one.span.start),
            AstKind::ReturnStatement(one) if self.out.is_es && !self.is_in_function(id) => {
                let message = "syntax error: `return` outside of a function";
                self.refuse(problem::SYNTAX, one.span.start, message, "");
            }
            AstKind::ImportMeta(one) => {
                let name = self.out.params.meta.clone();
                self.edit_lines(one.span.start, one.span.end, &name);
            }
            AstKind::ImportExpression(one) => self.dynamic(one),
            AstKind::StaticMemberExpression(one) => {
                self.member(id, &one.property.name, one.property.span.start, &one.object);
            }
            AstKind::ComputedMemberExpression(one) => match literal(&one.expression) {
                Some(name) => self.member(id, &name, one.expression.span().start, &one.object),
                None if !is_index(&one.expression)
                    && !self.is_assigned(id)
                    && self.may_be_response(&one.object, 0) =>
                {
                    self.body(one.expression.span().start);
                }
                None => {}
            },
            AstKind::BindingProperty(one) => match key_name(&one.key, one.computed) {
                Some(name) if BODY.contains(&name.as_str()) => self.body(one.span.start),
                Some(_) => {}
                None => self.body(one.span.start),
            },
            AstKind::AssignmentTargetPropertyIdentifier(one) if BODY.contains(&one.binding.name.as_str()) => {
                self.body(one.span.start);
            }
            AstKind::AssignmentTargetPropertyProperty(one)
                if key_name(&one.name, one.computed).is_none_or(|name| BODY.contains(&name.as_str())) =>
            {
                self.body(one.span.start);
            }
            AstKind::BindingRestElement(one) => {
                if matches!(self.semantic.nodes().parent_kind(id), AstKind::ObjectPattern(_)) {
                    self.body(one.span.start);
                }
            }
            AstKind::StringLiteral(one) => {
                let is_key = match self.semantic.nodes().parent_kind(id) {
                    AstKind::ObjectProperty(property) => property.key.span() == one.span,
                    _ => false,
                };
                if BODY.contains(&one.value.as_str()) && !is_key {
                    self.body(one.span.start);
                }
                self.text(id, &one.value, false, one.span.start);
            }
            AstKind::TemplateLiteral(one) => {
                if let Some(head) = one.quasis.first().and_then(|part| part.value.cooked) {
                    self.text(id, &head, !one.expressions.is_empty(), one.span.start);
                }
            }
            AstKind::SpreadElement(one) => {
                let is_object = matches!(self.semantic.nodes().parent_kind(id), AstKind::ObjectExpression(_));
                if is_object && self.may_be_response(&one.argument, 0) {
                    self.body(one.span.start);
                }
            }
            AstKind::ForInStatement(one) if self.may_be_response(&one.right, 0) => self.body(one.span.start),
            AstKind::CallExpression(call) => {
                self.call(call);
                self.defined_export(call);
            }
            AstKind::AssignmentExpression(one) => self.assignment(one),
            _ => {}
        }
    }

    fn need_jobs(&mut self, why: &str, at: u32) {
        self.need(Need::Jobs, why, at);
    }

    fn top_level_await(&mut self, id: NodeId, at: u32) {
        self.need_jobs("it uses `await`", at);
        if !self.is_in_function(id) {
            let at = self.at(at);
            self.out.top_level_await.get_or_insert(at);
        }
    }

    fn dynamic(&mut self, import: &ImportExpression<'a>) {
        self.need_jobs("it uses `import()`", import.span.start);
        if import.phase.is_some() {
            let message = "imports with a phase (`source`, `defer`) are not supported";
            self.refuse(problem::UNSUPPORTED, import.span.start, message, "write a plain `import()`");
        }
        let Some(specifier) = literal(&import.source) else {
            let message = "the argument of `import()` must be a text without `${…}`";
            return self.refuse(problem::COMPUTED, import.span.start, message, "write the path in quotes");
        };
        let request = self.request(&specifier, import.source.span().start);
        self.out.requests[request].is_certain = true;
        self.out.requests[request].is_json |= import.options.is_some();
        self.out.dynamic.push(Dynamic { start: import.span.start, end: import.span.end, request });
        self.use_computed(request, import.span.start);
    }

    fn member(&mut self, id: NodeId, name: &str, at: u32, object: &Expression<'a>) {
        match name {
            _ if BODY.contains(&name) => self.body(at),
            "prepareStackTrace" => self.need(Need::Runtime, "it uses `prepareStackTrace`", at),
            "asyncRequest" | "asyncInvoke" => self.need_jobs(&format!("`{name}` is asynchronous"), at),
            "then" if self.is_callee(id) => self.need_jobs("it uses promises (`.then`)", at),
            "__proto__" if !self.is_compiled_prototype(id, object) => {
                self.need(Need::Context, "it uses `__proto__`, which may be a shared prototype", at)
            }
            "prototype" if self.is_foreign_prototype(object) => {
                self.need(Need::Context, "it uses the prototype of a value that may be shared", at);
            }
            _ => {}
        }
        if self.is_written(id) && self.reaches_prototype(object) {
            self.need(Need::Context, "it changes what may be a shared prototype", at);
        }
    }

    /// Returns whether an expression is only assigned, as in `object[key] = value`.
    fn is_assigned(&self, id: NodeId) -> bool {
        let span = self.kind(id).span();
        matches!(self.kind(self.parent(id)), AstKind::AssignmentExpression(one)
            if one.operator.is_assign() && one.left.span() == span)
    }

    /// Returns whether `__proto__` is in one of the idioms of compilers, which change only their own classes:
    /// `a.__proto__ = b` and `a.__proto__ || Object.getPrototypeOf(a)`.
    fn is_compiled_prototype(&self, id: NodeId, object: &Expression<'a>) -> bool {
        let Expression::Identifier(name) = object else { return false };
        if self.is_free_reference(name) {
            return false;
        }
        match self.kind(self.parent(id)) {
            AstKind::LogicalExpression(one) => {
                matches!(&one.right, Expression::CallExpression(call)
                    if self.is_call_of(call, &[("Object", "getPrototypeOf")]))
            }
            _ => self.is_assigned(id),
        }
    }

    fn is_callee(&self, id: NodeId) -> bool {
        let span = self.kind(id).span();
        matches!(self.kind(self.parent(id)), AstKind::CallExpression(call) if call.callee.span() == span)
    }

    /// Returns whether `object.prototype` could be the prototype of a built-in. Globals have their own rule.
    fn is_foreign_prototype(&self, object: &Expression<'a>) -> bool {
        match object {
            Expression::Identifier(_) | Expression::ThisExpression(_) => false,
            Expression::StaticMemberExpression(member) => member.property.name == "constructor",
            _ => true,
        }
    }

    /// Returns whether the object of a changed member is reached through a prototype or a constructor of a value.
    fn reaches_prototype(&self, object: &Expression<'a>) -> bool {
        match object {
            Expression::StaticMemberExpression(member) => {
                matches!(member.property.name.as_str(), "constructor" | "__proto__")
                    || self.reaches_prototype(&member.object)
            }
            Expression::ComputedMemberExpression(member) => self.reaches_prototype(&member.object),
            Expression::CallExpression(call) => {
                self.is_call_of(call, &[("Object", "getPrototypeOf"), ("Reflect", "getPrototypeOf")])
            }
            _ => false,
        }
    }

    /// Notes that a body may be read, in source order.
    fn body(&mut self, at: u32) {
        let at = self.at(at);
        self.out.reads_bodies = Some(self.out.reads_bodies.map_or(at, |first| first.min(at)));
    }

    /// Printing or copying a whole response reads its body.
    fn call(&mut self, call: &CallExpression<'a>) {
        let Some((object, member)) = self.global_function(call) else { return };
        let reads_all = matches!(
            (object.as_str(), member.as_str()),
            ("JSON", "stringify")
                | ("console", _)
                | ("Object", "values" | "entries" | "assign")
                | ("Reflect", "get")
        );
        let mut values = call.arguments.iter().filter_map(Argument::as_expression);
        if reads_all && values.any(|value| self.may_be_response(value, 0)) {
            self.body(call.span.start);
        }
    }

    /// Returns whether an expression could be a response, or contain one.
    fn may_be_response(&self, expression: &Expression<'a>, depth: u32) -> bool {
        match expression {
            expression if expression.is_literal() => false,
            Expression::TemplateLiteral(_)
            | Expression::BinaryExpression(_)
            | Expression::UnaryExpression(_)
            | Expression::UpdateExpression(_)
            | Expression::FunctionExpression(_)
            | Expression::ArrowFunctionExpression(_)
            | Expression::ClassExpression(_) => false,
            Expression::ObjectExpression(object) => object.properties.iter().any(|property| {
                property.as_property().is_none_or(|property| self.may_be_response(&property.value, depth))
            }),
            Expression::ArrayExpression(array) => array
                .elements
                .iter()
                .any(|element| element.as_expression().is_none_or(|one| self.may_be_response(one, depth))),
            Expression::Identifier(name) => self.may_name_response(name, depth),
            Expression::StaticMemberExpression(member) => {
                let name = member.property.name.as_str();
                !matches!(
                    name,
                    "status" | "status_text" | "url" | "error" | "error_code" | "proto" | "length"
                ) && !matches!(&member.object, Expression::Identifier(one) if one.name == "__ENV")
                    && !matches!(&member.object, Expression::StaticMemberExpression(inner)
                        if inner.property.name == "timings")
            }
            Expression::CallExpression(call) => match self.global_function(call) {
                Some((object, _)) => {
                    !matches!(object.as_str(), "JSON" | "Math" | "Date" | "Number" | "String")
                }
                None => true,
            },
            Expression::NewExpression(call) => match &call.callee {
                Expression::Identifier(name) => !self.is_free_reference(name) && !self.is_builtin(name),
                _ => true,
            },
            _ => true,
        }
    }

    /// Returns whether a name is imported from a module of k6.
    fn is_builtin(&self, name: &IdentifierReference<'a>) -> bool {
        let origin = self.symbol_of(name).and_then(|symbol| self.origins.get(&symbol));
        origin.is_some_and(|origin| {
            let specifier = &self.out.requests[origin.request].specifier;
            specifier == "k6" || specifier.starts_with("k6/")
        })
    }

    fn may_name_response(&self, name: &IdentifierReference<'a>, depth: u32) -> bool {
        let Some(symbol) = self.symbol_of(name) else { return name.name == "arguments" };
        let scoping = self.semantic.scoping();
        if depth > 3 || scoping.symbol_is_mutated(symbol) {
            return true;
        }
        match self.kind(scoping.symbol_declaration(symbol)) {
            AstKind::VariableDeclarator(one) if one.id.is_binding_identifier() => {
                one.init.as_ref().is_some_and(|init| self.may_be_response(init, depth + 1))
            }
            _ => true,
        }
    }
}

/// Returns whether a computed member is obviously an index: a number, a counter, or arithmetic.
fn is_index(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::NumericLiteral(number) => {
            number.base == NumberBase::Decimal || number.base == NumberBase::Hex
        }
        Expression::BinaryExpression(one) => one.operator.is_arithmetic() && !has_text(expression),
        Expression::UpdateExpression(_) => true,
        Expression::UnaryExpression(one) => one.operator.is_arithmetic(),
        Expression::Identifier(name) => {
            let name = name.name.as_str();
            matches!(name, "__VU" | "__ITER" | "i" | "j" | "k" | "n" | "idx")
                || name.to_ascii_lowercase().ends_with("index")
        }
        Expression::CallExpression(call) => {
            matches!(&call.callee, Expression::StaticMemberExpression(member)
                if matches!(&member.object, Expression::Identifier(object) if object.name == "Math"))
        }
        Expression::StaticMemberExpression(member) => {
            let name = member.property.name.as_str();
            name == "length" || name.starts_with("iterationIn") || name.starts_with("idIn")
        }
        _ => false,
    }
}

fn has_text(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::BinaryExpression(one) => has_text(&one.left) || has_text(&one.right),
        Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => true,
        _ => false,
    }
}

//! Free names: globals, environment variables, `open`, and whether the script could change what users share.

use super::Scanner;
use super::tree::{Chain, End, literal_argument};
use crate::isolation::Need;
use oxc_ast::AstKind;
use oxc_ast::ast::{CallExpression, Expression};
use oxc_semantic::NodeId;
use oxc_span::GetSpan;
use oxc_syntax::operator::{BinaryOperator, LogicalOperator};

/// Globals that are values rather than objects.
const VALUES: &[&str] = &["undefined", "NaN", "Infinity", "__VU", "__ITER"];
/// Names of the global object.
const GLOBAL_OBJECTS: &[&str] = &["globalThis", "self", "window", "global"];
/// Globals that work asynchronously.
const ASYNCHRONOUS: &[&str] = &[
    "Promise",
    "setTimeout",
    "setInterval",
    "setImmediate",
    "clearTimeout",
    "clearInterval",
    "queueMicrotask",
    "WebSocket",
];
/// Functions that change their first argument.
const CHANGING: &[(&str, &str)] = &[
    ("Object", "assign"),
    ("Object", "defineProperty"),
    ("Object", "defineProperties"),
    ("Object", "setPrototypeOf"),
    ("Object", "freeze"),
    ("Object", "seal"),
    ("Object", "preventExtensions"),
    ("Reflect", "set"),
    ("Reflect", "defineProperty"),
    ("Reflect", "deleteProperty"),
    ("Reflect", "setPrototypeOf"),
    ("Reflect", "preventExtensions"),
];
/// Globals whose functions only read their arguments, apart from those in [`CHANGING`].
const READING: &[&str] =
    &["Object", "Reflect", "JSON", "Array", "console", "String", "Number", "Boolean", "Symbol"];
/// Functions that a script passes to methods of arrays: `.map(Number)`.
const CALLBACKS: &[&str] = &[
    "Number",
    "String",
    "Boolean",
    "Symbol",
    "BigInt",
    "parseInt",
    "parseFloat",
    "isNaN",
    "isFinite",
    "encodeURIComponent",
    "decodeURIComponent",
    "encodeURI",
    "decodeURI",
];

impl<'a> Scanner<'a, '_> {
    pub fn visit_free_names(&mut self) {
        let scoping = self.semantic.scoping();
        let mut names: Vec<(String, Vec<NodeId>)> = Vec::new();
        for (name, references) in scoping.root_unresolved_references() {
            let mut nodes: Vec<NodeId> =
                references.iter().map(|id| scoping.get_reference(*id).node_id()).collect();
            nodes.sort_by_key(|node| self.kind(*node).span().start);
            names.push((name.to_string(), nodes));
        }
        names.sort_by_key(|(_, nodes)| nodes.first().map(|node| self.kind(*node).span().start));
        for (name, nodes) in names {
            let is_parameter = matches!(name.as_str(), "require" | "module" | "exports");
            if is_parameter && (name == "require" || !self.out.is_es) {
                continue;
            }
            if let Some(first) = nodes.first() {
                let at = self.at(self.kind(*first).span().start);
                self.out.globals.push((name.clone(), at));
            }
            for node in nodes {
                self.visit_free(&name, node);
            }
        }
    }

    fn visit_free(&mut self, name: &str, node: NodeId) {
        let at = self.kind(node).span().start;
        if let AstKind::UnaryExpression(one) = self.kind(self.parent(node))
            && one.operator.is_typeof()
        {
            return;
        }
        let chain = self.chain(node);
        match name {
            "__ENV" => self.environment(node, &chain),
            "open" => self.open(node),
            _ => {}
        }
        if name == "arguments" || (VALUES.contains(&name) && chain.end != End::Written) {
            return;
        }
        let is_compared = matches!(self.kind(self.parent(node)), AstKind::BinaryExpression(_));
        if ASYNCHRONOUS.contains(&name) && !is_compared {
            self.need(Need::Jobs, format!("`{name}` is asynchronous"), at);
        }
        if name == "crypto" && chain.path.first().is_some_and(|first| first == "subtle") {
            self.need(Need::Jobs, "`crypto.subtle` is asynchronous", at);
        }
        if name == "FinalizationRegistry" {
            let why = "`FinalizationRegistry` calls functions when garbage is collected";
            return self.need(Need::Runtime, why, at);
        }
        if GLOBAL_OBJECTS.contains(&name) {
            return self.need(Need::Context, format!("it uses the global object `{name}`"), at);
        }
        if matches!(name, "eval" | "Function") {
            let is_comparison = self.is_only_read(chain.last, &chain) && chain.end == End::Read;
            if chain.path.is_empty() && !is_comparison {
                self.need(Need::Context, format!("it runs code from a text with `{name}`"), at);
                return;
            }
        }
        if name == "WeakRef" {
            return self.need(Need::Context, "`WeakRef` depends on garbage collection", at);
        }
        let shown = self.member_name(node, &chain.path);
        if chain.end == End::Written || self.is_changed(chain.last) {
            return self.need(Need::Context, format!("it changes the global `{shown}`"), at);
        }
        let leaks_prototype = chain.path.last().is_some_and(|last| last == "prototype");
        if (chain.path.is_empty() || leaks_prototype)
            && chain.end == End::Read
            && self.destructured(chain.last).is_none()
            && !self.is_only_read(chain.last, &chain)
        {
            self.need(Need::Context, format!("it passes on the global `{shown}`, which may be changed"), at);
        }
    }

    /// Returns whether an expression is what a call changes: `Object.assign(target, …)`.
    pub fn is_changed(&self, node: NodeId) -> bool {
        let AstKind::CallExpression(call) = self.kind(self.parent(node)) else { return false };
        let span = self.kind(node).span();
        call.arguments.first().is_some_and(|first| first.span() == span) && self.is_call_of(call, CHANGING)
    }

    /// Returns whether a call is one of the functions of globals.
    pub fn is_call_of(&self, call: &CallExpression<'_>, functions: &[(&str, &str)]) -> bool {
        let Some((object, member)) = self.global_function(call) else { return false };
        functions.contains(&(object.as_str(), member.as_str()))
    }

    /// Returns global and member of a call such as `Object.keys(…)`.
    pub fn global_function(&self, call: &CallExpression<'_>) -> Option<(String, String)> {
        let Expression::StaticMemberExpression(member) = &call.callee else { return None };
        let Expression::Identifier(object) = &member.object else { return None };
        self.is_free_reference(object).then(|| (object.name.to_string(), member.property.name.to_string()))
    }

    /// Returns whether the place of a value cannot change it and does not pass it on.
    fn is_only_read(&self, node: NodeId, chain: &Chain) -> bool {
        let span = self.kind(node).span();
        let parent = self.parent(node);
        match self.kind(parent) {
            AstKind::ExpressionStatement(_)
            | AstKind::UnaryExpression(_)
            | AstKind::TemplateLiteral(_)
            | AstKind::IfStatement(_)
            | AstKind::Class(_)
            | AstKind::SpreadElement(_) => true,
            AstKind::BinaryExpression(one) => one.operator != BinaryOperator::In || one.right.span() == span,
            // One of its branches is the value.
            AstKind::ConditionalExpression(one) => {
                one.test.span() == span || self.is_only_read(parent, chain)
            }
            AstKind::LogicalExpression(one) => {
                let is_left_of_and = one.operator == LogicalOperator::And && one.left.span() == span;
                is_left_of_and || self.is_only_read(parent, chain)
            }
            AstKind::ForInStatement(one) => one.right.span() == span,
            AstKind::ForOfStatement(one) => one.right.span() == span,
            AstKind::CallExpression(call) if call.callee.span() == span => true,
            AstKind::NewExpression(call) if call.callee.span() == span => true,
            AstKind::CallExpression(call) => self.is_reading_call(call, chain),
            _ => false,
        }
    }

    fn is_reading_call(&self, call: &CallExpression<'_>, chain: &Chain) -> bool {
        if let Some((object, _)) = self.global_function(call) {
            return READING.contains(&object.as_str()) && !self.is_call_of(call, CHANGING);
        }
        let Expression::StaticMemberExpression(callee) = &call.callee else { return false };
        let AstKind::IdentifierReference(name) = self.kind(chain.last) else { return false };
        // `Math.max.apply(Math, …)`
        let is_own_method = matches!(callee.property.name.as_str(), "apply" | "bind" | "call")
            && matches!(&callee.object, Expression::StaticMemberExpression(method)
                if matches!(&method.object, Expression::Identifier(object) if object.name == name.name));
        is_own_method || CALLBACKS.contains(&name.name.as_str())
    }

    fn environment(&mut self, node: NodeId, chain: &Chain) {
        let at = self.at(self.kind(node).span().start);
        let names = match chain.path.first() {
            Some(name) => Some(vec![name.clone()]),
            None if chain.end == End::Read => {
                self.destructured(node).map(|names| names.into_iter().map(|(name, ..)| name).collect())
            }
            None => None,
        };
        match names {
            Some(names) => {
                for name in names {
                    if !self.out.env.iter().any(|one| one.0 == name) {
                        self.out.env.push((name, at));
                    }
                }
            }
            None => {
                self.out.env_computed.get_or_insert(at);
            }
        }
    }

    fn open(&mut self, node: NodeId) {
        let span = self.kind(node).span();
        let AstKind::CallExpression(call) = self.kind(self.parent(node)) else { return };
        if call.callee.span() != span {
            return;
        }
        let path = literal_argument(call.arguments.first()).map(|(path, _)| path);
        let mode = literal_argument(call.arguments.get(1)).map(|(mode, _)| mode);
        let at = self.at(span.start);
        self.out.opens.push((path, mode.as_deref() == Some("b"), at));
    }
}

//! Static imports, and the references to the names that they bind.

use super::{Binding, Form, Origin, Reference, Scanner};
use crate::problem;
use oxc_ast::AstKind;
use oxc_ast::ast::{
    ImportAttributeKey, ImportDeclaration, ImportDeclarationSpecifier, ModuleExportName, Statement,
    WithClause,
};
use oxc_semantic::{NodeId, SymbolId};
use oxc_span::GetSpan;

impl<'a> Scanner<'a, '_> {
    pub fn declare_imports(&mut self) {
        let program = self.semantic.nodes().program();
        for statement in &program.body {
            if let Statement::ImportDeclaration(import) = statement {
                self.import(import);
            }
        }
    }

    fn import(&mut self, import: &ImportDeclaration<'a>) {
        self.edit_lines(import.span.start, import.span.end, ";");
        if import.phase.is_some() {
            let message = "imports with a phase (`source`, `defer`) are not supported";
            self.refuse(problem::UNSUPPORTED, import.span.start, message, "write a plain `import`");
        }
        let request = self.static_request(&import.source.value, import.source.span.start);
        self.attributes(import.with_clause.as_deref(), request);
        for specifier in import.specifiers.iter().flatten() {
            let (imported, local) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one) => {
                    (Some(export_name(&one.imported)), &one.local)
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => {
                    (Some("default".into()), &one.local)
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(one) => (None, &one.local),
            };
            let symbol = local.symbol_id.get();
            if let Some(symbol) = symbol {
                let path = imported.iter().filter(|name| *name != "default").cloned().collect();
                self.origins.insert(symbol, Origin { request, path });
            }
            let references = symbol.map(|symbol| self.references(symbol, &local.name)).unwrap_or_default();
            let at = self.at(specifier.span().start);
            let local = local.name.to_string();
            self.out.bindings.push(Binding { request, imported, local, at, references });
        }
    }

    /// Returns the request of a static import, which is evaluated before the module.
    pub fn static_request(&mut self, specifier: &str, at: u32) -> usize {
        let request = self.request(specifier, at);
        let one = &mut self.out.requests[request];
        (one.is_static, one.is_certain) = (true, true);
        request
    }

    pub fn attributes(&mut self, clause: Option<&WithClause<'a>>, request: usize) {
        for attribute in clause.iter().flat_map(|clause| &clause.with_entries) {
            let key = match &attribute.key {
                ImportAttributeKey::Identifier(name) => name.name.as_str(),
                ImportAttributeKey::StringLiteral(text) => text.value.as_str(),
            };
            if key == "type" && attribute.value.value == "json" {
                self.out.requests[request].is_json = true;
            } else {
                let message = format!("unsupported import attribute `{key}: {}`", attribute.value.value);
                self.refuse(
                    problem::UNSUPPORTED,
                    attribute.span.start,
                    message,
                    "use `with { type: 'json' }`",
                );
            }
        }
    }

    fn references(&mut self, symbol: SymbolId, name: &str) -> Vec<Reference> {
        let scoping = self.semantic.scoping();
        let mut found = Vec::new();
        for reference in scoping.get_resolved_references(symbol) {
            let node = reference.node_id();
            let span = self.kind(node).span();
            if reference.is_write() {
                let message = format!("cannot assign to the imported name `{name}`");
                self.refuse(problem::ASSIGNED_IMPORT, span.start, message, "copy it to a variable first");
            } else if let Some(form) = self.form(node) {
                found.push(Reference { start: span.start, end: span.end, form });
            }
        }
        found
    }

    /// Returns how a reference is written, or `None` for one in `export { name }`.
    pub fn form(&self, node: NodeId) -> Option<Form> {
        let span = self.kind(node).span();
        let nodes = self.semantic.nodes();
        let is_callee = match nodes.parent_kind(node) {
            AstKind::ExportSpecifier(_) => return None,
            AstKind::ObjectProperty(property) if property.shorthand => return Some(Form::Shorthand),
            AstKind::CallExpression(call) => call.callee.span() == span,
            AstKind::TaggedTemplateExpression(tagged) => tagged.tag.span() == span,
            _ => false,
        };
        if !is_callee {
            return Some(Form::Plain);
        }
        let statement = nodes.ancestors(node).find(|above| {
            matches!(above.kind(), AstKind::ExpressionStatement(_)) || above.kind().is_statement()
        });
        let begins = statement.is_some_and(|above| {
            let is_expression = matches!(above.kind(), AstKind::ExpressionStatement(_));
            is_expression && above.kind().span().start == span.start && self.is_in_list(above.id())
        });
        Some(if begins { Form::CalleeOfStatement } else { Form::Callee })
    }

    /// Returns whether a statement is part of a list of statements, where a semicolon before it changes nothing.
    fn is_in_list(&self, statement: NodeId) -> bool {
        matches!(
            self.semantic.nodes().parent_kind(statement),
            AstKind::Program(_)
                | AstKind::BlockStatement(_)
                | AstKind::FunctionBody(_)
                | AstKind::StaticBlock(_)
                | AstKind::SwitchCase(_)
        )
    }
}

/// Returns the name of an import or export.
pub fn export_name(name: &ModuleExportName<'_>) -> String {
    match name {
        ModuleExportName::IdentifierName(one) => one.name.to_string(),
        ModuleExportName::IdentifierReference(one) => one.name.to_string(),
        ModuleExportName::StringLiteral(one) => one.value.to_string(),
    }
}

//! Exports: their names, their values, and what remains of their statements.

use super::imports::export_name;
use super::{Export, Scanner, Value};
use oxc_ast::AstKind;
use oxc_ast::ast::{
    BindingPattern, Declaration, ExportDefaultDeclaration, ExportDefaultDeclarationKind,
    ExportFromDeclaration, ExportNamedDeclaration, Expression, Function, ModuleExportName, Statement,
};
use oxc_semantic::SymbolId;
use oxc_span::GetSpan;

impl<'a> Scanner<'a, '_> {
    pub fn declare_exports(&mut self) {
        let program = self.semantic.nodes().program();
        for statement in &program.body {
            match statement {
                Statement::ExportDeclaration(export) => {
                    self.edit_lines(export.span.start, export.declaration.span().start, "");
                    self.declaration(&export.declaration);
                }
                Statement::ExportNamedDeclaration(export) => self.named(export),
                Statement::ExportFromDeclaration(export) => self.from(export),
                Statement::ExportAllDeclaration(export) => {
                    self.edit_lines(export.span.start, export.span.end, ";");
                    let request = self.static_request(&export.source.value, export.source.span.start);
                    self.attributes(export.with_clause.as_deref(), request);
                    match &export.exported {
                        Some(name) => {
                            let value = Value::Import { request, imported: None };
                            self.export(export_name(name), name.span().start, value);
                        }
                        None => {
                            let at = self.at(export.span.start);
                            self.out.stars.push((request, at));
                        }
                    }
                }
                Statement::ExportDefaultDeclaration(export) => self.default(export),
                _ => {}
            }
        }
    }

    fn export(&mut self, name: String, at: u32, value: Value) {
        let at = self.at(at);
        self.out.exports.push(Export { name, at, value });
    }

    fn declaration(&mut self, declaration: &Declaration<'a>) {
        match declaration {
            Declaration::VariableDeclaration(variables) => {
                for one in &variables.declarations {
                    self.pattern(&one.id);
                }
            }
            Declaration::FunctionDeclaration(function) => {
                if let Some(id) = &function.id {
                    self.local(id.name.to_string(), &id.name, id.symbol_id.get(), id.span.start);
                }
            }
            Declaration::ClassDeclaration(class) => {
                if let Some(id) = &class.id {
                    self.local(id.name.to_string(), &id.name, id.symbol_id.get(), id.span.start);
                }
            }
            _ => {}
        }
    }

    fn pattern(&mut self, pattern: &BindingPattern<'a>) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => {
                self.local(id.name.to_string(), &id.name, id.symbol_id.get(), id.span.start);
            }
            BindingPattern::ObjectPattern(object) => {
                object.properties.iter().for_each(|property| self.pattern(&property.value));
                object.rest.iter().for_each(|rest| self.pattern(&rest.argument));
            }
            BindingPattern::ArrayPattern(array) => {
                array.elements.iter().flatten().for_each(|element| self.pattern(element));
                array.rest.iter().for_each(|rest| self.pattern(&rest.argument));
            }
            BindingPattern::AssignmentPattern(assignment) => self.pattern(&assignment.left),
        }
    }

    /// Exports a variable of the module.
    fn local(&mut self, exported: String, name: &str, symbol: Option<SymbolId>, at: u32) {
        let scoping = self.semantic.scoping();
        let (mut is_hoisted, mut is_reassigned) = (false, false);
        if let Some(symbol) = symbol {
            let is_redeclared = !scoping.symbol_redeclarations(symbol).is_empty();
            is_hoisted = matches!(self.kind(scoping.symbol_declaration(symbol)), AstKind::Function(_));
            is_reassigned = scoping.symbol_is_mutated(symbol) || (is_hoisted && is_redeclared);
        }
        let value = Value::Local { name: name.to_owned(), is_hoisted, is_reassigned };
        self.export(exported, at, value);
    }

    fn named(&mut self, export: &ExportNamedDeclaration<'a>) {
        self.edit_lines(export.span.start, export.span.end, ";");
        for specifier in &export.specifiers {
            let (exported, at) = (export_name(&specifier.exported), specifier.span.start);
            let ModuleExportName::IdentifierReference(local) = &specifier.local else { continue };
            let symbol = self.symbol_of(local);
            let binding = self.out.bindings.iter().find(|one| one.local == local.name.as_str());
            match binding {
                Some(binding) => {
                    let value =
                        Value::Import { request: binding.request, imported: binding.imported.clone() };
                    self.export(exported, at, value);
                }
                None => self.local(exported, &local.name, symbol, at),
            }
        }
    }

    fn from(&mut self, export: &ExportFromDeclaration<'a>) {
        self.edit_lines(export.span.start, export.span.end, ";");
        let request = self.static_request(&export.source.value, export.source.span.start);
        self.attributes(export.with_clause.as_deref(), request);
        for specifier in &export.specifiers {
            let value = Value::Import { request, imported: Some(export_name(&specifier.local)) };
            self.export(export_name(&specifier.exported), specifier.span.start, value);
        }
    }

    fn default(&mut self, export: &ExportDefaultDeclaration<'a>) {
        let (start, body) = (export.span.start, export.declaration.span());
        match &export.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                self.edit_lines(start, body.start, "");
                match &function.id {
                    Some(id) => self.local("default".into(), &id.name, id.symbol_id.get(), start),
                    None => self.anonymous_function(function, start),
                }
            }
            ExportDefaultDeclarationKind::ClassDeclaration(class) => match &class.id {
                Some(id) => {
                    self.edit_lines(start, body.start, "");
                    self.local("default".into(), &id.name, id.symbol_id.get(), start);
                }
                None => {
                    let is_named = class.body.body.iter().any(|element| {
                        element.r#static()
                            && element.property_key().is_some_and(|key| key.is_specific_static_name("name"))
                    });
                    self.default_value(start, body.start, !is_named);
                    self.edit(body.end, body.end, ";");
                }
            },
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => {}
            _ => {
                let is_anonymous =
                    export.declaration.as_expression().is_some_and(|expression| match expression {
                        Expression::ClassExpression(class) => class.id.is_none(),
                        Expression::FunctionExpression(function) => function.id.is_none(),
                        Expression::ArrowFunctionExpression(_) => true,
                        _ => false,
                    });
                self.default_value(start, self.after_default(start), is_anonymous);
            }
        }
    }

    /// Turns `export default` before a value into a constant.
    fn default_value(&mut self, start: u32, end: u32, is_anonymous: bool) {
        let name = self.names.fresh("__default");
        self.edit_lines(start, end, &format!("const {name} = "));
        self.name_default(&name, is_anonymous);
        let value = Value::Local { name, is_hoisted: false, is_reassigned: false };
        self.export("default".into(), start, value);
    }

    /// Names the function of `export default function () {}`, which is hoisted as a declaration is.
    fn anonymous_function(&mut self, function: &Function<'a>, start: u32) {
        let name = self.names.fresh("__default");
        let params = function.params.span.start;
        self.edit(params, params, format!(" {name}"));
        self.name_default(&name, true);
        let value = Value::Local { name, is_hoisted: true, is_reassigned: false };
        self.export("default".into(), start, value);
    }

    fn name_default(&mut self, name: &str, is_anonymous: bool) {
        if is_anonymous {
            self.out.anonymous_default = Some(name.to_owned());
        }
    }

    /// Returns the byte after `export default`, whose words may have comments between them.
    fn after_default(&self, start: u32) -> u32 {
        let rest = &self.code.text[start as usize..];
        let mut at = "export".len();
        loop {
            let tail = &rest[at..];
            let next = tail.trim_start();
            at += tail.len() - next.len();
            let skipped = if next.starts_with("//") {
                next.find('\n')
            } else if next.starts_with("/*") {
                next.find("*/").map(|end| end + 2)
            } else {
                None
            };
            match skipped {
                Some(skipped) => at += skipped,
                None => break,
            }
        }
        let word = if rest[at..].starts_with("default") { "default".len() } else { 0 };
        start + (at + word) as u32
    }
}

//! ES modules: what precedes and what follows their code, and references that read through to another module.
//!
//! Exports come in three kinds, so that no user pays for what it does not need. A function is exported at once, because
//! it is hoisted. A variable that changes, or that a cycle may show too early, has a getter. Every other value is
//! assigned after the code, before anyone can ask for it. Imports are constants whenever their value is final.

use super::value::{Shape, Values, key, member};
use crate::scan::{Binding, Edit, Form, Value};

/// Returns the code before and after that of the module.
pub fn frame(values: &Values<'_, '_>) -> (String, String) {
    let mut frame = Frame {
        values,
        early: String::new(),
        getters: Vec::new(),
        imported: String::new(),
        late: String::new(),
    };
    frame.exports();
    frame.stars();
    frame.default_name();
    let mut before = "'use strict';".to_owned();
    before.push_str(&frame.early);
    if !frame.getters.is_empty() {
        let exports = &values.scan().params.exports;
        before.push_str(&format!(" Object.defineProperties({exports}, {{{}}});", frame.getters.join(", ")));
    }
    before.push_str(&requires(values));
    before.push_str(&frame.imported);
    before.push(' ');
    (before, frame.late)
}

struct Frame<'f, 'v, 'n> {
    values: &'f Values<'v, 'n>,
    /// Functions, which exist before anything runs.
    early: String,
    getters: Vec<String>,
    /// Values of other modules, after their evaluation.
    imported: String,
    late: String,
}

impl Frame<'_, '_, '_> {
    fn exports(&mut self) {
        let scan = self.values.scan();
        let is_in_cycle = self.values.linker.graph.is_in_cycle(self.values.module);
        if self.values.linker.is_required(self.values.module) {
            let exports = &scan.params.exports;
            self.early
                .push_str(&format!(" Object.defineProperty({exports}, '__esModule', {{value: true}});"));
        }
        for export in &scan.exports {
            match &export.value {
                Value::Local { name, is_reassigned, .. } if *is_reassigned => self.getter(&export.name, name),
                Value::Local { name, is_hoisted: true, .. } => {
                    let text = self.assignment(&export.name, name);
                    self.early.push_str(&text);
                }
                Value::Local { name, .. } if is_in_cycle => self.getter(&export.name, name),
                Value::Local { name, .. } => {
                    let text = self.assignment(&export.name, name);
                    self.late.push_str(&text);
                }
                Value::Import { request, imported } => {
                    self.import(&export.name, *request, imported.as_deref())
                }
            }
        }
    }

    /// Exports a name of another module.
    fn import(&mut self, exported: &str, request: usize, imported: Option<&str>) {
        let linker = self.values.linker;
        if matches!(linker.import(self.values.module, request, imported), crate::link::Meaning::Missing) {
            return;
        }
        let value = self.values.of(request, imported, &self.values.scan().params.modules[request]);
        let is_in_cycle = linker.graph.is_in_cycle(self.values.module);
        if is_in_cycle || !self.values.is_constant(request, imported) {
            self.getter(exported, &value);
        } else {
            let text = self.assignment(exported, &value);
            self.imported.push_str(&text);
        }
    }

    fn stars(&mut self) {
        for (name, request) in self.values.linker.star_names(self.values.module) {
            self.import(&name, request, Some(&name));
        }
        let params = &self.values.scan().params;
        for (request, _) in &self.values.scan().stars {
            if self.values.linker.is_opaque_star(self.values.module, *request) {
                let (from, to) = (&params.modules[*request], &params.exports);
                self.imported.push_str(&format!(
                    " for (const k in {from}) if (k !== 'default' && !(k in {to})) {to}[k] = {from}[k];"
                ));
            }
        }
    }

    fn getter(&mut self, exported: &str, value: &str) {
        self.getters.push(format!("{}: {{get: () => {value}, enumerable: true}}", key(exported)));
    }

    fn assignment(&self, exported: &str, value: &str) -> String {
        format!(" {}{} = {value};", self.values.scan().params.exports, member(exported))
    }

    /// Gives the anonymous default export its name, `default`.
    fn default_name(&mut self) {
        let scan = self.values.scan();
        let Some(name) = &scan.anonymous_default else { return };
        let is_hoisted = scan.exports.iter().any(
            |one| matches!(&one.value, Value::Local { name: local, is_hoisted: true, .. } if local == name),
        );
        let text =
            format!(" Object.defineProperty({name}, 'name', {{value: 'default', configurable: true}});");
        if is_hoisted { self.early.push_str(&text) } else { self.late.insert_str(0, &text) }
    }
}

/// Evaluates the imported modules in order and takes what they export.
fn requires(values: &Values<'_, '_>) -> String {
    let scan = values.scan();
    let mut out = String::new();
    for (request, _) in scan.requests.iter().enumerate().filter(|(_, one)| one.is_static) {
        let waits = values.linker.is_waiting(values.module, request);
        let call = format!("{}{}({request})", if waits { "await " } else { "" }, scan.params.require);
        let (constants, live): (Vec<&Binding>, Vec<&Binding>) = scan
            .bindings
            .iter()
            .filter(|one| one.request == request)
            .partition(|one| values.is_constant(request, one.imported.as_deref()));
        let is_exported = scan.stars.iter().any(|one| one.0 == request)
            || scan
                .exports
                .iter()
                .any(|one| matches!(&one.value, Value::Import { request: from, .. } if *from == request));
        let needs_module = !live.is_empty() || is_exported;
        if constants.is_empty() && !needs_module {
            out.push_str(&format!(" {call};"));
        } else if !needs_module
            && values.shape(request) == Shape::Namespace
            && constants.iter().all(|one| one.imported.is_some())
        {
            let names: Vec<String> = constants.iter().map(|one| destructured(one)).collect();
            out.push_str(&format!(" const {{{}}} = {call};", names.join(", ")));
        } else {
            let module = &scan.params.modules[request];
            out.push_str(&format!(" const {module} = {call}"));
            for one in constants {
                let value = values.of(request, one.imported.as_deref(), module);
                out.push_str(&format!(", {} = {value}", one.local));
            }
            out.push(';');
        }
    }
    out
}

fn destructured(binding: &Binding) -> String {
    let imported = binding.imported.as_deref().unwrap_or_default();
    if imported == binding.local {
        binding.local.clone()
    } else {
        format!("{}: {}", key(imported), binding.local)
    }
}

/// Returns the edits of references to names whose value may still change.
pub fn references(values: &Values<'_, '_>) -> Vec<Edit> {
    let scan = values.scan();
    let mut edits = Vec::new();
    for binding in &scan.bindings {
        let imported = binding.imported.as_deref();
        if values.is_constant(binding.request, imported) {
            continue;
        }
        let value = values.of(binding.request, imported, &scan.params.modules[binding.request]);
        for reference in &binding.references {
            let text = match reference.form {
                Form::Plain => value.clone(),
                Form::Callee => format!("(0, {value})"),
                Form::CalleeOfStatement => format!(";(0, {value})"),
                Form::Shorthand => format!("{}: {value}", binding.local),
            };
            edits.push(Edit { start: reference.start, end: reference.end, text });
        }
    }
    edits
}

//! Elements as written -> the plan that runs.

mod config;
mod control;
mod group;
mod http;
mod keys;
mod level;
mod listen;
mod load;
mod process;
mod role;
mod sampler;
mod socket;
mod variables;
mod verify;

use crate::code;
use crate::evaluate::Known;
use crate::place::Files;
use crate::plan::{Element, Id, Info, TestPlan};
use crate::read::Given;
use crate::text::{Part, Pos, Text};
use crate::tree::{Property, Raw};
use plimsoll_plan::link::TlsFiles;
use plimsoll_plan::{Diagnostic, Problem};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A compiled plan.
pub(crate) struct Compiled {
    pub plan: TestPlan,
    pub notes: Vec<Diagnostic>,
}

/// Compiles a plan without disabled elements.
pub(crate) fn compile(
    plan: &Raw,
    folder: PathBuf,
    given: &Given,
    files: &Files,
) -> Result<Compiled, Vec<Diagnostic>> {
    let mut compiler = Compiler {
        files,
        given,
        folder: &folder,
        known: Known::default(),
        wrong: Vec::new(),
        notes: Vec::new(),
        changes_properties: files.all.iter().any(|source| code::changes_properties(&source.text)),
        key_store: None,
        next_id: 0,
        path: vec![plan.name.clone()],
    };
    let variables = compiler.variables(plan);
    compiler.known = Known::new(given.properties.clone(), &variables);
    let groups = compiler.groups(plan);
    let tls_files = TlsFiles { clients: compiler.client_certificates(), ..TlsFiles::default() };
    let is_serial = compiler.flag(&plan.properties, "TestPlan.serialize_threadgroups", false);
    let tears_down_on_stop = compiler.flag(&plan.properties, "TestPlan.tearDown_on_shutdown", false);
    let Compiler { mut wrong, mut notes, known, changes_properties, .. } = compiler;
    notes.extend(crate::lint::variables(plan, &known, &folder, files));
    if !wrong.is_empty() {
        // One mistake in an element that several samplers share is reported once.
        let mut seen: Vec<Diagnostic> = Vec::new();
        wrong.retain(|one| {
            let is_new = !seen.contains(one);
            seen.push(one.clone());
            is_new
        });
        return Err(wrong);
    }
    let plan = TestPlan {
        name: plan.name.clone(),
        files: files.all.iter().map(|source| source.name.clone()).collect(),
        folder,
        properties: given.properties.clone(),
        changes_properties,
        variables,
        is_serial,
        tears_down_on_stop,
        tls_files,
        groups,
    };
    Ok(Compiled { plan, notes })
}

/// What the compilation of all elements needs.
struct Compiler<'a> {
    files: &'a Files,
    given: &'a Given,
    folder: &'a Path,
    known: Known,
    wrong: Vec<Diagnostic>,
    notes: Vec<Diagnostic>,
    changes_properties: bool,
    /// The element that chooses keys of the key store.
    key_store: Option<keys::Range>,
    next_id: u32,
    /// Names of the elements around the current one.
    path: Vec<String>,
}

/// Something with properties.
trait Properties {
    fn property(&self, name: &str) -> Option<&Property>;
}

impl Properties for [Property] {
    fn property(&self, name: &str) -> Option<&Property> {
        crate::tree::find(self, name)
    }
}

impl Properties for Vec<Property> {
    fn property(&self, name: &str) -> Option<&Property> {
        crate::tree::find(self, name)
    }
}

impl Properties for Raw {
    fn property(&self, name: &str) -> Option<&Property> {
        self.find(name)
    }
}

impl Properties for Property {
    fn property(&self, name: &str) -> Option<&Property> {
        self.find(name)
    }
}

impl Compiler<'_> {
    fn wrong(&mut self, code: &'static str, pos: Pos, message: impl Into<String>, hint: impl Into<String>) {
        self.wrong.push(Diagnostic::of(code, self.files.place(pos), Problem::new(message, hint)));
    }

    fn note(&mut self, code: &'static str, pos: Pos, message: impl Into<String>, hint: impl Into<String>) {
        self.notes.push(Diagnostic::of(code, self.files.place(pos), Problem::new(message, hint)));
    }

    fn id(&mut self) -> Id {
        self.next_id += 1;
        Id(self.next_id - 1)
    }

    fn path(&self) -> String {
        self.path.join(" > ")
    }

    /// Returns what every element has, within the current path.
    fn info(&mut self, raw: &Raw) -> Info {
        let path = format!("{} > {}", self.path(), raw.name).into();
        Info { id: self.id(), name: self.compiled(&raw.name, raw.pos), path, pos: raw.pos }
    }

    fn element<T>(&mut self, raw: &Raw, kind: T) -> Arc<Element<T>> {
        Arc::new(Element { info: self.info(raw), kind })
    }

    /// Compiles a text.
    fn compiled(&mut self, text: &str, pos: Pos) -> Text {
        let text = match Text::new(text, pos) {
            Ok(text) => text,
            Err(message) => {
                self.wrong(code::FUNCTION, pos, message, "check its parentheses and commas");
                return Text::default();
            }
        };
        let mut mistakes = Vec::new();
        text.visit(&mut |part| match part {
            Part::Call(call) => {
                let Some(function) = crate::function::named(&call.name) else { return };
                let (least, most) = function.arguments;
                let given = call.arguments.len();
                if !function.is_supported {
                    mistakes.push(format!("the function `{}` is not supported", call.name));
                } else if given < usize::from(least) || given > usize::from(most) {
                    mistakes
                        .push(format!("`{}` has {given} arguments: expected {least} to {most}", call.source));
                }
            }
            Part::Variable(name) if name.starts_with("__") && name.contains('(') => {
                let function = name.split('(').next().unwrap_or(name);
                mistakes.push(format!("unknown function `{function}`"));
            }
            _ => {}
        });
        for message in mistakes {
            let hint = "see `plimsoll explain J005`";
            self.wrong(code::FUNCTION, pos, message, hint);
        }
        text
    }

    /// Returns the text of a property; empty without it.
    fn text(&mut self, properties: &(impl Properties + ?Sized), name: &str) -> Text {
        match properties.property(name) {
            Some(property) => {
                let (text, pos) = (property.text().to_owned(), property.pos);
                self.compiled(&text, pos)
            }
            None => Text::default(),
        }
    }

    /// Returns the truth value of a property.
    fn flag(&mut self, properties: &(impl Properties + ?Sized), name: &str, default: bool) -> bool {
        let Some(property) = properties.property(name) else { return default };
        let (text, pos) = (property.text().trim().to_owned(), property.pos);
        if text.is_empty() {
            return false;
        }
        let text = self.compiled(&text, pos);
        match self.known.value(&text) {
            Ok(value) => value.eq_ignore_ascii_case("true"),
            Err(_) => {
                self.wrong(
                    code::SETTING,
                    pos,
                    format!("`{name}` depends on the load: `{}`", text.source),
                    "write `true` or `false`, a property, or a user-defined variable",
                );
                default
            }
        }
    }

    /// Returns the value of a property that selects something, such as a mode; empty without it.
    fn choice(&mut self, properties: &(impl Properties + ?Sized), name: &str) -> String {
        let text = self.text(properties, name);
        match self.known.value(&text) {
            Ok(value) => value.trim().to_owned(),
            Err(_) => {
                self.wrong(
                    code::SETTING,
                    text.pos,
                    format!("`{name}` depends on the load: `{}`", text.source),
                    "write a fixed value, a property, or a user-defined variable",
                );
                String::new()
            }
        }
    }

    /// Returns the values of the items of a collection.
    fn texts(&mut self, collection: Option<&Property>) -> Vec<Text> {
        let items: Vec<(String, Pos)> = collection
            .map(|all| all.items().iter().map(|item| (item.text().to_owned(), item.pos)).collect())
            .unwrap_or_default();
        items.into_iter().map(|(text, pos)| self.compiled(&text, pos)).collect()
    }

    /// Reports a setting that plimsoll does not support.
    fn unsupported(&mut self, raw: &Raw, what: impl std::fmt::Display, hint: &str) {
        let message = format!("{what} is not supported ({} > {})", self.path(), raw.name);
        self.wrong(code::SETTING, raw.pos, message, hint);
    }
}

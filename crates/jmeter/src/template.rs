//! Texts of the plan, compiled: names of variables as numbers, and functions as code.

use crate::function::{self, Body};
use crate::scope::Scope;
use crate::vars::{Names, VarId};
use plimsoll_jmx::text::{self, Pos, Text};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A compiled text.
#[derive(Debug, Clone, Default)]
pub struct Template {
    parts: Box<[Part]>,
}

#[derive(Debug, Clone)]
enum Part {
    Literal(Box<str>),
    /// If it is undefined, its text stays.
    Variable(VarId),
    /// A variable that the plan does not mention.
    Named(Box<str>),
    Call(Box<Call>),
}

/// A call of a function.
#[derive(Debug, Clone)]
pub struct Call {
    body: Body,
    pub arguments: Box<[Template]>,
    /// Number of this call in the plan, for functions with a state.
    pub instance: u32,
}

/// Compiles the texts of a plan.
#[derive(Default)]
pub struct Compiler {
    pub names: Names,
    /// The properties, if nothing changes them during the run: what only reads them is then a fixed text.
    pub properties: Option<BTreeMap<String, String>>,
    /// Calls by their place, so that a text in the scope of several samplers keeps one state.
    instances: BTreeMap<(Pos, String, u32), u32>,
}

impl Compiler {
    pub fn text(&mut self, text: &Text) -> Template {
        let mut parts: Vec<Part> = Vec::with_capacity(text.parts.len());
        for (at, part) in text.parts.iter().enumerate() {
            let part = match part {
                text::Part::Literal(literal) => Part::Literal(literal.as_str().into()),
                text::Part::Variable(name) => Part::Variable(self.names.intern(name)),
                text::Part::Call(call) => match self.fixed(call) {
                    Some(value) => Part::Literal(value.into()),
                    None => self.call(call, text.pos, at as u32),
                },
            };
            match (parts.last_mut(), part) {
                (Some(Part::Literal(before)), Part::Literal(after)) => {
                    *before = format!("{before}{after}").into();
                }
                (_, Part::Literal(empty)) if empty.is_empty() => {}
                (_, part) => parts.push(part),
            }
        }
        Template { parts: parts.into() }
    }

    /// Returns the value of a call that only reads a property which nothing changes.
    fn fixed(&self, call: &text::Call) -> Option<String> {
        let properties = self.properties.as_ref()?;
        let mut arguments = call.arguments.iter().map(Text::fixed);
        let (name, default) = (arguments.next()??.trim(), arguments.next());
        match (call.name.as_str(), default) {
            ("__P", None) => Some(properties.get(name).map_or("1", |value| value).to_owned()),
            ("__P", Some(default)) => Some(properties.get(name).map_or(default?, |value| value).to_owned()),
            ("__property", None) => Some(properties.get(name).map_or(name, |value| value).to_owned()),
            _ => None,
        }
    }

    fn call(&mut self, call: &text::Call, pos: Pos, at: u32) -> Part {
        let Some(body) = function::named(&call.name) else {
            // A plan with an unknown function is refused; its text stays, as that of an unknown variable does.
            return Part::Literal(call.source.as_str().into());
        };
        let arguments = call.arguments.iter().map(|argument| self.text(argument)).collect();
        let next = self.instances.len() as u32;
        let instance = *self.instances.entry((pos, call.source.clone(), at)).or_insert(next);
        Part::Call(Box::new(Call { body, arguments, instance }))
    }

    /// Returns the number of calls so far.
    pub fn instances(&self) -> usize {
        self.instances.len()
    }
}

/// Compiles a text that appears during the load. Its functions have no state.
pub fn dynamic(text: &Text, names: &Names) -> Template {
    let parts = text.parts.iter().map(|part| match part {
        text::Part::Literal(literal) => Part::Literal(literal.as_str().into()),
        text::Part::Variable(name) => match names.find(name) {
            Some(id) => Part::Variable(id),
            None => Part::Named(name.as_str().into()),
        },
        text::Part::Call(call) => match function::named(&call.name) {
            Some(body) => {
                let arguments = call.arguments.iter().map(|argument| dynamic(argument, names)).collect();
                Part::Call(Box::new(Call { body, arguments, instance: u32::MAX }))
            }
            None => Part::Literal(call.source.as_str().into()),
        },
    });
    Template { parts: parts.collect() }
}

impl Template {
    pub fn literal(text: &str) -> Template {
        match text {
            "" => Template::default(),
            _ => Template { parts: Box::new([Part::Literal(text.into())]) },
        }
    }

    /// Returns the value of a text without variables and functions.
    pub fn fixed(&self) -> Option<&str> {
        match &*self.parts {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Appends the value.
    pub fn write(&self, scope: &mut Scope<'_>, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Variable(id) => match scope.vars.at(*id) {
                    Some(value) => out.push_str(value),
                    None => {
                        out.push_str("${");
                        out.push_str(scope.run.names.name(*id));
                        out.push('}');
                    }
                },
                Part::Named(name) => match scope.vars.get(name) {
                    Some(value) => out.push_str(value),
                    None => {
                        out.push_str("${");
                        out.push_str(name);
                        out.push('}');
                    }
                },
                Part::Call(call) => {
                    let value = (call.body)(call, scope);
                    out.push_str(&value);
                }
            }
        }
    }

    /// Returns the value.
    pub fn value(&self, scope: &mut Scope<'_>) -> String {
        let mut out = String::new();
        self.write(scope, &mut out);
        out
    }

    /// Returns the value, without a copy if it is fixed.
    pub fn text(&self, scope: &mut Scope<'_>) -> Cow<'_, str> {
        match self.fixed() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.value(scope)),
        }
    }

    /// Returns the value as an integer; anything else counts as 0, as in JMeter.
    pub fn integer(&self, scope: &mut Scope<'_>) -> i64 {
        self.text(scope).trim().parse().unwrap_or(0)
    }

    /// Returns the value as a number; anything else counts as 0, as in JMeter.
    pub fn number(&self, scope: &mut Scope<'_>) -> f64 {
        self.text(scope).trim().parse().ok().filter(|number: &f64| number.is_finite()).unwrap_or(0.0)
    }
}

impl Call {
    /// Returns the value of an argument; empty if there are fewer.
    pub fn argument(&self, number: usize, scope: &mut Scope<'_>) -> String {
        self.arguments.get(number).map(|argument| argument.value(scope)).unwrap_or_default()
    }

    /// Returns the value of an argument, or `None` if there are fewer.
    pub fn optional(&self, number: usize, scope: &mut Scope<'_>) -> Option<String> {
        self.arguments.get(number).map(|argument| argument.value(scope))
    }

    /// Sets the variable that an argument names, if it names one.
    pub fn store(&self, number: usize, value: &str, scope: &mut Scope<'_>) {
        let name = self.argument(number, scope);
        let name = name.trim();
        if !name.is_empty() {
            scope.vars.set(name, value);
        }
    }
}

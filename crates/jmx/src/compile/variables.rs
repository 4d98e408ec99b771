//! User-defined variables.

use super::Compiler;
use crate::code;
use crate::plan::Variable;
use crate::text::{Part, Text};
use crate::tree::{Property, Raw};
use std::collections::BTreeMap;

impl Compiler<'_> {
    /// Returns the user-defined variables of a plan, in document order.
    pub(super) fn variables(&mut self, plan: &Raw) -> Vec<Variable> {
        let mut all = Vec::new();
        self.collect(plan, &mut all);
        self.refuse_cycles(&all);
        all
    }

    fn collect(&mut self, element: &Raw, all: &mut Vec<Variable>) {
        let arguments = match element.class.as_str() {
            "TestPlan" => element
                .find("TestPlan.user_defined_variables")
                .and_then(|variables| variables.find("Arguments.arguments")),
            "Arguments" => element.find("Arguments.arguments"),
            _ => None,
        };
        if let Some(arguments) = arguments {
            self.element_variables(arguments, all);
        }
        for child in &element.children {
            self.collect(child, all);
        }
    }

    fn element_variables(&mut self, arguments: &Property, all: &mut Vec<Variable>) {
        let owner = self.id();
        for argument in arguments.items() {
            let name = self.text(argument, "Argument.name");
            let mut value = self.text(argument, "Argument.value");
            let given = self.given.set.iter().find(|(given, _)| name.fixed() == Some(given));
            if let Some((_, given)) = given {
                value = Text::literal(given, value.pos);
            } else {
                self.refuse_tokens(&value, "the variable", name.fixed().unwrap_or_default());
            }
            all.push(Variable { owner, name, value });
        }
    }

    /// Reports tokens of a template that nothing has replaced.
    pub(super) fn refuse_tokens(&mut self, text: &Text, what: &str, name: &str) {
        let mut found = Vec::new();
        for part in &text.parts {
            if let Part::Literal(literal) = part {
                found.extend(crate::tokens::tokens(literal).into_iter().map(str::to_owned));
            }
        }
        found.dedup();
        for token in found {
            if self.given.set.iter().any(|(name, value)| *name == token || *value == token) {
                continue;
            }
            self.wrong(
                code::TOKEN,
                text.pos,
                format!("nothing has replaced `{token}` in {what} `{name}`"),
                format!("pass `--set {token}=VALUE`; `--set {token}={token}` keeps it"),
            );
        }
    }

    /// Reports variables that are defined by each other: JMeter would send their texts.
    fn refuse_cycles(&mut self, all: &[Variable]) {
        let mut uses: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for variable in all {
            let Some(name) = variable.name.fixed() else { continue };
            let mut names = Vec::new();
            variable.value.visit(&mut |part| {
                if let Part::Variable(name) = part {
                    names.push(name.as_str());
                }
            });
            uses.insert(name, names);
        }
        for variable in all {
            let Some(name) = variable.name.fixed() else { continue };
            if let Some(cycle) = cycle(name, &uses) {
                let message = format!("`{name}` is defined by itself: {}", cycle.join(" -> "));
                self.wrong(code::CYCLE, variable.value.pos, message, "give one of them a value");
                return;
            }
        }
    }
}

/// Returns the way from a name back to it, if there is one.
fn cycle<'a>(name: &'a str, uses: &BTreeMap<&'a str, Vec<&'a str>>) -> Option<Vec<&'a str>> {
    let mut ways = vec![vec![name]];
    let mut seen = vec![name];
    while let Some(way) = ways.pop() {
        let last = way.last().copied().unwrap_or(name);
        for next in uses.get(last).into_iter().flatten() {
            let mut way = way.clone();
            way.push(next);
            if *next == name {
                return Some(way);
            }
            if !seen.contains(next) {
                seen.push(next);
                ways.push(way);
            }
        }
    }
    None
}

//! Resolves texts with expressions: every name becomes a number, or is reported.

use crate::draft::{FeederDraft, Open, PartDraft, TextDraft};
use crate::escape::escaped;
use crate::expression::Expression;
use crate::functions;
use crate::nearest::nearest;
use crate::sentence::{alternatives, short};
use crate::source::Pos;
use crate::work::{Phase, Work};
use plimsoll_plan::script::TimingPart;
use plimsoll_plan::value::{Escape, Function, Part, Placeholder, Secret, Text};

/// A builder for a resolved text, which joins adjacent literals.
#[derive(Default)]
pub struct Build {
    text: Text,
    literal: Vec<u8>,
}

impl Build {
    pub fn literal(&mut self, bytes: impl AsRef<[u8]>) {
        self.literal.extend_from_slice(bytes.as_ref());
    }

    pub fn part(&mut self, part: Part) {
        match part {
            Part::Literal(bytes) => self.literal(bytes),
            part => {
                self.text.push_literal(&std::mem::take(&mut self.literal));
                self.text.parts.push(part);
            }
        }
    }

    pub fn text(&mut self, text: Text) {
        text.parts.into_iter().for_each(|part| self.part(part));
    }

    pub fn finish(mut self) -> Text {
        self.text.push_literal(&std::mem::take(&mut self.literal));
        self.text
    }
}

impl Work {
    /// Resolves a text in the current scope. Returns `None` if it reported a mistake.
    pub fn text(&mut self, draft: &TextDraft) -> Option<Text> {
        let (mut build, mut whole) = (Build::default(), true);
        for part in &draft.parts {
            match part {
                PartDraft::Literal(bytes) => build.literal(bytes),
                PartDraft::Open(open) => match self.part(open, open.escape) {
                    Some(part) => build.part(part),
                    None => whole = false,
                },
            }
        }
        whole.then(|| build.finish())
    }

    /// Resolves an expression in the current scope.
    pub fn part(&mut self, open: &Open, escape: Escape) -> Option<Part> {
        let Open { means, written, at, .. } = open;
        let hole = match means {
            Expression::Field(front, name) if front == "secret" => return self.secret(name, escape),
            Expression::Field(front, name) if front == "fake" && !self.feeders.contains_key(front) => {
                self.call(&format!("fake.{name}"), &[], written, *at)?
            }
            Expression::Field(front, name) if front == "request" && !self.feeders.contains_key(front) => {
                self.request_part(name, *at)?
            }
            Expression::Field(feeder, column) => self.column(feeder, column, written, *at)?,
            Expression::Name(name) => self.named(name, *at)?,
            Expression::Call(name, arguments) => {
                match TimingPart::NAMED.iter().find(|(known, _)| known == name) {
                    Some((_, part)) => self.timing(*part, arguments, written, *at)?,
                    None => self.call(name, arguments, written, *at)?,
                }
            }
            Expression::Apply(name, operands) => self.derived(name, operands, written, *at)?,
        };
        Some(Part::Placeholder(hole, escape))
    }

    fn secret(&mut self, name: &str, escape: Escape) -> Option<Part> {
        // A secret that is not set is already reported.
        let value = self.secrets.get(name)?.clone();
        let sent = escaped(&value, escape);
        for shape in [value, sent.clone()] {
            let secret = Secret::new(&shape);
            if !self.script.secrets.contains(&secret) {
                self.script.secrets.push(secret);
            }
        }
        Some(Part::Secret(Secret::new(&sent)))
    }

    fn named(&mut self, name: &str, at: Pos) -> Option<Placeholder> {
        let in_setup = self.scope.phase == Phase::Setup;
        if self.scope.set.iter().any(|known| known == name) {
            let number = self.number(name, in_setup, at)?;
            return Some(if in_setup { Placeholder::Global(number) } else { Placeholder::Var(number) });
        }
        if !in_setup && let Some(number) = self.script.globals.iter().position(|global| global == name) {
            return u16::try_from(number).ok().map(Placeholder::Global);
        }
        if Function::NAMES.contains(&name) {
            return self.call(name, &[], &format!("${{{name}}}"), at);
        }
        let (code, message, hint) = self.unknown(name);
        self.wrong.complain(code, at, message, hint);
        None
    }

    /// Returns why a name is unknown in the current scope.
    fn unknown(&self, name: &str) -> (&'static str, String, String) {
        if let Some(coming) = self.scope.coming.iter().find(|coming| coming.name == name) {
            let line = coming.pos.line;
            let message = format!("`${{{name}}}` is used before line {line} sets it");
            return ("F022", message, "move the step that sets it before this one".to_owned());
        }
        if let Some(known) = self.feeders.get(name) {
            let column = known.columns.as_ref().and_then(|all| all.first()).map_or("column", String::as_str);
            let message = format!("`${{{name}}}` is a data file, not a value");
            return ("F021", message, format!("name one of its columns, such as `${{{name}.{column}}}`"));
        }
        let message = format!("unknown variable `{name}`");
        let has =
            |feeder: &&FeederDraft| feeder.columns.as_ref().is_some_and(|all| all.iter().any(|c| c == name));
        let columns: Vec<String> = self
            .feeders
            .iter()
            .filter(|(_, feeder)| has(feeder))
            .map(|(feeder, _)| format!("`${{{feeder}.{name}}}`"))
            .collect();
        if !columns.is_empty() {
            return ("F021", message, format!("did you mean the column {}?", columns.join(" or ")));
        }
        let mut names: Vec<&str> = self.scope.set.iter().map(String::as_str).collect();
        if self.scope.phase != Phase::Setup {
            names.extend(self.script.globals.iter().map(String::as_str));
        }
        names.extend(self.constants.iter().map(String::as_str));
        let hint = match nearest(name, names.iter().copied().chain(Function::NAMES.iter().copied())) {
            Some(right) => format!("did you mean `${{{right}}}`?"),
            None => {
                let known = match names.is_empty() {
                    true => String::new(),
                    false => format!("use {}; or ", alternatives(names)),
                };
                format!(
                    "{known}define it at the top level, such as `vars: {{ {name}: 42 }}`, or extract it in an earlier \
                     step"
                )
            }
        };
        ("F021", message, hint)
    }

    fn column(&mut self, feeder: &str, column: &str, written: &str, at: Pos) -> Option<Placeholder> {
        let Some(known) = self.feeders.get(feeder) else {
            let names = || self.feeders.keys().map(String::as_str);
            let hint = match nearest(feeder, names().chain(["env", "secret"])) {
                Some(right) => format!("did you mean `${{{right}.{column}}}`?"),
                None if self.feeders.is_empty() => {
                    format!("define it: `data: {{ {feeder}: {{ file: {feeder}.csv }} }}`")
                }
                None => format!("use one of {}", alternatives(names())),
            };
            let message = format!("unknown data file `{feeder}` in `{}`", short(written));
            self.wrong.complain("F021", at, message, hint);
            return None;
        };
        if known.spoiled {
            return None;
        }
        if let Some(columns) = &known.columns
            && !known.has(column)
        {
            let message = format!("unknown column `{column}` in `{}`", known.feeder.path.display());
            let names = || columns.iter().map(String::as_str);
            let hint = other_delimiter(columns).unwrap_or_else(|| match nearest(column, names()) {
                Some(right) => format!("did you mean `${{{feeder}.{right}}}`?"),
                None => format!("use one of {}", alternatives(names())),
            });
            self.wrong.complain("F027", at, message, hint);
            return None;
        }
        // Numbered at its first use.
        let all = &mut self.script.feeders;
        let number = all.iter().position(|used| used.name == feeder).unwrap_or_else(|| {
            all.push(known.feeder.clone());
            all.len() - 1
        });
        let columns = &mut all[number].columns;
        let slot = columns.iter().position(|used| used == column).unwrap_or_else(|| {
            columns.push(column.to_owned());
            columns.len() - 1
        });
        Some(Placeholder::Column { feeder: u16::try_from(number).ok()?, column: u16::try_from(slot).ok()? })
    }

    fn call(&mut self, name: &str, arguments: &[String], written: &str, at: Pos) -> Option<Placeholder> {
        match functions::read(name, arguments, self.counters) {
            Ok(function) => {
                // Each use counts separately, so that `${counter}` in two columns of a row gives the same number.
                if matches!(function, Function::Counter { .. }) {
                    self.counters = self.counters.saturating_add(1);
                }
                Some(Placeholder::Call(function))
            }
            Err((message, hint)) => {
                self.wrong.complain("F025", at, format!("invalid `{}`: {message}", short(written)), hint);
                None
            }
        }
    }
}

/// Returns what to write if the only column looks like several that another delimiter separates.
fn other_delimiter(columns: &[String]) -> Option<String> {
    let [column] = columns else { return None };
    let found = [(';', ";"), ('\t', "tab"), ('|', "|")].into_iter().find(|(sign, _)| column.contains(*sign));
    found.map(|(_, name)| {
        let shown = column.replace('\t', " ");
        format!("the file has one column, `{}`: set `delimiter: \"{name}\"`", short(&shown))
    })
}

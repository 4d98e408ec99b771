//! Texts with expressions in them, resolved: every name becomes a number, or a diagnostic.

use super::data::Known;
use super::escape::escaped;
use super::expression::{Expression, Piece, short};
use super::functions;
use super::key::Row;
use super::reader::{is_null, quoted};
use super::work::{Phase, Work};
use super::yaml::{Node, Pos, Scalar, Value};
use crate::nearest::nearest;
use plimsoll_plan::value::{Escape, Function, Hole, Part, Secret, Text};

/// A text in the making, neighbouring literals joined.
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
        self.text.push_literal(&std::mem::take(&mut self.literal));
        self.text.parts.push(part);
    }

    pub fn text(&mut self, text: Text) {
        for part in text.parts {
            match part {
                Part::Literal(bytes) => self.literal(bytes),
                part => self.part(part),
            }
        }
    }

    pub fn finish(mut self) -> Text {
        self.text.push_literal(&std::mem::take(&mut self.literal));
        self.text
    }
}

impl Work<'_> {
    /// A text, a number or a truth value, taken as it is written; literals and values are escaped alike.
    pub fn template(&mut self, node: &Node, row: &Row, escape: Escape) -> Option<Text> {
        match &node.value {
            Value::Scalar(Scalar { spoiled: true, .. }) => None,
            Value::Scalar(scalar) if scalar.plain && is_null(&scalar.text) && scalar.pieces.is_empty() => {
                self.r.expected(node, row, "write `\"\"` for an empty text");
                None
            }
            Value::Scalar(scalar) => self.filled(scalar, node.pos, escape, &|text| escaped(text, escape)),
            _ => {
                self.r.expected(node, row, "");
                None
            }
        }
    }

    /// The text of a scalar, its literals changed by `literal`.
    pub fn filled(
        &mut self,
        scalar: &Scalar,
        pos: Pos,
        escape: Escape,
        literal: &dyn Fn(&str) -> String,
    ) -> Option<Text> {
        let mut build = Build::default();
        if scalar.pieces.is_empty() {
            build.literal(literal(&scalar.text));
            return Some(build.finish());
        }
        let mut whole = true;
        for piece in &scalar.pieces {
            match piece {
                Piece::Literal(text) => build.literal(literal(text)),
                Piece::Expression { written, means } => match self.part(means, written, pos, escape) {
                    Some(part) => build.part(part),
                    None => whole = false,
                },
            }
        }
        whole.then(|| build.finish())
    }

    /// What an expression means here.
    pub fn part(&mut self, means: &Expression, written: &str, pos: Pos, escape: Escape) -> Option<Part> {
        let at = self.r.source.within(pos, written);
        let hole = match means {
            Expression::Field(front, name) if front == "secret" => return self.secret(name, escape),
            Expression::Field(feeder, column) => self.column(feeder, column, written, at)?,
            Expression::Name(name) => self.named(name, at)?,
            Expression::Call(name, arguments) => self.call(name, arguments, written, at)?,
        };
        Some(Part::Hole(hole, escape))
    }

    fn secret(&mut self, name: &str, escape: Escape) -> Option<Part> {
        // One that is not set is reported already.
        let value = self.r.secrets.get(name)?.clone();
        let sent = escaped(&value, escape);
        for shape in [value, sent.clone()] {
            let secret = Secret::new(&shape);
            if !self.script.secrets.contains(&secret) {
                self.script.secrets.push(secret);
            }
        }
        Some(Part::Secret(Secret::new(&sent)))
    }

    fn named(&mut self, name: &str, at: Pos) -> Option<Hole> {
        let in_setup = self.scope.phase == Phase::Setup;
        if self.scope.set.iter().any(|known| known == name) {
            let number = self.number(name, in_setup, at)?;
            return Some(if in_setup { Hole::Global(number) } else { Hole::Var(number) });
        }
        if !in_setup && let Some(number) = self.script.globals.iter().position(|global| global == name) {
            return u16::try_from(number).ok().map(Hole::Global);
        }
        if Function::NAMES.contains(&name) {
            return self.call(name, &[], &format!("${{{name}}}"), at);
        }
        let (code, message, hint) = self.unknown(name);
        self.r.complain(code, at, message, hint);
        None
    }

    /// Why a name means nothing here.
    fn unknown(&self, name: &str) -> (&'static str, String, String) {
        if let Some((_, pos)) = self.scope.coming.iter().find(|(coming, _)| coming == name) {
            let message =
                format!("`${{{name}}}` is used before any step has set it; line {} sets it", pos.line);
            return ("F022", message, "move the step that sets it in front".to_owned());
        }
        if let Some(known) = self.known.get(name) {
            let column = known.columns.as_ref().and_then(|all| all.first()).map_or("column", String::as_str);
            let message = format!("`${{{name}}}` is a data file, no value");
            return ("F021", message, format!("name a column of it, such as `${{{name}.{column}}}`"));
        }
        let message = format!("`${{{name}}}` is nothing that is known here");
        let mut names: Vec<&str> = self.scope.set.iter().map(String::as_str).collect();
        if self.scope.phase != Phase::Setup {
            names.extend(self.script.globals.iter().map(String::as_str));
        }
        names.extend(self.r.constants.keys().map(String::as_str));
        let hint = match nearest(name, names.iter().copied().chain(Function::NAMES.iter().copied())) {
            Some(right) => format!("did you mean `${{{right}}}`?"),
            None if names.is_empty() => {
                format!("define `{name}` under `vars`, or let a step before this one extract or set it")
            }
            None => {
                format!("there are {}; others are defined under `vars` or extracted before", quoted(names))
            }
        };
        ("F021", message, hint)
    }

    fn column(&mut self, feeder: &str, column: &str, written: &str, at: Pos) -> Option<Hole> {
        if let Some(Known { spoiled: true, .. }) = self.known.get(feeder) {
            return None;
        }
        if !self.known.contains_key(feeder) {
            let names = || self.known.keys().map(String::as_str);
            let hint = match nearest(feeder, names().chain(["env", "secret"])) {
                Some(right) => format!("did you mean `${{{right}.{column}}}`?"),
                None if self.known.is_empty() => {
                    format!("name its file: `data: {{ {feeder}: {{ file: {feeder}.csv }} }}`")
                }
                None => format!("there are {}", quoted(names())),
            };
            let message = format!("`{}`: nothing under `data` is called `{feeder}`", short(written));
            self.r.complain("F021", at, message, hint);
            return None;
        }
        let known = self.known.get_mut(feeder)?;
        if let Some(columns) = &known.columns
            && !known.has(column)
        {
            let message = format!("`{}` has no column `{column}`", known.feeder.path.display());
            let hint = match nearest(column, columns.iter().map(String::as_str)) {
                Some(right) => format!("did you mean `${{{feeder}.{right}}}`?"),
                None => format!("there are {}", quoted(columns.iter().map(String::as_str))),
            };
            self.r.complain("F027", at, message, hint);
            return None;
        }
        let feeder = match known.id {
            Some(id) => id,
            None => {
                let id = u16::try_from(self.script.feeders.len()).ok()?;
                self.script.feeders.push(known.feeder.clone());
                known.id = Some(id);
                id
            }
        };
        let columns = &mut self.script.feeders[usize::from(feeder)].columns;
        let slot = columns.iter().position(|used| used == column).unwrap_or_else(|| {
            columns.push(column.to_owned());
            columns.len() - 1
        });
        Some(Hole::Column { feeder, column: u16::try_from(slot).ok()? })
    }

    fn call(&mut self, name: &str, arguments: &[String], written: &str, at: Pos) -> Option<Hole> {
        match functions::read(name, arguments, self.counters) {
            Ok(function) => {
                // Each place counts for itself: `${counter}` in two columns of a row is the same number.
                if matches!(function, Function::Counter { .. }) {
                    self.counters = self.counters.saturating_add(1);
                }
                Some(Hole::Call(function))
            }
            Err((message, hint)) => {
                self.r.complain("F025", at, format!("`{}`: {message}", short(written)), hint);
                None
            }
        }
    }
}

//! Fills in what is known before the load: `vars`, `--set`, `${env.X}`, and `${secret.X}`, everywhere in the tree.
//!
//! This happens once, before any key is read, so that a constant may be used anywhere: as a number of users as well as
//! in a path. Text replaces text; expressions that only the load can fill in remain as pieces.

use super::json::is_yaml_number;
use super::key::{LATER, Section, find};
use super::reader::{Constant, Reader, is_special};
use super::yaml::{Entry, Node, Scalar, Value};
use crate::overrides::Overrides;
use plimsoll_build::expression::{Expression, Operand, Piece, pieces};
use plimsoll_build::nearest::nearest;
use plimsoll_build::sentence::short;
use plimsoll_build::source::Pos;
use plimsoll_build::wrong_name;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;

/// Resolves `vars`, then fills in every text of the tree. A name that `given` sets must be defined in the file.
pub fn fill(tree: &mut Node, given: &Overrides, r: &mut Reader<'_>) {
    let Value::Map(entries) = &mut tree.value else { return };
    let mut env = Environment { given, unset: Vec::new() };
    let vars: Vec<Entry> = match entries.iter().find(|entry| entry.key == "vars") {
        None => Vec::new(),
        Some(entry) => match find(Section::Top, "vars").and_then(|row| r.map(&entry.value, row)) {
            Some(vars) => vars.to_vec(),
            None => return,
        },
    };
    refuse_unknown_sets(&vars, given, r);
    let mut resolving = Resolving { vars: &vars, open: Vec::new() };
    for var in &vars {
        resolving.resolve(var, &mut env, r);
    }
    for entry in entries.iter_mut().filter(|entry| entry.key != "vars") {
        refuse_in_key(entry, r);
        // The content of an unsupported key is not checked.
        if !LATER.contains(&(Section::Top, entry.key.as_str())) {
            fill_node(&mut entry.value, &mut env, r);
        }
    }
}

/// The environment variables; each unset one is reported once.
struct Environment<'g> {
    given: &'g Overrides,
    unset: Vec<String>,
}

struct Resolving<'v> {
    vars: &'v [Entry],
    /// Names whose values are being resolved; a name that occurs again here is a cycle.
    open: Vec<String>,
}

impl Resolving<'_> {
    fn resolve(&mut self, var: &Entry, env: &mut Environment<'_>, r: &mut Reader<'_>) {
        if r.constants.contains_key(&var.key) {
            return;
        }
        refuse_name(var, r);
        let spoil = |r: &mut Reader<'_>| {
            r.constants.insert(var.key.clone(), Constant { text: String::new(), plain: false });
        };
        if let Some((_, text)) = env.given.set.iter().rev().find(|(name, _)| *name == var.key) {
            let plain = is_special(text);
            r.constants.insert(var.key.clone(), Constant { text: text.clone(), plain });
            return;
        }
        let Value::Scalar(scalar) = &var.value.value else {
            let message = format!("invalid variable `{}`: expected a text, a number, or a Boolean", var.key);
            r.complain(
                "F014",
                var.value.pos,
                message,
                "write one value, or a list of values to run, such as `[1, 10]`",
            );
            return spoil(r);
        };
        self.open.push(var.key.clone());
        // First resolve the variables that this one uses.
        if let Ok(pieces) = pieces(&scalar.text) {
            for piece in &pieces {
                let Piece::Expression { written, means: Expression::Name(name) } = piece else { continue };
                let Some(other) = self.vars.iter().find(|other| other.key == *name) else { continue };
                if self.open.contains(name) {
                    let at = r.source.within(var.value.pos, written);
                    let message = match self.open.as_slice() {
                        [one] => format!("`{one}` refers to itself"),
                        several => format!("`{}` refer to each other", several.join("` and `")),
                    };
                    r.complain("F017", at, message, "write the value of one of them without a reference");
                    self.open.pop();
                    return spoil(r);
                }
                self.resolve(other, env, r);
            }
        }
        self.open.pop();
        let mut value = var.value.clone();
        fill_node(&mut value, env, r);
        let Value::Scalar(filled) = &value.value else { return };
        let row = super::key::Row { name: "vars", ..super::key::TABLE[0] };
        // An empty text is a value too.
        let fixed = filled.spoiled || filled.pieces.is_empty() || r.written(&value, &row).is_some();
        if fixed && !filled.spoiled {
            let plain = (scalar.plain || filled.filled) && is_special(&filled.text);
            r.constants.insert(var.key.clone(), Constant { text: filled.text.clone(), plain });
        } else {
            spoil(r);
        }
    }
}

/// Reports a name that has another meaning in expressions.
fn refuse_name(var: &Entry, r: &mut Reader<'_>) {
    if let Some((message, hint)) = wrong_name(&var.key) {
        r.complain("F015", var.pos, message, hint);
    }
}

fn refuse_unknown_sets(vars: &[Entry], given: &Overrides, r: &mut Reader<'_>) {
    for (name, value) in &given.set {
        if vars.iter().any(|var| var.key == *name) || r.settable.contains(name) {
            continue;
        }
        let names = || vars.iter().map(|var| var.key.as_str());
        let hint = match nearest(name, names()) {
            Some(right) => format!("did you mean `{right}`?"),
            None if vars.is_empty() => format!("add `vars: {{ {name}: ... }}` to the file"),
            None => format!("use one of {}", plimsoll_build::sentence::alternatives(names())),
        };
        let message = format!("unknown variable `{name}`: `vars` does not define it");
        // The value may be a secret, so only the name is shown.
        let shown = if value.is_empty() { format!("--set {name}=") } else { format!("--set {name}=...") };
        r.wrong.push(Diagnostic::new("F029", Place::Flag(shown), message, hint));
    }
}

/// Reports an expression in a key: keys are read before expressions are filled in.
fn refuse_in_key(entry: &Entry, r: &mut Reader<'_>) {
    if let Some(at) = entry.key.find("${") {
        let end = entry.key[at..].find('}').map_or(entry.key.len(), |end| at + end + 1);
        let message = format!(
            "unexpected expression `{}`: names cannot contain expressions",
            short(&entry.key[at..end])
        );
        r.complain("F030", entry.pos, message, "write a fixed name, and use expressions only in values");
    }
}

fn fill_node(node: &mut Node, env: &mut Environment<'_>, r: &mut Reader<'_>) {
    let pos = node.pos;
    match &mut node.value {
        Value::Scalar(scalar) => fill_scalar(scalar, pos, env, r),
        Value::List(list) => list.iter_mut().for_each(|item| fill_node(item, env, r)),
        Value::Map(entries) => {
            for entry in entries {
                refuse_in_key(entry, r);
                fill_node(&mut entry.value, env, r);
            }
        }
    }
}

fn fill_scalar(scalar: &mut Scalar, pos: Pos, env: &mut Environment<'_>, r: &mut Reader<'_>) {
    // Most texts have nothing to fill in.
    if !["${", "{{", "__"].iter().any(|mark| scalar.text.contains(mark)) {
        return;
    }
    let all = match pieces(&scalar.text) {
        Ok(all) => all,
        Err(mistakes) => {
            scalar.spoiled = true;
            for mistake in mistakes {
                let at = r.source.within(pos, &mistake.written);
                r.complain(mistake.code, at, mistake.message, mistake.hint);
            }
            return;
        }
    };
    scalar.first = match all.as_slice() {
        [Piece::Expression { .. }, ..] => Some(0),
        [Piece::Literal(text), _, ..] => Some(text.len()),
        _ => None,
    };
    let alone = all.len() == 1;
    let mut filled: Vec<Piece> = Vec::new();
    for mut piece in all {
        if let Piece::Expression { means: Expression::Apply(_, operands), .. } = &mut piece
            && !fill_operands(operands, pos, env, r)
        {
            scalar.spoiled = true;
            continue;
        }
        let found = match &piece {
            Piece::Literal(text) => Found::Text { text: text.clone(), plain: false },
            Piece::Expression { written, means } => value_of(means, written, pos, env, r),
        };
        match (found, filled.last_mut()) {
            (Found::Text { text, plain }, last) => {
                if alone {
                    scalar.filled = plain;
                    // Quotes in `vars` turn a number into text everywhere it is used.
                    scalar.plain &= plain || !is_special(&text);
                }
                match last {
                    Some(Piece::Literal(literal)) => literal.push_str(&text),
                    _ => filled.push(Piece::Literal(text)),
                }
            }
            (Found::Later, _) => filled.push(piece),
            (Found::Wrong, _) => scalar.spoiled = true,
        }
    }
    match filled.as_slice() {
        [] => scalar.text.clear(),
        [Piece::Literal(text)] => scalar.text = text.clone(),
        _ => {
            scalar.text = filled.iter().map(written).collect();
            scalar.pieces = filled;
        }
    }
}

/// Fills in the arguments of a function of texts. Returns false if it reported a mistake.
fn fill_operands(operands: &mut [Operand], pos: Pos, env: &mut Environment<'_>, r: &mut Reader<'_>) -> bool {
    let mut is_right = true;
    let mut filled = |means: &mut Expression, written: &str| {
        if let Expression::Apply(_, inner) = means {
            is_right &= fill_operands(inner, pos, env, r);
            return None;
        }
        match value_of(means, written, pos, env, r) {
            Found::Text { text, .. } => Some(text),
            Found::Later => None,
            Found::Wrong => {
                is_right = false;
                None
            }
        }
    };
    for operand in operands {
        match operand {
            Operand::Value { written, means } => {
                if let Some(text) = filled(means, written) {
                    *operand = Operand::Text(vec![Piece::Literal(text)]);
                }
            }
            Operand::Text(pieces) => {
                for piece in pieces {
                    let Piece::Expression { written, means } = piece else { continue };
                    if let Some(text) = filled(means, written) {
                        *piece = Piece::Literal(text);
                    }
                }
            }
        }
    }
    is_right
}

fn written(piece: &Piece) -> &str {
    match piece {
        Piece::Literal(text) => text,
        Piece::Expression { written, .. } => written,
    }
}

enum Found {
    Text {
        text: String,
        plain: bool,
    },
    /// A value that only the load determines.
    Later,
    Wrong,
}

fn value_of(
    means: &Expression,
    written: &str,
    pos: Pos,
    env: &mut Environment<'_>,
    r: &mut Reader<'_>,
) -> Found {
    match means {
        Expression::Name(name) => match r.constants.get(name) {
            Some(constant) => Found::Text { text: constant.text.clone(), plain: constant.plain },
            None => Found::Later,
        },
        Expression::Field(front, name) if front == "env" || front == "secret" => {
            let at = r.source.within(pos, written);
            if !r.may_know(name, at) {
                return Found::Wrong;
            }
            let Some(text) = (env.given.env)(name) else {
                if !env.unset.contains(name) {
                    env.unset.push(name.clone());
                    let message = format!("environment variable `{name}` is not set");
                    r.complain("F024", at, message, format!("set it: `{name}=... plimsoll run ...`"));
                }
                return Found::Wrong;
            };
            if front == "env" {
                let plain = is_yaml_number(&text) || is_special(&text);
                return Found::Text { text, plain };
            }
            if text.is_empty() {
                let hint = format!("set it: `{name}=... plimsoll run ...`");
                r.complain("F024", at, format!("secret `{name}` is empty"), hint);
                return Found::Wrong;
            }
            r.secrets.insert(name.clone(), text);
            Found::Later
        }
        _ => Found::Later,
    }
}

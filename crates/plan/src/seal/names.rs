//! Texts for output, with the names of their placeholders.

use crate::request::REDACTED;
use crate::script::Script;
use crate::value::{Alphabet, Function, Part, Placeholder, Text, TimeFormat};

/// Returns a text such as `/users/${id}?q=${random_int(1, 6)}`, with secrets as `***`.
pub fn describe(text: &Text, script: &Script) -> String {
    let mut all = String::new();
    for part in &text.parts {
        match part {
            Part::Literal(bytes) => all.push_str(&String::from_utf8_lossy(bytes)),
            Part::Secret(_) => all.push_str(REDACTED),
            Part::Placeholder(hole, _) => all.push_str(&hole_shown(hole, script)),
        }
    }
    all
}

fn hole_shown(hole: &Placeholder, script: &Script) -> String {
    // A number without a name is from a script that no front end built.
    let name =
        |names: &[String], id: u16| names.get(usize::from(id)).cloned().unwrap_or_else(|| format!("#{id}"));
    match hole {
        Placeholder::Var(id) => format!("${{{}}}", name(&script.vars, *id)),
        Placeholder::Global(id) => format!("${{{}}}", name(&script.globals, *id)),
        Placeholder::Column { feeder, column } => match script.feeders.get(usize::from(*feeder)) {
            Some(feeder) => format!("${{{}.{}}}", feeder.name, name(&feeder.columns, *column)),
            None => hole.describe(),
        },
        Placeholder::Call(function) => format!("${{{}}}", call(function)),
        // Credentials are hidden, even if only their names would show.
        Placeholder::Base64(_) => REDACTED.into(),
    }
}

fn call(function: &Function) -> String {
    let name = function.name();
    match function {
        Function::Uuid | Function::User | Function::Iteration => name.to_owned(),
        Function::Now(format) => match format {
            TimeFormat::Iso => name.to_owned(),
            TimeFormat::Unix => format!("{name}(unix)"),
            TimeFormat::UnixMs => format!("{name}(unix_ms)"),
            TimeFormat::UnixNs => format!("{name}(unix_ns)"),
            TimeFormat::Http => format!("{name}(http)"),
            TimeFormat::Pattern(pattern) => format!("{name}({pattern})"),
        },
        Function::Counter { start: 1, step: 1, .. } => name.to_owned(),
        Function::Counter { start, step: 1, .. } => format!("{name}({start})"),
        Function::Counter { start, step, .. } => format!("{name}({start}, {step})"),
        Function::RandomInt { low, high } => format!("{name}({low}, {high})"),
        Function::RandomString { length, alphabet } => match alphabet {
            Alphabet::Alphanumeric => format!("{name}({length})"),
            Alphabet::Letters => format!("{name}({length}, letters)"),
            Alphabet::Digits => format!("{name}({length}, digits)"),
            Alphabet::Hex => format!("{name}({length}, hex)"),
        },
    }
}

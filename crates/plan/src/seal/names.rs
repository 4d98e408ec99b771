//! Texts for output, with the names of their placeholders.

use crate::request::REDACTED;
use crate::script::Script;
use crate::value::{
    Alphabet, Derived, Form, Function, Locale, Part, Placeholder, RequestPart, Text, TimeFormat, Transform,
};

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
        Placeholder::Derived(derived) => format!("${{{}}}", derived_shown(derived, script)),
        Placeholder::Timing(id) => match script.timings.get(usize::from(*id)) {
            Some(timing) => {
                let request = script.asks.get(timing.ask as usize).map_or("", |ask| &ask.name);
                format!("${{{}({request})}}", timing.part.name())
            }
            None => hole.describe(),
        },
        Placeholder::Request(part) => {
            let name =
                RequestPart::NAMED.iter().find(|(_, known)| known == part).map_or("", |(name, _)| name);
            format!("${{request.{name}}}")
        }
    }
}

/// Returns a function of a text; the key of an HMAC is hidden.
fn derived_shown(derived: &Derived, script: &Script) -> String {
    let name = derived.how.name();
    let text = format!("\"{}\"", describe(&derived.text, script));
    let form = |form: &Form| match form {
        Form::Hex => String::new(),
        other => {
            let name = Form::NAMED.iter().find(|(_, known)| known == other).map_or("", |(name, _)| name);
            format!(", {name}")
        }
    };
    match &derived.how {
        Transform::Digest { form: how, .. } => format!("{name}({text}{})", form(how)),
        Transform::Hmac { form: how, .. } => format!("{name}({REDACTED}, {text}{})", form(how)),
        // Claims may identify a person.
        Transform::Jwt { .. } => name.to_owned(),
        _ => format!("{name}({text})"),
    }
}

fn format_shown(format: &TimeFormat) -> &str {
    match format {
        TimeFormat::Iso => "iso",
        TimeFormat::Unix => "unix",
        TimeFormat::UnixMs => "unix_ms",
        TimeFormat::UnixNs => "unix_ns",
        TimeFormat::Http => "http",
        TimeFormat::Pattern(pattern) => pattern,
    }
}

fn call(function: &Function) -> String {
    let name = function.name();
    match function {
        Function::Uuid | Function::User | Function::Iteration => name.to_owned(),
        Function::Now(TimeFormat::Iso) => name.to_owned(),
        Function::Now(format) => format!("{name}({})", format_shown(format)),
        Function::Moment(moment) => {
            let mut all = vec![format_shown(&moment.format).to_owned()];
            all.extend((!moment.shift.is_none()).then(|| moment.shift.describe()));
            all.extend(moment.zone.as_ref().map(|zone| zone.name.clone()));
            format!("{name}({})", all.join(", "))
        }
        Function::Fake(kind, Locale::En) => format!("{name}.{}", kind.name()),
        Function::Fake(kind, locale) => format!("{name}.{}({})", kind.name(), locale.name()),
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

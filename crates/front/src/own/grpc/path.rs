//! JSONPaths into responses: a member that the message never has is a typo.

use plimsoll_build::nearest::nearest;
use plimsoll_build::sentence::{alternatives, short};
use plimsoll_plan::Problem;
use plimsoll_plan::grpc::{Field, Kind, Label, MessageForm, Types};

/// Checks the members that a path names, as far as it names single ones.
///
/// # Errors
/// Returns an error for a field that a message lacks.
pub fn check(types: &Types, message: usize, path: &str) -> Result<(), Problem> {
    let mut rest = path.trim().strip_prefix('$').unwrap_or_default();
    let mut at = message;
    loop {
        let Some(of) = types.messages.get(at).filter(|of| of.form == MessageForm::Object) else {
            return Ok(());
        };
        let Some((name, after)) = member(rest) else { return Ok(()) };
        let Some(field) = of.fields.iter().find(|field| field.name == name) else {
            let names = || of.fields.iter().map(|field| field.name.as_str());
            let hint = match snake(name).filter(|snake| names().any(|known| known == snake)) {
                Some(right) => format!("use the name in the schema: `{right}`"),
                None => match nearest(name, names()) {
                    Some(right) => format!("did you mean `{right}`?"),
                    None if of.fields.is_empty() => "the message has no fields".into(),
                    None => format!("use {}", alternatives(names().take(8))),
                },
            };
            let message = format!("message `{}` has no field `{}`", of.name, short(name));
            return Err(Problem::new(message, hint));
        };
        let Some((next, after)) = inside(field, types, after) else { return Ok(()) };
        (at, rest) = (next, after);
    }
}

/// Returns the message that a field contains, and the path in it; `None` unless it is a single message.
fn inside<'p>(field: &Field, types: &Types, path: &'p str) -> Option<(usize, &'p str)> {
    let (Kind::Message(of) | Kind::Group(of)) = field.kind else { return None };
    match field.label {
        Label::Implicit | Label::Optional => Some((of, path)),
        Label::List => Some((of, index(path)?)),
        Label::Map => {
            let (_, value) = types.messages.get(of)?.field(2)?;
            let Kind::Message(of) = value.kind else { return None };
            member(path).map(|(_, after)| (of, after))
        }
    }
}

/// Splits `.name` or `['name']` off a path.
fn member(path: &str) -> Option<(&str, &str)> {
    if let Some(rest) = path.strip_prefix('.') {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        return (end > 0).then(|| rest.split_at(end));
    }
    let rest = path.strip_prefix('[')?;
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (name, after) = rest[1..].split_once(quote)?;
    Some((name, after.strip_prefix(']')?)).filter(|_| !name.contains('\\'))
}

/// Splits `[0]` or `[*]` off a path.
fn index(path: &str) -> Option<&str> {
    let (inner, after) = path.strip_prefix('[')?.split_once(']')?;
    let is_index = inner == "*" || inner.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    is_index.then_some(after)
}

/// Returns a name in camel case as it usually is in a schema.
fn snake(name: &str) -> Option<String> {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    (out != name).then_some(out)
}

//! User-defined reports: a template with placeholders that a result fills in. Placeholders know the document of
//! `--json`, the charts, and plimsoll's units, which round as in every other report.
//!
//! A template comes from its author, and the result contains texts of a server that may be hostile. Therefore, texts in
//! HTML are escaped, control characters never pass, only the folder that the caller opens is read, and a template that
//! does not end is stopped.

#![forbid(unsafe_code)]

mod names;
mod units;
mod value;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, Value};
use names::Missed;
use std::io::Write;
use std::sync::Arc;

/// Maximum number of instructions of a template: a hundred for each second of a nine-hour run and its requests, and
/// half a second of work.
const FUEL: u64 = 10_000_000;
/// Maximum number of bytes that a template may write: a hundred times the largest page.
const BYTES_MAX: usize = 64_000_000;

/// A chart of the result.
#[derive(Debug, Clone)]
pub struct Picture {
    /// As in [`plimsoll_chart::Chart::id`].
    pub id: String,
    pub title: String,
    pub subtitle: String,
    pub svg: String,
}

/// The reason why a template failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// A lower-case fragment.
    pub sentence: String,
    /// How to fix it; may be empty.
    pub hint: String,
    /// File, line, and column starting at 1, and the line; `None` if the error has no place.
    pub place: Option<Place>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub excerpt: String,
}

/// Fills in `source`. The extension of `name`, its file name, determines how texts are escaped. `kind` is the kind of
/// the result (`run`, `search`), `document` is the output of `--json`, and `load` returns the text of another file that
/// the template includes, or `None` if there is none.
///
/// # Errors
/// Returns an error if the template is invalid, uses an unknown name, or does not end.
pub fn render(
    name: &str,
    source: &str,
    kind: &str,
    document: &serde_json::Value,
    pictures: Vec<Picture>,
    load: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Result<String, Problem> {
    let missed = Arc::new(Missed::of(kind));
    let pictures = Arc::new(pictures);
    // A file ends with a line feed, and so does its output; a line with only a statement outputs nothing.
    let mut syntax = SyntaxConfig::builder();
    let syntax = syntax.keep_trailing_newline(true).trim_blocks(true).lstrip_blocks(true).build();
    let syntax = syntax.map_err(|e| Problem { sentence: e.to_string(), hint: String::new(), place: None })?;
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_auto_escape_callback(escaping);
    env.set_fuel(Some(FUEL));
    env.set_syntax(syntax);
    env.set_loader(move |name| Ok(load(name)));
    units::add(&mut env);
    let drawn = Arc::clone(&pictures);
    env.add_function("svg", move |id: &str| svg(&drawn, id));
    let problem = |error: minijinja::Error| problem(&error, name, source, &missed);
    env.add_template(name, source).map_err(problem)?;
    let given = value::root(kind, document, &pictures, &missed, globals(&env));
    let mut out = Bounded { bytes: Vec::new() };
    let template = env.get_template(name).map_err(problem)?;
    template.render_captured_to(given, &mut out).map_err(problem)?;
    Ok(String::from_utf8_lossy(&out.bytes).into_owned())
}

/// Names that are not placeholders of the document.
fn globals(env: &Environment) -> Vec<String> {
    env.globals().map(|(name, _)| name.to_owned()).collect()
}

/// Escapes markup if the file is markup; Markdown and text stay unchanged.
fn escaping(name: &str) -> AutoEscape {
    let is = |end: &str| name.to_ascii_lowercase().ends_with(end);
    match [".html", ".htm", ".svg", ".xml"].into_iter().any(is) {
        true => AutoEscape::Html,
        false => AutoEscape::None,
    }
}

/// A chart is trusted markup and is inserted unchanged.
fn svg(pictures: &[Picture], id: &str) -> Result<Value, minijinja::Error> {
    match pictures.iter().find(|picture| picture.id == id) {
        Some(picture) => Ok(Value::from_safe_string(picture.svg.clone())),
        None => {
            let ids: Vec<&str> = pictures.iter().map(|picture| picture.id.as_str()).collect();
            Err(names::no_such("chart", id, &ids))
        }
    }
}

/// Stops a template that writes without an end.
struct Bounded {
    bytes: Vec<u8>,
}

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + more.len() > BYTES_MAX {
            return Err(std::io::Error::other("too much"));
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns one sentence, with the place in the template and a suggestion.
fn problem(error: &minijinja::Error, name: &str, source: &str, missed: &Missed) -> Problem {
    let deepest = deepest(error);
    let of_main = deepest.name().is_none_or(|at| at == name);
    let place = place(deepest, if of_main { Some(source) } else { deepest.template_source() }, name);
    let detail = deepest.detail().unwrap_or_default();
    let (sentence, hint) = match deepest.kind() {
        ErrorKind::UndefinedError => missed.describe(),
        ErrorKind::OutOfFuel => (
            "the template does not end".into(),
            format!(
                "it was stopped after {} steps; check its nested loops",
                plimsoll_output::format::count(FUEL)
            ),
        ),
        ErrorKind::WriteFailure => (
            format!("the template writes more than {}", plimsoll_output::format::bytes(BYTES_MAX as u64)),
            "check its nested loops".into(),
        ),
        ErrorKind::TemplateNotFound => (
            format!("no such file to include: {}", quoted(detail)),
            "included files must be in the directory of the template or below it".into(),
        ),
        ErrorKind::UnknownFilter | ErrorKind::UnknownFunction => (
            detail.to_lowercase(),
            format!("filters and functions for units are {}", units::NAMES.join(", ")),
        ),
        kind if detail.is_empty() => (kind.to_string(), String::new()),
        _ => (detail.to_owned(), names::hint_of(deepest)),
    };
    Problem { sentence, hint, place }
}

/// The engine puts the name of `template "x" does not exist` in quotes.
fn quoted(detail: &str) -> String {
    detail.replace("template ", "").replace(" does not exist", "").replace('"', "`")
}

/// An include only reports that it failed; the reason is in its source.
fn deepest(error: &minijinja::Error) -> &minijinja::Error {
    let mut at = error;
    while let Some(inner) = std::error::Error::source(at).and_then(|e| e.downcast_ref::<minijinja::Error>()) {
        at = inner;
    }
    at
}

fn place(error: &minijinja::Error, source: Option<&str>, name: &str) -> Option<Place> {
    let line = error.line()?;
    let source = source.unwrap_or_default();
    let start: usize = source.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let excerpt = source.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let before = error.range().and_then(|range| source.get(start..range.start.max(start)));
    let column = before.map_or(0, |text| text.chars().count()).min(excerpt.chars().count()) + 1;
    Some(Place {
        file: error.name().unwrap_or(name).to_owned(),
        line: u32::try_from(line).unwrap_or(u32::MAX),
        column: u32::try_from(column).unwrap_or(1),
        excerpt: excerpt.to_owned(),
    })
}

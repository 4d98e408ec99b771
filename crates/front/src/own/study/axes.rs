//! Lists in the place of single values: each spans an axis of the matrix.
//!
//! Which keys can have one is said by the table of keys, so that a key that is added there spans an axis as well.

use crate::own::key::{Kind, Section, find};
use crate::own::reader::Reader;
use crate::own::yaml::{Entry, Node, Scalar, Value};
use crate::source::Pos;
use plimsoll_plan::experiment::Axis;
use plimsoll_plan::unit;

/// An axis and the values that take its place in the tree.
pub struct Span {
    pub axis: Axis,
    /// Keys from the top to the list.
    pub path: Vec<String>,
    pub pos: Pos,
    pub nodes: Vec<Node>,
    kind: Option<&'static Kind>,
}

impl Span {
    /// Whether it is a list under `vars`, whose values are the author's.
    pub fn is_var(&self) -> bool {
        self.path.first().is_some_and(|key| key == "vars")
    }
}

/// A list where one value is expected.
pub struct List<'n> {
    pub path: Vec<String>,
    pub pos: Pos,
    pub items: &'n [Node],
    /// What its key expects; `None` under `vars`, where values are texts of the author's.
    kind: Option<&'static Kind>,
}

/// All of them, in the order of the text.
pub fn lists(tree: &Node) -> Vec<List<'_>> {
    let mut out = Vec::new();
    let Value::Map(entries) = &tree.value else { return out };
    for entry in entries {
        let section = match entry.key.as_str() {
            "load" => Section::Load,
            "connection" => Section::Connection,
            "tls" => Section::Tls,
            "vars" => {
                for var in fields(&entry.value) {
                    out.extend(list(vec!["vars".into(), var.key.clone()], var, None));
                }
                continue;
            }
            _ => {
                out.extend(spanned(Section::Top, entry, Vec::new()));
                continue;
            }
        };
        for field in fields(&entry.value) {
            out.extend(spanned(section, field, vec![entry.key.clone()]));
        }
    }
    out
}

fn fields(node: &Node) -> &[Entry] {
    match &node.value {
        Value::Map(entries) => entries,
        _ => &[],
    }
}

fn spanned<'n>(section: Section, entry: &'n Entry, mut path: Vec<String>) -> Option<List<'n>> {
    let row = find(section, &entry.key).filter(|row| row.spans())?;
    path.push(entry.key.clone());
    list(path, entry, Some(&row.kind))
}

fn list<'n>(path: Vec<String>, entry: &'n Entry, kind: Option<&'static Kind>) -> Option<List<'n>> {
    match &entry.value.value {
        Value::List(items) => Some(List { path, pos: entry.value.pos, items, kind }),
        _ => None,
    }
}

/// The axes of a file, variants left aside; and the paths of lists that cannot span one, which it has complained of.
pub fn spans(tree: &Node, r: &mut Reader<'_>) -> (Vec<Span>, Vec<Vec<String>>) {
    let mut spans: Vec<Span> = Vec::new();
    let mut broken = Vec::new();
    for list in lists(tree) {
        let Some(span) = span(&list, r) else {
            broken.push(list.path);
            continue;
        };
        let name = &span.axis.name;
        if name == "variant" || spans.iter().any(|other| other.axis.name == *name) || is_taken(tree, &span) {
            let message = format!("two things that `--set` could mean are called `{name}`");
            let hint = "write the list under `vars` with a name of its own, and `${name}` in its place";
            r.complain("F034", span.pos, message, hint);
            broken.push(list.path);
            continue;
        }
        spans.push(span);
    }
    (spans, broken)
}

/// Whether a single value under `vars` is called as this axis.
fn is_taken(tree: &Node, span: &Span) -> bool {
    let vars = fields(tree).iter().find(|entry| entry.key == "vars");
    !span.is_var() && vars.is_some_and(|vars| fields(&vars.value).iter().any(|var| var.key == span.axis.name))
}

fn span(list: &List<'_>, r: &mut Reader<'_>) -> Option<Span> {
    let name = list.path.last()?.clone();
    let complain = |message: String, hint: &str, pos: Pos, r: &mut Reader<'_>| {
        r.complain("F034", pos, message, hint);
        None
    };
    if list.items.is_empty() {
        return complain(format!("the list of `{name}` is empty"), "give it values", list.pos, r);
    }
    let mut values: Vec<String> = Vec::with_capacity(list.items.len());
    for item in list.items {
        let Value::Scalar(scalar) = &item.value else {
            let hint = "each must be one text, number or truth value";
            return complain(format!("`{name}` has a value that is none by itself"), hint, item.pos, r);
        };
        // A value names its cell in reports and files, the same on each machine; a secret must not come there.
        if scalar.text.contains("${") {
            let message = format!("a value of the axis `{name}` is not written out");
            let hint = "its values name the cells; use `variants` for what comes from outside";
            return complain(message, hint, item.pos, r);
        }
        let value = describe_default(&scalar.text, list.kind);
        if let Some(other) = values.iter().find(|other| is_same(other, &value, list.kind)) {
            let message = match *other == value {
                true => format!("`{value}` stands twice in `{name}`"),
                false => format!("`{other}` and `{value}` in `{name}` are the same"),
            };
            return complain(message, "keep one", item.pos, r);
        }
        values.push(value);
    }
    let is_numeric = values.iter().all(|value| value.parse::<f64>().is_ok_and(f64::is_finite));
    let nodes = list.items.to_vec();
    Some(Span {
        axis: Axis { name, values, is_numeric },
        path: list.path.clone(),
        pos: list.pos,
        nodes,
        kind: list.kind,
    })
}

/// A value as its cell is called: as it is written, but a rate as its number per second, so that rates are numbers, and
/// `01` as `1`, so that a level has one name.
fn describe_default(text: &str, kind: Option<&Kind>) -> String {
    let plain = match kind {
        Some(Kind::Rate) => unit::rate_per_s(text).ok().map(|rate_per_s| rate_per_s.to_string()),
        Some(Kind::Whole) if text.bytes().all(|b| b.is_ascii_digit()) => {
            text.parse::<u64>().ok().map(|number| number.to_string())
        }
        Some(Kind::Truth) => {
            Some(text.to_ascii_lowercase()).filter(|word| matches!(&**word, "true" | "false"))
        }
        Some(Kind::Either(kinds)) => {
            kinds.iter().map(|kind| describe_default(text, Some(kind))).find(|other| *other != text)
        }
        _ => None,
    };
    plain.unwrap_or_else(|| text.to_owned())
}

/// Whether two values as they are told mean the same: `1s` and `1000ms` do.
fn is_same(one: &str, other: &str, kind: Option<&Kind>) -> bool {
    let is_same_time = || match (unit::duration_ns(one), unit::duration_ns(other)) {
        (Ok(one_ns), Ok(other_ns)) => one_ns == other_ns,
        _ => false,
    };
    one == other || matches!(kind, Some(Kind::Time)) && is_same_time()
}

/// Keeps one value of an axis.
///
/// # Errors
/// The values that there are, when this is none of them. A list under `vars` takes any value, as its single values do.
pub fn narrow(span: &mut Span, text: &str) -> Result<(), String> {
    let kind = span.kind;
    let meant = describe_default(text, kind);
    let is_meant = |value: &String| is_same(value, &meant, kind);
    match span.axis.values.iter().position(is_meant) {
        Some(at) => {
            span.nodes = vec![span.nodes.swap_remove(at)];
            span.axis.values = vec![span.axis.values.swap_remove(at)];
        }
        None if span.is_var() => {
            let scalar = Scalar { text: text.to_owned(), plain: true, ..Scalar::default() };
            span.nodes = vec![Node { pos: span.pos, value: Value::Scalar(scalar) }];
            span.axis.is_numeric = text.parse::<f64>().is_ok_and(f64::is_finite);
            span.axis.values = vec![text.to_owned()];
        }
        None => return Err(crate::sentence::quoted(span.axis.values.iter().map(String::as_str))),
    }
    Ok(())
}

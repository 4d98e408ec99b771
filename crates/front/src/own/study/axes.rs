//! Lists in place of single values: each spans an axis of the matrix.
//!
//! The table of keys says which keys can have a list, so that a new key can span an axis as well.

use crate::own::key::{Kind, Section, find};
use crate::own::reader::Reader;
use crate::own::yaml::{Entry, Node, Scalar, Value};
use plimsoll_build::source::Pos;
use plimsoll_plan::experiment::Axis;
use plimsoll_plan::unit;

/// An axis, and the values that replace its list in the tree.
pub struct Span {
    pub axis: Axis,
    /// Keys from the top to the list.
    pub path: Vec<String>,
    pub pos: Pos,
    pub nodes: Vec<Node>,
    kind: Option<&'static Kind>,
}

impl Span {
    /// Returns whether it is a list under `vars`, whose values are arbitrary texts.
    pub fn is_var(&self) -> bool {
        self.path.first().is_some_and(|key| key == "vars")
    }
}

/// A list in place of one value.
pub struct List<'n> {
    pub path: Vec<String>,
    pub pos: Pos,
    pub items: &'n [Node],
    /// The kind of value that its key expects; `None` under `vars`, where values are arbitrary texts.
    kind: Option<&'static Kind>,
}

/// Returns all lists, in the order of the text.
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

/// Returns the axes of a file, without variants, and the paths of lists that cannot span one. The latter are reported.
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
            let message = format!("ambiguous name `{name}`: `--set {name}=...` could mean two values");
            let hint = "move the list to `vars` under another name, and write `${name}` in its place";
            r.complain("F034", span.pos, message, hint);
            broken.push(list.path);
            continue;
        }
        spans.push(span);
    }
    (spans, broken)
}

/// Returns whether a single value under `vars` has the name of this axis.
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
        return complain(format!("the list `{name}` is empty"), "add at least one value", list.pos, r);
    }
    let mut values: Vec<String> = Vec::with_capacity(list.items.len());
    for item in list.items {
        let Value::Scalar(scalar) = &item.value else {
            let hint = "write only texts, numbers, and Booleans in this list";
            return complain(format!("invalid value in the list `{name}`"), hint, item.pos, r);
        };
        // A value names its cell in reports and files, the same on each machine, and must not reveal a secret.
        if scalar.text.contains("${") {
            let message = format!("the list `{name}` must not contain expressions: its values name runs");
            let hint = "write fixed values, or use `variants`";
            return complain(message, hint, item.pos, r);
        }
        let value = describe_default(&scalar.text, list.kind);
        if let Some(other) = values.iter().find(|other| is_same(other, &value, list.kind)) {
            let message = match *other == value {
                true => format!("duplicate value `{value}` in the list `{name}`"),
                false => format!("duplicate value in the list `{name}`: `{other}` equals `{value}`"),
            };
            return complain(message, "keep one of them", item.pos, r);
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

/// Returns a value as it names its cell: as written, except that a rate becomes its number per second, so that rates
/// are numbers, and `01` becomes `1`, so that a level has one name.
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

/// Returns whether two values are equal, such as `1s` and `1000ms`.
fn is_same(one: &str, other: &str, kind: Option<&Kind>) -> bool {
    let is_same_time = || match (unit::duration_ns(one), unit::duration_ns(other)) {
        (Ok(one_ns), Ok(other_ns)) => one_ns == other_ns,
        _ => false,
    };
    one == other || matches!(kind, Some(Kind::Time)) && is_same_time()
}

/// Keeps one value of an axis. A list under `vars` accepts any value, as a single value there does.
///
/// # Errors
/// Returns the values of the axis if `text` is not one of them.
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
        None => {
            return Err(plimsoll_build::sentence::alternatives(span.axis.values.iter().map(String::as_str)));
        }
    }
    Ok(())
}

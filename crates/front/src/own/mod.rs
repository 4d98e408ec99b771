//! Our own experiment files: YAML in which everything that a flag can say can be said, and every mistake has its
//! line and column.
//!
//! ```yaml
//! target: http://127.0.0.1:8080
//! scenarios: { browse: [ { get: /pick } ] }
//! load: { users: 100, duration: 15s }
//! ```

mod json;
pub mod key;
mod load;
mod reader;
mod request;
mod scenario;
mod site;
mod syntax;
mod yaml;

use crate::Located;
use key::Section;
use plimsoll_plan::diag::Place;
use plimsoll_plan::draft::key as field;
use plimsoll_plan::load::Share;
use plimsoll_plan::{Diagnostic, Draft, limit, threshold, unit};
use reader::Reader;
use std::path::Path;
use yaml::{Node, Pos, Source, Value};

/// Reads an experiment. `file` is the name that diagnostics show; relative file names in the text start at `folder`.
///
/// # Errors
/// Every mistake found, in the order of the text. Broken YAML is reported alone: what follows it cannot be judged.
pub fn parse(text: &str, file: &str, folder: &Path) -> Result<Located, Vec<Diagnostic>> {
    let source = Source::new(text, file);
    let mut wrong = Vec::new();
    let tree = yaml::tree(text, &source, &mut wrong).map_err(|diagnostic| vec![diagnostic])?;
    let mut reader = Reader { source, folder, wrong, places: Default::default() };
    refuse_expressions(&tree, &mut reader);
    let draft = experiment(&tree, &mut reader);
    let Reader { mut wrong, places, .. } = reader;
    if wrong.is_empty() {
        return Ok(Located { draft, places });
    }
    // One value that an alias repeats would be reported as often.
    wrong.sort_by_key(|d| match d.place {
        Place::Text { line, column, .. } => (line, column),
        _ => (0, 0),
    });
    wrong.dedup();
    Err(wrong)
}

fn experiment(tree: &Node, r: &mut Reader<'_>) -> Draft {
    let mut draft = Draft::default();
    let Value::Map(entries) = &tree.value else {
        r.complain(
            "F014",
            tree.pos,
            "an experiment is a mapping of keys to values",
            "expected lines such as `target: http://127.0.0.1:8080`",
        );
        return draft;
    };

    let mut parts = scenario::Parts::default();
    for entry in entries {
        let (node, Some(row)) = (&entry.value, r.row(Section::Top, entry)) else {
            parts.misspelt.extend(key::meant(Section::Top, &entry.key));
            continue;
        };
        if let Some(field) = field_of(row.name) {
            r.mark(field, node.pos);
        }
        match row.name {
            "name" => draft.name = r.text(node, row).map(str::to_owned),
            "target" => parts.target = r.written(node, row).map(|text| (text.to_owned(), node.pos)),
            "scenarios" => parts.scenarios = Some(node),
            "headers" => parts.headers = request::headers(node, row, r),
            "load" => load::read(node, row, &mut draft, r),
            "thresholds" => {
                for item in one_or_more(node) {
                    draft.thresholds.extend(r.parsed(item, row, threshold::parse));
                }
            }
            "timeout" => draft.timeout_ns = r.parsed(node, row, unit::duration_ns),
            "warmup" => draft.warmup_ns = r.parsed(node, row, unit::duration_ns),
            "keep_alive" => draft.keep_alive = r.truth(node, row),
            "read_bodies" => draft.read_bodies = r.truth(node, row),
            "workers" => draft.workers = r.count(node, row),
            "seed" => draft.seed = r.whole(node, row),
            "share" => {
                draft.share = r.parsed(node, row, |t| unit::share(t).map(|(part, of)| Share { part, of }));
            }
            "bands" => draft.bands_ns = bands(node, row, r),
            "limits" => limits(node, row, &mut draft.limits, r),
            _ => {}
        }
    }
    parts.assemble(&mut draft, r);
    draft
}

/// The field of the draft behind a key of the top level; those under `load` are in [`load`].
fn field_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "target" => field::TARGET,
        "scenarios" => field::REQUESTS,
        "workers" => field::WORKERS,
        "warmup" => field::WARMUP,
        "timeout" => field::TIMEOUT,
        "bands" => field::BANDS,
        "share" => field::SHARE,
        "thresholds" => field::THRESHOLDS,
        _ => return None,
    })
}

/// A list, or one value that stands for a list of one.
fn one_or_more(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(list) => list,
        _ => std::slice::from_ref(node),
    }
}

/// Edges of the latency bands: a list, or the text that the flag takes.
fn bands(node: &Node, row: &key::Row, r: &mut Reader<'_>) -> Option<Vec<u64>> {
    if let Value::List(list) = &node.value {
        let edges: Vec<u64> = list.iter().filter_map(|item| r.parsed(item, row, unit::duration_ns)).collect();
        return Some(edges);
    }
    r.parsed(node, row, |text| text.split(',').map(unit::duration_ns).collect())
}

fn limits(node: &Node, row: &key::Row, limits: &mut limit::Limits, r: &mut Reader<'_>) {
    let names = || limit::TABLE.iter().map(|row| row.name);
    for entry in r.map(node, row).unwrap_or_default() {
        if !names().any(|name| name == entry.key) {
            let hint = match crate::nearest::nearest(&entry.key, names()) {
                Some(right) => format!("did you mean `{right}`?"),
                None => format!("there are {}", reader::quoted(names())),
            };
            r.complain("F011", entry.pos, format!("there is no limit `{}`", entry.key), hint);
        } else if let Value::Scalar { text, .. } = &entry.value.value {
            if let Err(sentence) = limits.set(&entry.key, text) {
                r.complain_sentence(entry.value.pos, &sentence);
            }
        } else {
            let message = format!("`{}` expects one value", entry.key);
            r.complain(
                "F014",
                entry.value.pos,
                message,
                "write a number, a size such as `32k` or a time such as `10s`",
            );
        }
    }
}

/// `${...}` will be a value that changes from request to request. Until then it must not be sent as it stands.
fn refuse_expressions(tree: &Node, r: &mut Reader<'_>) {
    let Value::Map(entries) = &tree.value else { return };
    for entry in entries {
        refuse_expression(&entry.key, entry.pos, r);
        // What is refused as a whole need not be refused in detail.
        if !key::LATER.contains(&(Section::Top, entry.key.as_str())) {
            refuse_expressions_below(&entry.value, r);
        }
    }
}

fn refuse_expressions_below(node: &Node, r: &mut Reader<'_>) {
    match &node.value {
        Value::Scalar { text, .. } => refuse_expression(text, node.pos, r),
        Value::List(list) => list.iter().for_each(|item| refuse_expressions_below(item, r)),
        Value::Map(entries) => {
            for entry in entries {
                refuse_expression(&entry.key, entry.pos, r);
                refuse_expressions_below(&entry.value, r);
            }
        }
    }
}

fn refuse_expression(text: &str, pos: Pos, r: &mut Reader<'_>) {
    if let Some(at) = text.find("${") {
        let end = text[at..].find('}').map_or(text.len(), |end| at + end + 1);
        let shown: String = text[at..end].chars().take(40).collect();
        r.complain(
            "F012",
            pos,
            format!("`{}` is not supported yet: every request is sent as written", shown.escape_debug()),
            "write a fixed value; a body that holds `${` itself goes into a file: `body_file: name`",
        );
    }
}

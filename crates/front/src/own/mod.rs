//! Our own experiment files: YAML in which everything that a flag can say can be said, and every mistake has its
//! line and column.
//!
//! ```yaml
//! target: http://127.0.0.1:8080
//! scenarios: { browse: [ { get: /pick } ] }
//! load: { users: 100, duration: 15s }
//! ```

mod braces;
mod connection;
mod constants;
mod data;
mod escape;
mod expression;
mod functions;
mod json;
pub mod key;
mod load;
mod plain;
mod reader;
mod scenario;
mod site;
mod steps;
mod syntax;
mod template;
mod threshold;
mod work;
mod yaml;

use crate::Located;
use crate::given::Given;
use key::Section;
use plimsoll_plan::diag::Place;
use plimsoll_plan::draft::key as field;
use plimsoll_plan::load::Share;
use plimsoll_plan::{Diagnostic, Draft, limit, unit};
use reader::Reader;
use scenario::Parts;
use std::path::Path;
use work::Work;
use yaml::{Node, Scalar, Source, Value};

/// As [`parse_with`], with nothing set and the environment of this process.
///
/// # Errors
/// As [`parse_with`].
pub fn parse(text: &str, file: &str, folder: &Path) -> Result<Located, Vec<Diagnostic>> {
    parse_with(text, file, folder, &Given::default())
}

/// Reads an experiment. `file` is the name that diagnostics show; relative file names in the text start at `folder`.
///
/// # Errors
/// Every mistake found, in the order of the text. Broken YAML is reported alone: what follows it cannot be judged.
pub fn parse_with(text: &str, file: &str, folder: &Path, given: &Given) -> Result<Located, Vec<Diagnostic>> {
    let source = Source::new(text, file);
    let mut wrong = Vec::new();
    let mut tree = yaml::tree(text, &source, &mut wrong).map_err(|diagnostic| vec![diagnostic])?;
    let mut r = Reader {
        source,
        folder,
        wrong,
        places: Default::default(),
        constants: Default::default(),
        secrets: Default::default(),
    };
    constants::fill(&mut tree, given, &mut r);
    let mut w = Work {
        r,
        site: Default::default(),
        script: Default::default(),
        known: Default::default(),
        scope: Default::default(),
        common: Default::default(),
        taken: Default::default(),
        counters: 0,
        scripted: false,
    };
    let mut draft = experiment(&tree, &mut w);
    let mut wrong = std::mem::take(&mut w.r.wrong);
    if wrong.is_empty() {
        let places = std::mem::take(&mut w.r.places);
        plain::settle(w, &mut draft);
        return Ok(Located { draft, places });
    }
    wrong.sort_by_key(|d| match d.place {
        Place::Text { line, column, .. } => (line, column),
        _ => (0, 0),
    });
    // One value that an alias repeats, or that every request carries, would be reported as often.
    let mut seen: Vec<Diagnostic> = Vec::with_capacity(wrong.len());
    for diagnostic in wrong {
        // Equal ones have one place, so that they stand near each other.
        if !seen.iter().rev().take(64).any(|other| *other == diagnostic) {
            seen.push(diagnostic);
        }
    }
    Err(seen)
}

fn experiment(tree: &Node, w: &mut Work<'_>) -> Draft {
    let mut draft = Draft::default();
    let Value::Map(entries) = &tree.value else {
        w.r.complain(
            "F014",
            tree.pos,
            "an experiment is a mapping of keys to values",
            "expected lines such as `target: http://127.0.0.1:8080`",
        );
        return draft;
    };

    let mut parts = Parts::default();
    let (mut target, mut data, mut reuse, mut keep, mut tls) = (None, None, None, None, None);
    let mut graceful = None;
    for entry in entries {
        let (node, Some(row)) = (&entry.value, w.r.row(Section::Top, entry)) else {
            parts.misspelt.extend(key::meant(Section::Top, &entry.key));
            continue;
        };
        if let Some(field) = field_of(row.name) {
            w.r.mark(field, node.pos);
        }
        let r = &mut w.r;
        match row.name {
            "name" => draft.name = r.text(node, row).map(str::to_owned),
            "target" => {
                w.site.written = true;
                target = r.written(node, row).map(|text| (text.to_owned(), node.pos));
            }
            "data" => data = Some((node, row)),
            "headers" => w.common.headers = r.map(node, row).unwrap_or_default().to_vec(),
            "auth" => w.common.auth = Some(node.clone()),
            "cookies" => w.script.cookies = r.truth(node, row).unwrap_or_default(),
            "redirects" => w.common.redirects = steps::redirects(node, row, w).unwrap_or_default(),
            "setup" => parts.setup = Some(node),
            "scenarios" => parts.scenarios = Some(node),
            "teardown" => parts.teardown = Some(node),
            "mix" => parts.mix = steps::order(node, row, w).map(|order| (order, entry.pos)),
            "load" => {
                if let Value::Map(fields) = &node.value {
                    graceful =
                        fields.iter().find(|field| field.key == "graceful_stop").map(|field| field.pos);
                }
                parts.load = Some((load::read(node, row, Section::Load, r), entry.pos));
            }
            "thresholds" => threshold::read(node, row, &mut draft, r),
            "timeout" => draft.timeout_ns = r.parsed(node, row, unit::duration_ns),
            "warmup" => draft.warmup_ns = r.parsed(node, row, unit::duration_ns),
            "graceful_stop" => draft.graceful_stop_ns = r.parsed(node, row, unit::duration_ns),
            "keep_alive" => {
                draft.keep_alive = r.truth(node, row);
                keep = Some(entry.pos);
            }
            "connection" => reuse = connection::read(node, row, &mut draft.link, r),
            "tls" => {
                tls = Some(entry.pos);
                draft.link.tls = connection::tls(node, row, &mut draft.tls_files, r);
            }
            "read_bodies" => draft.read_bodies = r.truth(node, row),
            "workers" => draft.workers = r.count(node, row),
            "seed" => draft.seed = r.whole(node, row),
            "share" => {
                draft.share = r.parsed(node, row, |t| unit::share(t).map(|(part, of)| Share { part, of }));
            }
            "bands" => draft.bands_ns = bands(node, row, r),
            "limits" => limits(node, row, &mut draft.limits, r),
            // Resolved before anything else.
            _ => {}
        }
    }
    if let (Some(keep), Some(reuse)) = (keep, reuse) {
        let message = "`keep_alive` and `reuse` both say when a connection is used again";
        w.r.complain(
            "F017",
            keep.max(reuse),
            message,
            "keep `reuse`; `keep_alive: false` is `reuse: request`",
        );
    }
    if let (Some(pos), true) = (graceful, draft.graceful_stop_ns.is_some()) {
        w.r.complain("F017", pos, "`graceful_stop` stands at the left edge as well", "keep one");
    }
    w.site.written |= parts.misspelt.contains(&"target");
    w.site.base = target.and_then(|(text, pos)| site::base(&text, pos, &mut w.r));
    if let Some((node, row)) = data {
        let mut made = Vec::new();
        if let Some(setup) = parts.setup {
            data::made_by(setup, w.r.folder, &mut made);
        }
        data::read(node, row, &made, w);
    }
    parts.assemble(&mut draft, w);
    draft.target = w.site.base.as_ref().map(|base| base.target.clone());
    if let (Some(pos), Some(false)) = (tls, draft.target.as_ref().map(|target| target.tls)) {
        let hint = "write `https://` in `target`, or leave `tls` out";
        w.r.complain(
            "F017",
            pos,
            "the target is `http`: there is nothing that `tls` could say about it",
            hint,
        );
    }
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

/// The beginning of a long text, in one line.
pub(crate) fn shortened(text: &str) -> String {
    expression::short(text)
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
        } else if let Value::Scalar(Scalar { text, .. }) = &entry.value.value {
            // What is not fixed is reported by the reader.
            if r.written(&entry.value, row).is_some()
                && let Err(sentence) = limits.set(&entry.key, text)
            {
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

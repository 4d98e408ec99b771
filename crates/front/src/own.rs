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
mod monitor;
mod plain;
mod reader;
mod scenario;
mod search;
mod site;
mod steps;
mod study;
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
use plimsoll_plan::experiment::{Expectation, Experiment};
use plimsoll_plan::load::Share;
use plimsoll_plan::scale::Scale;
use plimsoll_plan::{Diagnostic, Draft, limit, unit};
use reader::Reader;
use scenario::Parts;
use std::path::Path;
pub use study::{parts, study};
use work::Work;
use yaml::{Node, Scalar, Value};

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
/// Every mistake found, in the order of the text. Broken YAML is reported alone: what follows it cannot be judged. A
/// text of more than one run is refused; [`study`] reads it.
pub fn parse_with(text: &str, file: &str, folder: &Path, given: &Given) -> Result<Located, Vec<Diagnostic>> {
    study::one(text, file, folder, given)
}

/// One cell of a file: a tree without lists that span axes and without variants.
fn cell(mut tree: Node, given: &Given, mut r: Reader<'_>) -> Result<(Located, Experiment), Vec<Diagnostic>> {
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
    let mut terms = Experiment::default();
    let mut draft = experiment(&tree, &mut terms, &mut w);
    if !w.r.wrong.is_empty() {
        return Err(w.r.wrong);
    }
    terms.name = draft.name.clone().unwrap_or_default();
    terms.seed = draft.seed;
    terms.question = draft.question.clone().unwrap_or_default();
    let places = std::mem::take(&mut w.r.places);
    plain::settle(w, &mut draft);
    Ok((Located { draft, places }, terms))
}

/// In the order of the text, each once: one value that an alias repeats, that every request carries, or that stands in
/// every cell of a matrix would be reported as often.
fn ordered(mut wrong: Vec<Diagnostic>) -> Vec<Diagnostic> {
    wrong.sort_by_key(|d| match d.place {
        Place::Text { line, column, .. } => (line, column),
        _ => (0, 0),
    });
    let mut seen: Vec<Diagnostic> = Vec::with_capacity(wrong.len());
    for diagnostic in wrong {
        // Equal ones have one place, so that they stand near each other.
        if !seen.iter().rev().take(64).any(|other| *other == diagnostic) {
            seen.push(diagnostic);
        }
    }
    seen
}

fn experiment(tree: &Node, terms: &mut Experiment, w: &mut Work<'_>) -> Draft {
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
    let (mut graceful, mut find, mut scale, mut generators) = (None, None, None, None);
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
            "question" => draft.question = question(node, row, r),
            "scale" => scale = r.parsed(node, row, Scale::parse).map(|scale| (scale, entry.pos)),
            "generators" => {
                terms.generators = generators_of(node, row, r);
                generators = Some(entry.pos);
            }
            "monitor" => draft.watches = monitor::read(node, row, r),
            "environment" => draft.sut = monitor::environment(node, row, r),
            "find" => {
                terms.find = search::read(node, row, r);
                find = Some(entry.pos);
            }
            "repeat" => terms.repeat = repeat(node, row, r),
            "cool_down" => terms.cool_down_ns = r.parsed(node, row, unit::duration_ns).unwrap_or_default(),
            "least" => terms.least_ns = r.parsed(node, row, unit::duration_ns).unwrap_or_default(),
            "steady" => terms.steady = r.truth(node, row).unwrap_or_default(),
            "end_rows" => terms.end_rows = r.choice(node, row, &[("missed", true)]).unwrap_or_default(),
            "expect" => {
                let sentences = one_or_more(node).iter();
                terms.expects =
                    sentences.filter_map(|node| r.parsed(node, row, Expectation::parse)).collect();
            }
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
    if let Some(pos) = find {
        let load = entries.iter().find(|entry| entry.key == "load").map(|entry| &entry.value);
        search::judge_load(pos, terms.find.as_ref().is_some_and(|find| find.users), load, &mut w.r);
    } else if let Some((load, pos)) = &mut parts.load {
        terms.find = load.ladder.take();
        find = terms.find.is_some().then_some(*pos);
    }
    parts.assemble(&mut draft, w);
    if let (Some(terms), Some(pos)) = (&terms.find, find) {
        if draft.entry.is_none() && !draft.lanes.is_empty() {
            let message = "every scenario has a load of its own: there is none that a search could vary";
            w.r.complain("F017", pos, message, "take the `load` of one scenario out");
        }
        search::stand_in(terms, &mut draft);
    }
    if let (Some(pos), true, Some(_)) = (generators, terms.generators > 1, &terms.find) {
        let message =
            "`generators` share the load of runs that are fixed, and a search sets the load of its own";
        w.r.complain(
            "F017",
            pos,
            message,
            "leave it out, or write the levels as a list in place of the search",
        );
    }
    if let Some((scale, pos)) = scale {
        let is_recorded = draft.recorded.is_some() || draft.lanes.iter().any(|lane| lane.recorded.is_some());
        if is_recorded && !scale.is_whole() {
            let message = "`scale` would have to cut `recorded` arrivals, which come when they came";
            w.r.complain("F017", pos, message, "leave one of them out, or give the recording a `speed`");
        }
        scale.draft(&mut draft);
        scale.experiment(terms);
    }
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

/// How often each cell runs.
fn repeat(node: &Node, row: &key::Row, r: &mut Reader<'_>) -> u32 {
    /// More than anybody waits for, and a slip by a power of ten.
    const MOST: u32 = 1_000;
    let Some(number) = r.count(node, row) else { return 0 };
    if !(1..=MOST).contains(&number) {
        let message = format!("a cell cannot run {number} times");
        r.complain("F015", node.pos, message, format!("expected 1 to {MOST}, such as `3`"));
    }
    number
}

/// What the experiment is to answer, in one line.
fn question(node: &Node, row: &key::Row, r: &mut Reader<'_>) -> Option<String> {
    let text = r.written(node, row)?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
}

/// Processes that share each run's load.
fn generators_of(node: &Node, row: &key::Row, r: &mut Reader<'_>) -> u32 {
    /// More than the cores of a machine only take turns.
    const MOST: u32 = 64;
    let Some(number) = r.count(node, row) else { return 0 };
    if !(1..=MOST).contains(&number) {
        let message = format!("a load cannot be shared by {number} generators");
        r.complain("F015", node.pos, message, format!("expected 1 to {MOST}, such as `2`"));
    }
    number
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

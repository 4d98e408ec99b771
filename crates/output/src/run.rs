//! The report of a run, in the same order in every output: verdict, thresholds, why, next steps, cautions, results, and
//! then the load generator. One screen has the rows that a reader acts on; the details, Markdown and a page have all. A
//! detail moves onto the screen as soon as a missed threshold or a caution is about it.

mod anchors;
mod cautions;
mod checks;
mod connections;
mod course;
mod errors;
mod examples;
mod head;
pub mod health;
mod hints;
pub mod method;
mod metrics;
mod origins;
mod parts;
mod repeat;
mod requests;
mod results;
mod streams;
mod thresholds;
mod tiles;
mod times;
mod tree;
mod watched;
mod websockets;

use crate::document::{Cell, Document, On, Role, Section, Sentence, Tone, Value};
use crate::words::{self, Shown};
use anchors::Anchors;
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::{Summary, Times};
use plimsoll_chart::Chart;
use plimsoll_plan::threshold::Subject;

/// The whole of it. `run_file` is the name of the file that it was made of, if there is one; `picture` and `charts` are
/// for a page.
pub fn document(s: &Summary, picture: &Picture, charts: &[Chart], run_file: Option<&str>) -> Document {
    let anchors = Anchors::of(s, charts);
    let [why, next] = hints::sections(s, &anchors, run_file);
    let page = [
        cautions::findings(s, &anchors),
        results::tiles(s),
        course::section(picture),
        times::section(s),
        requests::section(s, picture),
        times::by_part(s, picture),
        errors::section(s),
        checks::section(s),
        metrics::section(s),
        watched::section(s),
        streams::section(s),
        websockets::section(s),
        connections::section(s),
        parts::addresses(s),
        origins::section(s),
        health::section(s),
        method::section(s, run_file),
    ];
    let missed = |subjects: &[Subject]| is_missed(s, subjects);
    let raised = |kinds: &[Kind]| s.cautions.iter().any(|c| kinds.contains(&c.kind));
    let text = [
        cautions::screen(s, &anchors),
        cautions::section(s, &anchors),
        results::section(s),
        detail(false, times::percentiles(s)),
        detail(false, times::buckets(s)),
        detail(missed(PHASES), times::phases(s)),
        checks::section(s),
        detail(false, examples::section(s)),
        detail(false, course::spikes(s)),
        parts::by_origin(s),
        parts::addresses(s),
        parts::scenarios(s),
        detail(missed(&[Subject::GroupTime]), parts::groups(s)),
        requests::section(s, &Picture::default()),
        detail(missed(&Subject::CUSTOM), metrics::section(s)),
        streams::section(s),
        websockets::section(s),
        detail(raised(&[Kind::MergedRunsNotConcurrent, Kind::MergedTargetsDiffer]), origins::section(s)),
        detail(!s.saturated_resources.is_empty() || raised(MONITORED), watched::text(s)),
        detail(false, course::letters(s)),
        health::screen(s, &anchors),
        detail(false, health::section(s)),
    ];
    let first = [thresholds::section(s), why, next].into_iter();
    let page = page.into_iter().map(|section| section.only(On::HTML));
    let text = text.into_iter().map(|section| section.only(On::TEXT));
    Document {
        tone: s.verdict.result.into(),
        name: Sentence::new(Role::Title, &s.name),
        head: head::blocks(s),
        sections: first.chain(page).chain(text).collect(),
    }
}

/// Subjects whose figures are those of the latency breakdown.
const PHASES: &[Subject] = &[Subject::Connect, Subject::TlsHandshake, Subject::FirstByte];

/// Cautions that rest on what monitors saw.
const MONITORED: &[Kind] = &[
    Kind::ListenQueueOverflow,
    Kind::ProcessFdLimit,
    Kind::CpuThrottled,
    Kind::MonitorFailed,
    Kind::MemoryGrowth,
];

/// What a screen has only where something points at it.
fn detail(is_on_screen: bool, section: Section) -> Section {
    if is_on_screen { section } else { section.only(On::UNABRIDGED) }
}

/// Whether a threshold on one of these subjects was missed or left undecided.
fn is_missed(s: &Summary, subjects: &[Subject]) -> bool {
    let of = |what: &str| what.split(['{', ' ']).next().unwrap_or_default().to_owned();
    let missed = s.thresholds.iter().filter(|t| !t.is_met).map(|t| of(&t.subject));
    missed.into_iter().any(|name| subjects.iter().any(|subject| subject.name() == name))
}

/// A percentile as a cell: with too few samples there is none.
pub fn percentile(times: &Times, q: f64) -> Cell {
    match words::percentile(times, q) {
        Shown::Fact(_) => Cell::quantile(times.quantile(q)),
        _ => Value::Missing.into(),
    }
}

pub fn max(times: &Times) -> Cell {
    Cell::number(words::max(times), times.max_ns.map(|ns| ns as f64))
}

/// A few very long times draw the mean above nearly all requests: it describes none of them.
pub fn mean(times: &Times) -> Cell {
    let said = if times::is_skewed(times) { "mean above p95" } else { "" };
    Cell::number(words::mean(times), times.mean_ns).aside(Tone::Doubt, said)
}

/// How many of those that finished failed.
pub fn share(requests: u64, errors: u64) -> Cell {
    match requests {
        0 => Value::Missing.into(),
        all => Value::Share(errors as f64 / all as f64).into(),
    }
}

/// A percentile that is printed; one that rests on too few samples is not.
pub fn printable_ns(times: &Times, q: f64) -> Option<u64> {
    match words::percentile(times, q) {
        Shown::Fact(p) => Some(p.value_ns),
        _ => None,
    }
}

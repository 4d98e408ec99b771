//! The report of a run. Text begins with what decides: can it be believed, what was found, where the time went, how it
//! went over time. A page has the same with pictures, and what else there is: what failed, connections, the method.

mod anchors;
mod cautions;
mod checks;
mod connections;
mod course;
mod errors;
mod examples;
mod figures;
mod head;
mod health;
pub mod method;
mod metrics;
mod origins;
mod parts;
mod repeat;
mod requests;
mod streams;
mod thresholds;
mod tiles;
mod times;
mod tree;
mod watched;

use crate::document::{Cell, Document, On, Role, Sentence, Tone, Value};
use crate::words::{self, Shown};
use anchors::Anchors;
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::{Summary, Times};
use plimsoll_chart::Chart;

/// The whole of it. `run_file` is the name of the file that it was made of, if there is one; `picture` and `charts` are
/// for a page.
pub fn document(s: &Summary, picture: &Picture, charts: &[Chart], run_file: Option<&str>) -> Document {
    let anchors = Anchors::of(s, charts);
    let page = [
        health::section(s),
        thresholds::section(s),
        cautions::findings(s, &anchors),
        course::section(picture),
        times::section(s),
        requests::section(s, picture),
        times::by_part(s, picture),
        errors::section(s),
        checks::section(s),
        metrics::section(s),
        watched::section(s),
        streams::section(s),
        connections::section(s),
        origins::section(s),
        method::section(s, run_file),
    ];
    let text = [
        thresholds::section(s),
        cautions::section(s, &anchors),
        health::section(s),
        figures::section(s),
        times::percentiles(s),
        times::buckets(s),
        times::phases(s),
        checks::section(s),
        examples::section(s),
        course::spikes(s),
        parts::by_origin(s),
        parts::scenarios(s),
        parts::groups(s),
        requests::section(s, &Picture::default()),
        metrics::section(s),
        streams::section(s),
        origins::section(s),
        watched::text(s),
        course::letters(s),
    ];
    let page = page.into_iter().map(|section| section.only(On::HTML));
    let text = text.into_iter().map(|section| section.only(On::TEXT));
    Document {
        tone: s.verdict.result.into(),
        name: Sentence::new(Role::Title, &s.name),
        head: head::blocks(s, &anchors, run_file),
        sections: page.chain(text).collect(),
    }
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

//! Sections of the report of a run that all of its outputs have: each is one function to a section.

pub mod checks;
pub mod connections;
pub mod figures;
pub mod metrics;
pub mod origins;
pub mod parts;
pub mod requests;
pub mod streams;
pub mod thresholds;
pub mod times;
mod tree;
pub mod watched;

use crate::document::{Cell, Section, Tone, Value};
use crate::words::{self, Shown};
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::{Summary, Times};

/// Of scripts, streams and merged runs, for the text outputs.
pub fn parts(s: &Summary) -> [Section; 7] {
    let requests = requests::section(s, &Picture::default());
    let (metrics, streams, machines) = (metrics::section(s), streams::section(s), origins::section(s));
    [parts::by_origin(s), parts::scenarios(s), parts::groups(s), requests, metrics, streams, machines]
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
pub fn told_ns(times: &Times, q: f64) -> Option<u64> {
    match words::percentile(times, q) {
        Shown::Fact(p) => Some(p.value_ns),
        _ => None,
    }
}

//! Tables that pick metrics of a runtime from a page and give them uniform names, so that one thing has one name
//! however it is exposed.

use super::counters::Counters;
use super::probe::Moment;
use super::text_format::Sample;
use plimsoll_plan::watch::Unit;
use plimsoll_record::event::Reading;
use std::collections::HashMap;

/// One metric.
pub struct Row {
    /// Name on the page.
    pub theirs: &'static str,
    pub ours: &'static str,
    pub unit: Unit,
    pub how: How,
    /// Label whose value is the part.
    pub part: &'static str,
    pub limit: Limit,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    AsItIs,
    PerSecond,
}

#[derive(Clone, Copy)]
pub enum Limit {
    None,
    Of(f64),
    /// Another metric of the page, if present.
    Named(&'static str),
}

/// A runtime reports a limit above this for "no limit" (`math.MaxInt64` for Go's memory limit).
const NO_LIMIT: f64 = (1u64 << 62) as f64;

pub const fn row(theirs: &'static str, ours: &'static str, unit: Unit) -> Row {
    Row { theirs, ours, unit, how: How::AsItIs, part: "", limit: Limit::None }
}

pub const fn rate(theirs: &'static str, ours: &'static str, unit: Unit) -> Row {
    Row { how: How::PerSecond, ..row(theirs, ours, unit) }
}

impl Row {
    pub const fn of(self, limit: Limit) -> Row {
        Row { limit, ..self }
    }

    pub const fn by(self, part: &'static str) -> Row {
        Row { part, ..self }
    }
}

/// Returns the first sample of this name.
pub fn first<'a>(samples: &'a [Sample], name: &str) -> Option<&'a Sample> {
    samples.iter().find(|sample| sample.name == name)
}

/// Returns the readings that the rows pick.
pub fn pick(samples: &[Sample], rows: &[Row], counters: &mut Counters, at: Moment) -> Vec<Reading> {
    // A page may contain the same metric of several processes, which only all of their labels distinguish.
    let mut times: HashMap<(&str, &str), usize> = HashMap::new();
    let label = |row: &Row, sample: &Sample| sample.label(row.part).unwrap_or_default().to_owned();
    let chosen = || {
        rows.iter().flat_map(|row| {
            samples.iter().filter(move |sample| sample.name == row.theirs).map(move |sample| (row, sample))
        })
    };
    for (row, sample) in chosen() {
        *times.entry((row.ours, sample.label(row.part).unwrap_or_default())).or_default() += 1;
    }
    let mut readings = Vec::new();
    for (row, sample) in chosen() {
        let part = label(row, sample);
        let alone = times.get(&(row.ours, part.as_str())) == Some(&1);
        let part = if alone { part } else { sample.part() };
        let value = match row.how {
            How::AsItIs => Some(sample.value),
            How::PerSecond => counters.rate(&format!("{} {}", row.theirs, sample.part()), at, sample.value),
        };
        let limit = match row.limit {
            Limit::None => None,
            Limit::Of(limit) => Some(limit),
            Limit::Named(name) => first(samples, name).map(|sample| sample.value),
        };
        let limit = limit.filter(|limit| *limit > 0.0 && *limit < NO_LIMIT);
        if let Some(value) = value.filter(|value| value.is_finite()) {
            readings.push(Reading { part, metric: row.ours.to_owned(), unit: row.unit, limit, value });
        }
    }
    readings
}

/// Drops all counters if the program was restarted.
pub fn forget_after_a_restart(samples: &[Sample], started: &mut Option<f64>, counters: &mut Counters) {
    let now = first(samples, "process_start_time_seconds").map(|sample| sample.value);
    if now != *started {
        counters.forget();
        *started = now;
    }
}

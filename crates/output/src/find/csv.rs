//! The load curve as CSV: one row per level, with repeats pooled and 95% confidence intervals. The format is that of
//! the timeline ([`crate::csv`]): line feeds, empty fields for unknown values, units last in the names.

use plimsoll_experiment::search::{Answer, Point, Reading};

type Cell = fn(&Point) -> String;

/// The columns in order; new columns are added at the end and never renamed. `level` is arrivals per second, or users.
pub const COLUMNS: &[(&str, Cell)] = &[
    ("level", |p| number(p.level)),
    ("runs", |p| p.runs.to_string()),
    ("runs_met", |p| p.met_runs.to_string()),
    ("offered_rate_per_s", |p| p.offered_rate_per_s.map(number).unwrap_or_default()),
    ("achieved_rate_per_s", |p| number(p.achieved_rate_per_s)),
    ("p50_ns", |p| of(p.p50, |r| Some(r.value_ns))),
    ("p50_low_ns", |p| of(p.p50, |r| r.low_ns)),
    ("p50_high_ns", |p| of(p.p50, |r| r.high_ns)),
    ("p99_ns", |p| of(p.p99, |r| Some(r.value_ns))),
    ("p99_low_ns", |p| of(p.p99, |r| r.low_ns)),
    ("p99_high_ns", |p| of(p.p99, |r| r.high_ns)),
    ("error_ratio", |p| number(p.error_ratio)),
    ("error_low_ratio", |p| number(p.error_interval[0])),
    ("error_high_ratio", |p| number(p.error_interval[1])),
    ("few_samples", |p| few(p)),
];

/// Returns a header and one row per level.
pub fn csv(answer: &Answer) -> String {
    let mut out = crate::csv::row(COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    for point in &answer.curve {
        out.push_str(&crate::csv::row(COLUMNS.iter().map(|(_, cell)| cell(point))));
    }
    out
}

fn of(reading: Option<Reading>, field: impl Fn(Reading) -> Option<u64>) -> String {
    reading.and_then(field).map(|ns| ns.to_string()).unwrap_or_default()
}

/// Returns the names of the percentiles that have too few samples.
fn few(point: &Point) -> String {
    let all = [("p50_ns", point.p50), ("p99_ns", point.p99)];
    let few = all.into_iter().filter(|(_, reading)| reading.is_some_and(|r| !r.has_enough_samples));
    few.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

fn number(x: f64) -> String {
    if x.is_finite() { x.to_string() } else { String::new() }
}

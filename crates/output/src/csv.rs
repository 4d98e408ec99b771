//! The timeline as CSV: one row per second, for spreadsheets and scripts.
//!
//! RFC 4180 with two choices: rows end in a single line feed (every reader accepts it, and so does `diff`), and a
//! missing value is an empty field, which is not 0. Names of columns end with their unit.

use plimsoll_analysis::summary::{Course, Second, Summary};

type Cell = fn(&Second) -> String;

/// The columns in order. New columns are added at the end, and columns are never renamed.
pub const COLUMNS: &[(&str, Cell)] = &[
    ("tick", |s| s.tick.to_string()),
    ("from_s", |s| number(s.from_s)),
    ("length_s", |s| number(s.length_s)),
    ("is_warmup", |s| s.is_warmup.to_string()),
    ("offered_rate_per_s", |s| s.offered_rate_per_s.map(number).unwrap_or_default()),
    ("achieved_rate_per_s", |s| number(s.achieved_rate_per_s)),
    ("requests", |s| s.requests.to_string()),
    ("errors", |s| s.errors.to_string()),
    ("client_faults", |s| s.client_faults.to_string()),
    ("p50_ns", |s| whole(s.p50_ns)),
    ("p90_ns", |s| whole(s.p90_ns)),
    ("p99_ns", |s| whole(s.p99_ns)),
    ("max_ns", |s| whole(s.max_ns)),
    ("service_p50_ns", |s| whole(s.service_p50_ns)),
    ("service_p99_ns", |s| whole(s.service_p99_ns)),
    ("in_flight", |s| number(s.in_flight)),
    ("users", |s| number(s.users)),
    ("bytes_in", |s| s.bytes_in.to_string()),
    ("bytes_out", |s| s.bytes_out.to_string()),
    ("connections_opened", |s| s.connections_opened.to_string()),
    ("schedule_lag_p99_ns", |s| whole(s.schedule_lag_p99_ns)),
    ("retransmits", |s| s.retransmits.to_string()),
];

/// After the others, if there are streams.
pub const STREAM_COLUMNS: &[(&str, Cell)] =
    &[("events", |s| whole(s.events)), ("streams_open", |s| whole(s.streams_open))];

/// After those, because they were added later.
pub const LATER_COLUMNS: &[(&str, Cell)] = &[
    ("p95_ns", |s| whole(s.p95_ns)),
    ("good_rate_per_s", |s| number(s.good_rate_per_s)),
    ("connections_open", |s| s.connections_open.to_string()),
    ("waiting_peak", |s| whole(s.waiting_peak)),
    ("busy_ratio", |s| s.busy_ratio.map(number).unwrap_or_default()),
    ("samples", |s| s.samples.to_string()),
    ("lower_bounds", |s| s.lower_bounds.join(" ")),
    ("few_samples", |s| s.few_samples.join(" ")),
];

/// Returns a header and one row per tick. One column for each metric of a monitor follows, such as `api.cpu_cores`;
/// its field is empty if that second has no sample.
pub fn to_string(s: &Summary) -> String {
    let of_streams = if s.timeline.iter().any(|t| t.events.is_some()) { STREAM_COLUMNS } else { &[] };
    let columns = || COLUMNS.iter().chain(of_streams).chain(LATER_COLUMNS);
    let watched = s.courses.iter().map(Course::key);
    let mut out = row(columns().map(|(name, _)| (*name).to_owned()).chain(watched));
    for second in &s.timeline {
        let to_s = second.from_s + second.length_s;
        let observed = |course: &Course| course.within(second.from_s, to_s).map(number).unwrap_or_default();
        out.push_str(&row(columns().map(|(_, cell)| cell(second)).chain(s.courses.iter().map(observed))));
    }
    out
}

/// Returns one row of fields, quoted if needed, and a line feed.
pub fn row(fields: impl IntoIterator<Item = String>) -> String {
    let fields: Vec<String> = fields.into_iter().map(quoted).collect();
    fields.join(",") + "\n"
}

/// Quotes a field (RFC 4180). A text that a spreadsheet would evaluate as a formula gets an apostrophe in front: names
/// come from a server, and a formula can download and run code. Numbers stay numbers, also below zero.
pub(crate) fn quoted(field: String) -> String {
    let is_number = || field.parse::<f64>().is_ok_and(f64::is_finite);
    let field = match field.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number() {
        true => format!("'{field}"),
        false => field,
    };
    if field.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

/// Returns the shortest text that parses to the same number; empty for a number that is not finite.
fn number(x: f64) -> String {
    if x.is_finite() { x.to_string() } else { String::new() }
}

fn whole(x: Option<u64>) -> String {
    x.map(|x| x.to_string()).unwrap_or_default()
}

//! k6's summaries in JSON: `--summary-export` (values beside each other) and what `handleSummary` is given (under
//! `values`). Times are milliseconds with all their digits, so nothing is cut off here.

use super::grammar::trend_measure;
use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::json::Object;
use crate::tools::text::Text;

const MS: f64 = 1e-3;

pub fn is_summary(object: &Object) -> bool {
    object.object("metrics").is_some_and(|metrics| {
        ["http_req_duration", "http_reqs", "iterations", "vus"].iter().any(|name| metrics.has(name))
    })
}

pub fn read(object: &Object, text: &Text, at: usize, document: &mut Document) {
    let Some(metrics) = object.object("metrics") else { return };
    let mut main = Entry::new(Tool::K6, text, at);
    let mut tagged = Vec::new();
    for (name, metric) in metrics.objects() {
        let values = metric.object("values").unwrap_or_else(|| metrics.object(name).unwrap_or(metric));
        let (bare, tag) = match name.split_once('{') {
            Some((bare, tag)) => (bare, tag.trim_end_matches('}')),
            None => (name, ""),
        };
        if tag.is_empty() || tag == "expected_response:true" {
            quantity(&mut main, name, &values, tag.is_empty());
        } else {
            let mut entry = Entry::new(Tool::K6, text, at);
            entry.row.label = format!("{{ {tag} }}");
            entry.row.is_part = true;
            entry.row.lines = (values.line, values.line);
            quantity(&mut entry, bare, &values, true);
            tagged.push(entry);
        }
    }
    if let Some(group) = object.object("root_group") {
        let (mut passes, mut fails, mut line) = (0.0, 0.0, 0);
        checks(&group, &mut |check| {
            passes += check.count("passes").map_or(0.0, |f| f.value);
            fails += check.count("fails").map_or(0.0, |f| f.value);
            line = check.line;
        });
        if line > 0 {
            let exact = |value: f64| Some(Figure::exact(value, format!("{value}"), line));
            main.other("passes of all checks", exact(passes), (line, ""));
            main.other("fails of all checks", exact(fails), (line, ""));
        }
    }
    if let Some(state) = object.object("state") {
        let duration = state.number("testRunDurationMs", MS, "ms");
        if duration.is_some() {
            main.put(Measure::Duration, duration, (state.line, "testRunDurationMs"));
        }
    }
    let line = text.number(at);
    main.word("percentiles", "of all samples, with all digits", line);
    main.label("", "virtual users");
    if main.row.label.is_empty() {
        "k6".clone_into(&mut main.row.label);
    }
    main.finish(document);
    for entry in tagged {
        entry.finish(document);
    }
}

/// Checks of a group and of the groups within it: objects by name in `--summary-export`, lists for `handleSummary`.
fn checks(group: &Object, see: &mut dyn FnMut(&Object)) {
    for check in group.members("checks") {
        see(&check);
    }
    for inner in group.members("groups") {
        checks(&inner, see);
    }
}

fn quantity(entry: &mut Entry, name: &str, values: &Object, own: bool) {
    for key in values.keys() {
        let place = (values.line_of(key), name);
        // A counter's key is `count`, a trend's may be called so as well; rates have passes and fails.
        let (measure, figure): (Option<Measure>, Option<Figure>) = match (name, key) {
            ("http_reqs", "count") => (Some(Measure::Requests), values.count(key)),
            ("http_reqs", "rate") => (Some(Measure::Rate), values.number(key, 1.0, "1/s")),
            ("iterations", "count") => (Some(Measure::Iterations), values.count(key)),
            ("data_received", "count") => (Some(Measure::BytesTotal), values.count(key)),
            ("data_received", "rate") => (Some(Measure::BytesPerS), values.number(key, 1.0, "B/s")),
            ("data_sent", "count") => (Some(Measure::BytesSentTotal), values.count(key)),
            ("data_sent", "rate") => (Some(Measure::BytesSentPerS), values.number(key, 1.0, "B/s")),
            ("vus", "max") => (Some(Measure::Users), values.count(key)),
            ("checks", "passes") => (Some(Measure::ChecksPassed), values.count(key)),
            ("checks", "fails") => (Some(Measure::ChecksFailed), values.count(key)),
            // To have failed is to have passed this metric.
            ("http_req_failed", "passes") => (Some(Measure::Errors), values.count(key)),
            ("http_req_failed", "value" | "rate") => (Some(Measure::ErrorRatio), values.number(key, 1.0, "")),
            (_, "thresholds") => continue,
            (_, "count" | "passes" | "fails" | "value" | "rate") => (None, values.number(key, 1.0, "")),
            _ if is_time(name) => (trend_measure(name, key), values.number(key, MS, "ms")),
            _ => (None, values.number(key, 1.0, "")),
        };
        match measure.filter(|_| own) {
            Some(measure) => {
                entry.put(measure, figure, place);
            }
            None => entry.other(format!("{name} {key}"), figure, place),
        }
    }
}

fn is_time(name: &str) -> bool {
    const TIMES: [&str; 5] =
        ["http_req_", "iteration_duration", "group_duration", "ws_connecting", "ws_session"];
    TIMES.iter().any(|start| name.starts_with(start)) && !name.starts_with("http_req_failed")
}

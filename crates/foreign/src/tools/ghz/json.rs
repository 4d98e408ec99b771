//! ghz's result in JSON: nanoseconds.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::json::Object;
use crate::tools::text::Text;

pub fn is_one(object: &Object) -> bool {
    object.has("latencyDistribution") && object.has("rps") && object.has("average")
}

pub fn read(object: &Object, text: &Text, at: usize, document: &mut Document) {
    let mut entry = Entry::new(Tool::Ghz, text, at);
    entry.row.label = object.string("name").filter(|name| !name.is_empty()).unwrap_or("ghz".into());
    const KEYS: [(&str, Measure, f64); 5] = [
        ("total", Measure::Duration, 1e-9),
        ("average", Measure::Mean, 1e-9),
        ("fastest", Measure::Min, 1e-9),
        ("slowest", Measure::Max, 1e-9),
        ("rps", Measure::Rate, 1.0),
    ];
    for (key, measure, unit) in KEYS {
        if let Some(figure) = object.number(key, unit, if unit == 1.0 { "/s" } else { "ns" }) {
            entry.put(measure, Some(figure), (object.line_of(key), key));
        }
    }
    entry.put(Measure::Requests, object.count("count"), (object.line_of("count"), "count"));
    if let Some(users) = object.object("options").and_then(|options| options.count("concurrency")) {
        entry.put(Measure::Users, Some(users), (object.line_of("options"), ""));
    }
    for percentile in object.members("latencyDistribution") {
        let share = percentile.number("percentage", 1.0, "%");
        if let (Some(share), Some(value)) = (share, percentile.number("latency", 1e-9, "ns")) {
            let line = value.line;
            entry.percentile(share.value, Some(value), (line, ""));
        }
    }
    if let Some(codes) = object.object("statusCodeDistribution") {
        let bad = codes.keys().filter(|code| *code != "OK").filter_map(|code| codes.count(code));
        let failed: f64 = bad.map(|calls| calls.value).sum();
        entry.put(
            Measure::Errors,
            Some(Figure::exact(failed, format!("{failed}"), codes.line)),
            (codes.line, ""),
        );
    }
    entry.finish(document);
}

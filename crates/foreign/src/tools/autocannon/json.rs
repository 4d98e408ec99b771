//! autocannon's `--json`: times in whole milliseconds; `min` leaves out times of 0.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::{Entry, measure_of};
use crate::tools::json::Object;
use crate::tools::text::Text;

pub fn is_one(object: &Object) -> bool {
    object.has("latency") && object.has("requests") && object.has("connections") && object.has("pipelining")
}

pub fn read(object: &Object, text: &Text, at: usize, document: &mut Document) {
    let mut entry = Entry::new(Tool::Autocannon, text, at);
    let place = |key: &str| (object.line_of(key), key.to_owned());
    let mut put = |measure: Measure, figure: Option<Figure>, key: &str| {
        let (line, name) = place(key);
        entry.put(measure, figure, (line, &name));
    };
    let users = object.count("connections").zip(object.count("pipelining"));
    let users = users.map(|(users, each)| {
        let written = if each.value > 1.0 {
            format!("{} x {}", users.written, each.written)
        } else {
            users.written.clone()
        };
        Figure::exact(users.value * each.value, written, users.line)
    });
    put(Measure::Users, users, "connections");
    put(Measure::Duration, object.number("duration", 1.0, "s"), "duration");
    for (key, measure) in
        [("errors", Measure::Errors), ("timeouts", Measure::TimeoutErrors), ("non2xx", Measure::Non2xx)]
    {
        put(measure, object.count(key), key);
    }
    if let Some(requests) = object.object("requests") {
        put(Measure::Rate, requests.number("average", 1.0, "req/s"), "requests");
        put(Measure::Requests, requests.count("total"), "requests");
    }
    if let Some(bytes) = object.object("throughput") {
        put(Measure::BytesPerS, bytes.number("average", 1.0, "B/s"), "throughput");
        put(Measure::BytesTotal, bytes.count("total"), "throughput");
    }
    if let Some(latency) = object.object("latency") {
        let around = |figure: Figure| {
            let (low, high) = ((figure.low - 1e-3).max(0.0), figure.high + 1e-3);
            Figure { low, high, ..figure }
        };
        put(Measure::Mean, latency.number("average", 1e-3, "ms").map(around), "latency");
        put(Measure::Max, latency.number("max", 1e-3, "ms").map(around), "latency");
        let keys: Vec<String> = latency.keys().map(str::to_owned).collect();
        for key in keys {
            let share = key.strip_prefix('p').and_then(|share| share.replace('_', ".").parse().ok());
            if let Some(measure) = share.and_then(measure_of) {
                put(measure, latency.number(&key, 1e-3, "ms").map(around), "latency");
            }
        }
    }
    let (line, _) = place("url");
    entry.word("url", object.string("url").unwrap_or_default(), line);
    let url = object.string("url").unwrap_or_default();
    entry.label(&url, "connections");
    entry.finish(document);
}

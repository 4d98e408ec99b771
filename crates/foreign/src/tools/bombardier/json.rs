//! bombardier's result in JSON (`-p r -o json`): times in microseconds.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::json::Object;
use crate::tools::text::Text;

pub fn is_one(object: &Object) -> bool {
    object.has("spec") && object.object("result").is_some_and(|result| result.has("req2xx"))
}

pub fn read(object: &Object, text: &Text, at: usize, document: &mut Document) {
    let Some(result) = object.object("result") else { return };
    let mut entry = Entry::new(Tool::Bombardier, text, at);
    let mut put = |measure: Measure, figure: Option<Figure>| {
        if let Some(figure) = figure {
            let line = figure.line;
            entry.put(measure, Some(figure), (line, ""));
        }
    };
    let spec = object.object("spec");
    put(Measure::Users, spec.as_ref().and_then(|spec| spec.count("numberOfConnections")));
    put(Measure::OfferedRate, spec.as_ref().and_then(|spec| spec.number("rate", 1.0, "/s")));
    put(Measure::BytesTotal, result.count("bytesRead"));
    put(Measure::Duration, result.number("timeTakenSeconds", 1.0, "s"));
    let sum = |names: &[&str]| {
        let parts: Vec<Figure> = names.iter().filter_map(|name| result.count(name)).collect();
        let sum: f64 = parts.iter().map(|part| part.value).sum();
        parts.first().map(|part| Figure::exact(sum, format!("{sum}"), part.line))
    };
    put(Measure::Requests, sum(&["req1xx", "req2xx", "req3xx", "req4xx", "req5xx", "others"]));
    put(Measure::Non2xx, sum(&["req4xx", "req5xx"]));
    put(Measure::Errors, sum(&["others"]));
    if let Some(rps) = result.object("rps") {
        put(Measure::Rate, rps.number("mean", 1.0, "/s"));
    }
    let latency = result.object("latency");
    for (key, measure) in [("mean", Measure::Mean), ("stddev", Measure::StdDev), ("max", Measure::Max)] {
        put(measure, latency.as_ref().and_then(|latency| latency.number(key, 1e-6, "µs")));
    }
    if let Some(percentiles) = latency.as_ref().and_then(|latency| latency.object("percentiles")) {
        for key in percentiles.keys() {
            if let Ok(share) = key.parse() {
                let figure = percentiles.number(key, 1e-6, "µs");
                entry.percentile(share, figure, (percentiles.line_of(key), key));
            }
        }
    }
    let url = spec.and_then(|spec| spec.string("url")).unwrap_or_default();
    entry.word("url", url.clone(), object.line);
    entry.label(&url, "connections");
    if entry.row.label.is_empty() {
        "bombardier".clone_into(&mut entry.row.label);
    }
    entry.finish(document);
}

//! Artillery's report in JSON, by `aggregate`: version 2 with counters and summaries, version 1 with `latency`. Times
//! are milliseconds.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::definitions::is_failure;
use crate::tools::entry::Entry;
use crate::tools::json::Object;
use crate::tools::text::Text;

pub fn is_one(object: &Object) -> bool {
    object.object("aggregate").is_some_and(|all| {
        all.has("counters") && all.has("summaries") || all.has("requestsCompleted") && all.has("latency")
    })
}

pub fn read(object: &Object, text: &Text, at: usize, document: &mut Document) {
    let Some(all) = object.object("aggregate") else { return };
    let mut entry = Entry::new(Tool::Artillery, text, at);
    "Artillery".clone_into(&mut entry.row.label);
    let times = match all.object("summaries") {
        Some(summaries) => summaries.object("http.response_time"),
        None => all.object("latency"),
    };
    let counters = all.object("counters");
    let codes = all.object("codes");
    let errors = all.object("errors");
    let sum = |object: Option<&Object>, chosen: &dyn Fn(&str) -> bool| {
        let object = object?;
        let counts = object.keys().filter(|key| chosen(key)).filter_map(|key| object.count(key));
        let sum: f64 = counts.map(|count| count.value).sum();
        Some(Figure::exact(sum, format!("{sum}"), object.line))
    };
    let mut put = |measure: Measure, figure: Option<Figure>| {
        if let Some(figure) = figure {
            let line = figure.line;
            entry.put(measure, Some(figure), (line, ""));
        }
    };
    if let Some(counters) = &counters {
        let other = |key: &str| key.strip_prefix("http.codes.").is_some_and(is_failure);
        put(Measure::Requests, counters.count("http.requests"));
        put(Measure::Errors, sum(Some(counters), &|key| key.starts_with("errors.")));
        put(Measure::Non2xx, sum(Some(counters), &other));
    } else {
        let failed = sum(errors.as_ref(), &|_| true);
        // Requests without a response are not completed.
        let requests = all.count("requestsCompleted").map(|done| {
            let sum = done.value + failed.as_ref().map_or(0.0, |failed| failed.value);
            Figure::exact(sum, format!("{sum}"), done.line)
        });
        put(Measure::Requests, requests);
        put(Measure::Errors, failed);
        put(Measure::Non2xx, sum(codes.as_ref(), &is_failure));
    }
    if let Some(times) = times {
        const KEYS: [(&str, Measure); 6] = [
            ("min", Measure::Min),
            ("max", Measure::Max),
            ("mean", Measure::Mean),
            ("median", Measure::Percentile(5_000)),
            ("p95", Measure::Percentile(9_500)),
            ("p99", Measure::Percentile(9_900)),
        ];
        for (key, measure) in KEYS {
            // A sketch with 1% error.
            let around = |f: Figure| Figure { low: f.low * 0.98, high: f.high * 1.02, ..f };
            put(measure, times.number(key, 1e-3, "ms").map(around));
        }
    }
    if let Some(summaries) = all.object("summaries") {
        for (key, class) in summaries.keys().filter_map(|key| Some((key, super::grammar::class(key)?))) {
            let Some(times) = summaries.object(key) else { continue };
            let mut put = |name: &str, figure: Option<Figure>| {
                let line = figure.as_ref().map_or(0, |figure| figure.line);
                entry.other(format!("{class} {name}"), figure, (line, ""));
            };
            put("count", times.count("count"));
            for name in ["min", "max", "mean", "median", "p95", "p99"] {
                let around = |f: Figure| Figure { low: f.low * 0.98, high: f.high * 1.02, ..f };
                put(name, times.number(name, 1e-3, "ms").map(around));
            }
        }
    }
    entry.finish(document);
}

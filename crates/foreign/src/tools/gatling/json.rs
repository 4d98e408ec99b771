//! Gatling's `stats.json` and `global_stats.json`: the figures of the report, each as total, ok, and ko.

use super::grammar::{line_of, milliseconds};
use crate::model::{Document, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::json::Object;
use crate::tools::text::Text;

pub fn is_one(object: &Object) -> bool {
    object.has("numberOfRequests")
        || object.object("stats").is_some_and(|stats| stats.has("numberOfRequests"))
}

pub fn read(object: &Object, text: &Text, at: usize, document: &mut Document) {
    let stats = object.object("stats");
    let own = stats.as_ref().unwrap_or(object);
    row(own, "All requests", false, text, at, document);
    // `contents` has a request or a group of requests each.
    for (_, content) in object.object("contents").iter().flat_map(Object::objects) {
        if let Some(stats) = content.object("stats").filter(|stats| stats.has("numberOfRequests")) {
            let name = stats.string("name").or_else(|| content.string("name")).unwrap_or_default();
            row(&stats, &name, true, text, at, document);
        }
    }
}

fn row(stats: &Object, name: &str, is_part: bool, text: &Text, at: usize, document: &mut Document) {
    let mut entry = Entry::new(Tool::Gatling, text, at);
    entry.row.label = stats.string("name").unwrap_or_else(|| name.to_owned());
    entry.row.is_part = is_part;
    let of = |key: &str, which: &str| stats.object(key).and_then(|object| object.count(which));
    let place = |key: &str| (stats.line_of(key), name);
    entry.put(Measure::Requests, of("numberOfRequests", "total"), place("numberOfRequests"));
    entry.put(Measure::Errors, of("numberOfRequests", "ko"), place("numberOfRequests"));
    entry.other("ok", of("numberOfRequests", "ok"), place("numberOfRequests"));
    let times = [
        ("minResponseTime", Measure::Min),
        ("maxResponseTime", Measure::Max),
        ("meanResponseTime", Measure::Mean),
        ("standardDeviation", Measure::StdDev),
        ("percentiles1", Measure::Percentile(5_000)),
        ("percentiles2", Measure::Percentile(7_500)),
        ("percentiles3", Measure::Percentile(9_500)),
        ("percentiles4", Measure::Percentile(9_900)),
    ];
    for (key, measure) in times {
        entry.put(measure, of(key, "total").map(milliseconds), place(key));
        for which in ["ok", "ko"] {
            if let (Some(name), Some(figure)) = (line_of(measure), of(key, which)) {
                entry.other(format!("{which} {name}"), Some(figure), place(key));
            }
        }
    }
    if let Some(rate) =
        stats.object("meanNumberOfRequestsPerSecond").and_then(|o| o.number("total", 1.0, "req/s"))
    {
        entry.put(Measure::Rate, Some(rate), place("meanNumberOfRequestsPerSecond"));
        for which in ["ok", "ko"] {
            let rates = stats.object("meanNumberOfRequestsPerSecond");
            if let Some(rate) = rates.and_then(|rates| rates.number(which, 1.0, "req/s")) {
                let name = format!("{which} mean requests/sec");
                entry.other(name, Some(rate), place("meanNumberOfRequestsPerSecond"));
            }
        }
    }
    entry.finish(document);
}

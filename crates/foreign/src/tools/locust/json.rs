//! Locust's `--json`: a list with an object for each name, whose times are a histogram of rounded milliseconds; and
//! what its web page gets from `/stats/requests`.

use super::grammar::steps;
use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::{Entry, measure_of};
use crate::tools::json::Object;
use crate::tools::text::Text;

/// The page's object.
pub fn is_page(object: &Object) -> bool {
    object.has("fail_ratio") && object.has("total_rps") && !object.members("stats").is_empty()
}

pub fn read_page(object: &Object, text: &Text, at: usize, document: &mut Document) {
    for stats in object.members("stats") {
        let mut entry = begin(&stats, text, at);
        page_times(&mut entry, &stats);
        counts(&mut entry, &stats);
        entry.finish(document);
    }
}

fn page_times(entry: &mut Entry, stats: &Object) {
    const KEYS: [(&str, Measure); 4] = [
        ("avg_response_time", Measure::Mean),
        ("min_response_time", Measure::Min),
        ("max_response_time", Measure::Max),
        ("median_response_time", Measure::Percentile(5_000)),
    ];
    for (key, measure) in KEYS {
        if let Some(figure) = stats.number(key, 1e-3, "ms") {
            entry.put(measure, Some(steps(figure, measure)), (stats.line_of(key), key));
        }
    }
    let times = stats.object("response_times");
    for (key, times) in times.iter().flat_map(|times| times.keys().map(move |key| (key, times))) {
        let share = key.strip_prefix('p').and_then(|share| share.parse::<f64>().ok());
        if let Some((share, figure)) = share.zip(times.number(key, 1e-3, "ms")) {
            let figure = measure_of(share).map_or(figure.clone(), |measure| steps(figure, measure));
            entry.percentile(share, Some(figure), (times.line_of(key), key));
        }
    }
}

/// Objects by name, as programs around Locust write them: `{"requests": {"get_/": {"total_rps": 0.5, ...}}}`.
pub fn is_named(object: &Object) -> bool {
    object.object("requests").is_some_and(|requests| {
        requests.objects().any(|(_, stats)| stats.has("median_response_time") && stats.has("total_rps"))
    })
}

pub fn read_named(object: &Object, text: &Text, at: usize, document: &mut Document) {
    let Some(requests) = object.object("requests") else { return };
    for (name, stats) in requests.objects() {
        let mut entry = begin(&stats, text, at);
        name.clone_into(&mut entry.row.label);
        page_times(&mut entry, &stats);
        counts(&mut entry, &stats);
        if let Some(rate) = stats.number("total_rps", 1.0, "/s") {
            let line = rate.line;
            entry.put(Measure::Rate, Some(rate), (line, ""));
        }
        entry.finish(document);
    }
}

/// One object of the list.
pub fn is_entry(object: &Object) -> bool {
    object.has("num_requests") && object.has("total_response_time") && object.has("response_times")
}

pub fn read_entry(object: &Object, text: &Text, at: usize, document: &mut Document) {
    let mut entry = begin(object, text, at);
    counts(&mut entry, object);
    let requests = object.count("num_requests").filter(|n| n.value > 0.0);
    for (key, measure) in [("min_response_time", Measure::Min), ("max_response_time", Measure::Max)] {
        if let Some(figure) = object.number(key, 1e-3, "ms") {
            entry.put(measure, Some(figure), (object.line_of(key), key));
        }
    }
    let none = object.count("num_none_requests").map_or(0.0, |none| none.value);
    let sum = object.number("total_response_time", 1e-3, "ms");
    if let (Some(n), Some(sum)) = (requests, sum) {
        let mean = sum.value / (n.value - none).max(1.0);
        let written = format!("{} / {}", sum.written, n.written);
        let line = sum.line;
        entry.put(Measure::Mean, Some(Figure::exact(mean, written, line)), (line, ""));
    }
    if let Some(times) = object.object("response_times") {
        let mut counted: Vec<(f64, f64)> = times
            .keys()
            .filter_map(|key| Some((key.parse::<f64>().ok()?, times.count(key)?.value)))
            .collect();
        counted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all: f64 = counted.iter().map(|(_, n)| n).sum();
        for share in [5_000_u16, 9_000, 9_500, 9_900] {
            let (mut left, rank) = (0.0, all * f64::from(share) / 1e4);
            let found = counted.iter().find(|(_, n)| {
                left += n;
                left >= rank
            });
            if let Some((ms, _)) = found {
                let figure = Figure::exact(ms * 1e-3, format!("{ms} ms"), times.line);
                let measure = Measure::Percentile(share);
                entry.put(measure, Some(steps(figure, measure)), (times.line, ""));
            }
        }
    }
    entry.finish(document);
}

fn begin(object: &Object, text: &Text, at: usize) -> Entry {
    let mut entry = Entry::new(Tool::Locust, text, at);
    let name = object.string("name").or_else(|| object.string("safe_name")).unwrap_or_default();
    entry.row.is_part = !["Total", "Aggregated"].contains(&name.as_str());
    entry.row.label = if entry.row.is_part {
        format!("{} {name}", object.string("method").unwrap_or_default()).trim().to_owned()
    } else {
        "Total".to_owned()
    };
    entry
}

fn counts(entry: &mut Entry, object: &Object) {
    for (key, measure) in [("num_requests", Measure::Requests), ("num_failures", Measure::Errors)] {
        if let Some(count) = object.count(key) {
            entry.put(measure, Some(count), (object.line_of(key), key));
        }
    }
}

//! oha's JSON result: seconds with all digits. `successRate` counts requests that were answered, whatever the status.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::definitions::is_failure;
use crate::tools::entry::Entry;
use crate::tools::json::Object;
use crate::tools::text::Text;
use crate::tools::vegeta::json::complement;

pub fn is_result(object: &Object) -> bool {
    object.has("summary") && (object.has("latencyPercentiles") || object.has("responseTimeHistogram"))
}

pub fn read(object: &Object, text: &Text, at: usize, document: &mut Document) {
    let Some(summary) = object.object("summary") else { return };
    let mut entry = Entry::new(Tool::Oha, text, at);
    entry.row.label = "oha".to_owned();
    const KEYS: [(&str, Measure, &str); 8] = [
        ("total", Measure::Duration, "s"),
        ("average", Measure::Mean, "s"),
        ("fastest", Measure::Min, "s"),
        ("slowest", Measure::Max, "s"),
        ("requestsPerSec", Measure::Rate, "1/s"),
        ("totalData", Measure::BytesTotal, "B"),
        ("sizePerRequest", Measure::BodyBytes, "B"),
        ("sizePerSec", Measure::BytesPerS, "B/s"),
    ];
    for (key, measure, unit) in KEYS {
        // `null` where nothing was answered: left out, as it is no figure.
        if let Some(mut figure) = summary.number(key, 1.0, unit) {
            if measure == Measure::BodyBytes {
                // Whole bytes, cut off.
                figure.high = figure.value + 1.0;
            }
            entry.put(measure, Some(figure), (summary.line, key));
        }
    }
    if let Some(success) = summary.number("successRate", 1.0, "") {
        entry.other("not answered", Some(complement(&success)), (success.line, ""));
    }
    if let Some(percentiles) = object.object("latencyPercentiles") {
        for key in percentiles.keys() {
            let share = key.strip_prefix('p').and_then(|rest| rest.replacen('_', ".", 1).parse::<f64>().ok());
            if let (Some(share), Some(figure)) = (share, percentiles.number(key, 1.0, "s")) {
                entry.percentile(share, Some(figure), (percentiles.line_of(key), key));
            }
        }
    }
    if let Some(codes) = object.object("statusCodeDistribution") {
        let (mut all, mut other) = (0.0, 0.0);
        for code in codes.keys() {
            let Some(count) = codes.count(code) else { continue };
            all += count.value;
            other += if is_failure(code) { count.value } else { 0.0 };
            entry.other(format!("status {code}"), Some(count), (codes.line, code));
        }
        let exact = |value: f64| Figure::exact(value, format!("{value}"), codes.line);
        let mut requests = exact(all);
        if !object.has("errorDistribution") {
            // A part that was left out has requests without a response: the rate counts them.
            let rate = summary.number("requestsPerSec", 1.0, "1/s").zip(summary.number("total", 1.0, "s"));
            requests.high = rate.map_or(all, |(rate, total)| all.max(rate.value * total.value + 1.0));
        }
        entry.put(Measure::Requests, Some(requests), (codes.line, ""));
        entry.put(Measure::Non2xx, Some(exact(other)), (codes.line, ""));
    }
    if let Some(errors) = object.object("errorDistribution") {
        let mut sum = 0.0;
        for kind in errors.keys() {
            let Some(count) = errors.count(kind) else { continue };
            sum += count.value;
            entry.other(format!("error {kind}"), Some(count), (errors.line, kind));
        }
        let figure = Figure::exact(sum, format!("{sum}"), errors.line);
        entry.put(Measure::Errors, Some(figure), (errors.line, ""));
    }
    entry.finish(document);
}

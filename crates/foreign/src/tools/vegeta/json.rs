//! vegeta's JSON report: times in whole nanoseconds, `rate` is what was sent per second of the attack and `throughput`
//! the successful answers per second of attack and wait.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::json::Object;
use crate::tools::text::Text;

const NS: f64 = 1e-9;

pub fn is_report(object: &Object) -> bool {
    object.has("latencies") && object.has("requests")
}

pub fn read(object: &Object, text: &Text, at: usize, document: &mut Document) {
    let mut entry = Entry::new(Tool::Vegeta, text, at);
    entry.row.label = "vegeta".to_owned();
    let mut put = |measure: Measure, figure: Option<Figure>, line: u32| {
        if let Some(figure) = figure {
            entry.put(measure, Some(figure), (line, ""));
        }
    };
    if let Some(latencies) = object.object("latencies") {
        const KEYS: [(&str, Measure); 7] = [
            ("mean", Measure::Mean),
            ("min", Measure::Min),
            ("50th", Measure::Percentile(5_000)),
            ("90th", Measure::Percentile(9_000)),
            ("95th", Measure::Percentile(9_500)),
            ("99th", Measure::Percentile(9_900)),
            ("max", Measure::Max),
        ];
        for (key, measure) in KEYS {
            put(measure, latencies.number(key, NS, "ns"), latencies.line_of(key));
        }
    }
    if let Some(bytes) = object.object("bytes_in") {
        put(Measure::BytesTotal, bytes.count("total"), bytes.line);
        put(Measure::BodyBytes, bytes.number("mean", 1.0, "B"), bytes.line);
    }
    if let Some(bytes) = object.object("bytes_out") {
        put(Measure::BytesSentTotal, bytes.count("total"), bytes.line);
    }
    put(Measure::Requests, object.count("requests"), object.line_of("requests"));
    put(Measure::OfferedRate, object.number("rate", 1.0, "1/s"), object.line_of("rate"));
    put(Measure::Rate, object.number("throughput", 1.0, "1/s"), object.line_of("throughput"));
    let (attack, wait) = (object.number("duration", NS, "ns"), object.number("wait", NS, "ns"));
    let line = object.line_of("duration");
    if let (Some(attack), Some(wait)) = (attack, wait) {
        entry.other("duration wait", Some(wait.clone()), (line, ""));
        // The throughput is over both.
        entry.put(Measure::Duration, Some(sum(attack.clone(), &wait)), (line, ""));
        entry.other("duration attack", Some(attack), (line, ""));
    }
    if let Some(success) = object.number("success", 1.0, "") {
        entry.put(Measure::ErrorRatio, Some(complement(&success)), (success.line, ""));
    }
    if let Some(codes) = object.object("status_codes") {
        let mut text = Vec::new();
        for code in codes.keys() {
            let Some(count) = codes.count(code) else { continue };
            text.push(format!("{code}:{}", count.written));
            entry.other(format!("status {code}"), Some(count), (codes.line, ""));
        }
        entry.word("status_codes", text.join(" "), codes.line);
    }
    let errors = object.strings("errors");
    if !errors.is_empty() {
        entry.word("errors", errors.join("; "), object.line_of("errors"));
    }
    entry.word("rate", "of successful answers only", object.line_of("throughput"));
    entry.finish(document);
}

/// Two durations one after the other.
pub(super) fn sum(a: Figure, b: &Figure) -> Figure {
    Figure {
        value: a.value + b.value,
        low: a.low + b.low,
        high: a.high + b.high,
        written: format!("{} + {}", a.written, b.written),
        ..a
    }
}

/// The share of the rest.
pub(crate) fn complement(share: &Figure) -> Figure {
    Figure {
        value: 1.0 - share.value,
        low: 1.0 - share.high,
        high: 1.0 - share.low,
        written: format!("{} successful", share.written),
        unit: share.unit.clone(),
        line: share.line,
    }
}

//! `statistics.json` of JMeter's HTML report: a row per label and one for the total.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::json::Object;
use crate::tools::text::Text;

const MS: f64 = 1e-3;
const KIB: f64 = 1_024.0;

pub fn is_one(object: &Object) -> bool {
    object.objects().any(|(_, label)| label.has("sampleCount") && label.has("meanResTime"))
}

pub fn read(object: &Object, text: &Text, at: usize, document: &mut Document) {
    for (label, fields) in object.objects().filter(|(_, label)| label.has("sampleCount")) {
        let mut entry = Entry::new(Tool::Jmeter, text, at);
        entry.row.label = fields.string("transaction").unwrap_or_else(|| label.to_owned());
        entry.row.lines = (fields.line, fields.line);
        entry.row.is_part = !is_total(&entry.row.label);
        let place = |key: &str| (fields.line_of(key), label);
        for (key, measure) in [("sampleCount", Measure::Requests), ("errorCount", Measure::Errors)] {
            entry.put(measure, fields.count(key), place(key));
        }
        const TIMES: [(&str, Measure); 4] = [
            ("meanResTime", Measure::Mean),
            ("medianResTime", Measure::Percentile(5_000)),
            ("minResTime", Measure::Min),
            ("maxResTime", Measure::Max),
        ];
        for (key, measure) in TIMES {
            // JMeter before 5.0 left out the median.
            if fields.has(key) {
                entry.put(measure, fields.number(key, MS, "ms").map(clock), place(key));
            }
        }
        // Which percentiles these are is a property; 90, 95 and 99 unless somebody changed `aggregate_rpt_pct1`.
        for (key, share) in [("pct1ResTime", 9_000), ("pct2ResTime", 9_500), ("pct3ResTime", 9_900)] {
            if fields.has(key) {
                entry.put(Measure::Percentile(share), fields.number(key, MS, "ms").map(clock), place(key));
            }
        }
        entry.put(Measure::ErrorRatio, fields.number("errorPct", 0.01, "%").map(single), place("errorPct"));
        entry.put(Measure::Rate, fields.number("throughput", 1.0, "/s"), place("throughput"));
        for (key, measure) in
            [("receivedKBytesPerSec", Measure::BytesPerS), ("sentKBytesPerSec", Measure::BytesSentPerS)]
        {
            if fields.has(key) {
                entry.put(measure, fields.number(key, KIB, "KB/s"), place(key));
            }
        }
        entry.word("percentiles", "of the last 20,000 samples unless the window was changed", fields.line);
        entry.finish(document);
    }
}

fn is_total(label: &str) -> bool {
    label.eq_ignore_ascii_case("total")
}

/// Samples are differences of two readings of a clock of whole milliseconds.
fn clock(figure: Figure) -> Figure {
    Figure { low: figure.low.min(figure.value - MS), high: figure.high.max(figure.value + MS), ..figure }
}

/// JMeter computes this share in single precision: 24 bits.
fn single(figure: Figure) -> Figure {
    let slack = figure.value.abs() * 2e-7;
    Figure { low: figure.low - slack, high: figure.high + slack, ..figure }
}

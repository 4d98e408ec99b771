//! fortio's result in JSON: seconds, and a duration in nanoseconds.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::definitions::is_failure;
use crate::tools::entry::Entry;
use crate::tools::json::Object;
use crate::tools::text::Text;

pub fn is_one(object: &Object) -> bool {
    object.has("ActualQPS") && object.has("DurationHistogram")
}

pub fn read(object: &Object, text: &Text, at: usize, document: &mut Document) {
    let mut entry = Entry::new(Tool::Fortio, text, at);
    entry.row.label = object.string("Labels").filter(|name| !name.is_empty()).unwrap_or("fortio".into());
    let mut put = |measure: Measure, figure: Option<Figure>| {
        if let Some(figure) = figure {
            let line = figure.line;
            entry.put(measure, Some(figure), (line, ""));
        }
    };
    put(Measure::Users, object.count("NumThreads"));
    put(Measure::Rate, object.number("ActualQPS", 1.0, "/s"));
    put(Measure::Duration, object.number("ActualDuration", 1e-9, "ns"));
    let rate = object.string("RequestedQPS").and_then(|rate| rate.parse::<f64>().ok());
    let line = object.line_of("RequestedQPS");
    put(Measure::OfferedRate, rate.map(|rate| Figure::exact(rate, format!("{rate}"), line)));
    let Some(times) = object.object("DurationHistogram") else { return };
    put(Measure::Requests, times.count("Count"));
    for (key, measure) in
        [("Min", Measure::Min), ("Max", Measure::Max), ("Avg", Measure::Mean), ("StdDev", Measure::StdDev)]
    {
        put(measure, times.number(key, 1.0, "s"));
    }
    let buckets = times.members("Data");
    let edge = |bucket: &Object, key: &str| bucket.number(key, 1.0, "s").map(|figure| figure.value);
    let ends = |bucket: &Object| Some((edge(bucket, "Start")?, edge(bucket, "End")?));
    let edges: Vec<(f64, f64)> = buckets.iter().filter_map(ends).collect();
    let mut histogram = Vec::new();
    for bucket in &buckets {
        let Some(ends) = ends(bucket) else { continue };
        super::grammar::histogram(&mut histogram, ends, bucket.count("Count"), bucket.line);
    }
    let (mut failed, mut line) = (0.0, 0);
    if let Some(codes) = object.object("RetCodes") {
        for code in codes.keys() {
            let Some(calls) = codes.count(code) else { continue };
            line = codes.line;
            failed += if is_failure(code) { calls.value } else { 0.0 };
        }
    }
    if line > 0 {
        put(Measure::Non2xx, Some(Figure::exact(failed, format!("{failed}"), line)));
    }
    for percentile in times.members("Percentiles") {
        let (share, value) =
            (percentile.number("Percentile", 1.0, "%"), percentile.number("Value", 1.0, "s"));
        if let (Some(share), Some(mut value)) = (share, value) {
            // Interpolated within its bucket.
            if let Some((low, high)) = super::grammar::within(&edges, &value) {
                (value.low, value.high) = (low, high);
            }
            let line = value.line;
            entry.percentile(share.value, Some(value), (line, ""));
        }
    }
    entry.row.histogram = histogram;
    entry.finish(document);
}

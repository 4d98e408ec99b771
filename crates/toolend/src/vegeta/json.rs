//! The JSON report of Vegeta.

use super::{Attack, counts, latencies};
use crate::figures::Figures;
use plimsoll_plan::calendar::utc;
use serde_json::{Map, Value, json};

/// Returns the document, on one line; `edges_ns` are those of the histogram, if there is one.
pub fn json(figures: &Figures, edges_ns: &[u64]) -> String {
    let (attack, times) = (Attack::of(figures), latencies(figures));
    let at = |q: f64| times.quantile(q).unwrap_or(0);
    let mean = |bytes: u64| if attack.requests > 0 { bytes as f64 / attack.requests as f64 } else { 0.0 };
    let codes = attack.statuses.iter().map(|(status, count)| (status.clone(), Value::from(*count)));
    let start_ns = figures.started_unix_ns;
    let mut document = json!({
        "latencies": {
            "total": u64::try_from(times.sum()).unwrap_or(u64::MAX),
            "mean": times.mean().unwrap_or(0.0) as u64,
            "50th": at(0.5),
            "90th": at(0.9),
            "95th": at(0.95),
            "99th": at(0.99),
            "max": times.max().unwrap_or(0),
            "min": times.min().unwrap_or(0),
        },
        "bytes_in": { "total": attack.bytes_in, "mean": mean(attack.bytes_in) },
        "bytes_out": { "total": attack.bytes_out, "mean": mean(attack.bytes_out) },
        "earliest": date(start_ns),
        "latest": date(start_ns + attack.duration_ns),
        "end": date(start_ns + attack.duration_ns + attack.wait_ns),
        "duration": attack.duration_ns,
        "wait": attack.wait_ns,
        "requests": attack.requests,
        "rate": attack.rate,
        "throughput": attack.throughput,
        "success": attack.success,
        "status_codes": codes.collect::<Map<_, _>>(),
        "errors": attack.errors,
    });
    if !edges_ns.is_empty() {
        let buckets = counts(times, edges_ns).map(|(count, low, _)| (low.to_string(), Value::from(count)));
        document["buckets"] = Value::Object(buckets.collect());
    }
    format!("{document}\n")
}

/// Returns a time as Go writes it (RFC 3339).
fn date(unix_ns: u64) -> String {
    utc(unix_ns).strftime("%Y-%m-%dT%H:%M:%S%.fZ").to_string()
}

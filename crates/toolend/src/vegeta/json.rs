//! The JSON report of Vegeta.

use super::{Attack, counts, latencies};
use crate::figures::Figures;
use crate::ordered::{Json, map};
use plimsoll_plan::calendar::utc;

/// Returns the document, on one line; `edges_ns` are those of the histogram, if there is one.
pub fn json(figures: &Figures, edges_ns: &[u64]) -> String {
    let (attack, times) = (Attack::of(figures), latencies(figures));
    let at = |q: f64| times.quantile(q).unwrap_or(0);
    let mean = |bytes: u64| if attack.requests > 0 { bytes as f64 / attack.requests as f64 } else { 0.0 };
    let codes = attack.statuses.iter().map(|(status, count)| (status.clone(), (*count).into()));
    let start_ns = figures.started_unix_ns;
    let bytes = |total: u64| map([("total", total.into()), ("mean", mean(total).into())]);
    let pair = |key: &str, value: Json| (key.to_owned(), value);
    let latencies = map([
        ("total", u64::try_from(times.sum()).unwrap_or(u64::MAX).into()),
        ("mean", (times.mean().unwrap_or(0.0) as u64).into()),
        ("50th", at(0.5).into()),
        ("90th", at(0.9).into()),
        ("95th", at(0.95).into()),
        ("99th", at(0.99).into()),
        ("max", times.max().unwrap_or(0).into()),
        ("min", times.min().unwrap_or(0).into()),
    ]);
    let mut document = vec![pair("latencies", latencies)];
    if !edges_ns.is_empty() {
        let buckets = counts(times, edges_ns).map(|(count, low, _)| (low.to_string(), count.into()));
        document.push(pair("buckets", Json::Map(buckets.collect())));
    }
    document.extend([
        pair("bytes_in", bytes(attack.bytes_in)),
        pair("bytes_out", bytes(attack.bytes_out)),
        pair("earliest", date(start_ns).into()),
        pair("latest", date(start_ns + attack.duration_ns).into()),
        pair("end", date(start_ns + attack.duration_ns + attack.wait_ns).into()),
        pair("duration", attack.duration_ns.into()),
        pair("wait", attack.wait_ns.into()),
        pair("requests", attack.requests.into()),
        pair("rate", attack.rate.into()),
        pair("throughput", attack.throughput.into()),
        pair("success", attack.success.into()),
        pair("status_codes", Json::Map(codes.collect())),
        pair("errors", attack.errors.into()),
    ]);
    Json::Map(document).text(false) + "\n"
}

/// Returns a time as Go writes it (RFC 3339).
fn date(unix_ns: u64) -> String {
    utc(unix_ns).strftime("%Y-%m-%dT%H:%M:%S%.fZ").to_string()
}

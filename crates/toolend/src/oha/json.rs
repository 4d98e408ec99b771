//! The JSON of oha.

use super::{PERCENTILES, all_requests, bars, dialups, errors, success, times};
use crate::figures::{Figures, at_index, extremes_s};
use plimsoll_lines::oha::Oha;
use plimsoll_plan::metric::{RunHist, SeriesHist, SeriesSum};
use plimsoll_stats::Hist;
use serde_json::{Map, Value, json};

/// Returns the document.
pub fn json(figures: &Figures, line: &Oha) -> String {
    let times = times(figures, line);
    let first_bytes = figures.hist(SeriesHist::FirstByte);
    let [fastest_s, mean_s, slowest_s] = extremes_s(times);
    let (elapsed_s, bytes) = (figures.elapsed_s(), figures.sum(SeriesSum::BodyBytes));
    let rate = all_requests(figures) as f64 / elapsed_s;
    let statuses = figures.statuses().map(|(status, count)| (status.to_string(), Value::from(count)));
    let errors = errors(figures).into_iter().map(|(name, count)| (name.to_owned(), Value::from(count)));
    let ms = |s: f64| (s * 1e6).round() / 1e3;
    let at = |q: u64| at_index(times, q * times.count() / 10_000) as f64 / 1e9;
    let document = json!({
        "summary": {
            "successRate": success(figures),
            "total": elapsed_s,
            "slowest": slowest_s,
            "fastest": fastest_s,
            "average": mean_s,
            "requestsPerSec": rate,
            "totalData": bytes,
            "sizePerRequest": bytes.checked_div(figures.responses()),
            "sizePerSec": bytes as f64 / elapsed_s,
        },
        "metrics": {
            "success_rate": success(figures),
            "requests_per_sec": rate,
            "latency_ms": {
                "min": ms(fastest_s), "mean": ms(mean_s), "p50": ms(at(5_000)), "p95": ms(at(9_500)),
                "p99": ms(at(9_900)), "max": ms(slowest_s),
            },
        },
        "responseTimeHistogram": histogram(times),
        "latencyPercentiles": percentiles(times),
        "firstByteHistogram": histogram(first_bytes),
        "firstBytePercentiles": percentiles(first_bytes),
        "rps": rates(figures),
        "details": {
            "DNSDialup": triple(&dialups(figures)),
            "DNSLookup": triple(figures.run_hist(RunHist::Dns)),
            "firstByte": triple(first_bytes),
        },
        "statusCodeDistribution": statuses.collect::<Map<_, _>>(),
        "errorDistribution": errors.collect::<Map<_, _>>(),
    });
    format!("{document:#}\n")
}

fn histogram(times: &Hist) -> Map<String, Value> {
    bars(times).into_iter().map(|(edge_s, count)| (edge_s.to_string(), count.into())).collect()
}

fn percentiles(times: &Hist) -> Map<String, Value> {
    let value_s = |q: u64| match times.is_empty() {
        true => Value::Null,
        false => json!(at_index(times, q * times.count() / 10_000) as f64 / 1e9),
    };
    PERCENTILES.iter().map(|q| (format!("p{}", *q as f64 / 100.0), value_s(*q))).collect()
}

fn triple(hist: &Hist) -> Value {
    let [fastest_s, mean_s, slowest_s] = extremes_s(hist);
    json!({ "average": mean_s, "fastest": fastest_s, "slowest": slowest_s })
}

/// Returns the distribution of the rates of whole seconds.
fn rates(figures: &Figures) -> Value {
    let seconds = figures.seconds.iter().filter(|second| second.length_ns > 0);
    let rate = |second: &crate::Second| second.responses() as f64 * 1e9 / second.length_ns as f64;
    let mut rates: Vec<f64> = seconds.map(rate).collect();
    rates.sort_by(f64::total_cmp);
    let count = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / count.max(1.0);
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    let at = |q: &u64| rates.get((*q as usize * rates.len() / 10_000).min(rates.len().saturating_sub(1)));
    let percentiles = PERCENTILES.iter().map(|q| (format!("p{}", *q as f64 / 100.0), json!(at(q))));
    json!({
        "mean": mean,
        "stddev": (squares / (count - 1.0).max(1.0)).sqrt(),
        "max": rates.last(),
        "min": rates.first(),
        "percentiles": percentiles.collect::<Map<_, _>>(),
    })
}

//! The JSON of oha.

use super::{PERCENTILES, all_requests, bars, dialups, errors, success, times};
use crate::figures::{Figures, at_index, extremes_s};
use crate::ordered::{Json, map};
use plimsoll_lines::oha::Oha;
use plimsoll_plan::metric::{RunHist, SeriesHist, SeriesSum};
use plimsoll_stats::Hist;
use serde_json::Value;

/// Returns the document.
pub fn json(figures: &Figures, line: &Oha) -> String {
    let times = times(figures, line);
    let first_bytes = figures.hist(SeriesHist::FirstByte);
    let [fastest_s, mean_s, slowest_s] = extremes_s(times);
    let (elapsed_s, bytes) = (figures.elapsed_s(), figures.sum(SeriesSum::BodyBytes));
    let rate = all_requests(figures) as f64 / elapsed_s;
    let statuses = figures.statuses().map(|(status, count)| (status.to_string(), count.into()));
    let errors = errors(figures).into_iter().map(|(name, count)| (name.to_owned(), count.into()));
    let ms = |s: f64| (s * 1e6).round() / 1e3;
    let at = |q: u64| at_index(times, q * times.count() / 10_000) as f64 / 1e9;
    let document = map([
        (
            "summary",
            map([
                ("successRate", success(figures).into()),
                ("total", elapsed_s.into()),
                ("slowest", slowest_s.into()),
                ("fastest", fastest_s.into()),
                ("average", mean_s.into()),
                ("requestsPerSec", rate.into()),
                ("totalData", bytes.into()),
                ("sizePerRequest", bytes.checked_div(figures.responses()).into()),
                ("sizePerSec", (bytes as f64 / elapsed_s).into()),
            ]),
        ),
        (
            "metrics",
            map([
                ("success_rate", success(figures).into()),
                ("requests_per_sec", rate.into()),
                (
                    "latency_ms",
                    map([
                        ("min", ms(fastest_s).into()),
                        ("mean", ms(mean_s).into()),
                        ("p50", ms(at(5_000)).into()),
                        ("p95", ms(at(9_500)).into()),
                        ("p99", ms(at(9_900)).into()),
                        ("max", ms(slowest_s).into()),
                    ]),
                ),
            ]),
        ),
        ("responseTimeHistogram", histogram(times)),
        ("latencyPercentiles", percentiles(times)),
        ("firstByteHistogram", histogram(first_bytes)),
        ("firstBytePercentiles", percentiles(first_bytes)),
        ("rps", rates(figures)),
        (
            "details",
            map([
                ("DNSDialup", triple(&dialups(figures))),
                ("DNSLookup", triple(figures.run_hist(RunHist::Dns))),
                ("firstByte", triple(first_bytes)),
            ]),
        ),
        ("statusCodeDistribution", Json::Map(statuses.collect())),
        ("errorDistribution", Json::Map(errors.collect())),
    ]);
    document.text(true)
}

fn histogram(times: &Hist) -> Json {
    Json::Map(bars(times).into_iter().map(|(edge_s, count)| (edge_s.to_string(), count.into())).collect())
}

fn percentiles(times: &Hist) -> Json {
    let value_s = |q: u64| match times.is_empty() {
        true => Value::Null,
        false => (at_index(times, q * times.count() / 10_000) as f64 / 1e9).into(),
    };
    Json::Map(PERCENTILES.iter().map(|q| (percentile(*q), value_s(*q).into())).collect())
}

fn percentile(q: u64) -> String {
    format!("p{}", q as f64 / 100.0)
}

fn triple(hist: &Hist) -> Json {
    let [fastest_s, mean_s, slowest_s] = extremes_s(hist);
    map([("average", mean_s.into()), ("fastest", fastest_s.into()), ("slowest", slowest_s.into())])
}

/// Returns the distribution of the rates of whole seconds.
fn rates(figures: &Figures) -> Json {
    let seconds = figures.seconds.iter().filter(|second| second.length_ns > 0);
    let rate = |second: &crate::Second| second.responses() as f64 * 1e9 / second.length_ns as f64;
    let mut rates: Vec<f64> = seconds.map(rate).collect();
    rates.sort_by(f64::total_cmp);
    let count = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / count.max(1.0);
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    let at = |q: u64| rates.get((q as usize * rates.len() / 10_000).min(rates.len().saturating_sub(1)));
    let percentiles = PERCENTILES.iter().map(|q| (percentile(*q), at(*q).copied().into()));
    map([
        ("mean", mean.into()),
        ("stddev", (squares / (count - 1.0).max(1.0)).sqrt().into()),
        ("max", rates.last().copied().into()),
        ("min", rates.first().copied().into()),
        ("percentiles", Json::Map(percentiles.collect())),
    ])
}

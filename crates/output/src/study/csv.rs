//! A study as CSV in long format: one row per combination and metric, so that a plot needs no reshaping.
//!
//! The rules are those of the timeline ([`crate::csv`]). One column per setting, `set_NAME`, follows [`COLUMNS`].

use crate::csv::row;
use plimsoll_experiment::study::{CellRow, Estimate, Study};
use plimsoll_plan::watch::Unit;

/// The number of the combination (from 0, in the order of the table), its load in users or arrivals per second, the
/// number of pooled runs, whether they are a measurement, the metric with its unit, value, and 95% interval, whether
/// the value is a lower bound, the source of the interval (`runs`, `blocks`, or `none`), and whether a percentile has
/// too few samples. New columns are added at the end of these, and columns are never renamed.
pub const COLUMNS: [&str; 13] = [
    "cell",
    "level",
    "level_unit",
    "repeats",
    "is_valid",
    "figure",
    "unit",
    "value",
    "low",
    "high",
    "is_lower_bound",
    "basis",
    "has_too_few_samples",
];

/// Returns a header and the rows.
pub fn csv(study: &Study) -> String {
    let settings = study.parameters.iter().map(|axis| format!("set_{axis}"));
    let mut out = row(COLUMNS.iter().map(|name| (*name).to_owned()).chain(settings));
    for (at, cell) in study.table.iter().enumerate() {
        for (figure, unit, estimate) in figures(cell) {
            out.push_str(&row(fields(study, at, cell, &figure, unit, &estimate)));
        }
    }
    out
}

/// After the metrics of the load, those of monitors follow: `api.cpu mean`, `api.cpu peak`.
fn figures(cell: &CellRow) -> Vec<(String, &'static str, Estimate)> {
    let bare = |value: f64| Estimate { value: Some(value), ..Estimate::default() };
    let mut out = vec![
        ("throughput", "per_s", cell.rate_per_s),
        ("error_ratio", "ratio", cell.error_ratio),
        ("response_time_mean", "ns", cell.mean_ns),
        ("response_time_p50", "ns", cell.p50_ns),
        ("response_time_p90", "ns", cell.p90_ns),
        ("response_time_p95", "ns", cell.p95_ns),
        ("response_time_p99", "ns", cell.p99_ns),
        ("in_flight", "requests", bare(cell.in_flight)),
        ("in_flight_computed", "requests", bare(cell.little.in_flight_computed)),
        ("missing_time", "ratio", bare(cell.little.missing_ratio)),
        ("bytes_in", "bytes_per_s", bare(cell.bytes_in_per_s)),
    ];
    if let Some(offered) = cell.offered_rate_per_s {
        out.insert(0, ("offered_rate", "per_s", bare(offered)));
    }
    let load = out.into_iter().map(|(figure, unit, estimate)| (figure.to_owned(), unit, estimate));
    let watched = cell.monitor_metrics.iter().flat_map(|seen| {
        let part = if seen.part.is_empty() { String::new() } else { format!("{}.", seen.part) };
        let name = format!("{}.{part}{}", seen.monitor, seen.metric);
        let unit = unit(seen.unit);
        [(format!("{name} mean"), unit, bare(seen.mean)), (format!("{name} peak"), unit, bare(seen.peak))]
    });
    load.chain(watched).collect()
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Cores => "cores",
        Unit::Share => "ratio",
        Unit::Bytes => "bytes",
        Unit::BytesPerS => "bytes_per_s",
        Unit::PerS => "per_s",
        Unit::Count => "count",
        Unit::Seconds => "s",
    }
}

fn fields(
    study: &Study,
    at: usize,
    cell: &CellRow,
    figure: &str,
    unit: &str,
    estimate: &Estimate,
) -> Vec<String> {
    let number = |x: Option<f64>| x.filter(|x| x.is_finite()).map(|x| x.to_string()).unwrap_or_default();
    let basis = match estimate.low {
        Some(_) => super::basis(cell.basis),
        None => "none",
    };
    let fixed = [
        at.to_string(),
        number(Some(cell.level)),
        if cell.is_users { "users" } else { "per_s" }.into(),
        cell.repeats.to_string(),
        cell.is_valid.to_string(),
        figure.into(),
        unit.into(),
        number(estimate.value),
        number(estimate.low),
        number(estimate.high),
        estimate.is_lower_bound.to_string(),
        basis.into(),
        estimate.has_too_few_samples.to_string(),
    ];
    let settings = study.parameters.iter().map(|axis| cell.setting(axis).unwrap_or_default().to_owned());
    fixed.into_iter().chain(settings).collect()
}

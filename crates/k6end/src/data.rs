//! The object that `handleSummary()` gets.

use super::groups::{CheckCount, Group, id};
use super::metric::{Values, ratio};
use super::{EndOfTest, Metric, Options};
use plimsoll_k6::settings::TimeUnit;
use plimsoll_output::Error;
use serde_json::{Map, Value, json};

/// Returns the object as JSON.
///
/// # Errors
/// Returns an error if the data of setup is not JSON.
pub fn data(end: &EndOfTest, options: &Options<'_>) -> Result<Value, Error> {
    let unit = match options.time_unit {
        None => "",
        Some(TimeUnit::Seconds) => "s",
        Some(TimeUnit::Milliseconds) => "ms",
        Some(TimeUnit::Microseconds) => "us",
    };
    let metrics: Map<String, Value> =
        end.metrics.iter().map(|(name, one)| (name.clone(), metric(one, options))).collect();
    let mut data = json!({
        "root_group": group(&end.root),
        "options": {
            "summaryTrendStats": options.trend_stats,
            "summaryTimeUnit": unit,
            "noColor": !options.has_color,
        },
        "state": {
            "isStdOutTTY": options.is_stdout_tty,
            "isStdErrTTY": options.is_stderr_tty,
            "testRunDurationMs": number(end.duration_ms),
        },
        "metrics": metrics,
    });
    if let (Some(text), Some(object)) = (options.setup_data, data.as_object_mut()) {
        object.insert("setup_data".into(), serde_json::from_str(text)?);
    }
    Ok(data)
}

fn metric(metric: &Metric, options: &Options<'_>) -> Value {
    let mut object = Map::new();
    object.insert("type".into(), metric.values.kind().name().into());
    object.insert("contains".into(), metric.contains.name().into());
    object.insert("values".into(), Value::Object(values(&metric.values, options)));
    if !metric.thresholds.is_empty() {
        let result = |is_met: bool| json!({ "ok": is_met });
        let all = metric.thresholds.iter().map(|(one, is_met)| (one.source.clone(), result(*is_met)));
        object.insert("thresholds".into(), Value::Object(all.collect()));
    }
    Value::Object(object)
}

/// Returns the values of a metric by their names.
pub(super) fn values(values: &Values, options: &Options<'_>) -> Map<String, Value> {
    let pairs: Vec<(String, Value)> = match values {
        Values::Counter { count, rate_per_s } => {
            vec![("count".into(), number(*count)), ("rate".into(), number(*rate_per_s))]
        }
        Values::Gauge(gauge) => {
            let of = |value: Option<f64>| number(value.unwrap_or(0.0));
            vec![
                ("value".into(), of(gauge.map(|one| one.value))),
                ("min".into(), of(gauge.map(|one| one.min))),
                ("max".into(), of(gauge.map(|one| one.max))),
            ]
        }
        Values::Rate { passes, fails } => vec![
            ("rate".into(), number(ratio(*passes, *fails))),
            ("passes".into(), (*passes).into()),
            ("fails".into(), (*fails).into()),
        ],
        Values::Trend(trend) => {
            let stats = options.trend_stats.iter();
            stats.filter_map(|stat| Some((stat.clone(), number(trend.stat(stat)?)))).collect()
        }
    };
    pairs.into_iter().collect()
}

fn group(of: &Group) -> Value {
    let groups: Vec<Value> = of.groups.iter().map(group).collect();
    let checks: Vec<Value> = of.checks.iter().map(check).collect();
    json!({ "name": of.name, "path": of.path, "id": id(&of.path), "groups": groups, "checks": checks })
}

pub(super) fn check(of: &CheckCount) -> Value {
    json!({ "name": of.name, "path": of.path, "id": id(&of.path), "passes": of.passes, "fails": of.fails })
}

/// Whole numbers are written without a decimal point, as JavaScript does.
pub(super) fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT { Value::from(value as i64) } else { Value::from(value) }
}

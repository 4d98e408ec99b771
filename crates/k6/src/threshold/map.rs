//! Thresholds of k6 as those of plimsoll, where the meaning is the same.

use super::{Aggregator, BUILT_IN, Kind, Threshold};
use plimsoll_plan::outline::TICK_NS;
use plimsoll_plan::series::label;
use plimsoll_plan::threshold::{Scope, Statistic, Subject, Threshold as Own};

/// Nanoseconds in the unit of k6's times.
const MS_NS: f64 = 1e6;

/// System tags that belong to single samples or to other things than requests, so that no series has them as a label.
const NOT_LABELS: [&str; 14] = [
    "proto",
    "subproto",
    "status",
    "url",
    "check",
    "error",
    "error_code",
    "tls_version",
    "expected_response",
    "iter",
    "vu",
    "ocsp_status",
    "ip",
    "from_cache",
];

pub(super) fn counterpart(threshold: &Threshold) -> Option<Own> {
    let (subject, factor) = subject(threshold)?;
    let scope = scope(threshold)?;
    let scope = match call_type(&threshold.metric) {
        Some(kind) => Some(of_calls(scope, kind)),
        None => scope,
    };
    if scope.is_some() && !subject.has_scope() {
        return None;
    }
    Some(Own {
        text: format!("{}: {}", threshold.key, threshold.source),
        subject,
        statistic: statistic(threshold.aggregator)?,
        comparison: threshold.operator.comparison()?,
        value: threshold.limit * factor,
        is_default: false,
        scope,
        over_ns: None,
        // Whole ticks; a later check is never too early.
        abort_after_ns: threshold.abort.map(|abort| abort.delay_ns.div_ceil(TICK_NS) * TICK_NS),
    })
}

/// Returns the metric, and the factor of its limit.
fn subject(threshold: &Threshold) -> Option<(Subject, f64)> {
    if !BUILT_IN.iter().any(|(name, _)| *name == threshold.metric) {
        return Some(match (threshold.kind, threshold.aggregator) {
            (Kind::Counter, Aggregator::Count) => (Subject::Counter, 1.0),
            // The increase of a counter per second has no counterpart.
            (Kind::Counter, _) => return None,
            (Kind::Gauge, _) => (Subject::Gauge, 1.0),
            (Kind::Rate, _) => (Subject::TrueRatio, 1.0),
            (Kind::Trend, _) => (Subject::Trend, 1.0),
        });
    }
    Some(match (threshold.metric.as_str(), threshold.aggregator) {
        ("http_req_duration", _) => (Subject::ServiceTime, MS_NS),
        ("http_req_waiting", _) => (Subject::FirstByte, MS_NS),
        ("group_duration", _) => (Subject::GroupTime, MS_NS),
        ("http_req_failed", _) => (Subject::ErrorRate, 1.0),
        ("checks", _) => (Subject::Checks, 1.0),
        ("http_reqs", Aggregator::Count) => (Subject::Requests, 1.0),
        ("http_reqs", _) => (Subject::Throughput, 1.0),
        ("grpc_req_duration", _) => (Subject::ServiceTime, MS_NS),
        ("grpc_streams_msgs_sent", Aggregator::Count) => (Subject::MessagesSent, 1.0),
        ("grpc_streams_msgs_received", Aggregator::Count) => (Subject::MessagesReceived, 1.0),
        ("ws_msgs_sent", Aggregator::Count) => (Subject::MessagesSent, 1.0),
        ("ws_msgs_received", Aggregator::Count) => (Subject::MessagesReceived, 1.0),
        _ => return None,
    })
}

/// Returns the type of the gRPC calls that a metric measures: `grpc_req_duration` those with one response.
fn call_type(metric: &str) -> Option<&'static str> {
    match metric {
        "grpc_req_duration" => Some(label::UNARY),
        "grpc_streams_msgs_sent" | "grpc_streams_msgs_received" => Some(label::STREAMING),
        _ => None,
    }
}

/// Narrows a threshold on requests or messages to those that are not gRPC calls, which have their own metrics in k6.
pub(super) fn exclude_calls(threshold: &mut Own) {
    let is_of_requests = matches!(
        threshold.subject,
        Subject::ServiceTime
            | Subject::FirstByte
            | Subject::ErrorRate
            | Subject::Requests
            | Subject::Throughput
            | Subject::MessagesSent
            | Subject::MessagesReceived
    );
    if is_of_requests && !threshold.scope.as_ref().is_some_and(names_calls) {
        threshold.scope = Some(of_calls(threshold.scope.take(), ""));
    }
}

fn names_calls(scope: &Scope) -> bool {
    match scope {
        Scope::Tag(name, _) => name == label::RPC_TYPE,
        Scope::All(parts) => parts.iter().any(names_calls),
        _ => false,
    }
}

/// Narrows a scope to gRPC calls of a type; an empty one means all other requests.
fn of_calls(scope: Option<Scope>, kind: &str) -> Scope {
    let calls = Scope::Tag(label::RPC_TYPE.to_owned(), kind.to_owned());
    match scope {
        None => calls,
        Some(Scope::All(mut parts)) => {
            parts.push(calls);
            Scope::All(parts)
        }
        Some(one) => Scope::All(vec![one, calls]),
    }
}

fn statistic(aggregator: Aggregator) -> Option<Statistic> {
    // Higher percentiles require more samples than plimsoll accepts for a threshold.
    const PERCENT_MAX: f64 = 99.9999;
    Some(match aggregator {
        Aggregator::Avg => Statistic::Mean,
        Aggregator::Min | Aggregator::Percentile(0.0) => Statistic::Min,
        Aggregator::Max | Aggregator::Percentile(100.0) => Statistic::Max,
        Aggregator::Med => Statistic::Quantile(0.5),
        Aggregator::Percentile(percent) if percent > PERCENT_MAX => return None,
        Aggregator::Percentile(percent) => Statistic::Quantile(percent / 100.0),
        Aggregator::Count | Aggregator::Rate | Aggregator::Value => Statistic::Value,
    })
}

/// Returns the scope; `Some(None)`: all samples. `None`: no scope has this meaning.
fn scope(threshold: &Threshold) -> Option<Option<Scope>> {
    let is_custom = !BUILT_IN.iter().any(|(name, _)| *name == threshold.metric);
    let mut parts = Vec::new();
    if is_custom {
        parts.push(Scope::Metric(threshold.metric.clone()));
    }
    for (name, value) in &threshold.tags {
        parts.push(match name.as_str() {
            "name" if !is_custom => Scope::Request(value.clone()),
            "scenario" => Scope::Scenario(value.clone()),
            // k6 writes nested groups as `::outer::inner`, and the top level as an empty text. A group covers its
            // nested groups in plimsoll, unlike a tag.
            "group" if threshold.metric == "group_duration" => Scope::Group(group(value)?),
            "group" => Scope::Tag("group".to_owned(), group(value)?),
            label if NOT_LABELS.contains(&label) => return None,
            label => Scope::Tag(label.to_owned(), value.clone()),
        });
    }
    Some(match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Scope::All(parts)),
    })
}

fn group(path: &str) -> Option<String> {
    let names: Vec<&str> = path.strip_prefix("::")?.split("::").collect();
    Some(names.join(" / "))
}

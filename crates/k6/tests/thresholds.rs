//! Thresholds of k6: the grammar, metrics with tags, mistakes, and the counterparts in plimsoll.

use plimsoll_k6::threshold::{Abort, Aggregator, Operator, Threshold, parse, read};
use plimsoll_plan::series::Custom;
use plimsoll_plan::threshold::{Comparison, Scope, Statistic, Subject};
use serde_json::{Value, json};

fn custom() -> Vec<(String, Custom)> {
    [("orders", Custom::Counter), ("wait", Custom::Trend), ("ok", Custom::Rate), ("depth", Custom::Gauge)]
        .map(|(name, kind)| (name.to_owned(), kind))
        .to_vec()
}

fn thresholds(value: Value) -> Vec<Threshold> {
    read(&value, &custom()).expect("valid thresholds").0
}

fn mistake(value: Value) -> String {
    let all = read(&value, &custom()).expect_err("invalid thresholds");
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].code, "K106");
    all[0].message.clone()
}

#[test]
fn the_grammar_is_an_aggregator_an_operator_and_a_number() {
    let cases = [
        ("p(95)<500", (Aggregator::Percentile(95.0), Operator::Less, 500.0)),
        (" p( 99.9 ) <= 1.5e3 ", (Aggregator::Percentile(99.9), Operator::LessOrEqual, 1_500.0)),
        ("avg > 1", (Aggregator::Avg, Operator::Greater, 1.0)),
        ("med>=0.5", (Aggregator::Med, Operator::GreaterOrEqual, 0.5)),
        ("rate===1", (Aggregator::Rate, Operator::Equal, 1.0)),
        ("count == 10", (Aggregator::Count, Operator::Equal, 10.0)),
        ("value != -3", (Aggregator::Value, Operator::NotEqual, -3.0)),
    ];
    for (source, expected) in cases {
        assert_eq!(parse(source), Ok(expected), "{source}");
    }
    let wrong =
        ["", "p95<500", "p(95)", "p(101)<1", "rate<1%", "rate <", "< 5", "rate=1", "rate=>1", "avg<500ms"];
    for source in wrong {
        let problem = parse(source).expect_err(source);
        assert!(problem.message.contains(&format!("`{source}`")), "{}", problem.message);
    }
}

#[test]
fn a_metric_may_have_tags_and_a_condition_may_stop_the_test() {
    let all = thresholds(json!({
        "http_req_duration{status:200, name:\"/cart?id=1\"}": ["p(95)<500", { "threshold": "avg<9", "abortOnFail": true,
            "delayAbortEval": "10s" }],
        "http_req_failed": "rate<0.01",
    }));
    let tags: Vec<(&str, &str)> = all[0].tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(tags, [("status", "200"), ("name", "/cart?id=1")]);
    assert_eq!((all[2].metric.as_str(), all[2].source.as_str()), ("http_req_failed", "rate<0.01"));
    assert_eq!(all[0].abort, None);
    assert_eq!(all[1].abort, Some(Abort { delay_ns: 10_000_000_000 }));
    assert!(all[2].holds(0.009) && !all[2].holds(0.01));
}

#[test]
fn mistakes_name_the_metric_the_aggregator_or_the_expression() {
    let cases = [
        (json!({ "http_req_durations": ["p(95)<5"] }), "unknown metric `http_req_durations` in `thresholds`"),
        (
            json!({ "browser_web_vital_lcp": ["p(95)<5"] }),
            "unknown metric `browser_web_vital_lcp` in `thresholds`",
        ),
        (
            json!({ "http_reqs": ["p(95)<5"] }),
            "`thresholds.http_reqs`: invalid aggregator `p(95)` in threshold `p(95)<5`: `http_reqs` is a counter",
        ),
        (
            json!({ "orders{shop:a}": ["value>1"] }),
            "`thresholds.orders{shop:a}`: invalid aggregator `value` in threshold `value>1`: `orders` is a counter",
        ),
        (
            json!({ "http_reqs{}": ["count>1"] }),
            "invalid metric `http_reqs{}` of a threshold: no tags between the braces",
        ),
        (
            json!({ "http_reqs{a:b": ["count>1"] }),
            "invalid metric `http_reqs{a:b` of a threshold: missing `}` at the end",
        ),
        (
            json!({ "http_reqs": ["count"] }),
            "`thresholds.http_reqs`: invalid threshold `count`: missing comparison",
        ),
    ];
    for (value, message) in cases {
        assert_eq!(mistake(value), message);
    }
}

#[test]
fn thresholds_with_the_same_meaning_become_those_of_plimsoll() {
    let scope = |kind: fn(String) -> Scope, name: &str| Some(kind(name.to_owned()));
    let all = |parts: Vec<Scope>| Some(Scope::All(parts));
    let cases = [
        ("http_req_duration", "p(99)<250", Subject::ServiceTime, Statistic::Quantile(0.99), 250e6, None),
        ("http_req_duration", "avg<2.5", Subject::ServiceTime, Statistic::Mean, 2.5e6, None),
        ("http_req_failed", "rate<0.01", Subject::ErrorRate, Statistic::Value, 0.01, None),
        ("http_reqs", "count>5", Subject::Requests, Statistic::Value, 5.0, None),
        ("http_reqs", "rate>5", Subject::Throughput, Statistic::Value, 5.0, None),
        ("checks", "rate>0.9", Subject::Checks, Statistic::Value, 0.9, None),
        (
            "http_req_duration{name:a}",
            "med<1",
            Subject::ServiceTime,
            Statistic::Quantile(0.5),
            1e6,
            scope(Scope::Request, "a"),
        ),
        (
            "http_reqs{scenario:a}",
            "count<1",
            Subject::Requests,
            Statistic::Value,
            1.0,
            scope(Scope::Scenario, "a"),
        ),
        (
            "group_duration{group:::a::b}",
            "max<1",
            Subject::GroupTime,
            Statistic::Max,
            1e6,
            scope(Scope::Group, "a / b"),
        ),
        ("http_req_waiting", "max<1", Subject::FirstByte, Statistic::Max, 1e6, None),
        (
            "http_reqs{group:::a::b}",
            "count<1",
            Subject::Requests,
            Statistic::Value,
            1.0,
            Some(Scope::Tag("group".into(), "a / b".into())),
        ),
        (
            "http_req_duration{kind:read,name:a}",
            "max<1",
            Subject::ServiceTime,
            Statistic::Max,
            1e6,
            all(vec![Scope::Tag("kind".into(), "read".into()), Scope::Request("a".into())]),
        ),
        ("orders", "count>9", Subject::Counter, Statistic::Value, 9.0, scope(Scope::Metric, "orders")),
        ("depth", "value<9", Subject::Gauge, Statistic::Value, 9.0, scope(Scope::Metric, "depth")),
        ("ok", "rate>0.5", Subject::TrueRatio, Statistic::Value, 0.5, scope(Scope::Metric, "ok")),
        (
            "wait{shop:b}",
            "p(90)<30",
            Subject::Trend,
            Statistic::Quantile(0.9),
            30.0,
            all(vec![Scope::Metric("wait".into()), Scope::Tag("shop".into(), "b".into())]),
        ),
    ];
    for (key, source, subject, statistic, value, scope) in cases {
        let own = thresholds(json!({ key: [source] }))[0].counterpart().expect(key);
        assert_eq!((own.subject, own.statistic, own.scope), (subject, statistic, scope), "{key} {source}");
        assert!((own.value - value).abs() < 1e-6, "{key} {source}: {}", own.value);
        assert_eq!(own.text, format!("{key}: {source}"));
        assert_eq!(own.comparison, if source.contains('<') { Comparison::Less } else { Comparison::Greater });
    }
    let aborting =
        json!({ "checks": [{ "threshold": "rate>0.9", "abortOnFail": true, "delayAbortEval": "1500ms" }] });
    assert_eq!(thresholds(aborting)[0].counterpart().unwrap().abort_after_ns, Some(2_000_000_000));
}

#[test]
fn thresholds_without_the_same_meaning_have_no_counterpart() {
    let without = [
        ("iterations", "count>1"),
        ("iteration_duration", "avg<1"),
        ("http_req_connecting", "avg<1"),
        ("data_sent", "count<1"),
        ("http_reqs", "count!=1"),
        ("http_req_duration{status:200}", "avg<1"),
        ("http_req_duration{expected_response:true}", "avg<1"),
        ("checks{check:is 200}", "rate>0.9"),
        ("http_reqs{group:}", "count>1"),
        ("orders", "rate>1"),
    ];
    for (key, source) in without {
        assert_eq!(thresholds(json!({ key: [source] }))[0].counterpart(), None, "{key} {source}");
    }
}

//! The end of a test as k6 reports it.

use super::golden::check;
use plimsoll_k6::settings::{TREND_STATS, TimeUnit};
use plimsoll_k6::threshold::{Threshold, read};
use plimsoll_k6end::{Contains, EndOfTest, Mode, Options, Values, data, evaluate, export, text, unmeasured};
use plimsoll_plan::Fault;
use plimsoll_plan::load::Share;
use plimsoll_plan::metric::{SeriesHist, SeriesSum, TrendHist, fault_id};
use plimsoll_plan::series::{Custom, Family, SeriesKey};
use plimsoll_record::RunRecord;
use plimsoll_record::event::SeriesOpened;
use plimsoll_testkit::made_up::{gathered, script};
use serde_json::{Value, json};
use std::sync::Arc;

fn record() -> RunRecord {
    gathered(&script::events(&script::opening("a", 15), 15, 0))
}

fn thresholds(value: Value) -> Vec<Threshold> {
    let metrics = [
        ("cart_size", Custom::Trend),
        ("orders", Custom::Counter),
        ("never", Custom::Rate),
        ("numbers", Custom::Trend),
    ];
    read(&value, &metrics.map(|(name, kind)| (name.to_owned(), kind))).unwrap().0
}

/// Evaluates the run with options that a test changes.
fn with<R>(
    thresholds: &[Threshold],
    run: &RunRecord,
    use_them: impl FnOnce(&EndOfTest, &Options<'_>) -> R,
) -> R {
    let stats = TREND_STATS.map(String::from);
    let scenarios = ["browse".to_owned(), "buy".to_owned()];
    let options = Options { thresholds, trend_stats: &stats, scenarios: &scenarios, ..Options::default() };
    use_them(&EndOfTest::new(run, &options), &options)
}

fn typical() -> Vec<Threshold> {
    thresholds(json!({
        "http_req_duration": ["p(95) < 500", "avg < 10"],
        "http_req_duration{scenario:buy}": "max < 1000",
        "http_req_failed": ["rate < 0.01"],
        "checks": ["rate > 0.9"],
        "orders": ["count > 0"],
    }))
}

#[test]
fn texts_and_data_are_as_committed() {
    with(&typical(), &record(), |end, options| {
        check("k6-compact.txt", &text(end, options, Mode::Compact));
        check("k6-full.txt", &text(end, options, Mode::Full));
        check("k6-legacy.txt", &text(end, options, Mode::Legacy));
        let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap() + "\n";
        check("k6-data.json", &pretty(&data(end, options).unwrap()));
        check("k6-export.json", &pretty(&export(end, options)));
    });
}

#[test]
fn metrics_follow_the_definitions_of_k6() {
    with(&[], &record(), |end, _| {
        let counter = |name: &str| match end.metrics[name].values {
            Values::Counter { count, rate_per_s } => (count, rate_per_s),
            _ => panic!("{name}"),
        };
        assert_eq!(counter("http_reqs"), (2_250.0, 150.0));
        assert_eq!(counter("iterations"), (750.0, 50.0));
        assert_eq!(counter("data_received"), (2_220_000.0, 148_000.0));
        assert_eq!(counter("orders"), (105.0, 7.0));
        assert_eq!(end.metrics["http_req_failed"].values, Values::Rate { passes: 60, fails: 2_190 });
        assert_eq!(end.metrics["checks"].values, Values::Rate { passes: 2_940, fails: 60 });
        let trend = |name: &str| match &end.metrics[name].values {
            Values::Trend(trend) => trend.clone(),
            _ => panic!("{name}"),
        };
        // Requests without a response have no duration.
        assert_eq!(trend("http_req_duration").count(), 2_220);
        assert!((trend("http_req_duration").percentile(95.0) - 40.0).abs() < 0.4);
        // Each request on a reused connection counts as 0 s.
        let connecting = trend("http_req_connecting");
        assert_eq!((connecting.count(), connecting.percentile(50.0)), (2_250, 0.0));
        assert!((connecting.percentile(100.0) - 1.0).abs() < 0.01);
        assert!((trend("cart_size").stat("avg").unwrap() - 2.5).abs() < 0.01);
        assert_eq!(trend("group_duration").count(), 900);
        assert!(!end.metrics.contains_key("http_req_blocked"));
        // The kernel took each request at once.
        assert_eq!(
            (trend("http_req_sending").count(), trend("http_req_sending").percentile(100.0)),
            (2_250, 0.0)
        );
        assert!(end.missing.contains(&"http_req_blocked") && end.missing.contains(&"iteration_duration"));
        assert_eq!(end.duration_ms, 15_000.0);
    });
}

#[test]
fn a_timeout_counts_with_its_whole_time_and_a_request_in_flight_does_not() {
    let mut run = record();
    let list = &mut run.generators.get_mut("a").unwrap().totals.series[0];
    list.add(SeriesSum::Finished.id(), 2);
    list.add(SeriesSum::Failed.id(), 2);
    list.add(fault_id(Fault::Timeout), 2);
    list.hists[SeriesHist::ServiceCensored.id()].record_n(60_000_000_000, 2);
    list.hists[SeriesHist::ServiceCensored.id()].record_n(100_000_000, 5);
    with(&[], &run, |end, _| {
        let Values::Trend(trend) = &end.metrics["http_req_duration"].values else { panic!() };
        assert_eq!(trend.count(), 2_222);
        assert!((trend.percentile(100.0) - 60_000.0).abs() < 600.0);
    });
}

#[test]
fn a_trend_of_iterations_that_a_program_counts_is_the_metric_of_k6() {
    let mut run = record();
    let origin = run.generators.get_mut("a").unwrap();
    let series = origin.totals.series.len() as u32;
    let key = Arc::new(SeriesKey::new(Family::Trend, "iteration_duration", &[("scenario", "buy")]));
    assert!(origin.open(&SeriesOpened { series, key }));
    origin.totals.series[series as usize].hists[TrendHist::Values.id()].record_n(250_000, 4);
    with(&thresholds(json!({ "iteration_duration": ["avg < 300"] })), &run, |end, options| {
        let metric = &end.metrics["iteration_duration"];
        assert_eq!(metric.contains, Contains::Time);
        assert!(evaluate(end, options)[0].is_met && !end.missing.contains(&"iteration_duration"));
        let text = text(end, options, Mode::Compact);
        assert!(text.contains("    EXECUTION\n    iteration_duration"), "{text}");
        assert!(text.contains("avg=250ms"), "{text}");
    });
}

#[test]
fn thresholds_are_evaluated_on_sub_metrics_by_labels() {
    let all = thresholds(json!({
        "http_req_duration{scenario:buy}": ["min > 39", "max < 39"],
        "http_req_duration{name:pay}": ["med > 39"],
        "http_req_duration{kind:write}": ["avg > 39"],
        "http_req_duration{group:::shop}": ["max < 21"],
        "http_reqs{status:500}": ["count == 30"],
        "http_reqs{expected_response:true}": ["count == 2190"],
        "checks{check:is paid}": ["rate == 0.99"],
        "group_duration{group:::shop::till}": ["max < 110"],
        "orders{group:::shop::till}": ["count == 105"],
        "never": ["rate > 0.5"],
    }));
    assert!(unmeasured(&all).is_empty(), "{:?}", unmeasured(&all));
    with(&all, &record(), |end, options| {
        let wrong: Vec<String> = evaluate(end, options)
            .into_iter()
            .filter(|one| !one.is_met)
            .map(|one| format!("{} {} {:?}", one.threshold.key, one.threshold.source, one.value))
            .collect();
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].contains("max < 39"), "{wrong:?}");
        let never = evaluate(end, options).into_iter().find(|one| one.threshold.key == "never").unwrap();
        assert_eq!((never.value, never.is_met), (None, true), "no samples meet every threshold");
    });
}

#[test]
fn a_threshold_on_what_no_record_contains_is_named_and_never_met() {
    let all = thresholds(json!({
        "http_req_duration{proto:HTTP/2}": ["avg < 10"],
        "vus{scenario:buy}": ["value > 0"],
        "http_req_duration": ["avg < 1000"],
    }));
    let problems = unmeasured(&all);
    assert_eq!(problems.len(), 2);
    with(&all, &record(), |end, options| {
        let met = evaluate(end, options).iter().filter(|one| one.is_met).count();
        assert_eq!(met, 1);
    });
}

#[test]
fn durations_of_mixed_responses_are_not_divided_by_status() {
    with(&[], &record(), |end, _| {
        assert!(!end.metrics.contains_key("http_req_duration{expected_response:true}"));
        assert!(end.missing.contains(&"http_req_duration{expected_response:true}"));
    });
    let mut run = record();
    run.generators.get_mut("a").unwrap().totals.series[0].clear();
    with(&[], &run, |end, _| {
        let expected = &end.metrics["http_req_duration{expected_response:true}"];
        assert_eq!(expected.values, end.metrics["http_req_duration"].values);
        assert!(!end.missing.contains(&"http_req_duration{expected_response:true}"));
    });
}

/// Adds a trend that a script's requests count.
fn add_trend(run: &mut RunRecord, name: &str, labels: &[(&str, &str)], thousandths: u64, count: u64) {
    let origin = run.generators.get_mut("a").unwrap();
    let series = origin.totals.series.len() as u32;
    let key = Arc::new(SeriesKey::new(Family::Trend, name, labels));
    assert!(origin.open(&SeriesOpened { series, key }));
    origin.totals.series[series as usize].hists[TrendHist::Values.id()].record_n(thousandths, count);
}

#[test]
fn durations_of_unexpected_responses_are_taken_from_those_of_all() {
    let mut run = record();
    let name = run.generators["a"].opened[0].key.name.clone();
    add_trend(&mut run, "http_req_duration_unexpected", &[("name", &name)], 10_000, 30);
    with(&[], &run, |end, _| {
        let count = |name: &str| match &end.metrics[name].values {
            Values::Trend(trend) => trend.count(),
            _ => panic!("{name}"),
        };
        assert_eq!(count("http_req_duration{expected_response:true}"), count("http_req_duration") - 30);
        assert!(!end.metrics.contains_key("http_req_duration_unexpected"), "it is not a metric of k6");
    });
}

#[test]
fn requests_that_opened_a_connection_are_divided_by_tags() {
    let mut run = record();
    add_trend(&mut run, "http_req_blocked", &[("scenario", "buy")], 3_000, 4);
    add_trend(&mut run, "http_req_connecting", &[("scenario", "buy")], 2_000, 4);
    let all = thresholds(json!({
        "http_req_connecting{scenario:buy}": ["max == 2"],
        "http_req_blocked{scenario:browse}": ["max == 0"],
        "http_req_blocked": ["max == 3", "med == 0"],
    }));
    with(&all, &run, |end, options| {
        let wrong: Vec<_> = evaluate(end, options).into_iter().filter(|one| !one.is_met).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    });
}

#[test]
fn percentiles_are_interpolated_and_whole_numbers_stay_whole() {
    let mut run = record();
    for value in 1..=10 {
        add_trend(&mut run, "numbers", &[("n", &value.to_string())], value * 1_000, 1);
    }
    let all = thresholds(json!({ "numbers": ["p(50) == 5.5", "p(90) == 9.1", "p(0) == 1", "max == 10"] }));
    with(&all, &run, |end, options| {
        let wrong: Vec<_> = evaluate(end, options).into_iter().filter(|one| !one.is_met).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    });
}

#[test]
fn users_of_several_machines_are_those_of_the_whole_test() {
    let users = |run: &RunRecord| {
        with(&[], run, |end, _| match end.metrics["vus_max"].values {
            Values::Gauge(Some(gauge)) => gauge.value,
            _ => f64::NAN,
        })
    };
    let whole = record();
    let mut parts = RunRecord::default();
    for part in 1..=3 {
        let mut opening = script::opening(&format!("p{part}"), 15);
        opening.outline.share = Share { part, of: 3 };
        let one = gathered(&script::events(&opening, 15, 0));
        parts = RunRecord::merge(parts, one).unwrap();
    }
    assert_eq!(users(&parts), users(&whole));
}

#[test]
fn samples_of_a_single_scenario_have_its_name() {
    let all = thresholds(json!({ "orders{scenario:default}": ["count == 105"] }));
    let scenarios = ["default".to_owned()];
    let mut run = record();
    for one in &mut run.generators.get_mut("a").unwrap().opened {
        Arc::make_mut(&mut one.key).labels.retain(|(name, _)| name != "scenario");
    }
    let stats = TREND_STATS.map(String::from);
    let options =
        Options { thresholds: &all, trend_stats: &stats, scenarios: &scenarios, ..Options::default() };
    let end = EndOfTest::new(&run, &options);
    assert_eq!(evaluate(&end, &options)[0].value, Some(105.0));
    assert!(end.parts.iter().all(|part| !part.is_scenario));
}

#[test]
fn data_contains_the_options_the_state_and_the_data_of_setup() {
    let stats = ["avg".to_owned(), "p(99)".to_owned(), "count".to_owned()];
    let options = Options {
        trend_stats: &stats,
        time_unit: Some(TimeUnit::Microseconds),
        has_color: true,
        is_stdout_tty: true,
        setup_data: Some("{\"token\":7}"),
        ..Options::default()
    };
    let end = EndOfTest::new(&record(), &options);
    let value = data(&end, &options).unwrap();
    assert_eq!(
        value["options"],
        json!({ "summaryTrendStats": stats, "summaryTimeUnit": "us", "noColor": false })
    );
    assert_eq!(value["state"]["isStdOutTTY"], true);
    assert_eq!(value["setup_data"]["token"], 7);
    let values = value["metrics"]["http_req_duration"]["values"].as_object().unwrap();
    assert_eq!(values.keys().collect::<Vec<_>>(), ["avg", "count", "p(99)"]);
    assert!(text(&end, &options, Mode::Compact).contains("µs"));
    assert!(data(&end, &Options { setup_data: Some("{"), ..options }).is_err());
}

#[test]
fn an_empty_record_is_a_report_without_metrics() {
    with(&[], &RunRecord::default(), |end, options| {
        assert!(text(end, options, Mode::Compact).contains("TOTAL RESULTS"));
        assert_eq!(data(end, options).unwrap()["state"]["testRunDurationMs"], 0);
    });
}

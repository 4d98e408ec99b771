//! User-defined metrics: added up over machines by name and labels, and what thresholds say of them.

use super::fixture::{Run, close, judged};
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{CustomFigures, Outcome, Standing, Summary};
use plimsoll_plan::metric::{
    CounterSum, GaugeFloor, GaugeLast, GaugePeak, GaugeSum, RateSum, SeriesHist, SeriesSum, TrendHist,
};
use plimsoll_plan::series::{Family, SeriesKey, ordered, parts_of};
use plimsoll_plan::threshold::parse_with_metrics;
use plimsoll_record::RunRecord;
use plimsoll_record::event::SeriesOpened;
use plimsoll_stats::tally::{Last, Layout, Tally};
use std::sync::Arc;

/// Values of one series: (family, name, labels, values).
type Metric<'a> = (Family, &'a str, &'a [(&'a str, &'a str)], &'a [f64]);

/// A machine's run in which these were counted.
fn machine(run: &Run, metrics: &[Metric<'_>]) -> RunRecord {
    let mut record = run.record();
    let origin = record.generators.values_mut().next().unwrap();
    for (family, name, labels, values) in metrics {
        let mut cells = Tally::compact(Layout::of(family.cells()));
        for (at, value) in values.iter().enumerate() {
            count(&mut cells, *family, *value, at as u64 + 1);
        }
        let series = origin.totals.series.len() as u32;
        assert!(origin.open(&SeriesOpened { series, key: Arc::new(SeriesKey::new(*family, name, labels)) }));
        origin.totals.series[series as usize].merge(&cells);
    }
    record
}

fn count(cells: &mut Tally, family: Family, value: f64, at: u64) {
    match family {
        Family::Counter => {
            let (whole, part) = parts_of(value).unwrap();
            cells.add(CounterSum::Whole.id(), whole);
            cells.add(CounterSum::Billionths.id(), part);
        }
        Family::Gauge => {
            let bits = ordered(value).unwrap();
            cells.add(GaugeSum::Values.id(), 1);
            cells.peak(GaugePeak::Max.id(), bits);
            cells.floor(GaugeFloor::Min.id(), bits);
            cells.last(GaugeLast::Last.id(), Last { at, value: bits });
        }
        Family::Rate => {
            cells.add(RateSum::Values.id(), 1);
            cells.add(RateSum::True.id(), u64::from(value != 0.0));
        }
        Family::Trend => cells.record(TrendHist::Values.id(), (value * 1_000.0) as u64),
        other => panic!("{other:?}"),
    }
}

/// Two machines that called their series otherwise, and gave them other numbers.
fn both(thresholds: &[&str]) -> Summary {
    let mut runs = [Run::closed(15), Run::closed(15)];
    for (run, origin) in runs.iter_mut().zip(["a", "b"]) {
        run.origin = origin.into();
        run.outline.thresholds = thresholds.iter().map(|text| parse_with_metrics(text).unwrap()).collect();
    }
    let rising: Vec<f64> = (1..=1_000).map(f64::from).collect();
    let a = machine(
        &runs[0],
        &[
            (Family::Counter, "orders", &[("shop", "x")], &[0.1; 10]),
            (Family::Gauge, "depth", &[], &[5.0, -3.0, 2.0]),
            (Family::Trend, "cart", &[("shop", "x")], &rising),
        ],
    );
    let b = machine(
        &runs[1],
        &[
            (Family::Trend, "cart", &[("shop", "y")], &[9_000.0]),
            (Family::Rate, "ok", &[], &[1.0, 1.0, 1.0, 0.0]),
            (Family::Counter, "orders", &[("shop", "y")], &[7.0]),
            (Family::Counter, "orders", &[("shop", "x")], &[0.2; 5]),
            (Family::Gauge, "depth", &[], &[1.0, 4.0, 4.0, 7.5]),
        ],
    );
    let one = summarise(&RunRecord::merge(a.clone(), b.clone()).unwrap());
    let other = summarise(&RunRecord::merge(b, a).unwrap());
    assert_eq!(one.metrics, other.metrics, "in any order");
    one
}

#[test]
fn series_of_several_machines_are_matched_by_family_name_and_labels() {
    let summary = both(&[]);
    let names: Vec<&str> = summary.metrics.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["cart", "depth", "ok", "orders"]);
    let CustomFigures::Counter { total, rate_per_s } = summary.metrics[3].figures else {
        panic!("no counter")
    };
    assert_eq!(total, 9.0, "ten tenths, five fifths and seven, exactly");
    assert!(close(rate_per_s, 9.0 / 15.0, 1e-9));
    let by_shop: Vec<(&str, f64)> = summary.metrics[3]
        .series
        .iter()
        .map(|one| match one.figures {
            CustomFigures::Counter { total, .. } => (one.labels["shop"].as_str(), total),
            _ => panic!("no counter"),
        })
        .collect();
    assert_eq!(by_shop, [("y", 7.0), ("x", 2.0)]);
    assert_eq!(
        summary.metrics[1].figures,
        CustomFigures::Gauge { values: 7, last: Some(7.5), min: Some(-3.0), max: Some(7.5) }
    );
    assert_eq!(
        summary.metrics[2].figures,
        CustomFigures::Rate { values: 4, true_values: 3, ratio: Some(0.75) }
    );
    let CustomFigures::Trend { values, min, mean, p50, max, .. } = summary.metrics[0].figures else {
        panic!("no trend")
    };
    assert_eq!((values, min, max), (1_001, Some(1.0), Some(9_000.0)));
    assert!(
        close(mean.unwrap(), 509_500.0 / 1_001.0, 1e-9) && close(p50.unwrap(), 501.0, 0.01),
        "{mean:?} {p50:?}"
    );
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["metrics"][2]["kind"], "rate");
    assert_eq!(json["metrics"][3]["series"][0]["labels"]["shop"], "y");
}

#[test]
fn thresholds_judge_metrics_by_name_and_labels() {
    let met = [
        "counter{metric: orders} == 9",
        "counter{metric: orders, tag: shop=x} == 2",
        "gauge{metric: depth} > 7",
        "gauge{metric: depth} min >= -3",
        "true_ratio{metric: ok} >= 75%",
        "trend{metric: cart, tag: shop=x} p95 < 1000",
        "trend{metric: cart} max <= 9000",
    ];
    let missed = [
        "counter{metric: orders, tag: shop=y} < 7",
        "true_ratio{metric: ok} > 75%",
        "trend{metric: cart} max < 9000",
    ];
    let summary = both(&[&met[..], &missed[..]].concat());
    for text in met {
        let one = judged(&summary, text);
        assert_eq!((one.is_met, one.standing), (true, Standing::Met), "{one:?}");
    }
    for text in missed {
        assert_eq!(judged(&summary, text).standing, Standing::Missed, "{text}");
    }
    assert_eq!(summary.verdict.result, Outcome::Fail);
    assert!(summary.verdict.sentence.contains("true_ratio{metric: ok} is 75%"), "{:?}", summary.verdict);
}

#[test]
fn a_metric_that_nobody_defined_is_not_met() {
    let summary = both(&["counter{metric: order} < 10", "trend{metric: cart, tag: shop=z} p95 < 10"]);
    for judged in &summary.thresholds {
        assert_eq!((judged.observed, judged.standing), (None, Standing::Undecided), "{judged:?}");
    }
    assert_ne!(summary.verdict.result, Outcome::Pass);
}

#[test]
fn few_values_leave_a_percentile_open() {
    let mut run = Run::closed(15);
    run.outline.thresholds = vec![parse_with_metrics("trend{metric: cart} p99 < 100").unwrap()];
    let few: Vec<f64> = (1..30).map(f64::from).collect();
    let summary = summarise(&machine(&run, &[(Family::Trend, "cart", &[], &few)]));
    assert_eq!(summary.thresholds[0].standing, Standing::Undecided);
    assert!(
        summary.thresholds[0].doubts[0].text().starts_with("too few samples for p99"),
        "{:?}",
        summary.thresholds
    );
}

#[test]
fn requests_that_were_opened_are_rows_and_count_in_the_totals() {
    let run = Run::closed(15);
    let before = summarise(&run.record());
    let mut record = run.record();
    let origin = record.generators.values_mut().next().unwrap();
    let key = SeriesKey::new(
        Family::Request,
        "surprise",
        &[("method", "GET"), ("kind", "read"), ("scenario", "buyer")],
    );
    assert!(origin.open(&SeriesOpened { series: 1, key: Arc::new(key) }));
    let cells = &mut origin.totals.series[1];
    cells.add(SeriesSum::Sent.id(), 30);
    cells.add(SeriesSum::Finished.id(), 30);
    (0..30).for_each(|_| cells.record(SeriesHist::Response.id(), 5_000_000));
    let after = summarise(&record);
    assert_eq!(after.totals.requests, before.totals.requests + 30);
    let row = &after.requests[1];
    assert_eq!((row.name.as_str(), row.requests, row.scenario.as_deref()), ("surprise", 30, Some("buyer")));
    assert_eq!(row.tags, [("kind".to_owned(), "read".to_owned())]);
}

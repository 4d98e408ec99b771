//! Scripts: checks, groups, scenarios, load models, and requests alongside the load.

use crate::analysis::fixture::*;
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::Outcome;
use plimsoll_plan::Outline;
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::link::Tls;
use plimsoll_plan::load::{Arrivals, Load, Profile, Workload};
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::outline::{CheckOutline, RequestOutline};
use plimsoll_record::RunRecord;
use plimsoll_record::record::SAMPLES_KEPT;
use plimsoll_stats::Interval;

pub fn named(outline: &Outline, name: &str, group: Option<&str>) -> RequestOutline {
    RequestOutline {
        name: name.into(),
        scenario: Some("buyer".into()),
        group: group.map(str::to_owned),
        tags: vec![("kind".into(), name.chars().take(1).collect())],
        ..outline.requests[0].clone()
    }
}

fn workload(name: &str, load: Load) -> Workload {
    Workload {
        name: name.into(),
        load,
        connections: 10,
        iterations: None,
        loops: None,
        rules: Default::default(),
    }
}

fn rate(rate_per_s: f64, arrivals: Arrivals) -> Load {
    Load::Open { rate_per_s: Profile::constant(rate_per_s), arrivals }
}

/// Ten seconds of ten users: 100 logins and 100 payments per second in the group `shop`, a setup, a check that fails
/// 3 times per second, and 50 passes per second.
fn shop() -> Run {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(10 * S));
    let outline = &mut run.outline;
    let aside =
        RequestOutline { scenario: None, is_outside_load: true, ..named(outline, "make users", None) };
    outline.requests =
        vec![named(outline, "login", Some("shop")), named(outline, "pay", Some("shop / till")), aside];
    outline.checks = vec![
        CheckOutline { name: "has a token".into(), request: 0 },
        CheckOutline { name: "extract id".into(), request: 1 },
        CheckOutline { name: "users were made".into(), request: 2 },
    ];
    outline.groups = vec!["shop".into(), "shop / till".into()];
    outline.workloads = vec![workload("buyer", Load::Closed { users: Profile::constant(10.0) })];
    run.fill(|tick| {
        answers(tick, 0, 100, 5 * MS);
        answers(tick, 1, 100, 20 * MS);
        answers(tick, 2, 1, 900 * MS);
        for (series, made, failed) in [(3, 100, 3), (4, 100, 0), (5, 1, 1)] {
            tick.series[series].add(SeriesSum::Finished.id(), made);
            tick.series[series].add(SeriesSum::Failed.id(), failed);
        }
        tick.series[6].add(SeriesSum::Finished.id(), 50);
        tick.series[6].hists[SeriesHist::Response.id()].record_n(300 * MS, 50);
        tick.run.add(RunSum::UsersNs.id(), 10 * S);
        tick.run.add(RunSum::InFlightNs.id(), 5 * S / 2);
    });
    run
}

#[test]
fn checks_groups_and_setup_are_not_counted_as_requests() {
    let summary = shop().summary();
    assert_eq!(summary.totals.requests, 2_000);
    assert_eq!(summary.totals.errors, 0);
    assert!(summary.timeline.iter().all(|second| second.requests == 200 && second.errors == 0));
    assert_eq!(summary.response_time.count, 2_000);
    assert!(summary.response_time.max_ns < Some(100 * MS), "{:?}", summary.response_time.max_ns);
    assert_eq!(summary.generators[0].requests, 2_000);
    let names: Vec<&str> = summary.requests.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["login", "pay"]);
    assert_eq!(summary.requests[1].group.as_deref(), Some("shop / till"));
    assert_eq!(summary.requests[1].tags, [("kind".to_owned(), "p".to_owned())]);
}

#[test]
fn a_request_that_was_never_sent_has_no_row() {
    let mut run = shop();
    run.ticks.iter_mut().for_each(|tick| tick.series[1].clear());
    let summary = run.summary();
    assert_eq!(summary.requests.len(), 1);
    assert_eq!(summary.totals.requests, 1_000);
}

#[test]
fn checks_are_sorted_by_failures_and_exclude_those_of_setup() {
    let summary = shop().summary();
    let rows: Vec<_> = summary
        .checks
        .iter()
        .map(|c| (c.name.as_str(), c.request.as_str(), c.evaluations, c.failures))
        .collect();
    assert_eq!(rows, [("has a token", "login", 1_000, 30), ("extract id", "pay", 1_000, 0)]);
    let judged_as = |text: &str| shop().thresholds(&[text]).summary().thresholds[0].observed;
    assert_eq!(judged_as("checks >= 99%"), Some(0.985));
    assert_eq!(judged_as("checks{request: login} >= 99%"), Some(0.97));
    assert_eq!(judged_as("checks{tag: kind=p} == 100%"), Some(1.0));
}

#[test]
fn scenarios_and_groups_add_up_their_requests_and_groups_are_timed() {
    let summary = shop().summary();
    assert_eq!(summary.scenarios.len(), 1);
    let buyer = &summary.scenarios[0];
    assert_eq!((buyer.name.as_str(), buyer.requests, buyer.rate_per_s), ("buyer", 2_000, 200.0));
    let rows: Vec<_> = summary.groups.iter().map(|g| (g.name.as_str(), g.requests, g.passages)).collect();
    // The outer group includes the nested one.
    assert_eq!(rows, [("shop", 2_000, 500), ("shop / till", 1_000, 0)]);
    assert!(close(summary.groups[0].passage.p50_ns.unwrap() as f64, 300e6, 0.01));
    assert!(summary.groups[1].response_time.min_ns >= Some(16 * MS));
    assert_eq!(summary.workloads.len(), 1);
    assert_eq!((summary.workloads[0].model, summary.workloads[0].requests), ("closed", Some(2_000)));
}

#[test]
fn a_threshold_of_a_scope_sees_only_its_requests() {
    let judged_as = |text: &str| {
        let summary = shop().at(3, |t| fail_one(t, 1, 10)).thresholds(&[text]).summary();
        (summary.thresholds[0].is_met, summary.thresholds[0].observed)
    };
    assert!(judged_as("response_time{request: login} p99 < 8ms").0);
    assert!(!judged_as("response_time{request: pay} p50 < 8ms").0);
    assert!(!judged_as("response_time{group: shop} p99 < 8ms").0);
    assert_eq!(judged_as("error_rate{request: login} == 0%"), (true, Some(0.0)));
    assert_eq!(judged_as("error_rate{group: shop / till} == 0%"), (false, Some(10.0 / 1_010.0)));
    assert_eq!(judged_as("requests{scenario: buyer} == 2010"), (true, Some(2_010.0)));
    assert_eq!(judged_as("throughput{tag: kind=l} >= 100/s"), (true, Some(100.0)));
    let text = "response_time{request: 'pay'} p50 < 8ms";
    let sentence = shop().thresholds(&[text]).summary().verdict.sentence;
    assert!(
        sentence.starts_with("FAIL: p50 response time of request pay is 19.9 ms; the threshold is < 8 ms"),
        "{sentence}"
    );
}

#[test]
fn group_time_is_measured_per_pass_and_not_per_request() {
    let shop = || shop().at(4, |t| t.series[7].hists[SeriesHist::Response.id()].record_n(40 * MS, 10));
    let judged_as = |text: &str| {
        let one = shop().thresholds(&[text]).summary().thresholds.remove(0);
        (one.is_met, one.observed.unwrap_or(0.0), one.samples, one.window.map(|w| w.from_s))
    };
    let (met, observed, samples, _) = judged_as("group_time{group: shop} p95 < 200ms");
    assert!(!met && close(observed, 300e6, 0.01));
    assert_eq!(samples, 500, "requests are not passes");
    assert!(judged_as("response_time{group: shop} p95 < 200ms").0);
    // Each group has its own passes: the inner one is not part of the outer one's.
    let (met, observed, samples, _) = judged_as("group_time{group: shop / till} max < 200ms");
    assert!(met && close(observed, 40e6, 0.01));
    assert_eq!(samples, 10);
    let slow = shop().at(6, |t| t.series[6].hists[SeriesHist::Response.id()].record_n(2 * S, 2));
    let slow =
        slow.thresholds(&["group_time{group: shop} p90 < 1s over 2s", "group_time{group: shop} p80 < 1s"]);
    let windowed = slow.summary().thresholds.remove(0);
    // 2 of 102 are certainly less than 10%, and 40 of 140 are more.
    assert!(windowed.is_met && windowed.samples == 102, "{windowed:?}");
    let slow = slow.at(6, |t| t.series[6].hists[SeriesHist::Response.id()].record_n(2 * S, 38)).summary();
    assert!(!slow.thresholds[0].is_met && slow.thresholds[1].is_met);
    assert_eq!(slow.thresholds[0].window.map(|w| w.from_s), Some(5.0));
    assert!(
        slow.verdict.sentence.starts_with("FAIL: p90 group time of group shop is 2."),
        "{}",
        slow.verdict.sentence
    );
}

#[test]
fn a_group_without_passes_has_no_time_and_meets_no_threshold() {
    let summary = shop().thresholds(&["group_time{group: shop / till} p50 < 1h"]).summary();
    assert_eq!((summary.thresholds[0].is_met, summary.thresholds[0].observed), (false, None));
    let told = caution(&summary, "too_few_samples").unwrap();
    assert!(told.evidence_text().contains("group_time{group: shop / till}"), "{}", told.evidence_text());
}

#[test]
fn passes_of_several_machines_are_added_up() {
    let text = ["group_time{group: shop} p95 < 1s"];
    let one = shop().thresholds(&text).with(|run| run.outline.share = part(1, 2));
    let other = Run { origin: "b".into(), ..shop() }.thresholds(&text);
    let other = other.with(|run| run.outline.share = part(2, 2));
    let both = RunRecord::merge(one.record(), other.record()).unwrap();
    assert_eq!(summarise(&both).thresholds[0].samples, 1_000);
}

fn fail_one(tick: &mut Interval, series: usize, n: u64) {
    tick.series[series].add(SeriesSum::Finished.id(), n);
    tick.series[series].add(SeriesSum::Failed.id(), n);
}

#[test]
fn think_time_is_not_a_limit_of_the_load_generator() {
    let summary = shop().summary();
    assert!(close(summary.client.littles_law.users_outside_ratio.unwrap(), 0.75, 0.01));
    assert!(caution(&summary, "littles_law").is_none(), "{:#?}", summary.cautions);
    // For a plain sequence, the same numbers raise a caution.
    let plain = shop().with(|run| run.outline.workloads.clear()).summary();
    assert!(caution(&plain, "littles_law").is_some());
}

#[test]
fn seconds_of_think_time_are_not_a_stall() {
    let mut run = shop();
    for tick in run.ticks.iter_mut().filter(|tick| tick.tick == 6) {
        let blank = Run::planned(|_| {}).blank(6);
        *tick = Interval { series: tick.series.iter().map(|_| blank.series[0].clone()).collect(), ..blank };
        tick.run.add(RunSum::UsersNs.id(), 10 * S);
    }
    assert_eq!(run.summary().spikes.len(), 0);
    let plain = run.with(|run| run.outline.workloads.clear());
    assert_eq!(plain.summary().spikes.len(), 1, "users without a script wait for the service");
}

/// 100 arrivals per second with two requests each, for ten seconds; at the end, some iterations are interrupted.
fn arrivals(done_per_s: u64, cut: u64, in_flight: u64) -> Run {
    let mut run = Run::planned(|d| {
        d.load.rate_per_s = Some(100.0);
        d.load.duration_ns = Some(10 * S);
    });
    run.outline.requests = vec![named(&run.outline, "login", None), named(&run.outline, "pay", None)];
    run.outline.workloads = vec![
        workload("buyer", rate(100.0, Arrivals::Constant)),
        workload("crawler", Load::Closed { users: Profile::constant(2.0) }),
    ];
    run.fill(|tick| {
        tick.run.add(RunSum::Arrivals.id(), 100);
        answers(tick, 0, 100, 5 * MS);
        answers(tick, 1, 100, 5 * MS);
        tick.run.sums[RunSum::Iterations.id()] = done_per_s + 40;
        tick.run.add(RunSum::ArrivalsCompleted.id(), done_per_s);
    });
    run.at(9, |tick| {
        tick.run.add(RunSum::IterationsInterrupted.id(), cut);
        tick.run.add(RunSum::InFlightAtEnd.id(), in_flight);
    })
}

#[test]
fn arrivals_are_compared_with_their_own_iterations() {
    let summary = arrivals(100, 0, 0).summary();
    assert_eq!(summary.achieved.ratio, Some(1.0));
    assert_eq!(summary.achieved.iterations_per_s, 100.0);
    assert_eq!(summary.totals.iterations, 1_400);
    // Missing arrivals count as missing, regardless of the iterations of other users.
    assert_eq!(arrivals(90, 0, 0).summary().achieved.ratio, Some(0.9));
    assert!(caution(&summary, "offered_rate_missed").is_none());
}

#[test]
fn iterations_in_think_time_at_the_end_are_not_missing_and_a_backlog_is() {
    // 100 of 1,000 are interrupted in the middle of a pause.
    let text = ["achieved >= 99%"];
    let thinking = arrivals(90, 100, 1).thresholds(&text).summary();
    assert_eq!(thinking.achieved.ratio, Some(0.9));
    assert!(thinking.thresholds[0].is_met, "{:?}", thinking.thresholds);
    assert_eq!(thinking.totals.iterations_interrupted, 100);
    // The same number waits for responses that take 5 ms, of which one is usual.
    let waiting = arrivals(90, 100, 100).thresholds(&text).summary();
    assert!(waiting.thresholds[0].best.unwrap() < 0.91, "{:?}", waiting.thresholds);
}

#[test]
fn recorded_arrivals_are_compared_per_second() {
    let recorded = |arrivals: u64| {
        let mut run = self::arrivals(100, 0, 0);
        run.outline.workloads = vec![workload("buyer", rate(100.0, Arrivals::Recorded))];
        let per_tick = arrivals / 10;
        run.all_ticks(move |tick| tick.run.sums[RunSum::Arrivals.id()] = per_tick).summary()
    };
    // With a thousand per second, some may fall on the other side of an edge.
    assert!(caution(&recorded(900), "offered_rate_missed").is_none());
    assert!(caution(&recorded(850), "offered_rate_missed").is_some());
}

#[test]
fn users_without_data_take_no_arrival() {
    let run = arrivals(50, 0, 0).all_ticks(|tick| tick.run.sums[RunSum::Arrivals.id()] = 50);
    assert!(caution(&run.summary(), "offered_rate_missed").is_some());
    let retired = run.at(5, |tick| tick.run.add(RunSum::UsersOutOfData.id(), 3)).summary();
    assert!(caution(&retired, "offered_rate_missed").is_none());
    assert_eq!(retired.totals.users_out_of_data, 3);
}

#[test]
fn arrivals_without_data_do_not_count_for_the_service() {
    let run = arrivals(50, 0, 0).all_ticks(|tick| {
        tick.run.sums[RunSum::Arrivals.id()] = 50;
        tick.run.sums[RunSum::ArrivalsCompleted.id()] = 40;
    });
    let missed = run.summary().achieved.ratio.expect("arrivals have one");
    assert!(missed < 0.9, "{missed}");
    let retired = run.at(5, |tick| {
        tick.run.add(RunSum::UsersOutOfData.id(), 4);
        tick.run.add(RunSum::ArrivalsNotStarted.id(), 96);
    });
    let judged = retired.thresholds(&["achieved >= 99%"]).summary().thresholds.remove(0);
    assert_eq!((judged.observed, judged.worst, judged.is_met), (Some(0.8), Some(1.0), true));
}

#[test]
fn iterations_abandoned_without_a_failure_are_reported_and_others_are_not() {
    let run = arrivals(50, 0, 0);
    assert!(caution(&run.summary(), "iterations_abandoned").is_none());
    let left = run.at(5, |tick| tick.run.add(RunSum::IterationsAbandoned.id(), 3));
    assert!(caution(&left.summary(), "iterations_abandoned").is_some());
    let behind = left.at(5, |tick| tick.series[0].add(SeriesSum::Failed.id(), 3));
    assert!(caution(&behind.summary(), "iterations_abandoned").is_none());
}

#[test]
fn resumed_handshakes_are_a_share_and_include_the_warm_up() {
    let run = Run::closed_with(15, |d| d.warmup_ns = Some(2 * S)).at(0, |tick| {
        tick.run.add(RunSum::Handshakes.id(), 10);
        tick.run.add(RunSum::HandshakesResumed.id(), 4);
        (0..10).for_each(|_| tick.run.record(RunHist::Handshake.id(), 3 * MS));
    });
    assert!(run.summary().tls.is_none());
    let run =
        run.with(|run| run.outline.link.tls = Some(Tls::default())).thresholds(&["tls_handshake max < 2ms"]);
    let summary = run.summary();
    let tls = summary.tls.unwrap();
    assert_eq!((tls.handshakes, tls.resumptions, tls.resumed_ratio), (10, 4, 0.4));
    assert_eq!(tls.handshake.count, 10);
    assert_eq!(summary.verdict.result, Outcome::Fail, "{}", summary.verdict.sentence);
}

fn sample(at_ns: u64, request: &str, check: &str) -> FailureExample {
    let (request, check) = (request.into(), check.into());
    FailureExample {
        at_ns,
        request,
        check,
        observed: "expected 200, found 500".into(),
        status: 500,
        excerpt: "{}".into(),
    }
}

#[test]
fn a_few_failure_examples_of_each_kind_are_kept_and_merging_keeps_all() {
    let mut record = shop().record();
    let origin = record.generators.get_mut("a").unwrap();
    let taken: Vec<bool> = (0..5).map(|at| origin.keep_sample(&sample(at, "login", "has a token"))).collect();
    assert_eq!(taken, [true, true, true, false, false]);
    assert!(origin.keep_sample(&sample(9, "pay", "has a token")));
    for kind in 0..2 * SAMPLES_KEPT {
        origin.keep_sample(&sample(7, "login", &format!("check {kind}")));
    }
    assert_eq!(origin.failure_examples.len(), SAMPLES_KEPT);
    let mut other = shop().with(|run| run.origin = "b".into()).record();
    other.generators.get_mut("b").unwrap().keep_sample(&sample(1, "login", "has a token"));
    let both = plimsoll_record::RunRecord::merge(record, other).unwrap();
    let summary = plimsoll_analysis::summarise(&both);
    assert_eq!(summary.failure_examples.len(), SAMPLES_KEPT + 1);
    assert!(summary.failure_examples.is_sorted_by_key(|row| row.sample.at_ns));
    let json = serde_json::to_value(&summary.failure_examples[1]).unwrap();
    assert_eq!((json["generator"].as_str(), json["status"].as_u64()), (Some("a"), Some(500)));
}

//! Thresholds over windows, and runs that a threshold has stopped.

use crate::analysis::fixture::*;
use plimsoll_analysis::summary::{Outcome, Severity, Window};
use plimsoll_analysis::{Sliding, summarise};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{SeriesHist, SeriesSum};
use plimsoll_record::RunRecord;
use plimsoll_record::event::{NoteKind, StoppedBy};
use plimsoll_record::gauge::Gauge;

/// Twenty seconds of 100 answers each, with 20 failures in second 7.
fn run() -> Run {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(20 * S));
    run.fill(|tick| answers(tick, 0, 100, 5 * MS));
    run.at(7, |tick| fail(tick, Fault::ConnectionReset, 20))
}

#[test]
fn a_window_shows_what_the_whole_run_hides() {
    let summary = run()
        .thresholds(&["error_rate < 5%", "error_rate < 5% over 1s", "error_rate < 5% over 5s"])
        .summary();
    let t = &summary.thresholds;
    assert!(t[0].is_met && t[0].window.is_none());
    assert!(!t[1].is_met);
    assert_eq!(t[1].observed, Some(20.0 / 120.0));
    assert_eq!(t[1].window, Some(Window { from_s: 7.0, to_s: 8.0 }));
    // 20 of 520 in any window of five seconds that holds the bad one.
    assert!(t[2].is_met);
    assert_eq!(t[2].observed, Some(20.0 / 520.0));
    assert_eq!(
        summary.verdict.sentence,
        "FAIL: 17% of 120 requests failed from 7 s to 8 s; the threshold is < 5%"
    );
}

#[test]
fn every_window_is_looked_at_and_not_only_those_side_by_side() {
    // Bad seconds 4 and 5 lie in two windows of five that stand side by side.
    let bad = |tick: &mut plimsoll_stats::Interval| fail(tick, Fault::ConnectionReset, 100);
    let summary = run().at(4, bad).at(5, bad).thresholds(&["error_rate < 50% over 2s"]).summary();
    let judged = &summary.thresholds[0];
    assert_eq!((judged.is_met, judged.observed), (false, Some(0.5)));
    assert_eq!(judged.window, Some(Window { from_s: 4.0, to_s: 6.0 }));
}

#[test]
fn times_counts_and_rates_have_windows() {
    let slow = run().at(12, |tick| (0..50).for_each(|_| answer(tick, 0, 400 * MS, 200)));
    let judged = |text: &str| {
        let summary = slow.clone().thresholds(&[text]).summary();
        let one = &summary.thresholds[0];
        (one.is_met, one.observed, one.window.map(|w| w.from_s), one.samples)
    };
    let (met, observed, from_s, samples) = judged("response_time p90 < 100ms over 2s");
    assert!(!met && close(observed.unwrap(), 400e6, 0.01));
    // The earliest of the windows that are equally bad.
    assert_eq!((from_s, samples), (Some(11.0), 250));
    // The first byte is not kept by the second but for such a threshold.
    assert!(!judged("time_to_first_byte p90 < 100ms over 2s").0);
    assert_eq!(judged("throughput >= 100/s over 3s"), (true, Some(100.0), Some(0.0), 300));
    assert_eq!(judged("throughput < 120/s over 1s").1, Some(150.0));
    assert_eq!(judged("requests >= 301 over 3s"), (false, Some(300.0), Some(0.0), 300));
    assert_eq!(judged("requests{request: pick} < 500 over 3s").1, Some(350.0));
}

#[test]
fn each_threshold_has_windows_of_its_own() {
    let texts = [
        "error_rate < 5% over 1s",
        "error_rate < 5%",
        "response_time max < 1s over 2s",
        "requests > 0 over 1s",
    ];
    let summary = run().thresholds(&texts).summary();
    let seen: Vec<Option<f64>> = summary.thresholds.iter().map(|t| t.observed).collect();
    assert_eq!(seen[0], Some(20.0 / 120.0));
    assert_eq!(seen[1], Some(20.0 / 2_020.0));
    assert!(seen[2].is_some_and(|ns| close(ns, 6e6, 0.02)), "{seen:?}");
    assert_eq!(seen[3], Some(100.0));
}

#[test]
fn a_last_second_that_was_cut_short_misses_no_least_number() {
    let cut = run().at(19, |tick| tick.series[0].clear()).ends(StoppedBy::Interrupt, 19 * S + S / 10);
    let met = |text: &str| cut.clone().thresholds(&[text]).summary().thresholds[0].is_met;
    assert!(met("requests >= 100 over 1s"));
    assert!(!met("requests >= 101 over 1s"));
}

#[test]
fn the_warm_up_is_in_no_window_and_a_short_run_is_one() {
    let text = "error_rate < 5% over 1s";
    let warm = run().with(|run| run.outline.warmup_ns = 8 * S).thresholds(&[text]).summary();
    assert!(warm.thresholds[0].is_met);
    let long = run().thresholds(&["error_rate < 0.1% over 5m"]).summary();
    assert_eq!(long.thresholds[0].observed, Some(20.0 / 2_020.0));
    assert_eq!(long.thresholds[0].window, Some(Window { from_s: 0.0, to_s: 20.0 }));
    let nothing = Run::planned(|d| d.load.duration_ns = Some(3 * S)).thresholds(&[text]).summary();
    assert!(!nothing.thresholds[0].is_met && nothing.thresholds[0].observed.is_none());
}

#[test]
fn machines_are_added_up_within_a_window() {
    let text = ["error_rate < 12% over 1s"];
    let one = run().thresholds(&text).with(|run| run.outline.share = part(1, 2));
    assert!(!one.summary().thresholds[0].is_met);
    let other = Run { origin: "b".into(), ..run() }.at(7, |tick| {
        tick.series[0].sums[SeriesSum::Failed.id()] = 0;
        (0..20).for_each(|_| answer(tick, 0, 5 * MS, 200));
    });
    let other = other.thresholds(&text).with(|run| run.outline.share = part(2, 2));
    let both = RunRecord::merge(one.record(), other.record()).unwrap();
    let judged = summarise(&both).thresholds.remove(0);
    // 20 of 120 on one machine, 0 of 140 on the other.
    assert_eq!((judged.is_met, judged.observed), (true, Some(20.0 / 260.0)));
}

#[test]
fn a_sliding_window_holds_the_last_ticks_whatever_came_before() {
    let gauge = |part: u64| {
        let mut gauge = Gauge { part, whole: 1, ..Gauge::default() };
        gauge.exact.record(part);
        gauge
    };
    for width in 1..7usize {
        let mut sliding = Sliding::new(width);
        for last in 0..40u64 {
            assert_eq!(sliding.is_full(), last >= width as u64);
            sliding.push(gauge(last), last + 1);
            let first = (last + 1).saturating_sub(width as u64);
            let mut expected = Gauge::default();
            (first..=last).for_each(|n| expected.merge(&gauge(n)));
            assert_eq!(sliding.sum(), (expected, (first..=last).map(|n| n + 1).sum()), "{width} {last}");
        }
    }
}

#[test]
fn a_run_that_a_threshold_stopped_has_failed() {
    let why = "stopped by the threshold `error_rate < 1% abort after 2s`: missed since 7 s";
    let stopped = run().ends(StoppedBy::Threshold, 20 * S).note(20 * S, NoteKind::Control, why);
    // What was missed then may be met by the figures of the run as a whole.
    let summary = stopped.thresholds(&["error_rate < 5%"]).summary();
    assert_eq!(summary.verdict.result, Outcome::Fail);
    assert_eq!(summary.verdict.sentence, format!("FAIL: {why}"));
    let told = caution(&summary, "stopped_early").unwrap();
    assert!(told.evidence_text().contains(why), "{}", told.evidence_text());
    assert_eq!(run().thresholds(&["error_rate < 5%"]).summary().verdict.result, Outcome::Pass);
}

/// Two seconds of 60 answers of 300 ms each, then the end.
fn stopped_early(by: StoppedBy) -> Run {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(2 * S));
    run.fill(|tick| answers(tick, 0, 60, 300 * MS));
    let why = "stopped by the threshold `response_time p99 < 100ms abort after 1s`: missed since 0 s";
    run.ends(by, 2 * S).note(2 * S, NoteKind::Control, why)
}

#[test]
fn too_few_samples_are_no_doubt_about_what_stopped_the_run() {
    let text = "response_time p99 < 100ms abort after 1s";
    let summary = stopped_early(StoppedBy::Threshold).thresholds(&[text]).summary();
    assert!(summary.thresholds[0].has_too_few_samples);
    assert_eq!(summary.verdict.result, Outcome::Fail, "{}", summary.verdict.sentence);
    assert_eq!(summary.verdict.reasons, [text]);
    let told = caution(&summary, "too_few_samples").unwrap();
    assert_eq!(told.severity, Severity::Warning);
    assert!(
        told.evidence_text().starts_with("120 samples for response_time p99"),
        "{}",
        told.evidence_text()
    );
    // All 120 took longer than twice the limit: that proves it however the run ended.
    for by in [StoppedBy::Duration, StoppedBy::Interrupt] {
        let summary = stopped_early(by).thresholds(&[text]).summary();
        assert_eq!(summary.verdict.result, Outcome::Fail, "{by:?}");
        assert_eq!(caution(&summary, "too_few_samples").unwrap().severity, Severity::Warning);
    }
}

#[test]
fn what_a_stop_left_without_samples_is_no_reason_for_its_fail() {
    let stopped = |texts: &[&str]| stopped_early(StoppedBy::Threshold).thresholds(texts).summary().verdict;
    let mean = "response_time mean < 100ms abort after 1s";
    let verdict = stopped(&["response_time p99 < 370ms", mean]);
    assert_eq!((verdict.result, verdict.reasons), (Outcome::Fail, vec![mean.to_owned()]));
    // Even where the figures of the whole run meet what stopped it.
    let verdict = stopped(&["response_time p99 < 370ms", "response_time mean < 1s abort after 1s"]);
    assert_eq!(verdict.result, Outcome::Fail);
    assert!(verdict.sentence.starts_with("FAIL: stopped by the threshold"), "{}", verdict.sentence);
    // With enough samples a threshold that stopped nothing is missed like any other.
    let verdict = stopped(&["response_time p50 < 200ms", mean]);
    assert_eq!(verdict.reasons, ["response_time p50 < 200ms", mean]);
}

#[test]
fn a_limit_of_this_machine_is_a_doubt_about_a_stop_too() {
    let text = "response_time mean < 100ms abort after 1s";
    let short = |n: u64| stopped_early(StoppedBy::Threshold).at(0, move |tick| fail(tick, Fault::FdLimit, n));
    // Three that took no time at all would change nothing, six hundred would.
    assert_eq!(short(3).thresholds(&[text]).summary().verdict.result, Outcome::Fail);
    let verdict = short(600).thresholds(&[text]).summary().verdict;
    assert_eq!(
        (verdict.result, verdict.reasons),
        (Outcome::Inconclusive, vec!["client_fd_limit".to_owned()])
    );
}

#[test]
fn a_windowed_percentile_needs_its_samples_too() {
    let summary = run().thresholds(&["response_time p99 < 1s over 5s"]).summary();
    assert!(summary.thresholds[0].has_too_few_samples, "500 of 1,000");
    let told = caution(&summary, "too_few_samples").unwrap();
    assert!(
        told.evidence_text().starts_with("500 samples for response_time p99"),
        "{}",
        told.evidence_text()
    );
    assert!(
        !run().thresholds(&["response_time p99 < 1s over 10s"]).summary().thresholds[0].has_too_few_samples
    );
    let cells = &run().ticks[0].series[0];
    assert_eq!(cells.hists[SeriesHist::Response.id()].count(), 100);
}

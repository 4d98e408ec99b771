//! The verdict: FAIL beats INCONCLUSIVE beats PASS, each in a sentence that can be quoted.

use crate::analysis::fixture::*;
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{Outcome, Severity};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::RunSum;
use plimsoll_record::RunRecord;
use plimsoll_record::event::StoppedBy;

#[test]
fn a_healthy_closed_run_passes() {
    let verdict = Run::closed(15).summary().verdict;
    assert_eq!(verdict.result, Outcome::Pass);
    assert_eq!(verdict.sentence, "PASS: 2,000 req/s with p99 5.95 ms and no errors in 15 s");
    assert!(verdict.reasons.is_empty());
}

#[test]
fn a_healthy_open_run_passes_and_names_the_offered_rate() {
    let verdict = Run::open(15).summary().verdict;
    assert_eq!(verdict.sentence, "PASS: 1,000 of 1,000 req/s offered with p99 5.95 ms and no errors in 15 s");
}

#[test]
fn a_service_that_only_returns_404_fails() {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(15 * S));
    run.fill(|tick| (0..1_000).for_each(|i| answer(tick, 0, 2 * MS + i * 1_000, 404)));
    let summary = run.summary();
    assert_eq!(summary.verdict.result, Outcome::Fail);
    assert_eq!(
        summary.verdict.sentence,
        "FAIL: no request succeeded from 0 s to the end (15 s of 15 s). 100% of 15,000 requests failed; the \
         threshold is 0%"
    );
    assert_eq!(summary.verdict.reasons, ["error_rate == 0%", "longest_outage < 1s"]);
    assert_eq!((summary.totals.errors, summary.totals.error_ratio), (15_000, 1.0));
    assert_eq!(summary.status_codes["404"], 15_000);
}

#[test]
fn a_single_error_fails_by_default() {
    let summary = Run::closed(15).at(7, |t| fail(t, Fault::ConnectionReset, 1)).summary();
    assert_eq!(summary.verdict.sentence, "FAIL: 0.0033% of 30,001 requests failed; the threshold is 0%");
    let allowed =
        Run::closed(15).at(7, |t| fail(t, Fault::ConnectionReset, 1)).thresholds(&["error_rate < 0.1%"]);
    assert_eq!(
        allowed.summary().verdict.sentence,
        "PASS: 2,000 req/s with p99 5.95 ms and 1 error of 30,001 in 15 s"
    );
}

#[test]
fn every_missed_threshold_is_named() {
    let summary = Run::closed(15)
        .at(3, |t| fail(t, Fault::ClosedMidResponse, 630))
        .thresholds(&[
            "error_rate < 0.1%",
            "response_time p99 < 5ms",
            "throughput > 100/s",
            "throughput > 5000/s",
        ])
        .summary();
    assert_eq!(
        summary.verdict.sentence,
        "FAIL: 2.1% of 30,630 requests failed; the threshold is < 0.1%. p99 response time is 5.95 ms; the threshold \
         is < 5 ms. Throughput is 2,042/s; the threshold is > 5,000/s"
    );
    assert_eq!(
        summary.verdict.reasons,
        ["error_rate < 0.1%", "response_time p99 < 5ms", "throughput > 5000/s"]
    );
}

#[test]
fn a_limit_of_the_load_generator_is_never_a_verdict_on_the_service() {
    let summary = Run::closed(15).at(3, |t| fail(t, Fault::FdLimit, 44)).summary();
    assert_eq!(summary.verdict.result, Outcome::Inconclusive);
    assert_eq!(
        summary.verdict.sentence,
        "INCONCLUSIVE: 44 attempts found no free file descriptor: between 0% and 0.15% of 30,000 requests failed; \
         the threshold is 0%"
    );
    assert_eq!(summary.verdict.reasons, ["client_fd_limit"]);
}

#[test]
fn a_missed_threshold_beats_a_doubt_that_cannot_change_it() {
    let summary = Run::closed(15)
        .at(3, |t| fail(t, Fault::FdLimit, 1))
        .at(4, |t| fail(t, Fault::PortsExhausted, 1))
        .at(5, |t| fail(t, Fault::ConnectionReset, 500))
        .summary();
    assert_eq!(summary.verdict.result, Outcome::Fail, "{}", summary.verdict.sentence);
    assert_eq!(summary.verdict.reasons, ["error_rate == 0%"]);
    assert_eq!(caution(&summary, "client_fd_limit").unwrap().severity, Severity::Warning);
    // Without the failures, only the two attempts are unknown.
    let summary = Run::closed(15)
        .at(3, |t| fail(t, Fault::FdLimit, 1))
        .at(4, |t| fail(t, Fault::PortsExhausted, 1))
        .summary();
    assert_eq!(summary.verdict.result, Outcome::Inconclusive);
    // One unknown attempt is enough to leave the result undecided.
    assert_eq!(summary.verdict.reasons, ["client_fd_limit"]);
    assert_eq!(summary.thresholds[0].doubts.len(), 2);
}

#[test]
fn a_warning_or_a_note_leaves_the_verdict_alone() {
    let summary =
        Run::closed(5).with(|r| r.pulse.busy_ns = S).with(|r| r.environment.is_same_machine = true).summary();
    assert!(summary.cautions.len() >= 3);
    assert_eq!(summary.verdict.result, Outcome::Pass);
}

#[test]
fn a_server_below_the_offered_rate_fails() {
    // Offered 1,000/s, served 700/s; the rest waits for a connection, while the workers have capacity.
    let mut run = Run::planned(|d| {
        d.load.rate_per_s = Some(1_000.0);
        d.load.duration_ns = Some(15 * S);
    });
    run.fill(|tick| {
        tick.run.add(plimsoll_plan::metric::RunSum::Arrivals.id(), 1_000);
        tick.run.add(plimsoll_plan::metric::RunSum::ArrivalsQueued.id(), 300);
        answers(tick, 0, 700, 900 * MS);
    });
    let summary = run
        .at(14, |t| {
            under_way(t, 1_000, 900 * MS);
            t.run.add(plimsoll_plan::metric::RunSum::ArrivalsNotStarted.id(), 3_500);
        })
        .summary();
    assert_eq!(summary.verdict.result, Outcome::Fail, "{}", summary.verdict.sentence);
    assert_eq!(summary.verdict.reasons, ["achieved >= 99%"]);
    assert!(caution(&summary, "connection_limit_reached").is_some());
    assert!(caution(&summary, "offered_rate_missed").is_none());
}

#[test]
fn an_interrupted_run_still_has_a_verdict() {
    let mut run = Run::closed(60);
    run.ticks.truncate(20);
    let summary = run.ends(StoppedBy::Interrupt, 20 * S).summary();
    assert_eq!(summary.verdict.result, Outcome::Interrupted, "{}", summary.verdict.sentence);
    assert_eq!(summary.stopped_by, Some(StoppedBy::Interrupt));
    assert!(summary.is_complete);
}

#[test]
fn nothing_at_all_is_inconclusive() {
    let summary = summarise(&RunRecord::default());
    assert_eq!(summary.verdict.result, Outcome::Inconclusive);
    assert_eq!(summary.verdict.sentence, "INCONCLUSIVE: no request completed (the record is empty)");
    assert!(!summary.is_complete);
}

#[test]
fn a_value_close_to_its_limit_is_shown_with_every_digit() {
    let summary = Run::closed(15)
        .at(3, |t| fail(t, Fault::ConnectionReset, 1))
        .thresholds(&["throughput > 2000.07/s", "requests < 30001"])
        .summary();
    assert_eq!(
        summary.verdict.sentence,
        "FAIL: throughput is 2,000/s; the threshold is > 2000.07/s. Number of completed requests is 30,001; the \
         threshold is < 30,001"
    );
}

#[test]
fn a_percentile_without_enough_samples_is_not_quoted() {
    let of = |n: u64| {
        let mut run = Run::planned(|d| d.load.duration_ns = Some(10 * S));
        run.fill(|tick| answers(tick, 0, n, 5 * MS));
        run.summary().verdict.sentence
    };
    assert!(of(100).contains(" with p99 "), "{}", of(100));
    assert!(of(50).contains(" with p50 "), "{}", of(50));
    assert!(!of(1).contains(" with "), "{}", of(1));
}

#[test]
fn requests_of_a_sequence_are_not_compared_with_its_arrivals() {
    let mut run = Run::planned(|d| {
        d.load.rate_per_s = Some(1_000.0);
        d.load.duration_ns = Some(15 * S);
        d.requests = vec![request("list", "/list"), request("pick", "/pick")];
    });
    run.fill(|tick| {
        tick.run.add(RunSum::Arrivals.id(), 1_000);
        answers(tick, 0, 1_000, 5 * MS);
        answers(tick, 1, 1_000, 5 * MS);
        tick.run.sums[RunSum::Iterations.id()] = 1_000;
    });
    assert_eq!(
        run.summary().verdict.sentence,
        "PASS: offered 1,000 arrivals/s, achieved 1,000 iterations/s and 2,000 req/s with p99 5.95 ms and \
         no errors in 15 s"
    );
}

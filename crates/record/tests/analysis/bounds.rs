//! Doubt is directional and has a size: what may turn an answer, and what may not.

use crate::fixture::*;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist};
use plimsoll_record::summary::{Bound, Outcome, Standing, Summary, Weight};

fn standing(run: &Run, text: &str) -> Standing {
    run.clone().thresholds(&[text]).summary().thresholds[0].standing
}

/// Five in a hundred of the sends of each second are late by so much, and the response times contain it.
fn late(by_ns: u64) -> Run {
    Run::open(15).all_ticks(|tick| {
        for _ in 0..50 {
            tick.run.record(RunHist::Lateness.id(), by_ns);
            tick.series[0].record(SeriesHist::Response.id(), 6 * MS + by_ns);
        }
    })
}

#[test]
fn lateness_makes_a_pass_only_safer() {
    // p99 is 10 ms, of which 4 are the generator's own.
    let summary = late(4 * MS).thresholds(&["response_time p99 < 500ms"]).summary();
    assert_eq!(summary.verdict.result, Outcome::Pass, "{}", summary.verdict.sentence);
    assert_eq!(caution(&summary, "late_sends").unwrap().weight, Weight::Warning);
    assert_eq!(standing(&late(4 * MS), "response_time p99 < 11ms"), Standing::Met);
}

#[test]
fn a_miss_that_lateness_explains_is_undecided_and_one_beyond_it_stands() {
    let summary = late(4 * MS).thresholds(&["response_time p99 < 8ms"]).summary();
    assert_eq!(summary.verdict.result, Outcome::Inconclusive);
    assert_eq!(summary.verdict.because, ["late_sends"]);
    assert_eq!(caution(&summary, "late_sends").unwrap().weight, Weight::Inconclusive);
    let judged = &summary.thresholds[0];
    let doubt = judged.doubts.iter().find(|doubt| doubt.code == "late_sends").unwrap();
    assert!(doubt.decides && doubt.bound == Bound::Best && close(doubt.size.unwrap(), 4e6, 0.1), "{doubt:?}");
    assert!(close(judged.best.unwrap(), 6e6, 0.05) && close(judged.worst.unwrap(), 10e6, 0.02), "{judged:?}");
    let told = &summary.verdict.sentence;
    assert!(told.starts_with("INCONCLUSIVE: sends were late, p99 4.0"), "{told}");
    assert!(told.ends_with(" ms, the limit is 8 ms"), "{told}");
    // Without any lateness it would still be 6 ms.
    assert_eq!(standing(&late(4 * MS), "response_time p99 < 5ms"), Standing::Missed);
    assert_eq!(standing(&late(4 * MS), "response_time p50 < 4ms"), Standing::Missed);
}

#[test]
fn answers_with_errors_need_no_quiet_machine() {
    let limited = late(40 * MS).all_ticks(|tick| {
        tick.run.add(RunSum::Stalls.id(), 1);
        tick.run.add(RunSum::StalledNs.id(), S / 50);
        (0..470).for_each(|_| answer(tick, 0, MS, 429));
    });
    let summary = limited.summary();
    assert_eq!(summary.verdict.result, Outcome::Fail, "{}", summary.verdict.sentence);
    assert!(summary.verdict.because.contains(&"errors == 0%".to_owned()));
}

/// So many answers of so many ms.
fn few(n: u64, ms: u64) -> Run {
    let mut run = Run::planned(|d| d.duration_ns = Some(10 * S));
    run.fill(|tick| {
        if tick.tick == 3 {
            answers(tick, 0, n, ms * MS);
        }
    });
    run
}

#[test]
fn few_samples_matter_where_their_interval_contains_the_limit() {
    // 0.99^120 = 0.30: the p99 may be above all of them, but hardly below the second longest.
    assert_eq!(standing(&few(120, 300), "response_time p99 < 100ms"), Standing::Missed);
    let summary = few(100, 2).thresholds(&["response_time p99 < 500ms"]).summary();
    assert_eq!(summary.thresholds[0].worst, None);
    assert_eq!(
        summary.verdict.sentence,
        "INCONCLUSIVE: too few samples for p99: 100 of at least 368: the p99 response time is at least 2.3 ms, the \
         limit is 500 ms"
            .replace("2.3", "2.34")
    );
    // 0.99^368 = 0.025, which is half of the doubt that is allowed.
    assert_eq!(standing(&few(367, 2), "response_time p99 < 500ms"), Standing::Undecided);
    assert_eq!(standing(&few(368, 2), "response_time p99 < 500ms"), Standing::Met);
    // A threshold that no more samples could miss.
    assert_eq!(standing(&few(100, 300), "response_time p99 > 100ms"), Standing::Met);
}

#[test]
fn a_stall_excuses_no_miss_that_holds_outside_of_it() {
    let stalled = |slow: u64| {
        let mut run = Run::planned(|d| {
            d.connections = Some(10);
            d.duration_ns = Some(10 * S);
        });
        run.fill(|tick| {
            answers(tick, 0, 1_000 - slow, 5 * MS);
            (0..slow).for_each(|_| answer(tick, 0, 300 * MS, 200));
        });
        run.at(3, |tick| {
            tick.run.add(RunSum::Stalls.id(), 1);
            tick.run.add(RunSum::StalledNs.id(), S / 5);
            (0..10).for_each(|_| answer(tick, 0, 400 * MS, 200));
        })
    };
    assert_eq!(standing(&stalled(30), "response_time p99 < 100ms"), Standing::Missed);
    // What only the stalled second shows may be the stall.
    assert_eq!(standing(&stalled(0), "response_time max < 250ms"), Standing::Undecided);
    // A fiftieth of the time was not looked at: one request in a hundred may have been slow then, one in ten not.
    assert_eq!(standing(&stalled(0), "response_time p99 < 100ms"), Standing::Undecided);
    assert_eq!(standing(&stalled(0), "response_time p90 < 100ms"), Standing::Met);
}

#[test]
fn a_record_with_a_gap_decides_what_the_gap_cannot_turn() {
    let cut = |failed: u64| {
        let mut run = Run::closed(20).at(2, |tick| fail(tick, Fault::Reset, failed));
        run.ticks.truncate(15);
        run.ending = None;
        run.summary()
    };
    let is = |summary: Summary| (summary.verdict.result, summary.verdict.because);
    assert_eq!(is(cut(30)), (Outcome::Fail, vec!["errors == 0%".to_owned()]));
    assert_eq!(is(cut(0)), (Outcome::Inconclusive, vec!["missing_intervals".to_owned()]));
}

#[test]
fn a_load_that_was_not_sent_proves_a_miss_and_no_pass() {
    let short = Run::open_with(15, |d| d.rate_per_s = Some(1_200.0));
    assert_eq!(standing(&short, "response_time p99 < 500ms"), Standing::Undecided);
    assert_eq!(standing(&short, "response_time p99 < 4ms"), Standing::Missed);
    let verdict = short.thresholds(&["response_time p99 < 500ms"]).summary().verdict;
    assert_eq!(verdict.because, ["offered_not_sent"], "{}", verdict.sentence);
}

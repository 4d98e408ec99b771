//! Doubt has a direction and a size: what can change a result, and what cannot.

use crate::analysis::fixture::*;
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::summary::{Bound, Outcome, Severity, Standing, Summary};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, RunPeak, RunSum, SeriesHist};

fn standing(run: &Run, text: &str) -> Standing {
    run.clone().thresholds(&[text]).summary().thresholds[0].standing
}

/// Delays 5% of the sends of each second by this much; the response times include the delay.
fn late(by_ns: u64) -> Run {
    Run::open(15).all_ticks(|tick| {
        for _ in 0..50 {
            tick.run.record(RunHist::ScheduleLag.id(), by_ns);
            tick.series[0].record(SeriesHist::Response.id(), 6 * MS + by_ns);
        }
    })
}

#[test]
fn schedule_lag_makes_a_pass_only_safer() {
    // p99 is 10 ms, of which 4 ms come from the load generator.
    let summary = late(4 * MS).thresholds(&["response_time p99 < 500ms"]).summary();
    assert_eq!(summary.verdict.result, Outcome::Pass, "{}", summary.verdict.sentence);
    assert_eq!(caution(&summary, "late_sends").unwrap().severity, Severity::Warning);
    assert_eq!(standing(&late(4 * MS), "response_time p99 < 11ms"), Standing::Met);
}

#[test]
fn a_miss_within_the_schedule_lag_is_undecided_and_a_larger_one_counts() {
    let summary = late(4 * MS).thresholds(&["response_time p99 < 8ms"]).summary();
    assert_eq!(summary.verdict.result, Outcome::Inconclusive);
    assert_eq!(summary.verdict.reasons, ["late_sends"]);
    assert_eq!(caution(&summary, "late_sends").unwrap().severity, Severity::Inconclusive);
    let judged = &summary.thresholds[0];
    let doubt = judged.doubts.iter().find(|doubt| doubt.kind == Kind::LateSends).unwrap();
    assert!(
        doubt.is_decisive && doubt.bound == Bound::Best && close(doubt.size.unwrap(), 4e6, 0.1),
        "{doubt:?}"
    );
    assert!(close(judged.best.unwrap(), 6e6, 0.05) && close(judged.worst.unwrap(), 10e6, 0.02), "{judged:?}");
    let told = &summary.verdict.sentence;
    assert!(told.starts_with("INCONCLUSIVE: schedule lag p99 4.0"), "{told}");
    assert!(told.ends_with(" ms; the threshold is < 8 ms"), "{told}");
    // Without any schedule lag, it would still be 6 ms.
    assert_eq!(standing(&late(4 * MS), "response_time p99 < 5ms"), Standing::Missed);
    assert_eq!(standing(&late(4 * MS), "response_time p50 < 3500us"), Standing::Missed);
}

#[test]
fn schedule_lag_may_affect_any_samples_and_not_only_the_longest() {
    // In each second, 900 take 1 ms, 40 take 5 ms, and 60 take 8 ms. Four sends were late by 4 ms, which may have
    // delayed all arrivals during that time. The p92 depends on whether those of 5 ms were among them.
    let mut run = Run::planned(|d| d.load.rate_per_s = Some(1_000.0));
    run.fill(|tick| {
        for (n, ms) in [(900, 1), (40, 5), (60, 8)] {
            (0..n).for_each(|_| answer(tick, 0, ms * MS, 200));
        }
        (0..4).for_each(|_| tick.run.record(RunHist::ScheduleLag.id(), 4 * MS));
    });
    assert_eq!(standing(&run, "response_time p92 < 2ms"), Standing::Undecided);
    assert_eq!(standing(&run, "response_time p92 < 900us"), Standing::Missed);
    // No sample of 8 ms can have taken less than 4 ms, and the mean of 1.58 ms loses at most the sum of the delays.
    assert_eq!(standing(&run, "response_time max < 3500us"), Standing::Missed);
    assert_eq!(standing(&run, "response_time mean < 1300us"), Standing::Missed);
    assert_eq!(standing(&run, "response_time mean < 1500us"), Standing::Undecided);
}

#[test]
fn a_late_send_counts_in_the_second_of_its_send() {
    // Each request takes 1 s from its send. In every second second, 90 of 1,000 sends are late by 90 ms. Their
    // responses arrive in the seconds in between, in which no send was late.
    let mut run = Run::planned(|d| d.load.rate_per_s = Some(1_000.0));
    run.fill(|tick| {
        let (late, slow) = if tick.tick % 2 == 0 { (90, 0) } else { (0, 90) };
        (0..late).for_each(|_| tick.run.record(RunHist::ScheduleLag.id(), 90 * MS));
        (0..1_000 - slow).for_each(|_| answer(tick, 0, 1_000 * MS, 200));
        for _ in 0..slow {
            answer(tick, 0, 1_000 * MS, 200);
            tick.series[0].record(SeriesHist::Response.id(), 1_090 * MS);
        }
    });
    assert_eq!(standing(&run, "response_time p97 < 1040ms"), Standing::Undecided);
    assert_eq!(standing(&run, "response_time p97 < 880ms"), Standing::Missed);
}

#[test]
fn unrecorded_samples_and_waiting_for_a_cpu_add_up() {
    // Ten in flight, and a worker that waited 30% of its time: of each second's 10 s of requests, 3 s may be waiting.
    let mut run = Run::planned(|d| d.load.duration_ns = Some(15 * S));
    run.fill(|tick| {
        answers(tick, 0, 1_000, 10 * MS);
        fail(tick, Fault::ClientOutOfMemory, 500);
    });
    let run = run.with(|run| run.pulse.cpu_wait_ns = 3 * S / 10).all_ticks(|tick| {
        tick.run.add(RunSum::CpuWaitNs.id(), 3 * S / 10);
        tick.run.peak(RunPeak::InFlight.id(), 10);
    });
    // The mean of 10 ms may be 7 ms without the waiting, and 4.7 ms with 500 unrecorded samples of 0.
    assert_eq!(standing(&run, "response_time mean < 5500us"), Standing::Undecided);
    assert_eq!(standing(&run, "response_time mean < 4200us"), Standing::Missed);
}

#[test]
fn errors_count_on_a_busy_machine_too() {
    let limited = late(40 * MS).all_ticks(|tick| {
        tick.run.add(RunSum::Stalls.id(), 1);
        tick.run.add(RunSum::StalledNs.id(), S / 50);
        (0..470).for_each(|_| answer(tick, 0, MS, 429));
    });
    let summary = limited.summary();
    assert_eq!(summary.verdict.result, Outcome::Fail, "{}", summary.verdict.sentence);
    assert!(summary.verdict.reasons.contains(&"error_rate == 0%".to_owned()));
}

/// A run with this many responses of this many ms.
fn few(n: u64, ms: u64) -> Run {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(10 * S));
    run.fill(|tick| {
        if tick.tick == 3 {
            answers(tick, 0, n, ms * MS);
        }
    });
    run
}

#[test]
fn few_samples_matter_where_their_interval_contains_the_limit() {
    // 0.99^120 = 0.30: the p99 may exceed all samples, but is hardly below the second longest.
    assert_eq!(standing(&few(120, 300), "response_time p99 < 100ms"), Standing::Missed);
    let summary = few(100, 2).thresholds(&["response_time p99 < 500ms"]).summary();
    assert_eq!(summary.thresholds[0].worst, None);
    assert_eq!(
        summary.verdict.sentence,
        "INCONCLUSIVE: too few samples for p99: 100 of the required 368: p99 response time is at least 2.36 ms; the \
         threshold is < 500 ms"
    );
    // 0.99^368 = 0.025, half of the allowed error probability.
    assert_eq!(standing(&few(367, 2), "response_time p99 < 500ms"), Standing::Undecided);
    assert_eq!(standing(&few(368, 2), "response_time p99 < 500ms"), Standing::Met);
    // A threshold that further samples could not miss.
    assert_eq!(standing(&few(100, 300), "response_time p99 > 100ms"), Standing::Met);
}

#[test]
fn a_stall_does_not_excuse_a_miss_outside_of_it() {
    let stalled = |slow: u64| {
        let mut run = Run::planned(|d| {
            d.load.users = Some(10);
            d.load.duration_ns = Some(10 * S);
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
    // A miss only in the stalled second may come from the stall.
    assert_eq!(standing(&stalled(0), "response_time max < 250ms"), Standing::Undecided);
    // A fiftieth of the time is unknown: 1% of the requests may have been slow then, but not 10%.
    assert_eq!(standing(&stalled(0), "response_time p99 < 100ms"), Standing::Undecided);
    assert_eq!(standing(&stalled(0), "response_time p90 < 100ms"), Standing::Met);
}

#[test]
fn a_record_with_a_gap_decides_what_the_gap_cannot_change() {
    let cut = |failed: u64| {
        let mut run = Run::closed(20).at(2, |tick| fail(tick, Fault::ConnectionReset, failed));
        run.ticks.truncate(15);
        run.ending = None;
        run.summary()
    };
    let is = |summary: Summary| (summary.verdict.result, summary.verdict.reasons);
    assert_eq!(is(cut(30)), (Outcome::Fail, vec!["error_rate == 0%".to_owned()]));
    assert_eq!(is(cut(0)), (Outcome::Inconclusive, vec!["incomplete_record".to_owned()]));
}

#[test]
fn a_load_that_was_not_sent_proves_a_miss_and_no_pass() {
    let short = Run::open_with(15, |d| d.load.rate_per_s = Some(1_200.0));
    assert_eq!(standing(&short, "response_time p99 < 500ms"), Standing::Undecided);
    assert_eq!(standing(&short, "response_time p99 < 4ms"), Standing::Missed);
    let verdict = short.thresholds(&["response_time p99 < 500ms"]).summary().verdict;
    assert_eq!(verdict.reasons, ["offered_rate_missed"], "{}", verdict.sentence);
}

/// Ten users of a load generator whose worker waits for a CPU for 78% of the time.
fn short_of_cpu(run: Run) -> Run {
    run.with(|run| run.pulse.cpu_wait_ns = S * 78 / 100).all_ticks(|tick| {
        tick.run.add(RunSum::CpuWaitNs.id(), S * 78 / 100);
        tick.run.peak(RunPeak::InFlight.id(), 10);
    })
}

#[test]
fn waiting_for_a_cpu_explains_a_few_milliseconds_but_not_hundreds() {
    // Of 150 s of requests in 15 s, 117 s may have been waiting: 3 ms of each 5 ms, but not 4 ms.
    let quick = short_of_cpu(Run::closed(15));
    let summary = quick.clone().thresholds(&["response_time p99 < 2ms"]).summary();
    assert_eq!(summary.verdict.result, Outcome::Inconclusive, "{}", summary.verdict.sentence);
    assert_eq!(summary.verdict.reasons, ["client_cpu_wait"]);
    assert!(
        summary.verdict.sentence.contains("waited for CPU 78% of its time"),
        "{}",
        summary.verdict.sentence
    );
    assert_eq!(caution(&summary, "client_cpu_wait").unwrap().severity, Severity::Inconclusive);
    assert_eq!(standing(&quick, "response_time p99 < 1ms"), Standing::Missed);
    assert_eq!(standing(&quick, "response_time p99 < 10ms"), Standing::Met);
    assert_eq!(standing(&Run::closed(15), "response_time p99 < 2ms"), Standing::Missed);
    // A wait above 200 ms would be a stall.
    let mut slow = Run::planned(|d| d.load.duration_ns = Some(15 * S));
    slow.fill(|tick| answers(tick, 0, 40, 400 * MS));
    assert_eq!(standing(&short_of_cpu(slow), "response_time p99 < 100ms"), Standing::Missed);
    // Without the waiting, users would have sent more requests: up to 2,000/s / 0.22.
    assert_eq!(standing(&quick, "throughput > 9000/s"), Standing::Undecided);
    assert_eq!(standing(&quick, "throughput > 9200/s"), Standing::Missed);
    assert_eq!(standing(&quick, "throughput > 1900/s"), Standing::Met);
    // The number of requests is exact.
    assert_eq!(standing(&quick, "requests == 30000"), Standing::Met);
}

//! Thresholds: every metric, the edges of each comparison, and unknown values.

use crate::analysis::fixture::*;
use plimsoll_analysis::summary::{Outcome, Standing};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::threshold::FigureUnit;

/// Ten seconds with these responses each: (number, time in ms, status).
fn run_of(answers: &[(u64, u64, u16)]) -> Run {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(10 * S));
    run.fill(|tick| {
        for (n, ms, status) in answers {
            (0..*n).for_each(|_| answer(tick, 0, ms * MS, *status));
        }
    });
    run
}

fn met(run: &Run, text: &str) -> bool {
    let summary = run.clone().thresholds(&[text]).summary();
    judged(&summary, text).is_met
}

#[test]
fn the_exact_limit_is_not_below_the_limit() {
    // 8,388,608 ns is the lower edge of a bucket and the only value, so percentiles are exact.
    let mut run = Run::planned(|d| d.load.duration_ns = Some(10 * S));
    run.fill(|tick| (0..1_000).for_each(|_| answer(tick, 0, 8_388_608, 200)));
    assert!(!met(&run, "response_time p99 < 8388608ns"));
    assert!(met(&run, "response_time p99 <= 8388608ns"));
    assert!(met(&run, "response_time max == 8388608ns"));
    assert!(met(&run, "response_time min >= 8388608ns"));
    assert!(!met(&run, "response_time mean > 8388608ns"));
    assert!(met(&run, "response_time p99 < 8388609ns"));
}

#[test]
fn errors_are_a_share_of_the_completed_requests() {
    let run = run_of(&[(993, 5, 200), (7, 5, 500)]);
    // 7 of 1,000: in binary, neither 0.7% nor 0.007 is exact.
    for text in [
        "error_rate <= 0.7%",
        "error_rate <= 0.007",
        "error_rate == 0.7%",
        "error_rate < 0.71%",
        "error_rate >= 0.7%",
    ] {
        assert!(met(&run, text), "{text}");
    }
    for text in ["error_rate < 0.7%", "error_rate == 0%", "error_rate <= 0.69%"] {
        assert!(!met(&run, text), "{text}");
    }
}

#[test]
fn every_metric_is_judged_in_its_unit() {
    let run = run_of(&[(500, 10, 200)]).thresholds(&[
        "response_time p90 < 20ms",
        "service_time max < 20ms",
        "time_to_first_byte p50 < 6ms",
        "error_rate < 1%",
        "throughput > 499/s",
        "requests == 5000",
    ]);
    let summary = run.summary();
    let units: Vec<(FigureUnit, Option<f64>)> =
        summary.thresholds.iter().map(|t| (t.unit, t.observed)).collect();
    assert!(summary.thresholds.iter().all(|t| t.is_met && !t.is_default), "{:#?}", summary.thresholds);
    assert_eq!(units[0], (FigureUnit::Nanoseconds, Some(10e6)));
    assert_eq!(units[1], (FigureUnit::Nanoseconds, Some(10e6)));
    assert_eq!(units[2], (FigureUnit::Nanoseconds, Some(5e6)));
    assert_eq!(units[3], (FigureUnit::Ratio, Some(0.0)));
    assert_eq!(units[4], (FigureUnit::PerSecond, Some(500.0)));
    assert_eq!(units[5], (FigureUnit::Count, Some(5_000.0)));
    assert_eq!(summary.verdict.result, Outcome::Pass, "{}", summary.verdict.sentence);
}

#[test]
fn the_margin_is_positive_inside_the_limit() {
    let run = run_of(&[(500, 10, 200)]).thresholds(&[
        "response_time mean < 20ms",
        "response_time mean < 8ms",
        "throughput > 400/s",
        "error_rate == 0%",
        "requests == 4000",
    ]);
    let margins: Vec<Option<f64>> = run.summary().thresholds.iter().map(|t| t.margin).collect();
    assert_eq!(margins, [Some(0.5), Some(-0.25), Some(0.25), None, Some(-0.25)]);
}

#[test]
fn a_lower_bound_meets_no_upper_limit() {
    let slow = run_of(&[(980, 5, 200)]).at(9, |t| time_out(t, 200, 10 * S));
    // More than 1% took at least 10 s; it is unknown whether they took less than 15 s.
    for text in [
        "response_time p99 < 15s",
        "response_time max < 15s",
        "service_time p99 <= 1s",
        "response_time mean < 1s",
    ] {
        assert!(!met(&slow, text), "{text}");
    }
    assert!(met(&slow, "response_time p99 > 9s"));
    assert!(met(&slow, "response_time p95 < 6ms"));
    let summary = slow.thresholds(&["response_time p99 < 15s"]).summary();
    assert!(summary.thresholds[0].is_lower_bound);
    assert_eq!(
        summary.verdict.sentence,
        "INCONCLUSIVE: 200 requests with lower bounds only: p99 response time is at least 10.0 s; \
         the threshold is < 15 s"
    );
}

#[test]
fn the_time_to_first_byte_of_a_timed_out_request_is_unknown() {
    let slow = run_of(&[(980, 5, 200)]).at(9, |t| time_out(t, 200, 10 * S));
    assert!(!met(&slow, "time_to_first_byte p99 < 1s"));
    assert!(met(&slow, "time_to_first_byte p95 < 1s"));
}

#[test]
fn without_a_sample_no_threshold_is_met() {
    let run = run_of(&[]);
    for text in ["response_time p99 < 1s", "error_rate == 0%", "time_to_first_byte min > 0ms", "requests > 0"]
    {
        assert!(!met(&run, text), "{text}");
    }
    assert!(met(&run, "requests == 0"));
}

#[test]
fn achieved_is_the_share_of_the_arrivals_that_were_served() {
    // 2% get no response, and they are not recent: the run stops 2 s after the last of them.
    let lossy = Run::open(15).with(|r| {
        r.outline.load = plimsoll_plan::load::Load::Open {
            rate_per_s: profile(1_020.0, &[]),
            arrivals: Default::default(),
        }
    });
    let lossy = lossy
        .all_ticks(|t| t.run.add(RunSum::Arrivals.id(), 20))
        .at(14, |t| under_way(t, 300, 15 * S))
        .thresholds(&["achieved >= 99%", "achieved >= 98%"]);
    let summary = lossy.summary();
    assert!(!judged(&summary, "achieved >= 99%").is_met);
    assert!(judged(&summary, "achieved >= 98%").is_met);
    assert_eq!(summary.thresholds[0].unit, FigureUnit::Ratio);
}

#[test]
fn recent_arrivals_at_the_end_are_not_missing() {
    // 5 ms at 1,000/s: five are in flight at any moment (Little's law), and twelve are not unusual.
    let of = |n: u64| {
        let run = Run::open(2).at(1, move |t| {
            under_way(t, n, 5 * MS);
            t.run.add(RunSum::Arrivals.id(), n);
        });
        let summary = run.summary();
        // Always the ratio of the two rates, with any threshold.
        let offered = summary.offered.as_ref().unwrap().rate_per_s;
        assert_eq!(summary.achieved.ratio, Some(summary.achieved.rate_per_s / offered));
        let judged = judged(&summary, "achieved >= 99%");
        assert_eq!(judged.observed, summary.achieved.ratio);
        (judged.standing, judged.best.unwrap())
    };
    assert_eq!(of(5), (Standing::Met, 1.0));
    assert_eq!(of(12), (Standing::Met, 1.0));
    let (standing, best) = of(100);
    assert!(standing == Standing::Missed && best < 0.99, "{best}");
}

/// 20 arrivals per second for 5 s; `answered` of them completed with these times, and the others are in flight.
fn slow(answered: u64, middle_ns: u64) -> Run {
    let mut run = Run::planned(|d| {
        d.load.rate_per_s = Some(20.0);
        d.load.duration_ns = Some(5 * S);
    });
    run.fill(|tick| tick.run.add(RunSum::Arrivals.id(), 20));
    run.at(4, move |tick| {
        answers(tick, 0, answered, middle_ns);
        under_way(tick, 100 - answered, middle_ns);
    })
}

#[test]
fn an_arrival_without_a_response_is_not_achieved() {
    // A response takes 3 s: 40 of 100 arrived, and 60 are in flight, as for a service that keeps up. It is undecided.
    let summary = slow(40, 3 * S).summary();
    let waits = judged(&summary, "achieved >= 99%");
    assert_eq!((waits.observed, waits.standing), (Some(0.4), Standing::Undecided));
    assert!(close(waits.worst.unwrap(), 0.947, 0.001) && waits.best == Some(1.0), "{waits:?}");
    assert_eq!(summary.verdict.reasons, ["censored_at_end"], "{}", summary.verdict.sentence);
    // A third of a second: six are in flight, and all of the other 94 completed.
    assert_eq!(judged(&slow(94, S / 3).summary(), "achieved >= 99%").standing, Standing::Met);
    // Responses take 5 ms, and half of them never arrive.
    let hung = slow(50, 5 * MS).summary();
    assert_eq!(judged(&hung, "achieved >= 99%").standing, Standing::Missed);
    assert_eq!(hung.verdict.result, Outcome::Fail, "{}", hung.verdict.sentence);
}

#[test]
fn a_refused_connection_is_not_a_response_and_an_error_is() {
    let half = |of: fn(&mut plimsoll_stats::Interval)| {
        let mut run = Run::open(10);
        run.ticks.clear();
        run.fill(|tick| {
            tick.run.add(RunSum::Arrivals.id(), 1_000);
            answers(tick, 0, 500, 5 * MS);
            of(tick);
        });
        let summary = run.summary();
        (summary.achieved.rate_per_s, summary.achieved.ratio, summary.timeline[3].achieved_rate_per_s)
    };
    assert_eq!(half(|tick| fail(tick, Fault::ConnectionRefused, 500)), (500.0, Some(0.5), 500.0));
    assert_eq!(half(|tick| time_out(tick, 500, S)), (500.0, Some(0.5), 500.0));
    let all = (1_000.0, Some(1.0), 1_000.0);
    assert_eq!(half(|tick| (0..500).for_each(|_| answer(tick, 0, MS, 503))), all);
}

#[test]
fn an_arrival_of_several_requests_is_served_when_its_iteration_is() {
    let mut run = Run::planned(|d| {
        d.load.rate_per_s = Some(100.0);
        d.load.duration_ns = Some(10 * S);
        d.requests = vec![request("list", "/list"), request("pick", "/pick")];
    });
    run.fill(|tick| {
        tick.run.add(RunSum::Arrivals.id(), 100);
        // Half of the iterations never reach their second request.
        answers(tick, 0, 100, 5 * MS);
        answers(tick, 1, 50, 5 * MS);
        tick.run.sums[RunSum::Iterations.id()] = 50;
    });
    let summary = run.summary();
    assert_eq!(summary.totals.requests, 1_500);
    assert_eq!(summary.achieved.ratio, Some(0.5));
}

#[test]
fn failures_of_the_load_generator_are_not_errors() {
    let run = run_of(&[(500, 5, 200)]).at(3, |t| fail(t, Fault::FdLimit, 40));
    let summary = run.thresholds(&["error_rate == 0%"]).summary();
    // They would have been requests, and the result of these is unknown.
    let judged = &summary.thresholds[0];
    assert_eq!((judged.observed, judged.best, judged.worst), (Some(0.0), Some(0.0), Some(40.0 / 5_040.0)));
    assert_eq!(judged.standing, Standing::Undecided);
    assert_eq!((summary.totals.errors, summary.totals.requests), (0, 5_000));
    assert!(summary.errors.is_empty());
    assert_eq!(summary.client.faults[0].count, 40);
}

#[test]
fn a_mean_is_judged_as_printed() {
    // 20 of 1,000 per second took at least 10 s: they add 200 ms to the mean.
    let slow = run_of(&[(980, 5, 200)]).at(9, |t| time_out(t, 200, 10 * S));
    let summary = slow.thresholds(&["response_time mean > 150ms", "response_time mean < 15s"]).summary();
    assert_eq!(summary.thresholds[0].observed, summary.response_time.mean_ns);
    assert!(summary.thresholds[0].is_met && summary.thresholds[0].is_lower_bound);
    assert!(!summary.thresholds[1].is_met, "it may be longer");
}

#[test]
fn a_backlog_of_3_percent_is_not_chance() {
    // Offered 1,000/s, served 970/s for 5 s: 150 wait at the end, and their queue is as long as the mean time.
    let mut run = Run::open_with(5, |_| {});
    run.ticks.clear();
    run.fill(|tick| {
        tick.run.add(RunSum::Arrivals.id(), 1_000);
        answers(tick, 0, 970, 15 * MS + 31 * MS * u64::from(tick.tick));
    });
    let summary = run.at(4, |t| under_way(t, 150, 155 * MS)).summary();
    assert!(summary.achieved.ratio.unwrap() < 0.99, "{:?}", summary.achieved);
    assert_eq!(summary.verdict.result, Outcome::Fail, "{}", summary.verdict.sentence);
}

#[test]
fn arrivals_that_could_not_be_sent_do_not_count_against_the_service() {
    // A third of the arrivals waits for a port until the end.
    let mut run = Run::planned(|d| {
        d.load.rate_per_s = Some(1_000.0);
        d.load.duration_ns = Some(5 * S);
    });
    run.fill(|tick| {
        tick.run.add(RunSum::Arrivals.id(), 1_000);
        answers(tick, 0, 700, 5 * MS);
    });
    let run = run.at(4, |tick| tick.run.add(RunSum::ArrivalsNotStarted.id(), 1_500));
    assert_eq!(run.summary().verdict.result, Outcome::Fail);
    let short = run.at(3, |tick| fail(tick, Fault::PortsExhausted, 400)).summary();
    assert_eq!(short.verdict.result, Outcome::Inconclusive, "{}", short.verdict.sentence);
    assert_eq!(short.verdict.reasons, ["client_ports_exhausted"]);
}

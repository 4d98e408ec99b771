//! Percentiles: known distributions, and what timeouts and the end of the run leave unknown.

use crate::analysis::fixture::*;
use plimsoll_analysis::summary::{Percentile, Summary, Times};
use plimsoll_plan::link::Http;
use plimsoll_plan::metric::{RunPeak, RunSum, SeriesHist};

/// Ten seconds with one response each of 1 ms, 2 ms, ... 1,000 ms.
fn staircase() -> Summary {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(10 * S));
    run.fill(|tick| (1..=1_000).for_each(|ms| answer(tick, 0, ms * MS, 200)));
    run.summary()
}

fn at(times: &Times, q: f64) -> &Percentile {
    times.percentiles.iter().find(|p| p.q == q).unwrap()
}

#[test]
fn percentiles_of_a_known_distribution_are_within_a_bucket() {
    let times = staircase().response_time;
    assert_eq!((times.count, times.censored), (10_000, 0));
    assert_eq!((times.min_ns, times.max_ns), (Some(MS), Some(1_000 * MS)));
    assert!(close(times.mean_ns.unwrap(), 500.5 * MS as f64, 1e-9));
    // The standard deviation of 1..=1000 is sqrt((n^2 - 1) / 12).
    assert!(close(times.std_dev_ns.unwrap(), 288.675 * MS as f64, 0.004));
    for (value, ms) in [
        (times.p50_ns, 500),
        (times.p75_ns, 750),
        (times.p90_ns, 900),
        (times.p95_ns, 950),
        (times.p99_ns, 990),
        (times.p999_ns, 999),
    ] {
        assert!(close(value.unwrap() as f64, (ms * MS) as f64, 0.004), "{value:?} is not {ms} ms");
    }
}

#[test]
fn each_percentile_has_an_interval_around_it() {
    for p in &staircase().response_time.percentiles {
        let (low, high) = (p.low_ns.unwrap(), p.high_ns.unwrap());
        assert!(low <= p.value_ns && p.value_ns <= high, "{p:?}");
        assert!(!p.is_lower_bound && p.has_enough_samples, "{p:?}");
    }
    let median = staircase().response_time.percentiles[0].clone();
    // n = 10,000, q = 0.5: 98 ranks on each side of the middle, with ten samples per step.
    assert!(close(median.low_ns.unwrap() as f64, 490.0 * MS as f64, 0.01));
    assert!(close(median.high_ns.unwrap() as f64, 510.0 * MS as f64, 0.01));
}

#[test]
fn a_small_sample_does_not_bound_a_high_percentile() {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(S));
    run.fill(|tick| (1..=20).for_each(|ms| answer(tick, 0, ms * MS, 200)));
    let times = run.summary().response_time;
    assert_eq!(at(&times, 0.99).high_ns, None);
    assert!(!at(&times, 0.99).has_enough_samples);
    assert!(at(&times, 0.5).has_enough_samples);
}

#[test]
fn percentiles_above_a_timeout_are_lower_bounds() {
    let summary = Run::closed(15).at(12, |t| time_out(t, 400, 10 * S)).summary();
    let times = summary.response_time;
    assert_eq!((times.count, times.censored), (30_000, 400));
    assert!(!at(&times, 0.95).is_lower_bound);
    let p99 = at(&times, 0.99);
    assert!(p99.is_lower_bound);
    assert_eq!((p99.value_ns, p99.high_ns), (10 * S, None));
    assert_eq!(times.max_ns, Some(10 * S));
    // 400 times of at least 10 s among 30,400: the mean includes them and is a lower bound, and there is no deviation.
    assert!(times.mean_ns.unwrap() > 130.0 * MS as f64);
    assert!(times.mean_is_lower_bound && times.max_is_lower_bound && times.std_dev_ns.is_none());
}

#[test]
fn requests_in_flight_at_the_end_count_as_longer() {
    // 300 users send requests repeatedly, and each response takes 0.1 to 100 ms, all equally likely. The run ends after
    // 400 ms, with every user in a request. Leaving those out, or counting them as completed, would favor short ones.
    let (mut whole, mut cut) = (Vec::new(), Vec::new());
    let mut number = 0u64;
    for _ in 0..300 {
        let mut now_ns = 0;
        while now_ns < 400 * MS {
            number += 1;
            // Multiples of the square root of 2: uniform, and without a pattern over users.
            let takes_ns = ((number as f64 * 2f64.sqrt()).fract() * 1_000.0).ceil() as u64 * MS / 10;
            match now_ns + takes_ns {
                end_ns if end_ns > 400 * MS => cut.push(400 * MS - now_ns),
                _ => whole.push(takes_ns),
            }
            now_ns += takes_ns;
        }
    }
    assert!(cut.len() > 290 && cut.len() * 20 > whole.len(), "{} of {}", cut.len(), whole.len());
    let mut run = Run::planned(|d| d.load.duration_ns = Some(S));
    run.fill(|tick| {
        whole.iter().for_each(|ns| answer(tick, 0, *ns, 200));
        cut.iter().for_each(|ns| tick.series[0].record(SeriesHist::ResponseCensored.id(), *ns));
        tick.run.add(RunSum::InFlightAtEnd.id(), cut.len() as u64);
    });
    let times = run.summary().response_time;
    for (q, ms) in [(0.5, 50.0), (0.75, 75.0), (0.9, 90.0), (0.95, 95.0), (0.99, 99.0)] {
        let p = at(&times, q);
        assert!(close(p.value_ns as f64, ms * MS as f64, 0.03), "{p:?}");
        assert!(!p.is_lower_bound, "{p:?}");
        assert!(p.low_ns.unwrap() <= p.value_ns && p.value_ns <= p.high_ns.unwrap_or(u64::MAX), "{p:?}");
    }
}

#[test]
fn a_service_that_hangs_at_the_end_has_no_known_high_percentile() {
    // All ten users wait for 3 s when the run ends, and so few responses came before that they matter.
    let mut run = Run::closed(15);
    for tick in run.ticks.iter_mut() {
        let users = tick.run.sums[RunSum::UsersNs.id()];
        *tick = Run::planned(|_| {}).blank(tick.tick);
        tick.run.add(RunSum::UsersNs.id(), users);
        if tick.tick < 12 {
            answers(tick, 0, 40, 5 * MS);
        }
    }
    let times = run.at(14, |t| under_way(t, 10, 3 * S)).summary().response_time;
    assert!(!at(&times, 0.95).is_lower_bound);
    let p99 = at(&times, 0.99);
    assert!(p99.is_lower_bound && p99.value_ns >= S, "{p99:?}");
    assert_eq!(times.max_ns, Some(3 * S));
}

#[test]
fn percentiles_of_a_run_that_did_not_keep_up_are_lower_bounds() {
    // A tenth of the arrivals queued up: those that wait at the end will take longer than the completed ones.
    let summary = Run::open(15)
        .all_ticks(|t| t.run.add(RunSum::Arrivals.id(), 111))
        .at(14, |t| under_way(t, 1_665, 6 * MS))
        .with(|r| {
            r.outline.load = plimsoll_plan::load::Load::Open {
                rate_per_s: profile(1_111.0, &[]),
                arrivals: Default::default(),
            }
        })
        .summary();
    let share = summary.achieved.ratio.unwrap();
    assert!((0.89..0.92).contains(&share), "{share}");
    assert!(at(&summary.response_time, 0.95).is_lower_bound);
    assert!(at(&summary.response_time, 0.99).is_lower_bound);
}

#[test]
fn a_run_without_responses_has_no_percentiles() {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(S));
    run.fill(|_| {});
    let times = run.summary().response_time;
    assert_eq!((times.count, times.p50_ns, times.mean_ns, times.max_ns), (0, None, None, None));
    assert!(times.percentiles.is_empty());
}

#[test]
fn a_run_with_only_timeouts_has_only_lower_bounds() {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(20 * S));
    run.fill(|_| {});
    let times = run.at(11, |t| time_out(t, 100, 10 * S)).summary().response_time;
    assert_eq!((times.count, times.censored, times.min_ns), (0, 100, None));
    assert!(times.percentiles.iter().all(|p| p.is_lower_bound && p.value_ns == 10 * S));
}

#[test]
fn service_time_excludes_the_wait() {
    let summary = Run::open(15)
        .all_ticks(|t| {
            t.run.add(RunSum::Arrivals.id(), 100);
            for _ in 0..100 {
                answer(t, 0, 5 * MS, 200);
            }
            let waited = &mut t.series[0];
            (0..100).for_each(|_| waited.record(SeriesHist::Response.id(), 2 * S));
        })
        .summary();
    assert!(summary.response_time.p99_ns.unwrap() >= 1_990 * MS);
    assert!(summary.service_time.p99_ns.unwrap() < 7 * MS);
}

/// Ten users on each connection. Of a thousand responses, 7.5 take 50 ms: as many in each second, or those of five
/// seconds in one.
fn shared(is_http2: bool, together: bool, seconds: u64) -> Summary {
    let mut run = Run::planned(|d| {
        (d.load.users, d.load.duration_ns) = (Some(100), Some(seconds * S));
        if is_http2 {
            (d.link.http, d.link.is_http2, d.link.streams) = (Http::V2, true, 10);
        }
    });
    run.fill(|tick| {
        answers(tick, 0, 1_985, 5 * MS);
        tick.run.peak(RunPeak::Connections.id(), 10);
        tick.run.peak(RunPeak::InFlight.id(), if is_http2 { 100 } else { 10 });
    });
    let slow = move |at: u64| match together {
        true if at.is_multiple_of(5) => 75,
        true => 0,
        false => 15,
    };
    let run = (0..seconds).fold(run, |run, at| {
        run.at(at as usize, move |tick| (0..slow(at)).for_each(|_| answer(tick, 0, 50 * MS, 200)))
    });
    run.summary()
}

#[test]
fn responses_that_are_late_together_widen_the_intervals_of_shared_connections() {
    let effect = |summary: &Summary| summary.client.connections.http2.as_ref()?.p99_design_effect;
    let width = |summary: &Summary| {
        let p99 = at(&summary.response_time, 0.99);
        p99.high_ns.unwrap_or(u64::MAX) - p99.low_ns.unwrap_or(0)
    };
    let [apart, together, http1] = [shared(true, false, 30), shared(true, true, 30), shared(false, true, 30)];
    assert_eq!(effect(&http1), None);
    assert_eq!(effect(&apart), Some(1.0));
    // 60,000 responses, 600 above p99 with a standard deviation of 24: 450 late ones are fewer, unless they come
    // together.
    assert!(effect(&together).unwrap() > 20.0, "{:?}", effect(&together));
    assert!(width(&together) > width(&apart), "{} {}", width(&together), width(&apart));
    assert_eq!(width(&http1), width(&apart), "without shared connections, the order does not matter");
}

#[test]
fn a_short_run_takes_the_responses_of_a_connection_for_one() {
    let short = shared(true, false, 4);
    // 100 requests on 10 connections at a time.
    assert_eq!(short.client.connections.http2.unwrap().p99_design_effect, Some(10.0));
}

//! Spikes of the timeline and the recovery to the baseline.

use crate::analysis::fixture::*;
use plimsoll_analysis::summary::Spike;
use plimsoll_plan::metric::RunSum;
use plimsoll_stats::Interval;

/// A run of one second per entry, the time of its responses in ms; 0 means no response.
fn seconds(times_ms: &[u64]) -> Run {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(times_ms.len() as u64 * S));
    run.fill(|tick: &mut Interval| match times_ms[tick.tick as usize] {
        0 => {}
        ms => answers(tick, 0, 100, ms * MS),
    });
    run
}

fn spikes(times_ms: &[u64]) -> Vec<Spike> {
    seconds(times_ms).summary().spikes
}

#[test]
fn a_steady_run_has_no_spike() {
    assert!(spikes(&[10; 20]).is_empty());
}

#[test]
fn a_spike_has_a_start_a_height_and_a_recovery() {
    let found = spikes(&[10, 10, 10, 10, 10, 200, 100, 50, 20, 10, 10, 10]);
    assert_eq!(found.len(), 1, "{found:#?}");
    let spike = &found[0];
    assert_eq!(spike.from_s, 5.0);
    // Above three baselines for three seconds; at twice the baseline, it is no longer slow but has not yet recovered.
    assert_eq!(spike.slow_s, 3.0);
    assert_eq!(spike.recovered_after_s, Some(4.0));
    assert!(close(spike.baseline_p95_ns as f64, 11.8 * MS as f64, 0.01), "{spike:?}");
    assert!(close(spike.peak_p95_ns as f64, 236.0 * MS as f64, 0.01), "{spike:?}");
}

#[test]
fn one_good_second_is_not_a_recovery() {
    let found = spikes(&[10, 10, 10, 10, 200, 10, 200, 10, 10, 10]);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].slow_s, found[0].recovered_after_s), (2.0, Some(3.0)));
}

#[test]
fn a_service_that_stays_slow_does_not_recover() {
    let found = spikes(&[10, 10, 10, 10, 200, 200, 200, 200]);
    assert_eq!((found[0].slow_s, found[0].recovered_after_s), (4.0, None));
}

#[test]
fn two_spikes_are_separate_and_do_not_raise_the_baseline() {
    let found = spikes(&[10, 10, 10, 200, 200, 200, 200, 200, 10, 10, 10, 200, 10, 10]);
    assert_eq!(found.iter().map(|s| s.from_s).collect::<Vec<_>>(), [3.0, 11.0]);
    assert!(close(found[1].baseline_p95_ns as f64, 11.8 * MS as f64, 0.01));
}

#[test]
fn seconds_without_a_response_belong_to_the_stall() {
    let found = spikes(&[10, 10, 10, 10, 0, 0, 900, 10, 10]);
    assert_eq!(found.len(), 1);
    // The slowest response of the first second with responses was in flight since shortly before it.
    assert!(found[0].from_s < 6.0 && found[0].from_s > 5.9, "{found:?}");
    assert!(found[0].recovered_after_s.is_some_and(|s| (1.0..1.1).contains(&s)), "{found:?}");
}

#[test]
fn seconds_with_waiting_requests_and_no_response_are_slow() {
    let run = seconds(&[10, 10, 10, 10, 0, 0, 10, 10]);
    let found = run.at(4, |t| t.run.add(RunSum::InFlightNs.id(), S)).summary().spikes;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].from_s, found[0].recovered_after_s), (4.0, Some(2.0)));
}

#[test]
fn a_slow_second_starts_with_its_slow_responses_and_not_with_a_timeout() {
    let mut times = [10; 30];
    times[20..26].fill(650);
    let found = seconds(&times).at(20, |t| time_out(t, 1, 10 * S)).summary().spikes;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].from_s, found[0].to_s, found[0].slow_s), (20.0, 26.0, 6.0));
}

#[test]
fn timeouts_that_end_after_a_spike_are_not_a_second_one() {
    let mut times = [10; 40];
    times[20..26].fill(650);
    let run = (30..36).fold(seconds(&times), |run, at| run.at(at, |t| time_out(t, 2, 10 * S + MS)));
    let found = run.clone().summary().spikes;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].from_s, found[0].to_s, found[0].recovered_after_s), (20.0, 26.0, Some(6.0)));
    // A timeout that started after the recovery is one.
    let found = run.at(38, |t| time_out(t, 2, 10 * S)).summary().spikes;
    assert_eq!(found.iter().map(|s| s.from_s.round()).collect::<Vec<_>>(), [20.0, 29.0]);
}

#[test]
fn a_spike_ends_with_its_last_slow_second_despite_faster_ones_before() {
    let found = spikes(&[10, 10, 10, 10, 200, 10, 200, 10, 10, 10]);
    assert_eq!((found[0].from_s, found[0].to_s, found[0].slow_s), (4.0, 7.0, 2.0));
}

#[test]
fn a_stall_of_four_users_is_found_in_a_fast_second() {
    let run = seconds(&[10, 10, 10, 10, 10, 10, 10]);
    let found = run.at(4, |t| (0..4).for_each(|_| answer(t, 0, 1_700 * MS, 200))).summary().spikes;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].from_s < 3.4 && found[0].peak_p95_ns >= 1_690 * MS, "{found:?}");
}

#[test]
fn milliseconds_of_a_fast_service_are_not_a_spike() {
    // 1 ms to 5 ms is a factor of five, but imperceptible.
    assert!(spikes(&[1, 1, 1, 1, 5, 1, 1]).is_empty());
}

#[test]
fn one_slow_response_among_few_is_not_a_spike() {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(10 * S));
    run.fill(|tick| (0..5).for_each(|_| answer(tick, 0, 10 * MS, 200)));
    assert!(run.clone().at(7, |t| answer(t, 0, 300 * MS, 200)).summary().spikes.is_empty());
    let slow = run.at(7, |t| (0..8).for_each(|_| answer(t, 0, 300 * MS, 200)));
    assert_eq!(slow.summary().spikes.len(), 1);
}

#[test]
fn the_warm_up_is_neither_a_spike_nor_the_baseline() {
    let mut run = seconds(&[500, 500, 500, 10, 10, 10, 10, 200, 10, 10]);
    run.outline.warmup_ns = 3 * S;
    let found = run.summary().spikes;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].from_s, 7.0);
}

#[test]
fn recovery_is_measured_from_the_end_of_the_load_step() {
    // 10 users, then 100 after 5 s, and 10 again after 10 s; the service needs 3 s more.
    let step = profile(10.0, &[(5, 10.0), (0, 100.0), (5, 100.0), (0, 10.0), (10, 10.0)]);
    let mut run = Run::planned(|d| d.load.stages = Some((step, false)));
    run.fill(|tick| {
        let ms = if (5..13).contains(&tick.tick) { 300 } else { 10 };
        answers(tick, 0, 100, ms * MS);
    });
    let found = run.summary().spikes;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].from_s, found[0].slow_s), (5.0, 8.0));
    assert_eq!(found[0].recovered_after_s, Some(3.0));
}

/// Ten users who always wait for a response: 100 responses of 10 ms per second, but `answers` in second `at` and the
/// following ones.
fn ten_users(answered: &[u64]) -> Run {
    let mut run = Run::planned(|d| {
        d.load.users = Some(10);
        d.load.duration_ns = Some(answered.len() as u64 * S);
    });
    run.fill(|tick| {
        answers(tick, 0, answered[tick.tick as usize], 10 * MS);
        tick.run.add(RunSum::UsersNs.id(), 10 * S);
        tick.run.add(RunSum::InFlightNs.id(), 9 * S);
    });
    run
}

#[test]
fn seconds_without_a_response_are_an_outage_and_few_responses_are_a_spike() {
    let summary = ten_users(&[100, 100, 100, 100, 0, 0, 0, 100, 100]).summary();
    assert!(summary.spikes.is_empty(), "{:?}", summary.spikes);
    let found = summary.availability.outages;
    assert_eq!(found.iter().map(|o| (o.from_s, o.to_s)).collect::<Vec<_>>(), [(4.0, 7.0)]);
    // A single second of it may be a stall, after which all requests completed.
    let stop = ten_users(&[100, 100, 100, 100, 0, 100, 100]).summary().spikes;
    assert_eq!(stop.iter().map(|s| (s.from_s, s.slow_s)).collect::<Vec<_>>(), [(4.0, 1.0)]);
    let trickle = ten_users(&[100, 100, 100, 100, 9, 100, 100]).summary().spikes;
    assert_eq!(trickle.iter().map(|s| (s.from_s, s.slow_s)).collect::<Vec<_>>(), [(4.0, 1.0)]);
    assert!(ten_users(&[100, 100, 100, 100, 11, 100, 100]).summary().spikes.is_empty());
}

#[test]
fn users_who_cannot_connect_wait_too() {
    let run = ten_users(&[100, 100, 100, 100, 0, 0, 100, 100]);
    let found = run
        .with(|r| (4..6).for_each(|at| r.tick(at).run.sums[RunSum::InFlightNs.id()] = 0))
        .at(4, |t| fail(t, plimsoll_plan::Fault::ConnectionRefused, 200))
        .summary();
    assert!(found.spikes.is_empty(), "{:?}", found.spikes);
    let found = found.availability.outages;
    assert_eq!(found.iter().map(|o| (o.from_s, o.to_s)).collect::<Vec<_>>(), [(4.0, 6.0)]);
}

#[test]
fn fewer_users_make_fewer_responses_and_no_outage() {
    let run = ten_users(&[100, 100, 100, 100, 5, 5, 5]).with(|r| {
        for at in 4..7 {
            r.tick(at).run.sums[RunSum::UsersNs.id()] = S / 2;
            r.tick(at).run.sums[RunSum::InFlightNs.id()] = S / 2;
        }
    });
    assert!(run.summary().spikes.is_empty());
}

#[test]
fn a_slow_service_without_a_response_for_a_second_is_normal() {
    // One response per 1.5 s: every third second has none.
    let mut run = ten_users(&[0; 12]);
    run.ticks.iter_mut().filter(|t| t.tick % 3 != 0).for_each(|t| answer(t, 0, 1_500 * MS, 200));
    assert!(run.summary().spikes.is_empty());
}

#[test]
fn idle_users_at_the_end_of_a_counted_run_are_not_an_outage() {
    let run =
        ten_users(&[100, 100, 100, 100, 100, 0]).with(|r| r.tick(5).run.sums[RunSum::InFlightNs.id()] = 0);
    assert!(run.ends(plimsoll_record::event::StoppedBy::Requests, 6 * S).summary().spikes.is_empty());
}

#[test]
fn a_spike_in_the_first_seconds_is_found_by_the_following_ones() {
    let found = spikes(&[300, 300, 10, 10, 10, 10, 10, 10]);
    assert_eq!(
        found.iter().map(|s| (s.from_s, s.slow_s, s.recovered_after_s)).collect::<Vec<_>>(),
        [(0.0, 2.0, Some(2.0))]
    );
    // If the following seconds are slow as well, there was no spike.
    assert!(spikes(&[300, 300, 10, 300, 300, 300, 300]).is_empty());
}

#[test]
fn a_recovery_in_the_last_second_counts() {
    let found = spikes(&[10, 10, 10, 10, 200, 10]);
    assert_eq!(found[0].recovered_after_s, Some(1.0));
    // Four users were delayed and completed within the last second; all others in it were fast.
    let run = seconds(&[10, 10, 10, 10, 10, 10]).at(5, |t| (0..4).for_each(|_| answer(t, 0, 700 * MS, 200)));
    let found = run.summary().spikes;
    assert_eq!((found[0].from_s, found[0].recovered_after_s), (5.0, Some(1.0)));
    // A last second of length 0 contains nothing and decides nothing.
    let run =
        seconds(&[10, 10, 10, 10, 200, 10, 0]).ends(plimsoll_record::event::StoppedBy::Duration, 6 * S + 1);
    assert_eq!(run.summary().spikes[0].recovered_after_s, Some(1.0));
}

#[test]
fn a_run_that_ends_without_responses_does_not_recover() {
    let found = ten_users(&[100, 100, 100, 100, 0, 100, 0, 0]).summary().availability.outages;
    assert_eq!(found.last().map(|o| (o.from_s, o.is_open_ended)), Some((6.0, true)), "{found:?}");
}

//! Spikes of the timeline and the way back to the baseline.

use crate::fixture::*;
use plimsoll_plan::metric::RunSum;
use plimsoll_record::summary::Spike;
use plimsoll_stats::Interval;

/// A run of one second per entry: the time of its answers in ms; 0: no answer at all.
fn seconds(times_ms: &[u64]) -> Run {
    let mut run = Run::planned(|d| d.duration_ns = Some(times_ms.len() as u64 * S));
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
fn a_spike_has_a_beginning_a_height_and_a_way_back() {
    let found = spikes(&[10, 10, 10, 10, 10, 200, 100, 50, 20, 10, 10, 10]);
    assert_eq!(found.len(), 1, "{found:#?}");
    let spike = &found[0];
    assert_eq!(spike.from_s, 5.0);
    // Above three baselines for three seconds; at twice the baseline it is no longer slow and not yet back.
    assert_eq!(spike.slow_s, 3.0);
    assert_eq!(spike.recovered_after_s, Some(4.0));
    assert!(close(spike.baseline_p95_ns as f64, 11.8 * MS as f64, 0.01), "{spike:?}");
    assert!(close(spike.peak_p95_ns as f64, 236.0 * MS as f64, 0.01), "{spike:?}");
}

#[test]
fn one_good_second_is_not_yet_the_way_back() {
    let found = spikes(&[10, 10, 10, 10, 200, 10, 200, 10, 10, 10]);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].slow_s, found[0].recovered_after_s), (2.0, Some(3.0)));
}

#[test]
fn a_service_that_stays_slow_does_not_come_back() {
    let found = spikes(&[10, 10, 10, 10, 200, 200, 200, 200]);
    assert_eq!((found[0].slow_s, found[0].recovered_after_s), (4.0, None));
}

#[test]
fn two_spikes_are_two_and_do_not_lift_the_baseline() {
    let found = spikes(&[10, 10, 10, 200, 200, 200, 200, 200, 10, 10, 10, 200, 10, 10]);
    assert_eq!(found.iter().map(|s| s.from_s).collect::<Vec<_>>(), [3.0, 11.0]);
    assert!(close(found[1].baseline_p95_ns as f64, 11.8 * MS as f64, 0.01));
}

#[test]
fn seconds_without_an_answer_are_part_of_the_stall() {
    let found = spikes(&[10, 10, 10, 10, 0, 0, 900, 10, 10]);
    assert_eq!(found.len(), 1);
    // The slowest answer of the first second with answers was under way since shortly before it.
    assert!(found[0].from_s < 6.0 && found[0].from_s > 5.9, "{found:?}");
    assert!(found[0].recovered_after_s.is_some_and(|s| (1.0..1.1).contains(&s)), "{found:?}");
}

#[test]
fn seconds_in_which_requests_wait_and_none_ends_are_slow() {
    let run = seconds(&[10, 10, 10, 10, 0, 0, 10, 10]);
    let found = run.at(4, |t| t.run.add(RunSum::InFlightNs.id(), S)).summary().spikes;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].from_s, found[0].recovered_after_s), (4.0, Some(2.0)));
}

#[test]
fn a_stop_that_four_users_met_is_seen_though_the_second_is_fast() {
    let run = seconds(&[10, 10, 10, 10, 10, 10, 10]);
    let found = run.at(4, |t| (0..4).for_each(|_| answer(t, 0, 1_700 * MS, 200))).summary().spikes;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].from_s < 3.4 && found[0].peak_p95_ns >= 1_690 * MS, "{found:?}");
}

#[test]
fn milliseconds_of_a_fast_service_are_no_spike() {
    // 1 ms to 5 ms is a factor of five and nothing that anybody feels.
    assert!(spikes(&[1, 1, 1, 1, 5, 1, 1]).is_empty());
}

#[test]
fn one_slow_answer_among_few_is_no_spike() {
    let mut run = Run::planned(|d| d.duration_ns = Some(10 * S));
    run.fill(|tick| (0..5).for_each(|_| answer(tick, 0, 10 * MS, 200)));
    assert!(run.clone().at(7, |t| answer(t, 0, 300 * MS, 200)).summary().spikes.is_empty());
    let slow = run.at(7, |t| (0..8).for_each(|_| answer(t, 0, 300 * MS, 200)));
    assert_eq!(slow.summary().spikes.len(), 1);
}

#[test]
fn the_warm_up_is_no_spike_and_no_baseline() {
    let mut run = seconds(&[500, 500, 500, 10, 10, 10, 10, 200, 10, 10]);
    run.outline.warmup_ns = 3 * S;
    let found = run.summary().spikes;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].from_s, 7.0);
}

#[test]
fn recovery_is_counted_from_the_end_of_the_load_step() {
    // 10 users, from 5 s on 100, from 10 s on 10 again; the service needs 3 s more.
    let step = profile(10.0, &[(5, 10.0), (0, 100.0), (5, 100.0), (0, 10.0), (10, 10.0)]);
    let mut run = Run::planned(|d| d.stages = Some((step, false)));
    run.fill(|tick| {
        let ms = if (5..13).contains(&tick.tick) { 300 } else { 10 };
        answers(tick, 0, 100, ms * MS);
    });
    let found = run.summary().spikes;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].from_s, found[0].slow_s), (5.0, 8.0));
    assert_eq!(found[0].recovered_after_s, Some(3.0));
}

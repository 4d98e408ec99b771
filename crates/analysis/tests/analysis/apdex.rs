//! Apdex of a request: its limit, how it is counted, and what a file cannot contain.

use crate::analysis::fixture::*;
use plimsoll_analysis::summary::Apdex;
use plimsoll_plan::Fault;

/// Ten seconds with 60 responses in 10 ms, 30 in 30 ms, and 10 in 100 ms.
fn steps() -> Run {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(10 * S));
    run.fill(|tick| {
        for (n, ms) in [(60, 10), (30, 30), (10, 100)] {
            (0..n).for_each(|_| answer(tick, 0, ms * MS, 200));
        }
    });
    run
}

fn apdex(run: &Run, thresholds: &[&str]) -> Option<Apdex> {
    run.clone().thresholds(thresholds).summary().requests[0].apdex
}

#[test]
fn responses_within_the_limit_count_fully_and_within_four_times_it_half() {
    let told = apdex(&steps(), &["response_time p99 < 20ms"]).expect("there is one limit");
    assert_eq!((told.target_ns, told.samples), (20 * MS, 1_000));
    assert_eq!((told.satisfied, told.tolerating, told.frustrated), (600, 300, 100));
    assert!(close(told.index, 0.75, 1e-12) && told.index_max == told.index, "{told:?}");
    // 100 ms are within 4 x 30 ms.
    let wide = apdex(&steps(), &["response_time mean <= 30ms"]).expect("there is one limit");
    assert_eq!((wide.satisfied, wide.tolerating, wide.frustrated), (900, 100, 0));
}

#[test]
fn a_failed_request_is_frustrated_even_if_it_was_fast() {
    let limit = &["response_time p99 < 20ms"];
    let reset = steps().at(3, |tick| fail(tick, Fault::ConnectionReset, 1_000));
    let told = apdex(&reset, limit).expect("there is one limit");
    assert_eq!((told.satisfied, told.tolerating, told.frustrated), (600, 300, 1_100));
    assert!(close(told.index, 0.375, 1e-12) && told.index_max == told.index, "{told:?}");
    // It is unknown which times belong to the failed responses, so Apdex has a lower and an upper bound.
    let refused = steps().at(3, |tick| (0..200).for_each(|_| answer(tick, 0, 5 * MS, 503)));
    let told = apdex(&refused, limit).expect("there is one limit");
    assert_eq!((told.satisfied, told.tolerating, told.frustrated), (600, 300, 300));
    assert!(close(told.index, 0.625, 1e-12), "{told:?}");
    // 100 of the 200 count as the slowest responses, the others as tolerated ones.
    assert!(close(told.index_max, (800.0 + 200.0 / 2.0) / 1_200.0, 1e-12), "{told:?}");
}

#[test]
fn the_target_is_the_only_limit_and_two_limits_give_none() {
    let target = |all: &[&str]| apdex(&steps(), all).map(|told| told.target_ns / MS);
    assert_eq!(target(&[]), None);
    assert_eq!(target(&["service_time p99 < 20ms", "response_time p99 > 1ms"]), None);
    assert_eq!(target(&["response_time p50 < 15ms", "response_time p99 < 20ms"]), None);
    assert_eq!(target(&["response_time p50 < 20ms", "response_time p99 < 20ms"]), Some(20));
    let name = steps().summary().requests[0].name.clone();
    let own = format!("response_time{{request: '{name}'}} p99 < 40ms");
    assert_eq!(target(&["response_time p99 < 20ms", &own]), Some(40), "its own limit takes precedence");
}

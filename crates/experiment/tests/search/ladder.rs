//! Ladders: where they end, by which rule, and how they report it.

use crate::search::machine::{capacity, cheap, figure, quest};
use crate::search::servers::{Limits, Server, Service, drive, search};
use plimsoll_experiment::search::{Answer, CapacitySearch, Trial};
use plimsoll_plan::experiment::{Bound, Limit, Step, Until};

fn shortfall(limit: Limit, inclusive: bool) -> Until {
    Until::Shortfall(Bound { limit, inclusive })
}

/// A ladder starting at 100/s, with a service that completes 500 arrivals/s and has socket errors above 300/s.
fn ladder(step: Step, until: Option<Until>, to: f64) -> (Answer, Vec<Trial>) {
    let quest = CapacitySearch { step: Some(step), from: Some(100.0), stop_when: until, ..quest(to) };
    drive(&quest, |probe| {
        let mut trial = cheap(probe, 500.0);
        trial.offered_rate_per_s = Some(probe.level);
        trial.iterations_per_s = probe.level.min(500.0);
        trial.socket_errors = if probe.level > 300.0 { 7 } else { 0 };
        trial
    })
}

#[test]
fn a_ladder_climbs_until_its_rule_is_met_and_reports_being_a_ladder() {
    let ladder = |until, to| ladder(Step::Times(1.1), until, to);
    let (answer, history) = ladder(Some(shortfall(Limit::PerSecond(50.0), true)), 1e6);
    let (last, before) = (history[history.len() - 1].probe.level, history[history.len() - 2].probe.level);
    let found = answer.capacity.expect("found");
    assert!(last >= 550.0 && before < 550.0);
    assert_eq!((found.level(), found.interval), (before, [before, last]));
    assert!(answer.sentence.contains("one run per level"), "{}", answer.sentence);
    let (answer, history) = ladder(Some(Until::SocketErrors(6)), 1e6);
    assert!(capacity(&answer) <= 300.0 && history.iter().all(|t| t.probe.level < 331.0));
    let (answer, _) = ladder(None, 250.0);
    assert!(answer.capacity.expect("not ended by its rule").is_lower_bound);
    let (answer, _) = ladder(Some(Until::Missed), 1e6);
    assert!(capacity(&answer) < 482.0 && capacity(&answer) > 430.0, "{}", answer.sentence);
    let users = CapacitySearch {
        users: true,
        step: Some(Step::Plus(1.0)),
        stop_when: Some(shortfall(Limit::Ratio(0.1), false)),
        ..quest(9.0)
    };
    let (answer, _) = drive(&users, |probe| cheap(probe, 500.0));
    assert_eq!(answer.refusal.expect("users offer no rate").kind.code(), "stop_when_needs_arrivals");
}

/// At 550/s, exactly 50/s are missing; at 600/s, 1/6 of all arrivals.
#[test]
fn the_exact_limit_ends_a_ladder_only_if_the_rule_includes_it() {
    for (limit, inclusive, expected) in [
        (Limit::PerSecond(50.0), true, 550.0),
        (Limit::PerSecond(50.0), false, 600.0),
        (Limit::Ratio(1.0 / 6.0), true, 600.0),
        (Limit::Ratio(1.0 / 6.0), false, 650.0),
    ] {
        let (answer, history) = ladder(Step::Plus(50.0), Some(shortfall(limit, inclusive)), 1e6);
        let last = history.last().expect("it ran").probe.level;
        assert!((last - expected).abs() < 1e-6, "{limit:?} {inclusive}: ended at {last}");
        assert!((capacity(&answer) - (expected - 50.0)).abs() < 1e-6, "{}", answer.sentence);
    }
}

/// With p99 = 4.6 / (500 - rate), rates of 482/s and more miss the threshold, and the ladder continues.
#[test]
fn a_result_names_the_rule_that_decided_it() {
    let rule = shortfall(Limit::PerSecond(50.0), true);
    let (answer, history) = ladder(Step::Plus(50.0), Some(rule), 1e6);
    assert!(!history[history.len() - 2].met(), "the last level before the rule misses the threshold");
    assert!(
        answer
            .sentence
            .contains("; `offered - achieved >= 50/s` was true at 550 arrivals/s, with one run per level"),
        "{}",
        answer.sentence
    );
    // The thresholds did not decide it, so they are not what the capacity is "with".
    assert!(!answer.sentence.contains("with response_time"), "{}", answer.sentence);
    assert!(answer.thresholds.is_empty() && answer.missed_thresholds.len() == 1, "{}", answer.sentence);
    let (answer, _) = ladder(Step::Plus(50.0), None, 1e6);
    assert!(answer.sentence.contains("with response_time") && answer.thresholds.len() == 1);
}

#[test]
fn a_ladder_continues_while_everything_is_served() {
    for limit in [Limit::PerSecond(0.0), Limit::Ratio(0.0)] {
        let (answer, history) = ladder(Step::Plus(50.0), Some(shortfall(limit, false)), 1e6);
        assert!((history.last().expect("it ran").probe.level - 550.0).abs() < 1e-6, "{limit:?}");
        assert!((capacity(&answer) - 500.0).abs() < 1e-6, "{}", answer.sentence);
    }
}

/// Sixty-four servers of 20 ms serve 3,200/s. At the end of a step, some responses are always outstanding.
#[test]
fn requests_in_flight_at_the_end_of_a_step_are_not_missing() {
    let server = Server { service: Service::Exponential, mean_s: 0.02, servers: 64, room: None };
    for seed in 0..40 {
        let quest = CapacitySearch {
            step: Some(Step::Times(1.25)),
            from: Some(500.0),
            stop_when: Some(shortfall(Limit::PerSecond(0.0), false)),
            step_duration_ns: Some(3_000_000_000),
            ..quest(1e5)
        };
        let (answer, _) = search(&server, &quest, Limits::default(), seed);
        // 500 x 1.25^8 = 2,980/s is served, and 3,725/s is not.
        assert!((2_300.0..3_000.0).contains(&capacity(&answer)), "seed {seed}: {}", answer.sentence);
        assert!(answer.steps.last().expect("it ran").level < 3_800.0, "seed {seed}");
    }
}

#[test]
fn a_ladder_that_ends_at_its_first_level_reports_the_reason() {
    let from = |level: f64, until: Until, broken: bool| {
        let quest = CapacitySearch {
            step: Some(Step::Times(2.0)),
            from: Some(level),
            stop_when: Some(until),
            ..quest(1e6)
        };
        let (answer, history) = drive(&quest, |probe| {
            let mut trial = cheap(probe, 1e5);
            trial.offered_rate_per_s = Some(probe.level);
            trial.iterations_per_s = probe.level.min(500.0);
            trial.socket_errors = 3;
            trial.error_ratio = if broken { 0.9 } else { 0.0 };
            trial
        });
        assert!(history.len() == 1 && answer.capacity.is_none(), "{}", answer.sentence);
        assert!(broken || history[0].met(), "all thresholds are met");
        let refusal = answer.refusal.expect("no level passed");
        (refusal.kind.code(), answer.sentence)
    };
    for until in [shortfall(Limit::PerSecond(50.0), true), Until::SocketErrors(2)] {
        let (code, sentence) = from(1_000.0, until, false);
        assert_eq!(code, "ended_at_first_step");
        assert!(
            sentence.contains(&format!("`{until}` was true")) && !sentence.contains("threshold"),
            "{sentence}"
        );
    }
    let (code, sentence) = from(100.0, shortfall(Limit::PerSecond(50.0), true), true);
    assert!(code == "ended_at_first_step" && sentence.contains("most requests failed"), "{code}: {sentence}");
    let (code, _) = from(100.0, Until::Missed, true);
    assert_eq!(code, "nothing_met");
}

#[test]
fn a_ladder_with_its_own_rule_states_the_thresholds_that_its_result_misses() {
    let found = |ns: f64| {
        let quest = CapacitySearch {
            step: Some(Step::Times(2.0)),
            from: Some(100.0),
            stop_when: Some(Until::SocketErrors(6)),
            ..quest(1e6)
        };
        drive(&quest, |probe| {
            let mut trial = figure(probe, ns, 250e6);
            trial.socket_errors = if probe.level > 500.0 { 9 } else { 0 };
            trial
        })
        .0
    };
    let beyond = found(900e6);
    assert_eq!(capacity(&beyond), 400.0);
    assert_eq!(beyond.missed_thresholds, ["response_time{request: all} p99 < 250ms"]);
    assert!(beyond.sentence.contains("already misses response_time"), "{}", beyond.sentence);
    let within = found(90e6);
    assert!(capacity(&within) == 400.0 && within.missed_thresholds.is_empty(), "{}", within.sentence);
    assert!(!within.sentence.contains("misses"), "{}", within.sentence);
}

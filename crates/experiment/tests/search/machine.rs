//! The search by itself: it ends, stays within its range, is repeatable, and avoids harmful levels.

use crate::search::servers::{Limits, digest, drive, trial};
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::Block;
use plimsoll_analysis::summary::{Standing, ThresholdResult};
use plimsoll_experiment::search::{
    Answer, CapacitySearch, MOST_STEPS, MOST_TRIALS, Move, Probe, Shape, Trial, limit_of, next,
};
use plimsoll_plan::experiment::{Purpose, Step};
use plimsoll_plan::threshold::FigureUnit;
use plimsoll_stats::random::SplitMix64;

/// A deterministic server: p99 = 4.6 / (mu - rate), and an overload that times out.
pub fn cheap(probe: Probe, mu: f64) -> Trial {
    let ns = if probe.purpose == Purpose::Baseline {
        1e9 / mu
    } else if probe.level < 0.999 * mu {
        100f64.ln() * 1e9 / (mu - probe.level)
    } else {
        30e9
    };
    figure(probe, ns, 250e6)
}

/// A trial whose p99 is `ns`, with a limit and without blocks: only the verdict and the distance are known.
pub fn figure(probe: Probe, ns: f64, limit: f64) -> Trial {
    let mut trial = bare(probe);
    trial.judged = vec![ThresholdResult {
        text: "response_time{request: all} p99 < 250ms".into(),
        subject: "response_time p99".into(),
        is_default: false,
        observed: Some(ns),
        is_lower_bound: false,
        limit,
        unit: FigureUnit::Nanoseconds,
        is_met: ns < limit,
        standing: Standing::of(ns < limit),
        best: Some(ns),
        worst: Some(ns),
        doubts: Vec::new(),
        margin: Some((limit - ns) / limit),
        samples: 10_000,
        has_too_few_samples: false,
        window: None,
    }];
    trial.response_p50_ns = Some((ns / 6.0) as u64);
    trial
}

fn bare(probe: Probe) -> Trial {
    let seconds = (probe.length_ns / 1_000_000_000).max(1);
    let each = probe.level.max(1.0) as u64;
    let block = Block { length_ns: 1_000_000_000, offered: each, requests: each, ..Block::default() };
    trial(probe, vec![block; seconds.min(4) as usize], Limits::default(), 0)
}

pub fn quest(to: f64) -> CapacitySearch {
    CapacitySearch {
        to,
        floor_ns: Some(1_000_000),
        longest_limit_ns: Some(250_000_000),
        ..CapacitySearch::default()
    }
}

pub fn capacity(answer: &Answer) -> f64 {
    answer.capacity.as_ref().map_or(f64::NAN, |c| c.level())
}

#[test]
fn a_thousand_searches_against_a_cheap_server_are_right_and_quick() {
    let mut random = SplitMix64::new(9);
    for _ in 0..1_000 {
        let mu = 10f64.powf(2.0 + 3.0 * (random.next_u64() as f64 / u64::MAX as f64));
        let truth = (mu - 100f64.ln() / 0.25).min(0.999 * mu);
        let quest = CapacitySearch { floor_ns: None, ..quest(1e6) };
        let (answer, history) = drive(&quest, |probe| cheap(probe, mu));
        let found = answer.capacity.clone().expect("it is enclosed");
        assert!((found.level() / truth - 1.0).abs() < 0.02, "{} for {truth}: {history:?}", found.level());
        assert!(found.interval[0] <= truth && truth <= found.interval[1], "{:?} for {truth}", found.interval);
        assert!(history.len() <= 40, "{} steps", history.len());
    }
}

#[test]
fn the_same_history_gives_the_same_next_step() {
    let (_, history) = drive(&quest(1e6), |probe| cheap(probe, 700.0));
    for len in 0..history.len() {
        match (next(&quest(1e6), &history[..len]), next(&quest(1e6), &history[..len])) {
            (Move::Try(a), Move::Try(b)) => {
                assert_eq!(a, b);
                assert_eq!(a, history[len].probe, "a restart requests the same run again");
            }
            _ => panic!("the search had not ended here"),
        }
    }
}

#[test]
fn the_search_ends_within_its_range_with_any_results() {
    for seed in 0..400u64 {
        let mut random = SplitMix64::new(seed);
        let to = 10f64.powf((random.next_u64() % 7) as f64 - 1.0);
        let users = seed % 3 == 0;
        let from = (seed % 5 == 0).then_some(to * 0.3);
        let step = [None, None, Some(Step::Times(1.1)), Some(Step::Plus(0.5))][seed as usize % 4];
        let quest = CapacitySearch { users, from, step, seed, ..quest(to) };
        let (answer, history) = drive(&quest, |probe| {
            let mut trial = figure(probe, random.exponential() * 250e6, 250e6);
            match random.next_u64() % 12 {
                0 => trial.error_ratio = 0.9,
                1 => trial.requests = 0,
                2 => trial.unstable = true,
                3 => trial.judged[0].observed = Some(f64::NAN),
                4 if seed % 2 == 0 => trial.limited_by = limit_of(&cautioned(Kind::LateSends)),
                5 if seed % 7 == 0 => trial.complete = false,
                6 => trial.judged.clear(),
                _ => {}
            }
            (trial.measured_s, trial.iterations_per_s) =
                [(10.0, 1.0), (0.0, 0.0), (f64::INFINITY, f64::NAN)][(random.next_u64() % 3) as usize];
            trial
        });
        assert!(history.len() <= if step.is_some() { MOST_STEPS } else { MOST_TRIALS }, "{}", history.len());
        let (top, least) =
            (if users { to.floor().max(1.0) } else { to }, if users { 1.0 } else { to.min(0.1) });
        for trial in history.iter().filter(|t| t.probe.purpose != Purpose::Baseline) {
            let level = trial.probe.level;
            assert!(level >= least && level <= top, "{level} is not in {least}..{top}");
            assert!(!users || level.fract() == 0.0, "{level} users");
        }
        assert!(answer.capacity.is_some() || answer.refusal.is_some(), "{answer:?}");
        assert!(!answer.sentence.is_empty());
    }
}

#[test]
fn meaningless_numbers_cause_no_panic_and_no_endless_loop() {
    for odd in [f64::NAN, 0.0, -5.0, f64::INFINITY, 1e308, 1e-300] {
        for step in [None, Some(Step::Times(odd)), Some(Step::Plus(odd))] {
            let quest = CapacitySearch {
                to: odd,
                from: Some(odd),
                precision: odd,
                step,
                confirm: u32::MAX,
                ..quest(odd)
            };
            let quest = CapacitySearch {
                longest_limit_ns: Some(u64::MAX),
                step_duration_ns: Some(u64::MAX),
                ..quest
            };
            let (answer, _) = drive(&quest, |probe| cheap(probe, 1_000.0));
            assert!(!answer.sentence.is_empty());
        }
    }
}

#[test]
fn the_result_of_monotone_runs_lies_between_met_and_missed() {
    for cliff in [3.3, 47.0, 480.0, 9_300.0, 77_000.0] {
        let (answer, history) =
            drive(&quest(1e6), |probe| figure(probe, if probe.level < cliff { 5e6 } else { 900e6 }, 250e6));
        let met = history.iter().filter(|t| t.met()).map(|t| t.probe.level).fold(0.0, f64::max);
        let missed = history.iter().filter(|t| !t.met()).map(|t| t.probe.level).fold(f64::MAX, f64::min);
        let found = capacity(&answer);
        assert!(met <= cliff && missed >= cliff && missed / met < 1.1);
        assert!((found / cliff - 1.0).abs() < 0.02, "{found} for {cliff}");
        let interval = answer.capacity.expect("found").interval;
        assert!(interval[0] <= cliff && cliff <= interval[1], "{interval:?} for {cliff}");
    }
}

fn cautioned(kind: Kind) -> plimsoll_analysis::Digest {
    let mut digest = digest(100.0, vec![Block::default()], 0);
    digest.cautions.push(kind.example().raise());
    digest
}

#[test]
fn a_limit_of_the_generator_is_never_reported_as_one_of_the_service() {
    let (answer, history) = drive(&quest(1e6), |probe| {
        let mut trial = cheap(probe, 50_000.0);
        // The load generator sends at most 2,000/s, and then the times look bad.
        if probe.level > 2_000.0 {
            trial = figure(probe, 400e6, 250e6);
            trial.limited_by = limit_of(&cautioned(Kind::OfferedRateMissed));
        }
        trial
    });
    let refusal = answer.refusal.expect("the capacity of the service is unknown");
    assert_eq!(refusal.kind.code(), "generator_limited");
    assert!(refusal.sentence.contains("1,250 of 20,000 arrivals"), "{}", refusal.sentence);
    let found = answer.capacity.expect("the highest level that passed is reported");
    assert!(found.is_lower_bound && found.level() <= 2_000.0 && found.level() > 1_000.0, "{found:?}");
    assert!(history.len() < 25);
}

/// If another program takes the CPU for a moment, the level runs again. After three failures, it is not a moment.
#[test]
fn a_passing_disturbance_spoils_a_step_and_not_the_search() {
    let late = |times: u32| {
        let mut left = times;
        drive(&quest(1e6), |probe| {
            let mut trial = cheap(probe, 1_000.0);
            if !trial.met() && left > 0 {
                left -= 1;
                (trial.judged[0].standing, trial.judged[0].best) = (Standing::Undecided, Some(1e6));
                trial.limited_by = limit_of(&cautioned(Kind::LateSends));
            }
            trial
        })
    };
    let (answer, history) = late(2);
    assert!(answer.refusal.is_none(), "{:?}", answer.refusal);
    let spoiled: Vec<f64> =
        history.iter().filter(|t| t.limited_by.is_some()).map(|t| t.probe.level).collect();
    assert_eq!(spoiled.len(), 2);
    let after = history.iter().position(|t| t.limited_by.is_some()).expect("one is spoiled") + 1;
    assert!(history[after].probe.level == spoiled[0] && history[after].probe.rest_ns > 0);
    assert_eq!(late(u32::MAX).0.refusal.expect("it never passes").kind.code(), "generator_limited");
}

/// A miss that schedule lag cannot explain counts, despite any caution about the step.
#[test]
fn a_late_step_that_is_certainly_missed_counts() {
    let (answer, history) = drive(&quest(1e6), |probe| {
        let mut trial = cheap(probe, 1_000.0);
        trial.limited_by = limit_of(&cautioned(Kind::LateSends));
        trial
    });
    assert!(answer.refusal.is_none(), "{:?}", answer.refusal);
    assert!((capacity(&answer) / 981.6 - 1.0).abs() < 0.03, "{} {}", answer.sentence, history.len());
    assert!(answer.steps.iter().all(|step| step.limited_by.is_none()));
}

/// Times are measured from the intended start: late sends only increase them, so a threshold that was met stays met.
#[test]
fn a_late_step_that_met_its_thresholds_counts() {
    let (answer, _) = drive(&quest(1e6), |probe| {
        let mut trial = cheap(probe, 1_000.0);
        if trial.met() {
            trial.limited_by = limit_of(&cautioned(Kind::LateSends));
        }
        trial
    });
    assert!(answer.refusal.is_none() && answer.capacity.is_some(), "{:?}", answer.refusal);
}

#[test]
fn only_limits_of_the_generator_or_the_link_count() {
    for kind in
        [Kind::ClientFdLimit, Kind::ClientPortsExhausted, Kind::LateSends, Kind::ConnectionLimitReached]
    {
        assert_eq!(limit_of(&cautioned(kind)).expect("a limit").kind, kind);
    }
    for kind in
        [Kind::ClientCpuSaturated, Kind::TooFewSamples, Kind::ShortRun, Kind::SameMachine, Kind::Retransmits]
    {
        assert_eq!(limit_of(&cautioned(kind)), None);
    }
    let mut both = cautioned(Kind::ClientCpuSaturated);
    both.cautions.push(Kind::ClientCpuWait.example().raise());
    assert_eq!(limit_of(&both).expect("a worker that had no CPU").kind.code(), "client_cpu_saturated");
}

#[test]
fn a_full_connection_limit_with_a_slow_service_is_the_services_fault() {
    let capped = |slow: bool| {
        drive(&quest(1e6), |probe| {
            let mut trial = cheap(probe, 1_000.0);
            trial.service_p50_ns = Some(1_000_000);
            if !trial.met() {
                trial.limited_by = limit_of(&cautioned(Kind::ConnectionLimitReached));
                trial.service_p50_ns = Some(if slow { 80_000_000 } else { 1_100_000 });
            }
            trial
        })
        .0
    };
    let own = capped(true);
    assert!(own.refusal.is_none(), "any service that is too slow fills the connections");
    // A step that the search counted as missed is not reported as excluded.
    assert!(
        own.steps.iter().any(|step| !step.is_met) && own.steps.iter().all(|step| step.limited_by.is_none())
    );
    assert_eq!(
        capped(false).refusal.expect("quick answers, full connections").kind.code(),
        "generator_limited"
    );
}

#[test]
fn a_level_that_broke_the_service_is_neither_repeated_nor_exceeded() {
    let (answer, history) = drive(&quest(1e6), |probe| {
        let mut trial = cheap(probe, 1e9);
        if probe.level > 3_000.0 {
            trial = figure(probe, 900e6, 250e6);
            trial.error_ratio = 0.8;
        }
        trial
    });
    let mut lowest = f64::MAX;
    for trial in &history {
        assert!(trial.probe.level < lowest, "{} after {lowest}", trial.probe.level);
        if trial.is_runaway() {
            lowest = trial.probe.level;
        }
    }
    assert!(capacity(&answer) > 2_500.0 && capacity(&answer) <= 3_100.0, "{:?}", answer.sentence);
    let next = history.iter().skip_while(|t| !t.is_runaway()).nth(1).expect("the search continues below");
    assert!(next.probe.rest_ns >= 5_000_000_000, "the service gets time to recover");
}

#[test]
fn a_service_that_breaks_just_below_its_limit_is_not_pushed_over() {
    let (_, history) = drive(&quest(1e6), |probe| {
        let mut trial = figure(probe, 250e6 * (probe.level / 3_050.0).powi(2), 250e6);
        trial.error_ratio = if probe.level > 3_000.0 { 0.8 } else { 0.0 };
        trial
    });
    let mut broken = f64::MAX;
    for trial in &history {
        assert!(trial.probe.level < broken, "{} after {broken}", trial.probe.level);
        if trial.is_runaway() {
            broken = trial.probe.level;
        }
    }
    assert!(broken < f64::MAX, "the search reached it");
}

#[test]
fn fast_errors_are_not_capacity() {
    let (answer, history) = drive(&quest(1e6), |probe| {
        let mut trial = figure(probe, 5e6, 250e6);
        trial.error_ratio = if probe.level > 3_000.0 { 0.8 } else { 0.0 };
        trial
    });
    assert!((capacity(&answer) / 3_000.0 - 1.0).abs() < 0.03, "{}", answer.sentence);
    let broken: Vec<f64> = history.iter().filter(|t| t.is_runaway()).map(|t| t.probe.level).collect();
    assert!(broken.windows(2).all(|pair| pair[1] < pair[0]), "{broken:?}");
}

#[test]
fn a_fluke_at_a_low_level_is_outvoted() {
    let mut flukes = 0;
    let (answer, _) = drive(&quest(1e6), |probe| {
        if flukes == 0 && probe.level > 400.0 {
            flukes = 1;
            return figure(probe, 700e6, 250e6);
        }
        cheap(probe, 10_000.0)
    });
    assert!((capacity(&answer) / 9_981.6 - 1.0).abs() < 0.03, "{}", answer.sentence);
}

#[test]
fn users_are_whole_and_the_answer_is_exact() {
    for limit in [1u32, 2, 7, 40, 333] {
        let quest = CapacitySearch { users: true, ..quest(1_000.0) };
        let (answer, history) = drive(&quest, |probe| {
            figure(probe, if probe.level <= f64::from(limit) { 100e6 } else { 400e6 }, 250e6)
        });
        let found = answer.capacity.expect("found");
        assert!(
            (found.users.expect("users") - f64::from(limit)).abs() <= (0.02 * f64::from(limit)).max(0.0),
            "{found:?} {limit}"
        );
        assert!(history.iter().all(|t| t.probe.level.fract() == 0.0));
        assert_eq!(found.rate_per_s, None);
    }
}

#[test]
fn reaching_the_upper_end_is_reported_as_a_lower_bound() {
    let (answer, _) = drive(&quest(200.0), |probe| cheap(probe, 1e6));
    let found = answer.capacity.expect("met");
    assert!(found.is_lower_bound && found.level() == 200.0);
    assert!(answer.sentence.starts_with("capacity is at least 200 arrivals/s"), "{}", answer.sentence);
}

#[test]
fn without_a_level_that_passes_there_is_no_capacity() {
    let (answer, history) = drive(&quest(1e4), |probe| figure(probe, 900e6, 250e6));
    assert_eq!(answer.refusal.expect("refused").kind.code(), "nothing_met");
    assert!(answer.capacity.is_none() && history.len() < 20);
}

/// Returns the lowest level of a search from 1,000/s whose unloaded run has this p99 in ns, and whose levels all miss.
fn lowest_tried(unloaded_ns: f64) -> f64 {
    let quest = CapacitySearch { floor_ns: None, from: Some(1_000.0), ..quest(1e4) };
    let (answer, history) = drive(&quest, |probe| {
        figure(probe, if probe.purpose == Purpose::Baseline { unloaded_ns } else { 900e6 }, 250e6)
    });
    assert_eq!(answer.refusal.expect("refused").kind.code(), "nothing_met");
    let levels = history.iter().filter(|t| t.probe.purpose != Purpose::Baseline).map(|t| t.probe.level);
    levels.fold(f64::INFINITY, f64::min)
}

#[test]
fn a_threshold_that_even_the_unloaded_service_misses_ends_the_search_two_steps_down() {
    assert_eq!(lowest_tried(900e6), 62.5);
    assert!(lowest_tried(100e6) < 1.0, "the unloaded service meets it");
}

#[test]
fn the_maximum_time_is_respected() {
    let quest = CapacitySearch { max_time_ns: Some(40_000_000_000), ..quest(1e6) };
    let (answer, history) = drive(&quest, |probe| cheap(probe, 3_000.0));
    let spent: u64 = history.iter().map(|t| t.probe.total_ns()).sum();
    assert!(spent <= 40_000_000_000);
    assert_eq!(answer.refusal.expect("it is reported").kind.code(), "max_time_reached");
}

#[test]
fn a_growing_backlog_is_a_miss_even_if_the_times_are_still_short() {
    let probe = Probe {
        level: 1_020.0,
        purpose: Purpose::Bisect,
        rest_ns: 0,
        warmup_ns: 0,
        length_ns: 10_000_000_000,
        turn: 3,
    };
    let run = |served: u64| {
        let block = |at: u64| {
            let mut block =
                Block { length_ns: 1_000_000_000, offered: 1_020, requests: served, ..Block::default() };
            block.response.record_n(5_000_000, served);
            block.in_flight = ((1_020 - served) * (at + 1)) as f64 + 5.0;
            block
        };
        trial(probe, (0..10).map(block).collect(), Limits { p99_s: Some(5.0), errors: None }, 0)
    };
    assert!(run(1_018).met(), "two in a thousand are in flight");
    let overloaded = run(980);
    assert!(overloaded.judged[0].is_met && overloaded.unstable && !overloaded.met());
}

#[test]
fn shapes_are_distinguished() {
    let shape = |achieved: &dyn Fn(f64) -> f64, p99: &dyn Fn(f64) -> f64| {
        drive(&quest(1e5), |probe| {
            let mut trial = figure(probe, p99(probe.level), 250e6);
            trial.blocks.iter_mut().for_each(|b| b.response.record_n(p99(probe.level) as u64, 100));
            trial.iterations_per_s = achieved(probe.level);
            trial
        })
        .0
        .shape
    };
    let straight = |x: f64| x;
    assert_eq!(shape(&straight, &|x| 20e6 * (1.0 + x / 90.0)), Shape::Gradual);
    assert_eq!(shape(&straight, &|x| if x < 777.0 { 9e6 } else { 900e6 }), Shape::Cliff);
    assert_eq!(
        shape(&|x| if x < 800.0 { x } else { 400.0 }, &|x| 20e6 * (1.0 + x / 90.0)),
        Shape::Retrograde
    );
    assert_eq!(shape(&straight, &|_| 9e6), Shape::Flat);
}

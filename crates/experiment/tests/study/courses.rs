//! The timeline of one long run.

use crate::study::fixture::{MS, Second, codes, found, noise, run, studied};
use plimsoll_analysis::digest::{Digest, Level};
use plimsoll_experiment::study::{StudyAsked, steady_from, study, without_beginning};
use plimsoll_stats::random::SplitMix64;

const CLOSED: Level = Level::Users(20.0);

fn course(level: Level, seconds: usize, seed: u64, mean_ms: impl Fn(usize) -> f64) -> Digest {
    run(&[], level, seconds, seed, |at| {
        let mean_ns = mean_ms(at) * MS;
        let open = matches!(level, Level::Rate(_));
        let rate = if open { 500.0 } else { 20.0 / mean_ns * 1e9 };
        Second {
            rate,
            mean_ns,
            in_flight: if open { rate * mean_ns / 1e9 } else { 20.0 },
            bytes_per_answer: 300.0,
        }
    })
}

#[test]
fn a_healthy_run_has_no_findings() {
    for seed in 0..20 {
        for level in [CLOSED, Level::Rate(500.0)] {
            let study = studied(&[course(level, 300, seed, |_| 10.0)]);
            assert!(
                study.findings.is_empty() && study.stability.len() == 1,
                "seed {seed}: {:?}",
                study.findings
            );
            assert!(
                study.stability[0].steady_state.is_reached,
                "seed {seed}: {:?}",
                study.stability[0].steady_state
            );
        }
    }
}

#[test]
fn slow_noise_is_not_a_finding() {
    // Each second is similar to the next, as in real runs: 5% of slow noise.
    let alarms: usize = (0..20)
        .map(|seed| {
            let mut random = SplitMix64::new(900 + seed);
            let mut state = 0.0;
            let wave: Vec<f64> = (0..600)
                .map(|_| {
                    state = 0.9 * state + 0.436 * noise(&mut random);
                    10.0 * (1.0 + 0.05 * state)
                })
                .collect();
            studied(&[course(CLOSED, 600, seed, |at| wave[at])]).findings.len()
        })
        .sum();
    assert!(alarms <= 1, "{alarms}");
}

#[test]
fn a_change_of_level_is_found_at_its_start() {
    let study = studied(&[course(CLOSED, 300, 1, |at| if at < 180 { 10.0 } else { 15.0 })]);
    let shift = study.stability[0].shifts.iter().find(|s| s.figure == "p50").expect("50% more");
    assert!(
        (shift.at_s - 180.0).abs() <= 3.0 && (shift.after / shift.before - 1.5).abs() < 0.05,
        "{shift:?}"
    );
    assert!(found(&study, "level_changed").is_some() && found(&study, "drifts").is_none());
    assert!(!study.stability[0].steady_state.is_reached);
}

#[test]
fn a_leak_is_a_slope_and_not_a_step() {
    // 50% slower over an hour.
    let study = studied(&[course(Level::Rate(500.0), 3_600, 1, |at| 10.0 + 5.0 * at as f64 / 3_600.0)]);
    let drift = study.stability[0].drifts.iter().find(|d| d.figure == "p50").expect("a slope");
    // A second has forty values: its median is within 1.3% of the mean.
    assert!(drift.low_per_hour <= 5.07 * MS && 4.93 * MS <= drift.high_per_hour, "{drift:?}");
    assert!((drift.per_hour / MS - 5.0).abs() < 0.1);
    assert_eq!(codes(&study), ["drifts"]);
}

#[test]
fn a_rate_above_the_capacity_falls_behind_and_leaks_nothing() {
    let mut digest = course(Level::Rate(500.0), 120, 1, |at| 10.0 + 20.0 * at as f64);
    digest.iterations_per_s = 0.9 * digest.rate_per_s;
    assert_eq!(codes(&studied(&[digest])), ["is_falling_behind"]);
}

#[test]
fn recurring_pauses_are_reported_with_their_interval() {
    let pause = |digest: &mut Digest, at: usize| digest.blocks[at].response.record_n((400.0 * MS) as u64, 60);
    let mut gc = course(CLOSED, 300, 1, |_| 10.0);
    (20..300).step_by(40).for_each(|at| pause(&mut gc, at));
    let study = studied(&[gc]);
    let periodic = study.stability[0].periodic.expect("every 40 s");
    assert!((periodic.every_s - 40.0).abs() < 0.5 && periodic.spikes == 7, "{periodic:?}");
    assert_eq!(periodic.recovered_after_s, Some(1.0));
    assert!(found(&study, "periodic_spikes").is_some() && found(&study, "level_changed").is_none());
    let mut chance = course(CLOSED, 300, 1, |_| 10.0);
    [11, 30, 150, 171, 290].iter().for_each(|at| pause(&mut chance, *at));
    assert_eq!(studied(&[chance]).stability[0].periodic, None);
}

#[test]
fn a_ramp_of_the_plan_is_not_a_finding() {
    let ramp = run(&[], Level::Users(100.0), 200, 1, |at| {
        let users = 1.0 + at as f64 / 2.0;
        Second { rate: 100.0, mean_ns: users / 100.0 * 1e9, in_flight: users, bytes_per_answer: 300.0 }
    });
    let study = studied(&[ramp]);
    assert!(study.stability[0].has_load_changes && study.findings.is_empty(), "{:?}", study.findings);
}

#[test]
fn the_beginning_is_trimmed_and_the_values_are_recomputed() {
    let warm = |at: usize| 10.0 + 30.0 * (-(at as f64) / 6.0).exp();
    let digest = course(CLOSED, 200, 1, warm);
    let steady = steady_from(&digest);
    assert!(steady.is_reached && (8..=110).contains(&(steady.from_ns / 1_000_000_000)), "{steady:?}");
    let before = digest.rate_per_s;
    let cut = without_beginning(digest.clone());
    assert!(cut.blocks[0].from_ns == steady.from_ns && cut.rate_per_s > before);
    assert!((cut.rate_per_s - 2_000.0).abs() < 25.0, "{}", cut.rate_per_s);
    assert!((cut.response_time.mean_ns.expect("times") / MS - 10.0).abs() < 0.15);
    assert_eq!(cut.requests, cut.blocks.iter().map(|b| b.requests).sum::<u64>());
    assert_eq!(cut.measured_s as usize, cut.blocks.len());
    let asked = StudyAsked { trim_to_steady_state: true, ..StudyAsked::default() };
    assert_eq!(study(&[digest], &asked).table[0].rate_per_s.value, Some(cut.rate_per_s));
}

#[test]
fn an_unsteady_run_is_unchanged_and_reported() {
    let rising = course(CLOSED, 200, 1, |at| 10.0 + 0.1 * at as f64);
    let steady = steady_from(&rising);
    assert!(!steady.is_reached && steady.sentence.starts_with("steady state not reached"), "{steady:?}");
    assert_eq!(without_beginning(rising.clone()).blocks.len(), rising.blocks.len());
    assert!(steady_from(&course(CLOSED, 10, 1, |_| 10.0)).sentence.contains("too few"));
}

#[test]
fn an_hour_and_sixty_runs_of_a_minute_are_studied() {
    // Realistic sizes. The point is that the test ends in the time of the others.
    let hour = studied(&[course(CLOSED, 3_600, 1, |_| 10.0)]);
    assert!(hour.findings.is_empty(), "{:?}", hour.findings);
    let sweep: Vec<Digest> = (1..=20)
        .flat_map(|step| (0..3).map(move |repeat| (f64::from(step) * 10.0, u64::from(repeat as u32) + 1)))
        .map(|(users, seed)| {
            let second =
                Second { rate: 100.0 * users, mean_ns: 10.0 * MS, in_flight: users, bytes_per_answer: 300.0 };
            run(&[("users", &users.to_string())], Level::Users(users), 60, seed, |_| second)
        })
        .collect();
    let study = studied(&sweep);
    assert!(
        study.table.len() == 20 && study.stability.len() == 60 && study.findings.is_empty(),
        "{:?}",
        study.findings
    );
}

#[test]
fn few_responses_per_second_have_noisy_percentiles_and_no_findings() {
    // Exponential times, 40 a second: each second's p99 is its maximum.
    let alarms: Vec<_> = (0..20)
        .flat_map(|seed| {
            let mut random = SplitMix64::new(7_000 + seed);
            let mut digest = course(CLOSED, 600, seed, |_| 10.0);
            for block in &mut digest.blocks {
                block.response = plimsoll_stats::Hist::on_demand();
                (0..40).for_each(|_| block.response.record((10.0 * MS * random.exponential()) as u64));
            }
            studied(&[digest]).findings
        })
        .collect();
    assert!(alarms.len() <= 1, "{alarms:?}");
}

#[test]
fn runs_without_a_steady_state_are_counted_if_trimming_is_requested() {
    let asked = StudyAsked { trim_to_steady_state: true, ..StudyAsked::default() };
    let runs = [course(CLOSED, 50, 1, |at| 10.0 + at as f64), course(CLOSED, 50, 2, |_| 10.0)];
    let study = study(&runs, &asked);
    assert!(found(&study, "unsteady_start").expect("one rises").sentence.starts_with("1 of 2 runs"));
    assert!(found(&studied(&runs), "unsteady_start").is_none());
}

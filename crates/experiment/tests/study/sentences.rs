//! The result of a sweep in one sentence.

use crate::study::fixture::{MS, Second, run, studied, sweep};
use plimsoll_analysis::digest::{Digest, Level};
use plimsoll_analysis::summary::{Standing, ThresholdResult};
use plimsoll_experiment::study::{Basis, UslFit};
use plimsoll_plan::threshold::FigureUnit;

const LEVELS: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];

fn threshold(text: &str, met: bool) -> ThresholdResult {
    ThresholdResult {
        text: text.into(),
        subject: "response_time p99".into(),
        observed: Some(10.0 * MS),
        is_lower_bound: false,
        limit: 20.0 * MS,
        unit: FigureUnit::Nanoseconds,
        is_met: met,
        standing: Standing::of(met),
        best: Some(10.0 * MS),
        worst: Some(10.0 * MS),
        doubts: Vec::new(),
        margin: None,
        samples: 1_000,
        has_too_few_samples: false,
        window: None,
        is_default: false,
    }
}

fn capped(n: f64) -> f64 {
    (100.0 * n).min(400.0)
}

#[test]
fn it_names_the_highest_rate_the_saturation_and_the_first_missed_threshold() {
    let mut runs = sweep(&LEVELS, capped);
    for digest in &mut runs {
        let is_met = digest.level.value() < 8.0;
        digest.thresholds =
            vec![threshold("response_time p99 < 20ms", is_met), threshold("error_rate == 0%", true)];
        if digest.level == Level::Users(16.0) {
            (digest.errors, digest.error_ratio) = (12, 0.02);
        }
    }
    let study = studied(&runs);
    for part in [
        // The knee is where the curve becomes flat, so one clause covers both.
        "highest throughput 4",
        "saturated from 4 users up",
        "from 8 users up",
        "requests fail at 16 users",
    ] {
        assert!(study.sentence.contains(part), "{part}: {}", study.sentence);
    }
    // The problem at the lowest level comes first, with that level.
    assert!(
        study
            .sentence
            .contains("first to fail: threshold response_time p99 < 20ms is missed from 8 users up"),
        "{}",
        study.sentence
    );
    assert!(!study.sentence.contains("no errors"), "{}", study.sentence);
    // A single missed combination in the middle is named; the sentence claims nothing about the levels above it.
    for digest in &mut runs {
        digest.thresholds = vec![threshold("response_time p99 < 20ms", digest.level != Level::Users(2.0))];
        (digest.errors, digest.error_ratio) = (0, 0.0);
    }
    let study = studied(&runs);
    assert!(study.sentence.contains("is missed at 2 users; no errors"), "{}", study.sentence);
}

#[test]
fn a_sweep_that_passes_and_rises_to_its_end_is_reported_as_such() {
    let mut runs = sweep(&LEVELS, |n| 100.0 * n);
    runs.iter_mut().for_each(|d| d.thresholds = vec![threshold("response_time p99 < 20ms", true)]);
    let said = studied(&runs).sentence;
    assert!(said.contains("at 16 users and still rising"), "{said}");
    assert!(said.contains("threshold response_time p99 < 20ms is met everywhere; no errors"), "{said}");
    assert!(!said.contains("knee") && !said.contains("flat"), "{said}");
}

#[test]
fn trivial_thresholds_are_not_mentioned_and_a_single_miss_is() {
    let mut runs = sweep(&LEVELS, |n| 100.0 * n);
    for digest in &mut runs {
        digest.thresholds = vec![threshold("error_rate == 0%", true)];
        digest.thresholds.iter_mut().for_each(|judged| judged.is_default = true);
    }
    let said = studied(&runs).sentence;
    assert!(said.contains("no errors") && !said.contains("threshold"), "{said}");
    let mut twice = sweep(&LEVELS, |n| 100.0 * n);
    twice.extend(sweep(&LEVELS, |n| 100.0 * n));
    twice.iter_mut().for_each(|d| d.thresholds = vec![threshold("response_time p99 < 20ms", true)]);
    if let Some(last) = twice.last_mut() {
        last.thresholds = vec![threshold("response_time p99 < 20ms", false)];
    }
    let said = studied(&twice).sentence;
    assert!(said.contains("is missed in 1 of 2 runs at 16 users") && !said.contains("everywhere"), "{said}");
}

#[test]
fn a_combination_outside_the_only_curve_is_mentioned() {
    let mut runs: Vec<Digest> = [1.0, 2.0, 4.0].map(|n| named("go", n, 100.0 * n)).into();
    runs.push(named("node", 16.0, 900.0));
    runs.iter_mut().for_each(|d| d.thresholds = vec![threshold("p50 < 5ms", d.level != Level::Users(16.0))]);
    let said = studied(&runs).sentence;
    assert!(said.contains("highest throughput 8") && said.contains("variant node"), "{said}");
    assert!(said.contains("threshold p50 < 5ms is missed in variant node, users 16"), "{said}");
}

fn named(variant: &str, users: f64, rate: f64) -> Digest {
    let text = users.to_string();
    run(&[("variant", variant), ("users", &text)], Level::Users(users), 20, 1, |_| Second {
        rate,
        mean_ns: users / rate * 1e9,
        in_flight: users,
        bytes_per_answer: 300.0,
    })
}

#[test]
fn several_curves_are_all_named_or_only_the_best_and_the_worst() {
    let of = |names: &[(&str, f64)]| {
        let runs: Vec<Digest> = names
            .iter()
            .flat_map(|(name, top)| LEVELS.map(|n| named(name, n, (100.0 * n).min(*top))))
            .collect();
        studied(&runs).sentence
    };
    let two = of(&[("go", 800.0), ("node", 400.0)]);
    assert!(
        two.contains("variant go: highest throughput 797/s at")
            && two.contains("variant node: highest throughput 398/s, saturated from 4 users up"),
        "{two}"
    );
    let four = of(&[("go", 800.0), ("node", 400.0), ("rust", 1_600.0), ("php", 200.0)]);
    assert!(
        four.contains("4 curves") && four.contains("variant rust") && four.contains("variant php"),
        "{four}"
    );
    assert!(!four.contains("variant go"), "{four}");
}

#[test]
fn combinations_without_a_number_are_ranked() {
    let runs = [named("go", 4.0, 400.0), named("node", 4.0, 200.0)].map(|mut digest| {
        digest.cell.as_mut().expect("a cell").settings.pop();
        digest
    });
    let said = studied(&runs).sentence;
    assert!(said.starts_with("highest throughput") && said.contains("(variant go), lowest"), "{said}");
}

fn short(users: f64, seed: u64) -> Digest {
    let second = Second { rate: 100.0, mean_ns: 10.0 * MS, in_flight: users, bytes_per_answer: 300.0 };
    run(&[("users", &users.to_string())], Level::Users(users), 3, seed, |_| second)
}

#[test]
fn two_short_repeats_have_wide_intervals_and_one_has_none() {
    let study = studied(&[short(4.0, 1), short(4.0, 2)]);
    let (row, rate) = (&study.table[0], study.table[0].rate_per_s);
    assert_eq!(row.basis, Basis::Runs);
    let half = rate.half_width_ratio().expect("two runs");
    // One degree of freedom: the interval is at least one request wide.
    assert!(half > 12.0 / (12.0f64.sqrt() * row.requests as f64) && half < 2.0, "{half}");
    // Runs that agree to the last request do not prove exactness.
    let twins = studied(&[short(4.0, 1), short(4.0, 1)]);
    assert!(twins.table[0].rate_per_s.half_width_ratio().expect("two runs") > 1e-3);
    assert!(twins.table[0].p50_ns.half_width_ratio().expect("two runs") > 1e-2);
    let alone = studied(&[short(4.0, 1)]);
    assert_eq!((alone.table[0].basis, alone.table[0].rate_per_s.low), (Basis::None, None));
}

#[test]
fn the_band_of_a_law_contains_it_and_is_narrowest_near_the_measurements() {
    let levels = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
    let law = |n: f64| 500.0 * n / (1.0 + 0.03 * (n - 1.0) + 2e-4 * n * (n - 1.0));
    let study = studied(&sweep(&levels, law));
    let UslFit::Fit { line, .. } = &study.curves[0].usl else { panic!("{:?}", study.curves[0].usl) };
    assert!(line.len() > 30 && line[0].users == 1.0 && (line[line.len() - 1].users - 256.0).abs() < 1e-6);
    for point in line {
        assert!(point.low <= point.rate_per_s && point.rate_per_s <= point.high, "{point:?}");
        let truth = law(point.users);
        assert!(point.low <= truth * 1.001 && truth * 0.999 <= point.high, "{truth} {point:?}");
    }
    assert_eq!(study.curves[0].retrograde_from, Some(64.0));
}

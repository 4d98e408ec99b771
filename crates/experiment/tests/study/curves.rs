//! The law of a curve, its knee, and where it is flat.

use crate::study::fixture::{MS, Second, codes, found, run, studied, sweep};
use plimsoll_analysis::digest::Level;
use plimsoll_experiment::study::UslFit;

const LEVELS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

fn usl(lambda: f64, sigma: f64, kappa: f64) -> impl Fn(f64) -> f64 {
    move |n| lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

#[test]
fn a_sweep_over_the_scalability_law_finds_its_parameters_and_its_summit() {
    let study = studied(&sweep(&LEVELS, usl(500.0, 0.03, 2e-4)));
    let UslFit::Fit { sigma_band, kappa_band, peak, .. } = &study.curves[0].usl else {
        panic!("{:?}", study.curves[0].usl)
    };
    assert!(sigma_band[0] <= 0.03 && 0.03 <= sigma_band[1], "{sigma_band:?}");
    assert!(kappa_band[0] <= 2e-4 && 2e-4 <= kappa_band[1], "{kappa_band:?}");
    let peak = peak.expect("kappa is above 0");
    let truth = (0.97f64 / 2e-4).sqrt();
    assert!(peak.users_band[0] <= truth && truth <= peak.users_band[1] && !peak.is_extrapolated, "{peak:?}");
    assert!(found(&study, "retrograde").is_some(), "{:?}", codes(&study));
    assert!(study.curves[0].points.iter().all(|p| p.usl_rate_per_s.is_some()));
}

#[test]
fn contention_alone_has_no_summit() {
    let study = studied(&sweep(&LEVELS, usl(500.0, 0.05, 0.0)));
    let UslFit::Fit { peak, .. } = &study.curves[0].usl else { panic!("{:?}", study.curves[0].usl) };
    assert!(peak.is_none() && found(&study, "retrograde").is_none());
}

#[test]
fn few_levels_are_no_law() {
    let study = studied(&sweep(&LEVELS[..5], usl(500.0, 0.03, 2e-4)));
    assert!(matches!(&study.curves[0].usl, UslFit::Unfit { reason: why } if why.contains("5 levels")));
}

/// Mean value analysis (Reiser & Lavenberg 1980) of one queue of `demand_s` and users that think `think_s`: rates at
/// 1, 2, ... users. Exact for exponential times.
fn mva(demand_s: f64, think_s: f64, most: usize) -> Vec<f64> {
    let (mut queue, mut rates) = (0.0, Vec::new());
    for n in 1..=most {
        let response = demand_s * (1.0 + queue);
        let rate = n as f64 / (response + think_s);
        queue = rate * response;
        rates.push(rate);
    }
    rates
}

#[test]
fn the_knee_of_a_closed_queue_is_where_the_asymptotes_cross() {
    // N* = (D + Z) / D (Denning & Buzen 1978).
    for (demand_s, think_s) in [(0.010, 0.090), (0.002, 0.060), (0.005, 0.2)] {
        let rates = mva(demand_s, think_s, 512);
        let study = studied(&sweep(&[LEVELS.as_slice(), &[512.0]].concat(), |n| rates[n as usize - 1]));
        let knee = study.curves[0].knee.level.expect("the rate has stopped rising");
        let truth = (demand_s + think_s) / demand_s;
        assert!((knee / truth - 1.0).abs() < 0.05, "{knee} for {truth}");
    }
}

#[test]
fn variables_of_scripts_that_name_the_load_are_the_load() {
    for (name, is_load) in [("USERS", true), ("VUS", true), ("Threads", true), ("SIZE", false)] {
        let runs: Vec<_> = sweep(&LEVELS[..6], |n| 100.0 * n)
            .into_iter()
            .map(|mut digest| {
                let cell = digest.cell.as_mut().expect("a cell");
                cell.settings[0].parameter = name.into();
                digest
            })
            .collect();
        let sentence = studied(&runs).curves[0].knee.sentence.clone();
        assert_eq!(sentence.starts_with("throughput still rises"), is_load, "{name}: {sentence}");
    }
}

#[test]
fn no_knee_is_claimed_while_the_rate_rises() {
    let study = studied(&sweep(&LEVELS[..6], |n| 100.0 * n));
    assert_eq!(study.curves[0].knee.level, None, "{:?}", study.curves[0].knee);
    assert!(study.curves[0].saturation.is_none());
}

#[test]
fn times_of_an_open_queue_turn_upwards_where_the_formula_says() {
    // M/M/1 with 1,000/s: R = 1 / (mu - rate). Kneedle's point on a range is where the slope equals the chord's:
    // (mu - x)^2 = (mu - a) (mu - b).
    let (mu, rates): (f64, Vec<f64>) = (1_000.0, (1..=19).map(|k| 50.0 * f64::from(k)).collect());
    let runs: Vec<_> = rates
        .iter()
        .zip(1..)
        .map(|(rate, seed)| {
            let r = 1.0 / (mu - rate);
            let second =
                Second { rate: *rate, mean_ns: r * 1e9, in_flight: rate * r, bytes_per_answer: 300.0 };
            run(&[("rate", &rate.to_string())], Level::Rate(*rate), 20, seed, |_| second)
        })
        .collect();
    let study = studied(&runs);
    let knee = study.curves[0].knee.level.expect("the curve is bent");
    let truth = mu - ((mu - 50.0) * (mu - 950.0f64)).sqrt();
    assert!((knee - truth).abs() <= 51.0, "{knee} for {truth}");
    assert!(study.curves[0].knee.sentence.contains("between"));
    // A straight line has none.
    let straight: Vec<_> = rates
        .iter()
        .zip(1..)
        .map(|(rate, seed)| {
            let second =
                Second { rate: *rate, mean_ns: MS + rate * 1e4, in_flight: 1.0, bytes_per_answer: 300.0 };
            run(&[("rate", &rate.to_string())], Level::Rate(*rate), 20, seed, |_| second)
        })
        .collect();
    assert_eq!(studied(&straight).curves[0].knee.level, None);
}

#[test]
fn a_flat_rate_with_growing_times_is_something_at_its_limit() {
    let study = studied(&sweep(&LEVELS, |n| (100.0 * n).min(800.0)));
    let flat = study.curves[0].saturation.expect("flat from eight users on");
    assert!(
        flat.from_level == 8.0 && (flat.rate_per_s / 800.0 - 1.0).abs() < 0.02 && !flat.is_link,
        "{flat:?}"
    );
    assert!((flat.time_exponent - 1.0).abs() < 0.05);
    assert!(found(&study, "saturated").is_some());
    let linear = studied(&sweep(&LEVELS, |n| 100.0 * n));
    assert!(linear.findings.is_empty(), "{:?}", linear.findings);
}

#[test]
fn a_law_that_exact_repeats_contradict_is_not_claimed() {
    // A hard limit bends more sharply than contention can; three repeats that agree show it.
    let levels = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let make = |law: &dyn Fn(f64) -> f64| -> Vec<_> {
        let cell = |users: &f64, repeat: u64| {
            let setting = [("users", users.to_string())];
            crate::study::fixture::closed(
                &[("users", setting[0].1.as_str())],
                *users,
                law(*users),
                100 * repeat + *users as u64,
            )
        };
        levels
            .iter()
            .flat_map(|users| (1..=3).map(|repeat| cell(users, repeat)).collect::<Vec<_>>())
            .collect()
    };
    let hinge = studied(&make(&|n| (151.0 * n).min(1_406.0)));
    assert!(matches!(&hinge.curves[0].usl, UslFit::Unfit { .. }), "{:?}", hinge.curves[0].usl);
    let law = studied(&make(&usl(151.0, 0.05, 1e-4)));
    assert!(matches!(&law.curves[0].usl, UslFit::Fit { .. }), "{:?}", law.curves[0].usl);
}

//! Distributions have their quantiles, and the same seed draws the same values.

use ruler::analysis::quantile;
use ruler::draw::{Distribution, Random};

const DRAWS: usize = 5_000;

fn sorted(text: &str, seed: u64) -> Vec<u64> {
    let distribution = Distribution::parse(text).unwrap();
    let mut random = Random::new(seed, 1);
    let mut drawn: Vec<u64> = (0..DRAWS).map(|_| distribution.draw(&mut random)).collect();
    drawn.sort_unstable();
    drawn
}

/// The medians over 15 seeds: one set of 5,000 varies by about 2% at these quantiles, which would hide a wrong
/// formula.
fn quantile_of(text: &str, q: f64) -> f64 {
    let mut found: Vec<u64> = (0..15).map(|seed| quantile(&sorted(text, seed), q).unwrap()).collect();
    found.sort_unstable();
    found[7] as f64
}

fn holds(text: &str, expected_ms: &[(f64, f64)]) {
    for &(q, expected) in expected_ms {
        let found = quantile_of(text, q) / 1e6;
        assert!((found / expected - 1.0).abs() < 0.03, "{text}: q {q} is {found} ms, not {expected} ms");
    }
}

/// Standard normal quantiles.
const Z: [(f64, f64); 4] = [(0.1, -1.281_55), (0.5, 0.0), (0.9, 1.281_55), (0.99, 2.326_35)];

#[test]
fn quantiles_are_those_of_the_distribution() {
    holds("5ms", &[(0.01, 5.0), (0.5, 5.0), (1.0, 5.0)]);
    holds("uniform:1ms-20ms", &[(0.1, 2.9), (0.5, 10.5), (0.9, 18.1), (0.99, 19.81)]);
    let exponential = [0.1, 0.5, 0.9, 0.99].map(|q: f64| (q, -10.0 * (1.0 - q).ln()));
    holds("exponential:10ms", &exponential);
    holds("normal:20ms:4ms", &Z.map(|(q, z)| (q, 20.0 + 4.0 * z)));
    holds("lognormal:10ms:0.8", &Z.map(|(q, z)| (q, 10.0 * (0.8 * z).exp())));
    holds("bimodal:5ms:200ms:0.02", &[(0.5, 5.0), (0.97, 5.0), (0.99, 200.0)]);
}

#[test]
fn a_single_set_of_5000_is_within_3_percent_at_the_median() {
    for (text, expected_ms) in
        [("uniform:1ms-20ms", 10.5), ("normal:20ms:4ms", 20.0), ("lognormal:10ms:0.8", 10.0)]
    {
        let found = quantile(&sorted(text, 1), 0.5).unwrap() as f64 / 1e6;
        assert!((found / expected_ms - 1.0).abs() < 0.03, "{text}: {found}");
    }
}

#[test]
fn the_rare_mode_has_its_share() {
    let drawn: usize = (0..15)
        .map(|seed| sorted("bimodal:5ms:200ms:0.02", seed))
        .fold(0, |sum, set| sum + set.iter().filter(|&&value_ns| value_ns == 200_000_000).count());
    let share = drawn as f64 / (15 * DRAWS) as f64;
    assert!((share / 0.02 - 1.0).abs() < 0.1, "{share}");
}

#[test]
fn equal_seeds_draw_equal_values_and_others_do_not() {
    assert_eq!(sorted("exponential:10ms", 7), sorted("exponential:10ms", 7));
    assert_ne!(sorted("exponential:10ms", 7), sorted("exponential:10ms", 8));
}

#[test]
fn a_normal_delay_is_never_negative() {
    assert_eq!(sorted("normal:1ms:5ms", 3)[0], 0);
}

#[test]
fn invalid_distributions_are_rejected_with_the_value() {
    for text in [
        "",
        "5",
        "5 ms",
        "-1ms",
        "uniform:1ms",
        "uniform:9ms-1ms",
        "normal:1ms",
        "gamma:1ms",
        "bimodal:1ms:2ms:3",
    ] {
        assert!(Distribution::parse(text).unwrap_err().contains('`'), "{text}");
    }
}

//! The frequency of each branch of a mix.

use super::engine::Engine;
use super::plans::*;
use plimsoll_plan::program::{Behavior, Phase};
use plimsoll_plan::script::{Entry, Node, Order, Scenario, Script};

/// One scenario per weight, each with its own request.
fn mix(weights: &[f64], order: Order) -> (Script, Entry) {
    let asks = (0..weights.len()).map(|i| ask(&format!("/{i}"))).collect();
    let mut script = script(asks, Vec::new());
    script.scenarios = (0..weights.len() as u32)
        .map(|i| Scenario { name: format!("s{i}"), nodes: vec![Node::Ask(i)], pace: None })
        .collect();
    let ways = weights.iter().enumerate().map(|(i, weight)| (i as u16, *weight)).collect();
    (script, Entry::Mix { ways, order })
}

/// Returns the branch of each iteration, over several users that alternate.
fn taken(weights: &[f64], order: Order, iterations: u32) -> Vec<usize> {
    let (script, entry) = mix(weights, order);
    let stage = stage_of(script, entry);
    let mut factory = stage.clone().factory(Phase::Load).expect("there are no files").programs();
    let mut users: Vec<Engine> =
        (0..4).map(|i| Engine::new(factory.make(slot(i)), always(200, ""))).collect();
    (0..iterations)
        .map(|i| {
            let engine = &mut users[i as usize % 4];
            engine.iterate();
            let line = engine.sent.last().expect("every scenario sends").1.clone();
            line["GET /".len()..].split(' ').next().unwrap_or("").parse().expect("the path is a number")
        })
        .collect()
}

#[test]
fn an_exact_mix_keeps_its_ratio_at_all_times() {
    let mixes: [&[f64]; 8] = [
        &[70.0, 20.0, 10.0],
        &[1.0],
        &[5.0, 1.0, 1.0],
        &[0.5, 0.25, 0.25],
        &[3.0, 3.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.0],
        &[99.9, 0.1],
        // No short period: the ratio holds all the way.
        &[1.0, std::f64::consts::SQRT_2, std::f64::consts::PI],
        &[1.0 / 3.0, 1.0 / 7.0, 1.0 / 11.0],
    ];
    for weights in mixes {
        let sum: f64 = weights.iter().sum();
        let mut counts = vec![0u32; weights.len()];
        for (k, way) in taken(weights, Order::Exact, 3_000).into_iter().enumerate() {
            counts[way] += 1;
            for (count, weight) in counts.iter().zip(weights) {
                let due = (k + 1) as f64 * weight / sum;
                assert!((f64::from(*count) - due).abs() < 1.0, "{weights:?} after {}: {counts:?}", k + 1);
            }
        }
    }
}

#[test]
fn a_random_mix_meets_its_ratio_and_has_no_pattern() {
    let weights = [70.0, 20.0, 10.0, 0.0];
    let ways = taken(&weights, Order::Random, 10_000);
    let mut chi_square = 0.0;
    for (way, weight) in weights.iter().enumerate() {
        let count = ways.iter().filter(|w| **w == way).count() as f64;
        let due = 10_000.0 * weight / 100.0;
        if due == 0.0 {
            assert_eq!(count, 0.0, "a branch without weight is never taken");
        } else {
            chi_square += (count - due).powi(2) / due;
        }
    }
    // 99.99% of the chi-squared distribution with two degrees of freedom is below 18.4.
    assert!(chi_square < 18.4, "{chi_square}");
    let repeats = ways.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
    // Independent draws repeat with probability 0.54, the sum of the squared shares; five standard errors.
    assert!((repeats / 9_999.0 - 0.54).abs() < 0.025, "{repeats}");
}

#[test]
fn weights_without_a_possible_choice_are_rejected() {
    for weights in [vec![0.0, 0.0], vec![-1.0, 2.0], vec![f64::NAN], Vec::new()] {
        let ways = weights.iter().map(|weight| (*weight, Vec::new())).collect();
        let sentence = refused(script(Vec::new(), vec![one_of(ways, Order::Random)]));
        assert!(sentence.contains("weight"), "{sentence}");
    }
}

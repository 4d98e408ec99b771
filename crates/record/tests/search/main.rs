//! The search for the highest load, held against servers whose capacity is known.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a test may stop and talk")]

mod answers;
mod machine;
mod servers;
mod truth;

use servers::Service;
use truth::{Case, Score, bounded, general, many, many_servers, one_server, single};

const RATES: (f64, f64) = (200.0, 2_000.0);

fn judged(name: &str, score: &Score) {
    println!("{}", score.told(name));
    assert!(score.holds(), "{}", score.told(name));
}

#[test]
fn the_capacity_of_one_server_is_found() {
    judged("M/M/1", &many(|r| one_server(r, RATES), 20, 1));
}

#[test]
fn the_capacity_of_many_servers_is_found() {
    judged("M/M/c", &many(|r| many_servers(r, RATES), 20, 2));
}

#[test]
fn the_load_at_which_a_full_queue_turns_away_is_found() {
    judged("M/M/1/K", &many(|r| bounded(r, RATES), 20, 3));
}

#[test]
#[ignore = "nightly: 200 searches of each kind, two minutes"]
fn the_capacity_is_found_two_hundred_times_of_each_kind() {
    let wide = (50.0, 5_000.0);
    let limits = [10.0, 20.0, 40.0];
    let of = |service: Service| limits.map(|x| (x, general(service, x)));
    let table = |service: Service| {
        let known = of(service);
        many(|r| single(r, wide, service, &known), 200, 4)
    };
    let scores = [
        ("M/M/1", many(|r| one_server(r, wide), 200, 11)),
        ("M/M/c", many(|r| many_servers(r, wide), 200, 12)),
        ("M/M/1/K", many(|r| bounded(r, wide), 200, 13)),
        ("M/D/1", table(Service::Constant)),
        ("M/G/1 lognormal", table(Service::Lognormal(1.0))),
    ];
    scores.iter().for_each(|(name, score)| println!("{}", score.told(name)));
    scores.iter().for_each(|(name, score)| judged(name, score));
}

#[test]
fn the_formulas_of_this_test_agree_with_a_long_simulation() {
    // The truth itself is held against another way to know it: M/M/1 by the recursion.
    let x = 20.0;
    let simulated = general(Service::Exponential, x);
    assert!((simulated / (1.0 - 100f64.ln() / x) - 1.0).abs() < 0.01, "{simulated}");
    let case: Case = one_server(&mut plimsoll_stats::random::SplitMix64::new(3), RATES);
    assert!(case.truth > 0.0 && case.truth < 1.0 / case.server.mean_s);
}

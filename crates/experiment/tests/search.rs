//! The search for the highest load, tested with servers of known capacity.

mod answers;
mod ladder;
mod machine;
mod noise;
mod servers;
mod truth;

use plimsoll_stats::random::SplitMix64;
use servers::{Limits, Service};
use truth::{Case, Score, bounded, general, many, many_servers, one_server, single};

const RATES: (f64, f64) = (200.0, 2_000.0);

fn judged(name: &str, score: &Score) {
    println!("{}", score.describe(name));
    assert!(score.holds(), "{}", score.describe(name));
}

/// `cargo xtask nightly` runs two hundred searches of each kind, over two decades of rates.
fn searches(by_day: usize) -> (usize, (f64, f64)) {
    match std::env::var_os("PLIMSOLL_NIGHTLY") {
        Some(_) => (200, (50.0, 5_000.0)),
        None => (by_day, RATES),
    }
}

#[test]
fn the_capacity_of_one_server_is_found() {
    let (n, rates) = searches(20);
    judged("M/M/1", &many(|r| one_server(r, rates), n, 11));
}

#[test]
fn the_capacity_of_many_servers_is_found() {
    let (n, rates) = searches(20);
    judged("M/M/c", &many(|r| many_servers(r, rates), n, 12));
}

#[test]
fn the_load_at_which_a_full_queue_rejects_is_found() {
    let (n, rates) = searches(20);
    judged("M/M/1/K", &many(|r| bounded(r, rates), n, 13));
}

#[test]
fn the_search_works_with_even_and_uneven_service_times() {
    let (n, rates) = searches(10);
    // The rarer the long service times, the more requests it takes to know the truth to within 0.5%.
    let (limits, lognormal, count): (&[f64], f64, u64) =
        if n > 10 { (&[20.0, 40.0], 1.0, 30_000_000) } else { (&[20.0], 0.5, 3_000_000) };
    for (name, service) in [("M/D/1", Service::Constant), ("M/G/1 lognormal", Service::Lognormal(lognormal))]
    {
        let known: Vec<(f64, f64)> = limits.iter().map(|x| (*x, general(service, *x, count))).collect();
        judged(name, &many(|r| single(r, rates, service, &known), n, 14));
    }
}

#[test]
fn the_formulas_of_these_tests_agree_with_a_long_simulation() {
    let x = 20.0;
    let simulated = general(Service::Exponential, x, 2_000_000);
    assert!((simulated / (1.0 - 100f64.ln() / x) - 1.0).abs() < 0.01, "{simulated}");
}
#[test]
fn a_limit_far_above_the_service_time_does_not_hide_an_overload() {
    // A limit of 250 ms with service times of 0.1 to 1 ms: the queue settles in no step, and an overload hides in it.
    let (n, _) = searches(20);
    let make = |random: &mut SplitMix64| {
        let case = one_server(random, (1_000.0, 10_000.0));
        let truth = 1.0 / case.server.mean_s - 100f64.ln() / 0.25;
        Case { limits: Limits { p99_s: Some(0.25), errors: None }, truth, ..case }
    };
    judged("M/M/1, 250 ms", &many(make, n, 5));
}

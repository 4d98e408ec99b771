//! One injected truth per test, and a counterpart without a finding.

use crate::study::fixture::{MS, Second, closed, codes, found, run, studied, sweep};
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::{Digest, Level};
use plimsoll_stats::Hist;

const USERS: [f64; 4] = [100.0, 200.0, 300.0, 400.0];

/// Levels of two variants that share a link of `link` bytes per second. Without it, each could achieve its rate in
/// `able`.
fn over_a_link(link: f64, able: [f64; 2], bytes: [f64; 2]) -> Vec<Digest> {
    let mut runs = Vec::new();
    for (at, name) in ["node", "go"].iter().enumerate() {
        for (users, seed) in USERS.iter().zip(1..) {
            let rate = able[at].min(link / bytes[at]);
            let second =
                Second { rate, mean_ns: users / rate * 1e9, in_flight: *users, bytes_per_answer: bytes[at] };
            let settings = [("variant", *name), ("users", &users.to_string())];
            runs.push(run(&settings, Level::Users(*users), 20, seed + 10 * at as u64, |_| second));
        }
    }
    runs
}

#[test]
fn variants_on_a_saturated_link_cannot_be_ranked() {
    let study = studied(&over_a_link(390_000.0, [5_000.0, 6_000.0], [353.0, 284.0]));
    let finding = found(&study, "cannot_be_ranked").expect("equal bytes, different rates");
    assert!(finding.sentence.contains("`node` and `go`"), "{finding:?}");
    assert!(finding.evidence.contains("Mbit/s") || finding.evidence.contains("Gbit/s"), "{finding:?}");
    // Without the limit of the link, the faster variant sends more bytes.
    let free = studied(&over_a_link(1e9, [1_100.0, 1_400.0], [353.0, 284.0 * 1.1]));
    assert!(found(&free, "cannot_be_ranked").is_none(), "{:?}", codes(&free));
    // On one link, responses of equal size have equal rates, so there is nothing to rank.
    let same = studied(&over_a_link(390_000.0, [5_000.0, 6_000.0], [300.0, 300.0]));
    assert!(found(&same, "cannot_be_ranked").is_none());
}

#[test]
fn a_flat_rate_with_the_time_in_the_body_is_the_link() {
    let make = |in_body: bool| -> Vec<Digest> {
        let mut runs = sweep(&[1.0, 2.0, 3.0, 4.0], |_| 0.91 * 100.0);
        for run in &mut runs {
            let mean = run.response_time.mean_ns.expect("times");
            let body = if in_body { 0.92 } else { 0.05 };
            (run.body_mean_ns, run.first_byte_mean_ns) = (Some(mean * body), Some(mean * (1.0 - body)));
        }
        runs
    };
    let full = studied(&make(true));
    assert!(
        found(&full, "network_saturated").is_some() && found(&full, "saturated").is_none(),
        "{:?}",
        codes(&full)
    );
    assert!(full.curves[0].saturation.expect("flat").is_link);
    // The same with a slow service and a fast body.
    let slow = studied(&make(false));
    assert!(found(&slow, "network_saturated").is_none() && found(&slow, "saturated").is_some());
}

#[test]
fn scaling_names_a_shared_bottleneck() {
    let make = |rates: &[f64]| -> Vec<Digest> {
        let cells = rates.iter().enumerate();
        cells
            .flat_map(|(at, rate)| {
                (0..3).map(move |repeat| {
                    closed(&[("servers", &(at + 1).to_string())], 200.0, *rate, 10 * at as u64 + repeat)
                })
            })
            .collect()
    };
    let shared = studied(&make(&[443.8, 449.1]));
    let step = shared.scaling[0].steps[1];
    assert!((step.speedup - 1.01).abs() < 0.03 && (step.efficiency - 0.506).abs() < 0.02, "{step:?}");
    assert!(step.low.expect("repeats") < step.efficiency && step.efficiency < step.high.expect("repeats"));
    let finding = found(&shared, "shared_bottleneck").expect("two servers achieve as much as one");
    assert!(finding.sentence.contains("add nothing"), "{finding:?}");
    let good = studied(&make(&[443.8, 2.0 * 440.0, 3.0 * 435.0]));
    assert!(found(&good, "shared_bottleneck").is_none() && good.scaling[0].steps.len() == 3);
}

#[test]
fn the_best_load_of_each_number_of_servers_is_compared() {
    let cell = |servers: &str, users: f64, rate: f64| {
        closed(&[("servers", servers), ("users", &users.to_string())], users, rate, 1)
    };
    let runs = [cell("1", 10.0, 90.0), cell("1", 50.0, 100.0), cell("2", 10.0, 95.0), cell("2", 50.0, 190.0)];
    let study = studied(&runs);
    assert!((study.scaling[0].steps[1].speedup - 1.9).abs() < 0.05);
    assert_eq!(study.curves.len(), 2);
}

#[test]
fn the_round_trip_is_not_the_service() {
    let make = |rtt_ns: u64| -> Vec<Digest> {
        let mut runs = sweep(&[10.0, 20.0, 40.0], |n| n / 0.110);
        runs.iter_mut().for_each(|run| run.rtt_min_ns = Some(rtt_ns));
        runs
    };
    let far = studied(&make(100_000_000));
    assert!(found(&far, "rtt_bound").expect("110 ms of 100").sentence.contains("10, 20, and 40"));
    assert!(found(&studied(&make(6_000_000)), "rtt_bound").is_none());
}

#[test]
fn equal_requests_in_flight_at_different_levels_show_a_limit() {
    // 300, 400, and 10,000 connections, of which 233, 232, and 227 are alive.
    let levels = [(100.0, 100.0), (200.0, 200.0), (300.0, 233.0), (400.0, 232.0), (10_000.0, 229.0)];
    let make = |cap: bool| -> Vec<Digest> {
        let cell = |(users, live): &(f64, f64)| {
            let live = if cap { *live } else { *users };
            let second = Second {
                rate: 1_350.0,
                mean_ns: live / 1_350.0 * 1e9,
                in_flight: live,
                bytes_per_answer: 300.0,
            };
            run(&[("users", &users.to_string())], Level::Users(*users), 20, 3, |_| second)
        };
        levels.iter().map(cell).collect()
    };
    let capped = studied(&make(true));
    let finding = found(&capped, "same_in_flight").expect("233 three times");
    assert!(finding.sentence.contains("300, 400, and 10,000"), "{finding:?}");
    assert!(found(&studied(&make(false)), "same_in_flight").is_none());
}

#[test]
fn littles_law_finds_time_outside_requests_and_too_much_of_it() {
    let make = |users: f64, rate: f64, mean_ms: f64| {
        let second = Second { rate, mean_ns: mean_ms * MS, in_flight: users, bytes_per_answer: 300.0 };
        run(&[("users", &users.to_string())], Level::Users(users), 20, 1, |_| second)
    };
    // 600 users, X R = 317: 47% missing, 123 ms per request.
    let mut runs = [make(600.0, 2_300.0, 138.0), make(300.0, 2_000.0, 150.0)];
    // Think time is expected: only time that a run cannot explain is reported.
    assert!(found(&studied(&runs), "users_outside_requests").is_none());
    runs[0].cautions.push(Kind::LittlesLaw.example().raise());
    let idle = studied(&runs);
    let row = idle.table.iter().find(|row| row.level == 600.0).expect("a cell");
    assert!((row.little.missing_ratio - 0.47).abs() < 0.01, "{:?}", row.little);
    assert!((row.little.missing_per_request_ns / MS - 123.0).abs() < 4.0, "{:?}", row.little);
    assert!(found(&idle, "users_outside_requests").is_some());
    // 80 users at 521/s with a mean of 207.7 ms: 108 busy users out of 80.
    let phantom = studied(&[make(80.0, 521.0, 207.7), make(40.0, 400.0, 100.0)]);
    assert!(found(&phantom, "more_time_than_users").expect("108 > 80").evidence.contains("108"));
    let clean = studied(&[make(80.0, 800.0, 99.0), make(40.0, 400.0, 100.0)]);
    assert!(clean.findings.is_empty(), "{:?}", clean.findings);
}

#[test]
fn a_falling_median_under_a_rising_mean_is_starvation() {
    let make = |users: f64, slow: u64| {
        let mut run = closed(&[("users", &users.to_string())], users, 1_250.0, 1);
        let median_ms = 38.0 - users / 60.0;
        for block in &mut run.blocks {
            block.response = Hist::on_demand();
            block.response.record_n((median_ms * MS) as u64, 1_250 - slow);
            block.response.record_n((4_000.0 * MS) as u64, slow);
        }
        crate::study::fixture::digest(&[("users", &users.to_string())], Level::Users(users), run.blocks)
    };
    let starved = studied(&[make(100.0, 12), make(200.0, 30), make(500.0, 80)]);
    assert!(found(&starved, "starvation").is_some(), "{:?}", codes(&starved));
    assert!(found(&starved, "mean_above_p95").is_some());
    let fair = studied(&sweep(&[100.0, 200.0, 500.0], |_| 1_250.0));
    assert!(found(&fair, "starvation").is_none() && found(&fair, "mean_above_p95").is_none());
}

#[test]
fn lost_connection_attempts_are_reported_with_their_combination() {
    let mut runs = sweep(&[10.0, 20.0, 40.0], |n| 100.0 * n);
    for block in &mut runs[2].blocks {
        block.response.record_n((1_012.0 * MS) as u64, 20);
        block.response.record_n((3_012.0 * MS) as u64, 6);
    }
    let study = studied(&runs);
    let finding = found(&study, "retransmission_clusters").expect("a bunch at 1 s and 3 s");
    assert!(finding.evidence.contains("users 40"), "{finding:?}");
    assert!(study.table[0].clusters.is_empty() && study.table[2].clusters.len() == 2);
}

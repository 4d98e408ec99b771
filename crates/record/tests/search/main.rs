//! The search for the highest load, held against servers whose capacity is known.

mod servers;
mod truth;

use truth::{bounded, general, many, many_servers, one_server};

#[test]
fn explore() {
    let n: usize = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let rates = (200.0, 2_000.0);
    println!("{}", many(|r| one_server(r, rates), n, 1).told("one server"));
    println!("{}", many(|r| many_servers(r, rates), n, 2).told("many servers"));
    println!("{}", many(|r| bounded(r, rates), n, 3).told("bounded"));
    let _ = general;
}

#[test]
fn check_truth() {
    use plimsoll_stats::random::SplitMix64;
    let mut random = SplitMix64::new(5);
    for _ in 0..8 {
        let case = many_servers(&mut random, (200.0, 2000.0));
        for length in [10u64, 30, 60, 600] {
            let (mut k, mut n) = (0, 0);
            let mut warm = 0;
            for _ in 0..(2400 / length) {
                let l = case.limits.p99_s.unwrap();
                warm = (1.5 * (0.2 * l * l * case.truth).clamp(0.66, 10.0) * 1e9) as u64;
                let probe = plimsoll_record::analysis::search::Probe {
                    level: case.truth,
                    purpose: plimsoll_plan::experiment::Purpose::Bisect,
                    rest_ns: 0,
                    warmup_ns: warm,
                    length_ns: length * 1_000_000_000,
                    turn: 0,
                };
                let t = case.server.run(probe, case.limits, &mut random);
                for b in &t.blocks {
                    k += b.response.count_above((l * 1e9) as u64);
                    n += b.response.count();
                }
            }
            println!(
                "{:.1} c={} L={:.3} length {length} warm {:.1}: {:.5} relax {:.2}",
                case.truth,
                case.server.servers,
                case.limits.p99_s.unwrap(),
                warm as f64 / 1e9,
                k as f64 / n as f64,
                0.2 * case.limits.p99_s.unwrap().powi(2) * case.truth
            );
        }
    }
}

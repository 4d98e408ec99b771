//! Foreign run files: with any content, the study ends, is repeatable, and can be written.

use crate::study::fixture::{closed, digest};
use plimsoll_analysis::digest::{Digest, Level};
use plimsoll_experiment::study::{StudyAsked, study};
use plimsoll_stats::random::SplitMix64;

const ODD: [f64; 9] = [0.0, -1.0, 1e-300, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, 1_000.0];

fn odd_run(random: &mut SplitMix64) -> Digest {
    let mut pick = |n: usize| (random.next_u64() % n as u64) as usize;
    let axes = ["users", "rate", "servers", "variant", "payload"];
    let values = ["1", "2", "3", "4", "8", "16", "NaN", "1e400", "-0", "", "x", "1,000"];
    let settings: Vec<(&str, &str)> = (0..pick(4)).map(|_| (axes[pick(5)], values[pick(12)])).collect();
    let level = if pick(2) == 0 { Level::Users(ODD[pick(9)]) } else { Level::Rate(ODD[pick(9)]) };
    let lengths = [0, 1, 3, 25, 70];
    let mut blocks = closed(&[], 10.0, 100.0, pick(99) as u64).blocks;
    blocks = blocks.into_iter().cycle().take(lengths[pick(5)]).collect();
    for block in &mut blocks {
        match pick(12) {
            0 => *block = Default::default(),
            1 => block.in_flight = ODD[pick(9)],
            2 => block.response.record_n(u64::MAX, u64::MAX),
            3 => (block.requests, block.bytes_in) = (u64::MAX / 128, u64::MAX / 128),
            4 => (block.from_ns, block.length_ns) = (u64::MAX / 128, u64::MAX / 128),
            5 => block.service = Default::default(),
            _ => {}
        }
    }
    let mut run = digest(&settings, level, blocks);
    match pick(8) {
        0 => run.rate_per_s = ODD[pick(9)],
        1 => run.measured_s = ODD[pick(9)],
        2 => run.bytes_in_per_s = ODD[pick(9)],
        3 => run.in_flight_mean = ODD[pick(9)],
        4 => (run.requests, run.errors) = (u64::MAX, u64::MAX),
        5 => (run.body_mean_ns, run.first_byte_mean_ns) = (Some(ODD[pick(9)]), Some(ODD[pick(9)])),
        6 => run.rtt_min_ns = Some(u64::MAX),
        _ => {}
    }
    run
}

#[test]
fn a_study_of_any_runs_ends_and_is_repeatable() {
    let mut random = SplitMix64::new(11);
    for turn in 0..150 {
        let runs: Vec<Digest> = (0..random.next_u64() % 12).map(|_| odd_run(&mut random)).collect();
        let asked = StudyAsked {
            trim_to_steady_state: turn % 2 == 0,
            min_duration_ns: turn * 1_000_000_000,
            seed: turn,
        };
        let text = serde_json::to_string(&study(&runs, &asked)).expect("a study can be written");
        let again = serde_json::to_string(&study(&runs, &asked)).expect("a study can be written");
        assert_eq!(text, again, "turn {turn}");
        let found: usize = study(&runs, &asked)
            .table
            .iter()
            .map(|row| if row.is_valid { row.repeats + row.excluded_runs.len() } else { row.repeats })
            .sum();
        assert_eq!(found, runs.len(), "every run is in one combination");
    }
}

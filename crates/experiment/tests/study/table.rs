//! Combinations: which runs belong together, which are left out, and how wide the intervals are.

use crate::study::fixture::{MS, Second, closed, digest, found, run, studied};
use plimsoll_analysis::digest::{Digest, Level};
use plimsoll_analysis::summary::Outcome;
use plimsoll_experiment::study::{Basis, StudyAsked, study};

fn repeats(rates: &[f64]) -> Vec<Digest> {
    rates.iter().zip(1..).map(|(rate, seed)| closed(&[("users", "10")], 10.0, *rate, seed)).collect()
}

#[test]
fn a_single_run_has_the_values_of_its_summary() {
    let run = closed(&[("users", "10")], 10.0, 1_000.0, 1);
    let row = &studied(std::slice::from_ref(&run)).table[0];
    assert_eq!(row.rate_per_s.value, Some(run.rate_per_s));
    assert_eq!(row.p99_ns.value, run.response_time.p99_ns.map(|ns| ns as f64));
    assert_eq!(row.basis, Basis::Blocks);
    let (low, high) = (row.rate_per_s.low.expect("20 blocks"), row.rate_per_s.high.expect("20 blocks"));
    assert!(low < run.rate_per_s && run.rate_per_s < high && high - low < 0.05 * run.rate_per_s);
}

#[test]
fn percentiles_of_repeats_come_from_the_merged_times() {
    // One run of fast responses and one of slow ones: the p99 of both is a slow one, not the mean of the two.
    let second = |mean_ns: f64| Second { rate: 1_000.0, mean_ns, in_flight: 10.0, bytes_per_answer: 300.0 };
    let make =
        |mean_ns: f64, seed| run(&[("users", "10")], Level::Users(10.0), 20, seed, |_| second(mean_ns));
    let runs = [make(MS, 1), make(100.0 * MS, 2)];
    let row = &studied(&runs).table[0];
    let p99 = row.p99_ns.value.expect("40,000 times");
    assert!(p99 > 140.0 * MS, "{p99}");
    assert!((row.mean_ns.value.expect("times") / MS - 50.5).abs() < 1.5);
    assert_eq!(row.repeats, 2);
}

#[test]
fn three_repeats_have_the_interval_of_their_variation() {
    let row = studied(&repeats(&[900.0, 1_000.0, 1_100.0])).table.remove(0);
    assert_eq!(row.basis, Basis::Runs);
    // t(2) = 4.303, s = 100, n = 3: 248.
    let half = row.rate_per_s.high.expect("three runs") - row.rate_per_s.value.expect("three runs");
    assert!((half - 248.0).abs() < 15.0, "{half}");
    let two = studied(&repeats(&[900.0, 1_100.0])).table.remove(0);
    let (low, high) = (two.rate_per_s.low.expect("two runs"), two.rate_per_s.high.expect("two runs"));
    assert!(low <= 905.0 && high >= 1_095.0, "{low} {high}");
}

#[test]
fn short_inconclusive_and_incomplete_runs_are_left_out_with_their_reason() {
    let mut runs = repeats(&[1_000.0, 1_000.0, 1_000.0, 1_000.0]);
    runs[0].measured_s = 3.0;
    runs[1].outcome = Outcome::Inconclusive;
    runs[2].complete = false;
    let asked = StudyAsked { min_duration_ns: 5_000_000_000, ..StudyAsked::default() };
    let study = study(&runs, &asked);
    let row = &study.table[0];
    assert!(row.is_valid && row.repeats == 1);
    let why: Vec<&str> = row.excluded_runs.iter().map(|l| l.reason.as_str()).collect();
    assert!(
        why[0] == "measured for 3 s, requested 5 s"
            && why[1] == "inconclusive"
            && why[2].contains("incomplete"),
        "{why:?}"
    );
    assert!(found(&study, "runs_left_out").is_some());
    // A combination without usable runs belongs to no curve.
    runs[3].complete = false;
    runs.push(closed(&[("users", "20")], 20.0, 1_000.0, 9));
    runs.push(closed(&[("users", "40")], 40.0, 1_000.0, 9));
    let study = crate::study::fixture::studied(&runs);
    assert!(study.table[0].is_valid, "three seconds are enough without a minimum duration");
    runs[0].complete = false;
    let study = crate::study::fixture::studied(&runs);
    assert!(!study.table[0].is_valid && study.table.len() == 3);
    assert_eq!(study.curves[0].points.iter().map(|p| p.parameter_value).collect::<Vec<_>>(), [20.0, 40.0]);
}

#[test]
fn rows_are_sorted_by_names_and_numbers() {
    let cell = |variant: &str, users: &str, seed| {
        closed(&[("variant", variant), ("users", users)], users.parse().expect("a number"), 500.0, seed)
    };
    let runs = [cell("node", "100", 1), cell("go", "9", 2), cell("node", "9", 3), cell("go", "100", 4)];
    let study = studied(&runs);
    let order: Vec<String> = study
        .table
        .iter()
        .map(|row| format!("{} {}", row.setting("variant").expect("set"), row.setting("users").expect("set")))
        .collect();
    assert_eq!(order, ["node 9", "node 100", "go 9", "go 100"]);
    assert_eq!(study.curves.len(), 2);
    assert_eq!(study.parameters, ["variant", "users"]);
}

#[test]
fn runs_outside_an_experiment_are_grouped_by_level_and_target() {
    let mut runs: Vec<Digest> = [5.0, 10.0, 20.0].map(|n| closed(&[], n, 100.0 * n, 1)).to_vec();
    assert_eq!(studied(&runs).parameters, ["users"]);
    assert_eq!(studied(&runs).curves[0].points.len(), 3);
    runs[2].target = "http://10.0.0.8:8080".into();
    assert_eq!(studied(&runs).parameters, ["target", "users"]);
}

#[test]
fn no_errors_in_few_requests_prove_nothing() {
    let row = studied(&repeats(&[100.0])).table.remove(0);
    let high = row.error_ratio.high.expect("20 blocks");
    assert!((high - 3.0 / row.requests as f64).abs() < 1e-6, "{high}");
}

#[test]
fn the_order_of_the_runs_and_the_empty_study_change_nothing() {
    let mut runs: Vec<Digest> = repeats(&[1_000.0, 1_010.0, 990.0]);
    let one = studied(&runs).table.remove(0);
    runs.reverse();
    let other = studied(&runs).table.remove(0);
    assert!((one.rate_per_s.low.expect("runs") - other.rate_per_s.low.expect("runs")).abs() < 1e-6);
    assert_eq!(one.p99_ns.value, other.p99_ns.value);
    let none = studied(&[]);
    assert!(none.table.is_empty() && none.findings.is_empty() && none.runs == 0);
    let blank = digest(&[("users", "1")], Level::Users(1.0), Vec::new());
    let nan = Digest { rate_per_s: f64::NAN, in_flight_mean: f64::INFINITY, ..blank.clone() };
    let study = studied(&[blank, nan]);
    assert_eq!(study.table.len(), 1);
    assert!(serde_json::to_string(&study).is_ok());
}

#[test]
fn the_runs_of_a_search_are_grouped_by_level() {
    let runs: Vec<Digest> = [10.0, 20.0, 40.0]
        .map(|users| {
            let mut run = closed(&[("variant", "go")], users, 100.0 * users, 1);
            run.cell.as_mut().expect("it has settings").purpose =
                Some(plimsoll_plan::experiment::Purpose::Bisect);
            run
        })
        .to_vec();
    let study = studied(&runs);
    assert_eq!((study.table.len(), study.curves.len()), (3, 1));
}

#[test]
fn rates_are_sorted_across_units() {
    let cell = |rate: &str, level: f64| {
        let mut run = closed(&[("arrivals", rate)], 1.0, level, 1);
        run.level = Level::Rate(level);
        run
    };
    let study = studied(&[cell("200/s", 200.0), cell("6,000/m", 100.0), cell("180000/h", 50.0)]);
    let xs: Vec<f64> = study.curves[0].points.iter().map(|p| p.parameter_value).collect();
    assert_eq!(xs, [50.0, 100.0, 200.0]);
}

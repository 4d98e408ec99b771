//! The order in which the combinations of an experiment run.

use plimsoll_experiment::schedule::{Done, Schedule, Turn, order};
use plimsoll_plan::experiment::{Axis, Setting};

fn axis(name: &str, values: &[&str], is_numeric: bool) -> Axis {
    Axis { name: name.into(), values: values.iter().map(|v| (*v).to_owned()).collect(), is_numeric }
}

fn matrix(axes: &[Axis]) -> Vec<Vec<Setting>> {
    let mut cells = vec![Vec::new()];
    for axis in axes {
        let longer = |cell: &Vec<Setting>| {
            let cell = cell.clone();
            axis.values
                .iter()
                .map(move |value| {
                    let mut cell = cell.clone();
                    cell.push(Setting { parameter: axis.name.clone(), value: value.clone() });
                    cell
                })
                .collect::<Vec<_>>()
        };
        cells = cells.iter().flat_map(longer).collect();
    }
    cells
}

fn two_by_four() -> Vec<Axis> {
    vec![axis("variant", &["node", "go"], false), axis("users", &["1", "10", "100", "1000"], true)]
}

fn schedule<'a>(axes: &'a [Axis], cells: &'a [Vec<Setting>], repeat: u32, seed: u64) -> Schedule<'a> {
    Schedule { axes, cells, repeat, seed, stop_on_miss: false }
}

/// Runs all turns, each with the given result.
fn run(schedule: Schedule, mut met: impl FnMut(Turn) -> Option<bool>) -> Vec<Done> {
    let mut done = Vec::new();
    while let Some(turn) = schedule.next(&done) {
        done.push(Done { cell: turn.cell, repeat: turn.repeat, met: met(turn) });
        assert!(done.len() <= 1_000, "it ends");
    }
    done
}

#[test]
fn each_round_contains_every_combination_once() {
    let axes = two_by_four();
    let cells = matrix(&axes);
    let done = run(schedule(&axes, &cells, 3, 7), |_| Some(true));
    assert_eq!(done.len(), 24);
    for (round, runs) in done.chunks(8).enumerate() {
        assert!(runs.iter().all(|d| d.repeat == round as u32));
        let mut seen: Vec<usize> = runs.iter().map(|d| d.cell).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..8).collect::<Vec<_>>());
    }
}

#[test]
fn rounds_differ_and_a_seed_repeats_them() {
    let axes = two_by_four();
    let cells = matrix(&axes);
    let turns = |seed| schedule(&axes, &cells, 3, seed).turns().map(|t| t.cell).collect::<Vec<_>>();
    assert_eq!(turns(7), turns(7));
    assert_ne!(turns(7), turns(8));
    assert_ne!(turns(7)[..8], turns(7)[8..16]);
}

/// Over many seeds, every combination comes first about equally often, so none always runs warm or last.
#[test]
fn no_combination_is_favored() {
    let mut first = [0u32; 8];
    for seed in 0..4_000 {
        first[order(8, seed, 0)[0]] += 1;
    }
    // The expected count is 500 each; the standard deviation is 21.
    assert!(first.iter().all(|n| (400..600).contains(n)), "{first:?}");
}

#[test]
fn a_stopped_experiment_resumes_with_the_missing_runs_only() {
    let axes = two_by_four();
    let cells = matrix(&axes);
    let schedule = schedule(&axes, &cells, 2, 3);
    let all = run(schedule, |_| Some(true));
    let mut some: Vec<Done> =
        all.iter().copied().enumerate().filter(|(i, _)| i % 3 != 0).map(|(_, d)| d).collect();
    let missing: Vec<Done> =
        all.iter().copied().enumerate().filter(|(i, _)| i % 3 == 0).map(|(_, d)| d).collect();
    for expected in missing {
        let turn = schedule.next(&some).expect("something is missing");
        assert_eq!((turn.cell, turn.repeat), (expected.cell, expected.repeat));
        some.push(expected);
    }
    assert_eq!(schedule.next(&some), None);
}

#[test]
fn levels_above_a_missed_one_are_skipped_in_its_row_only() {
    let axes = two_by_four();
    let cells = matrix(&axes);
    // `node` breaks at 10 users; cells 0 to 3 are its row.
    let ended = Schedule { stop_on_miss: true, ..schedule(&axes, &cells, 3, 11) };
    let done = run(ended, |turn| Some(!(1..4).contains(&turn.cell)));
    let times = |cell: usize| done.iter().filter(|d| d.cell == cell).count();
    assert_eq!((times(0), times(1)), (3, 3), "the levels around the limit run three times");
    assert!(times(2) + times(3) <= 2, "only the first round runs before the limit is known: {done:?}");
    assert!((4..8).all(|cell| times(cell) == 3));
}

/// A level that was missed once and met once is undecided.
#[test]
fn one_miss_among_repeats_decides_nothing() {
    let axes = vec![axis("users", &["1", "10"], true)];
    let cells = matrix(&axes);
    let schedule = Schedule { stop_on_miss: true, ..schedule(&axes, &cells, 3, 1) };
    let mixed = [Done { cell: 0, repeat: 0, met: Some(false) }, Done { cell: 0, repeat: 1, met: Some(true) }];
    assert!(!schedule.is_answered(1, &mixed));
    assert!(schedule.is_answered(1, &mixed[..1]));
    assert!(!schedule.is_answered(1, &[Done { met: None, ..mixed[0] }]), "nothing is decided");
    assert!(!schedule.is_answered(0, &mixed[..1]), "the level itself is repeated");
}

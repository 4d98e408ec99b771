//! How rows are distributed: over users, over machines, in which order, and after the last row.

use crate::feed_support;
use crate::feed_support::{below, cases, csv, machine, numbered, open, slot, take};
use plimsoll_plan::data::{AtEnd, Feeder, RowOrder, Sharing};
use plimsoll_plan::program::UserSlot;
use plimsoll_plan::value::Placeholder;
use plimsoll_script::feed::{Feeds, Rows};
use plimsoll_script::value::Unfilled;
use std::collections::HashSet;
use std::sync::Arc;
use std::{slice, thread};

fn open_on(feeder: &Feeder, seed: u64, part: u32, of: u32) -> Arc<Feeds> {
    Arc::new(Feeds::open(slice::from_ref(feeder), seed, machine(part, of)).expect("the file is valid"))
}

#[test]
fn with_sharing_all_each_user_reads_all_rows_and_starts_over() {
    let file = numbered(3);
    let feeds = open(&csv(&file, &["n"]));
    for user in 0..3 {
        assert_eq!(take(&mut Rows::new(&feeds, slot(user, 3)), 7), [0, 1, 2, 0, 1, 2, 0]);
    }
}

#[test]
fn an_iteration_keeps_its_row_and_takes_none_unless_it_needs_one() {
    let file = feed_support::Scratch::new("a,b\n1,x\n2,y\n");
    let mut rows = Rows::new(&open(&csv(&file, &["b", "a"])), slot(0, 1));
    let mut out = Vec::new();
    for column in [1, 0, 1] {
        rows.value(0, column, &mut out).expect("the first row is there");
    }
    assert_eq!(out, b"1x1");
    rows.new_iteration();
    rows.new_iteration();
    rows.value(0, 0, &mut out).expect("the second row is there");
    assert_eq!(out, b"1x1y");
}

#[test]
fn stop_ends_a_user_after_its_last_row_for_good() {
    let file = numbered(3);
    let feeder = Feeder { at_end: AtEnd::Stop, ..csv(&file, &["n"]) };
    let mut rows = Rows::new(&open(&feeder), slot(0, 1));
    assert_eq!(take(&mut rows, 9), [0, 1, 2]);
    let mut out = Vec::new();
    assert_eq!(rows.value(0, 0, &mut out), Err(Unfilled::Exhausted(0)));
    assert!(out.is_empty());
}

#[test]
fn a_partition_gives_each_row_to_exactly_one_user() {
    let file = numbered(10);
    let feeder = Feeder { share: Sharing::Partition, at_end: AtEnd::Stop, ..csv(&file, &["n"]) };
    let feeds = open(&feeder);
    let taken: Vec<_> = (0..4).map(|user| take(&mut Rows::new(&feeds, slot(user, 4)), 9)).collect();
    assert_eq!(taken, [vec![0, 4, 8], vec![1, 5, 9], vec![2, 6], vec![3, 7]]);
}

#[test]
fn a_recycling_partition_keeps_to_its_rows() {
    let file = numbered(5);
    let feeds = open(&Feeder { share: Sharing::Partition, ..csv(&file, &["n"]) });
    assert_eq!(take(&mut Rows::new(&feeds, slot(1, 2)), 5), [1, 3, 1, 3, 1]);
}

#[test]
fn a_user_without_rows_is_exhausted_and_takes_no_foreign_row() {
    let file = numbered(2);
    for (order, at_end) in [
        (RowOrder::Sequential, AtEnd::Recycle),
        (RowOrder::Sequential, AtEnd::Stop),
        (RowOrder::Random, AtEnd::Recycle),
    ] {
        let feeds = open(&Feeder { share: Sharing::Partition, order, at_end, ..csv(&file, &["n"]) });
        assert_eq!(take(&mut Rows::new(&feeds, slot(2, 3)), 1), [0u64; 0]);
    }
}

#[test]
fn unique_rows_are_given_once_to_users_on_many_threads() {
    let file = numbered(4_000);
    for order in [RowOrder::Sequential, RowOrder::Random] {
        let feeder = Feeder { share: Sharing::Unique, order, at_end: AtEnd::Stop, ..csv(&file, &["n"]) };
        let feeds = open(&feeder);
        let users = (0..4).map(|user| {
            let mut rows = Rows::new(&feeds, slot(user, 4));
            thread::spawn(move || take(&mut rows, 5_000))
        });
        let users: Vec<_> = users.collect();
        let mut all: Vec<u64> =
            users.into_iter().flat_map(|user| user.join().expect("no user panics")).collect();
        all.sort_unstable();
        assert_eq!(all, (0..4_000).collect::<Vec<_>>());
    }
}

#[test]
fn unique_rows_of_different_machines_never_overlap_even_after_starting_over() {
    let file = numbered(11);
    for order in [RowOrder::Sequential, RowOrder::Random] {
        let feeder = Feeder { share: Sharing::Unique, order, ..csv(&file, &["n"]) };
        // The machines are at different places: one has read its rows three times, another not once.
        let taken: Vec<HashSet<u64>> = [(1, 12), (2, 4), (3, 5)]
            .map(|(part, count)| take(&mut Rows::new(&open_on(&feeder, 5, part, 3), slot(0, 9)), count))
            .map(|rows| rows.into_iter().collect())
            .into();
        let together: usize = taken.iter().map(HashSet::len).sum();
        let union: HashSet<u64> = taken.iter().flatten().copied().collect();
        assert_eq!((together, union.len()), (11, 11), "{taken:?}");
    }
    let feeder = Feeder { share: Sharing::Unique, at_end: AtEnd::Stop, ..csv(&file, &["n"]) };
    assert_eq!(take(&mut Rows::new(&open_on(&feeder, 5, 3, 3), slot(0, 9)), 20), [2, 5, 8]);
}

#[test]
fn a_unique_feeder_with_fewer_rows_than_machines_is_rejected() {
    let file = numbered(2);
    let feeder = Feeder { share: Sharing::Unique, ..csv(&file, &["n"]) };
    let sentence =
        Feeds::open(&[feeder], 1, machine(1, 3)).expect_err("one machine would have nothing").to_string();
    assert!(
        sentence.starts_with("too few rows for data `users`")
            && sentence.contains("has 2 rows, but there are 3"),
        "{sentence}"
    );
}

#[test]
fn a_shuffle_is_a_different_permutation_each_round_for_any_number_of_rows() {
    cases(60, |random| {
        let most = [20, 2_000][below(random, 2)];
        let count = 1 + below(random, most);
        let file = numbered(count);
        let feeder = Feeder { share: Sharing::Unique, order: RowOrder::Random, ..csv(&file, &["n"]) };
        let mut rows = Rows::new(&open_on(&feeder, random.next_u64(), 1, 1), slot(0, 1));
        let rounds = [take(&mut rows, count), take(&mut rows, count)];
        for round in &rounds {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..count as u64).collect::<Vec<_>>());
        }
        // With 10 or more rows, two equal orders happen by chance once in 3.6 million.
        assert!(count < 10 || rounds[0] != rounds[1], "{count} rows came twice in the same order");
    });
}

/// Pearson's chi-squared statistic of counts that should be equal.
fn chi_squared(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum()
}

#[test]
fn a_shuffle_starts_with_each_row_equally_often_over_all_seeds() {
    let file = numbered(7);
    let feeder = Feeder { share: Sharing::Unique, order: RowOrder::Random, ..csv(&file, &["n"]) };
    let mut pairs = vec![0u64; 49];
    for seed in 0..8_400 {
        let first = take(&mut Rows::new(&open_on(&feeder, seed, 1, 1), slot(0, 1)), 2);
        pairs[(first[0] * 7 + first[1]) as usize] += 1;
    }
    // 42 ordered pairs, 41 degrees of freedom: above 84 once in 10,000 even draws.
    let drawn: Vec<u64> = pairs.iter().copied().filter(|&count| count > 0).collect();
    assert_eq!(drawn.len(), 42);
    assert!(chi_squared(&drawn) < 84.0, "{pairs:?}");
}

#[test]
fn random_rows_are_uniform_differ_between_users_and_repeat_with_the_seed() {
    let file = numbered(10);
    let feeder = Feeder { order: RowOrder::Random, ..csv(&file, &["n"]) };
    let user = |seed, slot| take(&mut Rows::new(&open_on(&feeder, seed, 1, 1), slot), 20_000);
    let first = user(3, slot(0, 2));
    assert_eq!(first, user(3, slot(0, 2)));
    for (what, other) in [
        ("another seed", user(4, slot(0, 2))),
        ("another user", user(3, slot(1, 2))),
        ("another workload", user(3, UserSlot { workload: 1, ..slot(0, 2) })),
    ] {
        // Two independent sequences agree in one place of ten; four standard deviations are 170 places.
        let same = first.iter().zip(&other).filter(|(a, b)| a == b).count();
        assert!(same.abs_diff(2_000) < 170, "{what}: {same} of 20,000 places agree");
    }
    let mut counts = [0; 10];
    first.iter().for_each(|&row| counts[row as usize] += 1);
    // 9 degrees of freedom: above 33.7 once in 10,000.
    assert!(chi_squared(&counts) < 33.7, "{counts:?}");
}

#[test]
fn random_rows_of_a_partition_belong_to_the_user_and_stop_after_their_number() {
    let file = numbered(100);
    let feeder = Feeder {
        share: Sharing::Partition,
        order: RowOrder::Random,
        at_end: AtEnd::Stop,
        ..csv(&file, &["n"])
    };
    let taken = take(&mut Rows::new(&open(&feeder), slot(3, 10)), 50);
    assert_eq!(taken.len(), 10);
    assert!(taken.iter().all(|row| row % 10 == 3), "{taken:?}");
}

#[test]
fn a_file_of_setup_is_missing_before_setup_and_present_after_it() {
    let (ready, made) = (numbered(3), numbered(2));
    let unique = Feeder { share: Sharing::Unique, at_end: AtEnd::Stop, ..csv(&ready, &["n"]) };
    let feeders = [unique, Feeder { made_by_setup: true, ..csv(&made, &["n"]) }];
    let early = Arc::new(Feeds::open_ready(&feeders, 1, machine(1, 1)).expect("the first file is valid"));
    assert_eq!((early.row_count(0), early.row_count(1)), (Some(3), None));
    let mut rows = Rows::new(&early, slot(0, 1));
    assert_eq!(take(&mut rows, 1), [0]);
    let missing = Unfilled::Missing(Placeholder::Column { feeder: 1, column: 0 });
    assert_eq!(rows.value(1, 0, &mut Vec::new()), Err(missing));

    let late = Arc::new(early.open_rest(&feeders, 1, machine(1, 1)).expect("both files are valid"));
    assert_eq!(late.row_count(1), Some(2));
    let left = take(&mut Rows::new(&late, slot(0, 1)), 9);
    assert_eq!(left, [1, 2], "a row that setup has used is not given again");

    let path = made.0.display().to_string();
    drop(made);
    let sentence = early.open_rest(&feeders, 1, machine(1, 1)).expect_err("the file is gone").to_string();
    assert!(sentence.contains(&path) && sentence.contains("setup should have written it"), "{sentence}");
}

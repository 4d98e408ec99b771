//! Tallies and intervals: merging in any order and grouping gives the same result, and the encoding is sparse.

use crate::common::{Rng, encoded, random_interval, random_layout, random_tally};
use plimsoll_stats::{Interval, Layout, Tally};

fn plus(a: &Tally, b: &Tally) -> Tally {
    let mut sum = a.clone();
    sum.merge(b);
    sum
}

#[test]
fn each_kind_of_cell_adds_up_its_own_way() {
    let layout = Layout { sums: 2, peaks: 1, floors: 1, hists: 1, lasts: 0 };
    let (mut a, mut b) = (Tally::new(layout), Tally::new(layout));
    a.add(0, 3);
    a.peak(0, 10);
    a.floor(0, 10);
    a.record(0, 100);
    b.add(0, 4);
    b.add(1, 1);
    b.peak(0, 7);
    b.floor(0, 7);
    b.record(0, 200);
    a.merge(&b);
    assert_eq!(*a.sums, [7, 1]);
    assert_eq!((a.peaks[0], a.floors[0]), (10, 7));
    assert_eq!((a.hists[0].min(), a.hists[0].max(), a.hists[0].count()), (Some(100), Some(200), 2));
}

#[test]
fn merging_tallies_of_any_layouts_is_associative_and_commutative() {
    let mut rng = Rng(10);
    for _ in 0..300 {
        let [a, b, c] = [(); 3].map(|()| {
            let layout = random_layout(&mut rng);
            random_tally(&mut rng, layout)
        });
        assert_eq!(plus(&a, &b), plus(&b, &a));
        assert_eq!(plus(&plus(&a, &b), &c), plus(&a, &plus(&b, &c)));
    }
}

#[test]
fn an_empty_tally_of_the_same_or_a_smaller_layout_is_the_identity() {
    let mut rng = Rng(11);
    for _ in 0..100 {
        let layout = random_layout(&mut rng);
        let tally = random_tally(&mut rng, layout);
        for identity in [Tally::new(layout), Tally::new(Layout::default())] {
            assert_eq!(plus(&tally, &identity), tally);
            assert_eq!(plus(&identity, &tally), tally);
        }
    }
}

#[test]
fn a_newer_tally_with_more_cells_grows_an_older_one() {
    let mut old = Tally::new(Layout { sums: 1, peaks: 0, floors: 0, hists: 0, lasts: 0 });
    old.add(0, 1);
    let mut new = Tally::new(Layout { sums: 3, peaks: 1, floors: 1, hists: 1, lasts: 0 });
    new.add(2, 5);
    new.record(0, 9);
    old.merge(&new);
    assert_eq!(old.layout(), new.layout());
    assert_eq!((&*old.sums, old.floors[0], old.hists[0].count()), (&[1, 0, 5][..], u64::MAX, 1));
}

#[test]
fn clear_brings_back_the_identity_and_the_storage_stays() {
    let mut rng = Rng(12);
    let layout = Layout { sums: 9, peaks: 2, floors: 2, hists: 2, lasts: 0 };
    let mut tally = random_tally(&mut rng, layout);
    tally.peak(0, 1);
    assert!(!tally.is_empty());
    let before: usize = tally.hists.iter().map(|h| h.heap_bytes()).sum();
    tally.clear();
    assert!(tally.is_empty());
    assert_eq!(tally, Tally::new(layout));
    assert_eq!(tally.hists.iter().map(|h| h.heap_bytes()).sum::<usize>(), before);
}

#[test]
fn tallies_round_trip_canonically_and_leave_what_follows() {
    let mut rng = Rng(13);
    for _ in 0..300 {
        let layout = random_layout(&mut rng);
        let tally = random_tally(&mut rng, layout);
        let mut bytes = encoded(|out| tally.encode(out));
        bytes.push(7);
        let mut rest = &bytes[..];
        assert_eq!((Tally::decode(&mut rest), rest), (Ok(tally), &[7][..]));
    }
}

#[test]
fn six_hundred_idle_counters_cost_two_bytes_more_than_none() {
    let mut tally = Tally::new(Layout { sums: 600, peaks: 4, floors: 4, hists: 8, lasts: 0 });
    let empty = encoded(|out| tally.encode(out)).len();
    assert!(empty <= 11, "{empty} bytes");
    tally.add(200, 1_000_000);
    assert_eq!(encoded(|out| tally.encode(out)).len(), empty + 2 + 3, "a gap and a number");
}

#[test]
fn intervals_merge_like_their_tallies_and_keep_their_own_tick() {
    let mut rng = Rng(14);
    let plus = |a: &Interval, b: &Interval| {
        let mut sum = a.clone();
        sum.merge(b);
        sum
    };
    for _ in 0..150 {
        let [mut a, mut b, c] = [(); 3].map(|()| random_interval(&mut rng));
        assert_eq!(plus(&a, &b).tick, a.tick);
        assert_eq!(plus(&plus(&a, &b), &c), plus(&a, &plus(&b, &c)));
        (a.tick, b.tick) = (0, 0);
        assert_eq!(plus(&a, &b), plus(&b, &a));
    }
}

#[test]
fn the_series_total_is_the_same_whenever_it_is_taken() {
    let mut rng = Rng(15);
    for _ in 0..100 {
        let (a, b) = (random_interval(&mut rng), random_interval(&mut rng));
        let total_of_merged = {
            let mut both = a.clone();
            both.merge(&b);
            both.series_total()
        };
        assert_eq!(total_of_merged, plus(&a.series_total(), &b.series_total()));
    }
}

#[test]
fn intervals_round_trip_and_an_idle_series_is_one_byte() {
    let mut rng = Rng(16);
    for _ in 0..150 {
        let interval = random_interval(&mut rng);
        let bytes = encoded(|out| interval.encode(out));
        let mut rest = &bytes[..];
        assert_eq!((Interval::decode(&mut rest), rest.len()), (Ok(interval), 0));
    }
    let layout = Layout { sums: 600, peaks: 2, floors: 2, hists: 4, lasts: 0 };
    let len = |series| encoded(|out| Interval::new(layout, layout, series).encode(out)).len();
    assert_eq!(len(100) - len(50), 50);
}

#[test]
fn a_cleared_interval_is_a_new_one_at_the_same_tick() {
    let mut rng = Rng(17);
    let layout = Layout { sums: 5, peaks: 1, floors: 1, hists: 2, lasts: 0 };
    let mut interval = Interval::new(layout, layout, 2);
    interval.tick = 9;
    interval.run = random_tally(&mut rng, layout);
    interval.series[1] = random_tally(&mut rng, layout);
    interval.clear();
    let mut expected = Interval::new(layout, layout, 2);
    expected.tick = 9;
    assert_eq!(interval, expected);
}

#[test]
fn numbered_otherwise_it_is_the_same_sum() {
    let layout = Layout { sums: 1, ..Layout::default() };
    let with = |numbers: &[u64]| {
        let mut interval = Interval::new(Layout::default(), layout, numbers.len());
        interval.series.iter_mut().zip(numbers).for_each(|(one, n)| one.add(0, *n));
        interval
    };
    let mut sum = with(&[1]);
    // One fixed series, followed by two at other positions in the sum and one without a position.
    sum.merge_placed(&with(&[10, 20, 30, 40]), 1, &[Some(3), None, Some(1)]);
    let numbers: Vec<u64> = sum.series.iter().map(|one| one.sums.first().copied().unwrap_or(0)).collect();
    assert_eq!(numbers, [11, 40, 0, 20]);
}

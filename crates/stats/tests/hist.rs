//! The guarantees of a histogram: accuracy, exact edges, and merging in any order.

use crate::common::{Rng, encoded, hist_of, random_hist};
use plimsoll_stats::{BUCKETS, COUNT_MAX, Error, Hist, LAYOUT_ID, VALUE_MAX, bucket_bounds, bucket_of};

#[test]
fn buckets_tile_all_values_without_gap_or_overlap() {
    let mut next = 0;
    for index in 0..BUCKETS {
        let (low, high) = bucket_bounds(index);
        assert_eq!(low, next, "bucket {index} starts where the previous one ends");
        assert_eq!((bucket_of(low), bucket_of(high)), (index, index));
        next = high + 1;
    }
    assert_eq!(next, VALUE_MAX + 1);
}

#[test]
fn values_below_256_are_exact() {
    for value in 0..256 {
        assert_eq!(bucket_bounds(bucket_of(value)), (value, value));
    }
}

#[test]
fn any_value_is_within_0_4_percent_of_its_buckets_midpoint() {
    let mut rng = Rng(1);
    for _ in 0..200_000 {
        let value = rng.in_layout();
        // The two other values keep the clamp to min..=max from having an effect, and rank 2 from being an edge.
        let mut hist = Hist::new();
        if rng.below(100) == 0 {
            hist.record(0);
            hist.record(value);
            hist.record(VALUE_MAX);
            let error = hist.value_at_rank(2).map(|found| found.abs_diff(value) as f64);
            assert!(error.is_some_and(|e| e <= 0.004 * value as f64), "{value}: off by {error:?}");
        }
        let (low, high) = bucket_bounds(bucket_of(value));
        let midpoint = low + (high - low) / 2;
        assert!(midpoint.abs_diff(value) as f64 <= 0.004 * value as f64, "{value} versus {midpoint}");
    }
}

#[test]
fn quantiles_of_one_to_a_hundred_are_the_nearest_ranks() {
    let hist = hist_of(1..=100);
    // 0.07 * 100 is 7.000000000000001 in binary; the nearest rank is still 7.
    for (q, expected) in [(0.0, 1), (0.001, 1), (0.01, 1), (0.07, 7), (0.29, 29), (0.5, 50), (0.501, 51)] {
        assert_eq!(hist.quantile(q), Some(expected), "q = {q}");
    }
    for (q, expected) in [(0.57, 57), (0.9, 90), (0.99, 99), (0.991, 100), (1.0, 100)] {
        assert_eq!(hist.quantile(q), Some(expected), "q = {q}");
    }
    assert_eq!((hist.quantile(-3.0), hist.quantile(7.0)), (Some(1), Some(100)), "clamped");
    assert_eq!(hist.quantile(f64::NAN), None);
    assert_eq!((hist.value_at_rank(0), hist.value_at_rank(101)), (None, None));
}

#[test]
fn quantiles_agree_with_a_sorted_list_within_a_bucket() {
    let mut rng = Rng(2);
    let mut values: Vec<u64> = (0..5_000).map(|_| rng.in_layout()).collect();
    let hist = hist_of(values.iter().copied());
    values.sort_unstable();
    for rank in 1..=values.len() {
        let exact = values[rank - 1];
        let found = hist.value_at_rank(rank as u64);
        assert_eq!(found.map(bucket_of), Some(bucket_of(exact)), "rank {rank}");
        let bounds = hist.bounds_at_rank(rank as u64);
        assert!(bounds.is_some_and(|(low, high)| (low..=high).contains(&exact)), "rank {rank}");
    }
}

#[test]
fn smallest_and_largest_are_exact_and_quantiles_stay_between_them() {
    let hist = hist_of([1_000_003, 1_000_007]);
    assert_eq!((hist.min(), hist.max()), (Some(1_000_003), Some(1_000_007)));
    assert_eq!((hist.quantile(0.0), hist.quantile(1.0)), (Some(1_000_003), Some(1_000_007)));
    let single = hist_of([123_456_789; 3]);
    assert_eq!(single.quantile(0.5), Some(123_456_789), "the midpoint is clamped to the only value there is");
    assert_eq!(single.std_dev(), Some(0.0));
}

#[test]
fn values_beyond_the_layout_share_the_last_bucket_and_stay_exact_in_max_and_sum() {
    let hist = hist_of([VALUE_MAX + 1, u64::MAX, 5]);
    assert_eq!(hist.max(), Some(u64::MAX));
    assert_eq!(hist.quantile(1.0), Some(u64::MAX));
    assert_eq!(hist.sum(), u128::from(VALUE_MAX) + 1 + u128::from(u64::MAX) + 5);
    assert_eq!(hist.buckets().map(|(_, high, n)| (high, n)).collect::<Vec<_>>(), [(5, 1), (u64::MAX, 2)]);
}

#[test]
fn an_empty_histogram_answers_nothing() {
    let hist = Hist::new();
    assert!(hist.is_empty());
    assert_eq!((hist.count(), hist.sum()), (0, 0));
    assert_eq!((hist.min(), hist.max(), hist.quantile(0.5)), (None, None, None));
    assert_eq!((hist.mean(), hist.std_dev()), (None, None));
    assert_eq!((hist.count_at_most(9), hist.count_above(9), hist.buckets().count()), (0, 0, 0));
}

#[test]
fn mean_and_standard_deviation_have_known_answers() {
    // The population 2 4 4 4 5 5 7 9: mean 5, standard deviation 2.
    let hist = hist_of([2, 4, 4, 4, 5, 5, 7, 9]);
    assert_eq!((hist.mean(), hist.std_dev()), (Some(5.0), Some(2.0)));
    // A small deviation on a large mean, for which the one-pass formula would give nonsense: the midpoints of two
    // adjacent buckets.
    let midpoint = |index| (bucket_bounds(index).0 + bucket_bounds(index).1) / 2;
    let index = bucket_of(1 << 43);
    let mut far = Hist::new();
    far.record_n(midpoint(index), 1_000_000);
    far.record_n(midpoint(index + 1), 1_000_000);
    let expected = (midpoint(index + 1) - midpoint(index)) as f64 / 2.0;
    assert!(far.std_dev().is_some_and(|sd| (sd - expected).abs() < 1e-9 * expected), "{:?}", far.std_dev());
}

#[test]
fn counts_below_and_above_a_limit_add_up_and_round_to_whole_buckets() {
    let hist = hist_of((1..=1000).map(|ms| ms * 1_000_000));
    assert_eq!((hist.count_at_most(999_999), hist.count_at_most(1_000_000)), (0, 1));
    assert_eq!((hist.count_at_most(1_000_000_000), hist.count_above(1_000_000_000)), (1000, 0));
    for limit_ms in [100u64, 250, 500] {
        let at_most = hist.count_at_most(limit_ms * 1_000_000);
        assert!(at_most >= limit_ms && at_most as f64 <= limit_ms as f64 * 1.008, "{limit_ms}: {at_most}");
        assert_eq!(at_most + hist.count_above(limit_ms * 1_000_000), 1000);
    }
}

#[test]
fn recording_n_times_is_recording_n_times() {
    let mut at_once = Hist::new();
    at_once.record_n(777_777, 1_000);
    at_once.record_n(3, 0);
    assert_eq!(at_once, hist_of([777_777; 1_000]));
}

#[test]
fn merging_gives_what_recording_into_one_would_have_given() {
    let mut rng = Rng(3);
    let values: Vec<u64> = (0..3_000).map(|_| rng.any_magnitude()).collect();
    let mut merged = Hist::new();
    for part in values.chunks(7) {
        merged.merge(&hist_of(part.iter().copied()));
    }
    assert_eq!(merged, hist_of(values));
}

#[test]
fn merging_is_associative_and_commutative_with_the_empty_as_identity() {
    let mut rng = Rng(4);
    let plus = |a: &Hist, b: &Hist| {
        let mut sum = a.clone();
        sum.merge(b);
        sum
    };
    for _ in 0..300 {
        let (a, b, c) = (random_hist(&mut rng), random_hist(&mut rng), random_hist(&mut rng));
        assert_eq!(plus(&a, &b), plus(&b, &a));
        assert_eq!(plus(&plus(&a, &b), &c), plus(&a, &plus(&b, &c)));
        assert_eq!(plus(&a, &Hist::new()), a);
        assert_eq!(plus(&Hist::new(), &a), a);
    }
}

#[test]
fn counts_and_sums_stop_at_their_limit_instead_of_overflowing() {
    let mut hist = Hist::new();
    hist.record_n(u64::MAX, u64::MAX);
    hist.record_n(7, u64::MAX);
    let copy = hist.clone();
    hist.merge(&copy);
    assert_eq!(hist.count(), COUNT_MAX);
    assert_eq!(hist.count_at_most(7) + hist.count_above(7), COUNT_MAX);
    let bytes = encoded(|out| hist.encode(out));
    assert_eq!(Hist::decode(&mut &bytes[..]), Ok(hist.clone()));
    hist.record(1);
    assert_eq!(hist.min(), Some(1));
}

#[test]
fn clear_gives_an_empty_histogram_that_counts_like_a_new_one() {
    let mut rng = Rng(5);
    let mut used = Hist::new();
    for _ in 0..50 {
        let hist = random_hist(&mut rng);
        used.merge(&hist);
        assert_eq!(used, hist);
        used.clear();
        assert_eq!(used, Hist::new());
    }
}

#[test]
fn encoding_round_trips_is_canonical_and_leaves_what_follows() {
    let mut rng = Rng(6);
    for _ in 0..500 {
        let hist = random_hist(&mut rng);
        let mut bytes = encoded(|out| hist.encode(out));
        bytes.push(0xaa);
        let mut rest = &bytes[..];
        let decoded = Hist::decode(&mut rest);
        assert_eq!((decoded.as_ref(), rest), (Ok(&hist), &[0xaa][..]));
        if let Ok(decoded) = decoded {
            assert_eq!(encoded(|out| decoded.encode(out)), bytes[..bytes.len() - 1]);
        }
    }
}

#[test]
fn an_empty_histogram_is_one_byte_and_a_busy_second_about_one_byte_a_bucket() {
    assert_eq!(encoded(|out| Hist::new().encode(out)), [0]);
    // 10,000 responses between 1 and 10 ms.
    let mut rng = Rng(7);
    let hist = hist_of((0..10_000).map(|_| 1_000_000 + rng.below(9_000_000)));
    let bytes = encoded(|out| hist.encode(out));
    assert_eq!(bytes[0], LAYOUT_ID);
    assert!(bytes.len() <= hist.buckets().count() * 5 / 4 + 20, "{} bytes", bytes.len());
}

#[test]
fn a_histogram_on_demand_holds_no_storage_until_its_first_value() {
    let (mut recorded, mut merged) = (Hist::on_demand(), Hist::on_demand());
    let decoded = Hist::decode(&mut &[0u8][..]).unwrap_or_default();
    recorded.record_n(0, 0);
    merged.merge(&Hist::new());
    merged.clear();
    for empty in [&recorded, &merged, &decoded, &recorded.clone()] {
        assert_eq!((empty.heap_bytes(), empty == &Hist::new(), empty.quantile(0.5)), (0, true, None));
    }
    recorded.record(42);
    merged.merge(&recorded);
    assert_eq!((&recorded, &merged), (&hist_of([42]), &hist_of([42])));
    // A merged histogram holds the blocks that it needs.
    assert!(merged.heap_bytes() > 0 && merged.heap_bytes() < Hist::new().heap_bytes());
}

#[test]
fn contradictory_bytes_are_refused_by_name() {
    let refused = |bytes: &[u8]| Hist::decode(&mut &bytes[..]);
    assert_eq!(refused(&[]), Err(Error::Truncated));
    assert_eq!(refused(&[1, 5]), Err(Error::Truncated));
    assert_eq!(
        refused(&[9, 5]),
        Err(Error::UnknownVersion { what: "histogram layout", found: 9, known: LAYOUT_ID })
    );
    assert_eq!(refused(&[1, 5, 0, 5, 0]), Ok(hist_of([5])), "one value of 5, as the counterexample");
    assert!(
        matches!(refused(&[1, 5, 0, 6, 0]), Err(Error::Malformed { .. })),
        "one value of 5 cannot sum to 6"
    );
    assert!(matches!(refused(&[1, 5, 1, 11, 0, 1, 1]), Err(Error::Malformed { .. })), "a gap beyond max");
    assert!(matches!(refused(&[1, 0x85, 0, 0, 5, 0]), Err(Error::Malformed { .. })), "a padded number");
}

#[test]
fn debug_output_is_one_short_line() {
    assert_eq!(format!("{:?}", Hist::new()), "Hist(0 values)");
    assert_eq!(format!("{:?}", hist_of([1, 2])), "Hist(2 values, 1..=2, mean 1.5)");
}

#[test]
fn a_compact_histogram_says_what_a_whole_one_says_and_takes_a_part_of_its_memory() {
    let mut rng = Rng(5);
    for _ in 0..200 {
        let (mut whole, mut compact, mut other) = (Hist::new(), Hist::compact(), Hist::compact());
        for _ in 0..rng.below(60) {
            let value = rng.any_magnitude();
            whole.record(value);
            if rng.below(2) == 0 { compact.record(value) } else { other.record_n(value, 1) }
        }
        compact.merge(&other);
        assert_eq!((&compact, compact.quantile(0.9)), (&whole, whole.quantile(0.9)));
        let copy = compact.clone();
        assert_eq!(copy, whole);
        compact.clear();
        assert_eq!(compact, Hist::new());
        compact.merge(&copy);
        assert_eq!(compact, whole, "after clearing");
        let mut bytes = Vec::new();
        whole.encode(&mut bytes);
        assert_eq!(Hist::decode(&mut &*bytes).unwrap(), compact);
    }
    let mut near = Hist::compact();
    (1_000_000..2_000_000).step_by(1_000).for_each(|value| near.record(value));
    assert!(near.heap_bytes() <= 2_048, "{} bytes for one power of two", near.heap_bytes());
    let mut merged = Hist::on_demand();
    merged.merge(&near);
    assert!(merged.heap_bytes() <= 2_048, "{} bytes", merged.heap_bytes());
    merged.record(1);
    assert_eq!(
        merged.heap_bytes(),
        Hist::new().heap_bytes(),
        "recording into it does not make it grow again"
    );
}

//! Tests of two samples, adjusted p-values and resampling: against scipy, against counting, and by their own laws.

use plimsoll_stats::maths::bootstrap::{block_length, percentile_interval, resample, variance};
use plimsoll_stats::maths::holm::{adjust, adjust_weighted};
use plimsoll_stats::maths::ranks::{mann_whitney, shift};
use plimsoll_stats::maths::student::{Estimate, cdf, normal_cdf, quantile, two_sided};
use plimsoll_stats::random::SplitMix64;

/// Made by data/make_compare.py: its first lines say how.
const FIGURES: &str = include_str!("data/compare.tsv");

/// Rows of one kind, each cell a list of numbers.
fn rows(kind: &str) -> Vec<Vec<Vec<f64>>> {
    let numbers = |cell: &str| cell.split(',').map(|n| n.parse().expect("a number")).collect();
    let rows: Vec<Vec<Vec<f64>>> = FIGURES
        .lines()
        .filter_map(|line| line.strip_prefix(kind)?.strip_prefix('\t'))
        .map(|rest| rest.split('\t').map(numbers).collect())
        .collect();
    assert!(!rows.is_empty(), "no row of {kind}");
    rows
}

fn close(got: f64, wanted: f64, relative: f64, what: &str) {
    let room = relative * wanted.abs() + 1e-300;
    assert!((got - wanted).abs() <= room, "{what}: {got} instead of {wanted}");
}

fn normal(random: &mut SplitMix64) -> f64 {
    let uniform = ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    plimsoll_stats::inverse_normal(uniform)
}

#[test]
fn the_normal_distribution_agrees_with_scipy() {
    for row in rows("normal_cdf") {
        close(normal_cdf(row[0][0]), row[1][0], 1e-12, &format!("{row:?}"));
    }
    assert!(normal_cdf(f64::NAN).is_nan());
    assert_eq!((normal_cdf(f64::NEG_INFINITY), normal_cdf(f64::INFINITY)), (0.0, 1.0));
}

#[test]
fn students_distribution_agrees_with_scipy() {
    for row in rows("t_two_sided") {
        close(two_sided(row[0][0], row[1][0]), row[2][0], 5e-9, &format!("{row:?}"));
        let upper = 1.0 - row[2][0] / 2.0;
        close(cdf(row[0][0], row[1][0]), upper, 1e-9, &format!("{row:?}"));
    }
    for row in rows("t_quantile") {
        close(quantile(row[0][0], row[1][0]), row[2][0], 1e-8, &format!("{row:?}"));
    }
    // As printed in every table of it.
    close(quantile(0.975, 3.0), 3.182_446, 1e-6, "t(3)");
    close(quantile(0.975, 8.0), 2.306_004, 1e-6, "t(8)");
}

#[test]
fn student_lies_between_cauchy_and_normal_and_mirrors_itself() {
    for df in [1.0, 1.5, 3.0, 9.0, 200.0, f64::INFINITY] {
        for t in [0.2, 1.0, 3.0] {
            assert!(two_sided(t, df) <= two_sided(t, 1.0) + 1e-15);
            assert!(two_sided(t, df) >= 2.0 * normal_cdf(-t) - 1e-12);
            close(cdf(-t, df) + cdf(t, df), 1.0, 1e-14, "mirror");
            close(quantile(cdf(t, df), df), t, 1e-9, "inverse");
        }
    }
    for (t, df) in [(1.0, 0.0), (1.0, -1.0), (f64::NAN, 3.0), (1.0, f64::NAN)] {
        assert!(two_sided(t, df).is_nan());
    }
    assert!(quantile(2.0, 3.0).is_nan() && quantile(0.5, -1.0).is_nan());
    assert_eq!(two_sided(f64::INFINITY, 3.0), 0.0);
    assert!(quantile(1e-12, 0.3).is_finite());
}

#[test]
fn welch_agrees_with_scipy() {
    for row in rows("welch") {
        let [a, b] = [&row[0], &row[1]].map(|xs| Estimate::of(xs).expect("two values or more"));
        let difference = a.minus(b);
        close(difference.mean / difference.variance.sqrt(), row[2][0], 1e-9, "t");
        close(difference.df, row[3][0], 1e-9, "df");
        close(difference.p(), row[4][0], 1e-9, "p");
    }
    assert_eq!(Estimate::of(&[1.0]), None);
    assert_eq!(Estimate::of(&[1.0, f64::INFINITY]), None);
}

#[test]
fn intervals_of_four_values_hold_the_truth_as_often_as_they_say() {
    let mut random = SplitMix64::new(3);
    let mut holds = 0;
    for _ in 0..4_000 {
        let values: Vec<f64> = (0..4).map(|_| 5.0 + normal(&mut random)).collect();
        let estimate = Estimate::of(&values).expect("four values");
        holds += u32::from((estimate.mean - 5.0).abs() <= estimate.half_width(0.95));
    }
    // 3,800 expected, 13.8 deviation.
    assert!((3_745..3_855).contains(&holds), "{holds}");
}

#[test]
fn mann_whitney_agrees_with_scipy() {
    for (kind, exact) in [("mann_whitney_exact", true), ("mann_whitney_normal", false)] {
        for row in rows(kind) {
            let test = mann_whitney(&row[0], &row[1]).expect("two samples");
            assert_eq!(test.exact, exact, "{row:?}");
            close(test.u, row[2][0], 1e-12, "U");
            close(test.p, row[3][0], 1e-9, kind);
        }
    }
}

#[test]
fn ranks_do_not_mind_the_scale_and_mirror_themselves() {
    let mut random = SplitMix64::new(5);
    for (n, m) in [(1, 1), (3, 8), (20, 20), (50, 60)] {
        let a: Vec<f64> = (0..n).map(|_| normal(&mut random)).collect();
        let b: Vec<f64> = (0..m).map(|_| normal(&mut random) + 0.5).collect();
        let there = mann_whitney(&a, &b).expect("two samples");
        let back = mann_whitney(&b, &a).expect("two samples");
        assert_eq!(there.u + back.u, (n * m) as f64);
        close(there.p, back.p, 1e-12, "mirror");
        let bent = |xs: &[f64]| xs.iter().map(|x| x.exp()).collect::<Vec<f64>>();
        assert_eq!(mann_whitney(&bent(&a), &bent(&b)), Some(there));
    }
    assert_eq!(mann_whitney(&[], &[1.0]), None);
    assert_eq!(mann_whitney(&[f64::NAN], &[1.0]), None);
    assert_eq!(mann_whitney(&[2.0; 9], &[2.0; 9]).map(|t| t.p), Some(1.0));
}

#[test]
fn the_shift_agrees_with_counting_all_arrangements() {
    for row in rows("shift") {
        let found = shift(&row[0], &row[1], 0.95).expect("pairs");
        close(found.median, row[2][0], 1e-12, "median");
        let (low, high) = found.interval.expect("four values or more");
        close(low, row[3][0], 1e-12, "low");
        close(high, row[4][0], 1e-12, "high");
    }
    // Three against three: no arrangement is improbable enough for 95%.
    assert_eq!(shift(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.95).and_then(|s| s.interval), None);
    assert_eq!(shift(&[], &[1.0], 0.95), None);
    assert_eq!(shift(&[1.0], &[f64::INFINITY], 0.95), None);
}

#[test]
fn the_shifts_interval_moves_with_the_samples_and_holds_the_truth() {
    let mut random = SplitMix64::new(6);
    for (n, m, least) in [(8usize, 8usize, 0.93), (40, 45, 0.92)] {
        let (mut holds, mut moved) = (0, 0);
        for _ in 0..400 {
            let a: Vec<f64> = (0..n).map(|_| random.exponential()).collect();
            let b: Vec<f64> = (0..m).map(|_| random.exponential() + 2.0).collect();
            let found = shift(&a, &b, 0.95).expect("pairs");
            let (low, high) = found.interval.expect("enough values");
            holds += u32::from(low <= 2.0 && 2.0 <= high);
            let further: Vec<f64> = b.iter().map(|x| x + 1.0).collect();
            let after = shift(&a, &further, 0.95).expect("pairs");
            moved += u32::from((after.median - found.median - 1.0).abs() < 1e-9);
        }
        assert!(f64::from(holds) >= least * 400.0, "{n} {m} {holds}");
        assert_eq!(moved, 400);
    }
}

#[test]
fn holm_agrees_with_its_definition_and_never_helps_a_p_value() {
    for row in rows("holm") {
        for (got, wanted) in adjust(&row[0]).iter().zip(&row[1]) {
            close(*got, *wanted, 1e-12, "holm");
        }
        let equal = adjust_weighted(&row[0], &vec![3.0; row[0].len()]);
        adjust(&row[0]).iter().zip(&equal).for_each(|(x, y)| close(*y, *x, 1e-12, "equal weights"));
    }
    assert_eq!(adjust(&[]), [0.0; 0]);
    assert_eq!(adjust(&[f64::NAN, -1.0, 7.0]), [1.0, 0.0, 1.0]);
    // Half of the weight on the first: it needs p < 0.025, the two others 0.0125 each.
    let weighted = adjust_weighted(&[0.024, 0.03, 0.03], &[2.0, 1.0, 1.0]);
    close(weighted[0], 0.048, 1e-12, "first");
    close(weighted[1], 0.06, 1e-12, "others");
    assert_eq!(adjust_weighted(&[0.01, 0.01], &[1.0])[1], 1.0);
}

#[test]
fn a_family_of_equal_things_is_told_apart_in_one_of_twenty_at_most() {
    let mut random = SplitMix64::new(8);
    let uniform = |random: &mut SplitMix64| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    for weights in [[1.0; 6], [5.0, 1.0, 1.0, 1.0, 1.0, 1.0]] {
        let mut wrong = 0;
        for _ in 0..4_000 {
            let p: Vec<f64> = (0..6).map(|_| uniform(&mut random)).collect();
            wrong += u32::from(adjust_weighted(&p, &weights).iter().any(|p| *p < 0.05));
        }
        // 1 - (1 - 0.05/6)^6 = 4.9%: 196 expected, 13.6 deviation.
        assert!((140..255).contains(&wrong), "{wrong}");
    }
}

fn autoregressive(n: usize, keeps: f64, random: &mut SplitMix64) -> Vec<f64> {
    let mut x = normal(random) / (1.0 - keeps * keeps).sqrt();
    (0..n)
        .map(|_| {
            x = keeps * x + normal(random);
            x
        })
        .collect()
}

#[test]
fn stretches_grow_with_correlation() {
    let mut random = SplitMix64::new(9);
    let mut mean = |keeps: f64| {
        (0..40).map(|_| block_length(&autoregressive(400, keeps, &mut random)) as f64).sum::<f64>() / 40.0
    };
    let (none, some, much) = (mean(0.0), mean(0.5), mean(0.9));
    assert!(none < 4.0 && some > 2.0 * none.min(3.0) && much > 1.8 * some, "{none} {some} {much}");
    // The optimum for an AR(1) with 0.5: (2 G^2 / (4/3 g^2))^(1/3) n^(1/3), G / g = 2 k / (1 - k^2) = 4/3; 10.2.
    assert!((5.0..16.0).contains(&some), "{some}");
    for odd in [&[][..], &[1.0], &[2.0; 50], &[1.0, f64::NAN, 2.0, 3.0, 4.0]] {
        assert_eq!(block_length(odd), 1);
    }
}

#[test]
fn resamples_hold_as_many_values_as_there_are_each_as_often_as_any_other() {
    let mut random = SplitMix64::new(10);
    let mut total = vec![0u32; 37];
    for length in [0, 1, 5, 37, 100] {
        let mut weights = vec![0u32; 37];
        for _ in 0..2_000 {
            resample(&mut weights, length, &mut random);
            assert_eq!(weights.iter().sum::<u32>(), 37);
            total.iter_mut().zip(&weights).for_each(|(sum, w)| *sum += w);
        }
    }
    assert!(total.iter().all(|n| (9_300..10_700).contains(n)), "{total:?}");
    resample(&mut [], 3, &mut random);
}

#[test]
fn stretches_know_the_variance_that_single_values_miss() {
    let mut random = SplitMix64::new(12);
    let n = 300;
    // The mean of an AR(1) with 0.6 has 1 / (1 - 0.6)^2 / n of variance; taken as independent, a quarter of that.
    let truth = 1.0 / (0.4 * 0.4) / n as f64;
    let (mut blocks, mut singles) = (0.0, 0.0);
    for _ in 0..30 {
        let series = autoregressive(n, 0.6, &mut random);
        let mut weights = vec![0; n];
        let mut means = |length: usize, random: &mut SplitMix64| {
            let mut all: Vec<f64> = (0..200)
                .map(|_| {
                    resample(&mut weights, length, random);
                    series.iter().zip(&weights).map(|(x, w)| x * f64::from(*w)).sum::<f64>() / n as f64
                })
                .collect();
            let (low, high) = percentile_interval(&mut all, 0.95).expect("there are replicates");
            assert!(low < high);
            variance(&all) / 30.0
        };
        blocks += means(block_length(&series), &mut random);
        singles += means(1, &mut random);
    }
    assert!((0.6 * truth..1.2 * truth).contains(&blocks), "{blocks} of {truth}");
    assert!(singles < 0.4 * truth, "{singles} of {truth}");
    assert_eq!((variance(&[]), variance(&[3.0])), (0.0, 0.0));
    assert_eq!(percentile_interval(&mut [], 0.9), None);
}

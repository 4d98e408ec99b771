//! Intervals, sample sizes, and censoring, compared with results computed in another way.

use crate::common::{Rng, hist_of};
use plimsoll_stats::{
    Bounds, Censored, Hist, censored_quantile, clustered_interval, clustered_ranks, design_effect,
    inverse_normal, median, quantile_interval, samples_needed,
};

/// 1..=n, each once: for n < 256, a rank is its own value.
fn ranks_of(n: u64, q: f64) -> Bounds {
    quantile_interval(&hist_of(1..=n), q, 0.95)
}

/// P(B <= k) for B ~ binomial(n, q), by logarithms of factorials, unlike the crate.
fn binomial_cdf(n: u64, q: f64, k: u64) -> f64 {
    let ln_factorial = |m: u64| (2..=m).map(|i| (i as f64).ln()).sum::<f64>();
    (0..=k)
        .map(|i| {
            let ln_choose = ln_factorial(n) - ln_factorial(i) - ln_factorial(n - i);
            (ln_choose + i as f64 * q.ln() + (n - i) as f64 * (1.0 - q).ln()).exp()
        })
        .sum()
}

#[test]
fn the_median_of_a_hundred_lies_between_ranks_40_and_61() {
    assert_eq!(ranks_of(100, 0.5), Bounds { low: Some(40), high: Some(61) });
    // The same by hand: 39 below is improbable, 40 is not; and mirrored.
    assert!(binomial_cdf(100, 0.5, 39) <= 0.025 && binomial_cdf(100, 0.5, 40) > 0.025);
    assert!(binomial_cdf(100, 0.5, 60) >= 0.975 && binomial_cdf(100, 0.5, 59) < 0.975);
}

#[test]
fn ranks_are_the_tightest_that_the_binomial_allows() {
    for n in [1, 2, 5, 17, 60, 200, 255] {
        for q in [0.01, 0.1, 0.5, 0.9, 0.95, 0.99] {
            let cdf = |k: u64| binomial_cdf(n, q, k);
            let low = (1..=n).rev().find(|r| cdf(r - 1) <= 0.025);
            let high = (1..=n).find(|s| cdf(s - 1) >= 0.975);
            assert_eq!(ranks_of(n, q), Bounds { low, high }, "n = {n}, q = {q}");
        }
    }
}

#[test]
fn a_small_sample_leaves_the_tail_unbounded() {
    let bounds = ranks_of(100, 0.99);
    assert_eq!(bounds.high, None, "100 samples do not bound the 99th percentile");
    assert!(bounds.low.is_some());
    assert_eq!(ranks_of(5, 0.5), Bounds { low: None, high: None });
    assert_eq!(ranks_of(6, 0.5), Bounds { low: Some(1), high: Some(6) });
}

#[test]
fn the_step_from_exact_to_approximate_is_smooth() {
    // Of n values, the first `ones` are 1, the others 2: moving the border shows the ranks of both bounds.
    let bounds_at = |n: u64, ones: u64| {
        let mut hist = Hist::new();
        hist.record_n(1, ones);
        hist.record_n(2, n - ones);
        quantile_interval(&hist, 0.5, 0.95)
    };
    let ranks = |n: u64| {
        let low = (1..n).find(|ones| bounds_at(n, *ones).low == Some(1));
        let high = (1..n).find(|ones| bounds_at(n, *ones).high == Some(1));
        (low, high)
    };
    // q = 0.5 has variance n/4, so 40,000 is the last exact case. 20,000 - 1.959964 * 100 - 0.5 = 19,803.5, so the rank
    // is 19,804, and its mirror image; two more samples shift the middle by one.
    assert_eq!(ranks(40_000), (Some(19_804), Some(20_197)));
    assert_eq!(ranks(40_002), (Some(19_805), Some(20_198)));
}

#[test]
fn the_interval_holds_the_true_quantile_as_often_as_promised() {
    let mut rng = Rng(20);
    for (n, q) in [(50u64, 0.5), (400, 0.9), (2_000, 0.99)] {
        let held = (0..1_000)
            .filter(|_| {
                let hist = hist_of((0..n).map(|_| rng.below(1 << 30)));
                let truth = (q * (1u64 << 30) as f64) as u64;
                let bounds = quantile_interval(&hist, q, 0.95);
                bounds.low.is_none_or(|low| low <= truth) && bounds.high.is_none_or(|high| truth <= high)
            })
            .count();
        // 1,000 trials at 0.95 or slightly above: below 925 has a probability of 0.0003.
        assert!(held >= 925, "n = {n}, q = {q}: held in {held} of 1000");
    }
}

#[test]
fn bounds_are_rounded_outwards_to_the_ends_of_their_buckets() {
    let mut hist = Hist::new();
    hist.record(1);
    hist.record_n(1_000_001, 1_000);
    hist.record(u64::MAX);
    let bounds = quantile_interval(&hist, 0.5, 0.95);
    assert!(bounds.low.is_some_and(|low| (992_000..=1_000_001).contains(&low)), "{bounds:?}");
    assert!(bounds.high.is_some_and(|high| (1_000_001..1_008_000).contains(&high)), "{bounds:?}");
}

#[test]
fn senseless_arguments_give_no_bounds() {
    let hist = hist_of(1..=100);
    for (q, confidence) in
        [(f64::NAN, 0.95), (1.5, 0.95), (-0.1, 0.95), (0.5, f64::NAN), (0.5, 1.0), (0.5, 0.0)]
    {
        assert_eq!(quantile_interval(&hist, q, confidence), Bounds::default());
    }
    assert_eq!(quantile_interval(&Hist::new(), 0.5, 0.95), Bounds::default());
    assert_eq!(ranks_of(100, 1.0), Bounds { low: Some(100), high: None });
    assert_eq!(ranks_of(100, 0.0), Bounds { low: None, high: Some(1) });
}

#[test]
fn huge_counts_are_answered_at_once() {
    let mut hist = Hist::new();
    hist.record_n(3, 1 << 62);
    hist.record_n(4, 1 << 62);
    assert_eq!(quantile_interval(&hist, 0.999_999_999, 0.95), Bounds { low: Some(4), high: Some(4) });
    assert_eq!(quantile_interval(&hist, 1e-300, 0.95).high, Some(3));
}

#[test]
fn samples_needed_is_ten_beyond_the_quantile() {
    for (q, needed) in [(0.0, 10), (0.5, 20), (0.9, 100), (0.95, 200), (0.99, 1_000), (0.999, 10_000)] {
        assert_eq!(samples_needed(q), needed, "q = {q}");
    }
    assert_eq!((samples_needed(0.9999), samples_needed(0.99999)), (100_000, 1_000_000));
    assert_eq!((samples_needed(1.0), samples_needed(f64::NAN)), (u64::MAX, u64::MAX));
}

#[test]
fn a_percentile_above_the_censored_samples_is_only_a_lower_limit() {
    // 95 responses at 1..=95 and five timeouts, each known to take at least 200.
    let (exact, bounds) = (hist_of(1..=95), hist_of([200; 5]));
    assert_eq!(censored_quantile(&exact, &bounds, 0.9), Some(Censored { value: 90, at_least: false }));
    assert_eq!(censored_quantile(&exact, &bounds, 0.95), Some(Censored { value: 95, at_least: false }));
    assert_eq!(censored_quantile(&exact, &bounds, 0.96), Some(Censored { value: 200, at_least: true }));
    assert_eq!(censored_quantile(&exact, &bounds, 1.0), Some(Censored { value: 200, at_least: true }));
}

#[test]
fn requests_cut_off_early_by_the_stop_raise_doubt_where_they_would_move_the_answer() {
    // Ten requests were stopped after only 1: had they continued, the median would be up to 10 ranks higher.
    let (exact, bounds) = (hist_of((1..=90).map(|v| v * 1_000)), hist_of([1; 10]));
    assert_eq!(censored_quantile(&exact, &bounds, 0.5).map(|c| c.at_least), Some(true));
    // If all responses are equal, it makes no difference.
    let exact = hist_of([5_000; 90]);
    assert_eq!(censored_quantile(&exact, &bounds, 0.5), Some(Censored { value: 5_000, at_least: false }));
}

#[test]
fn a_move_of_one_bucket_is_no_doubt_but_two_are() {
    let bounds = hist_of([1]);
    let quantile = |exact: [u64; 3]| censored_quantile(&hist_of(exact), &bounds, 0.5).map(|c| c.at_least);
    // Of four, rank 2: the first of the exact ones with the lower bound, the second with it at infinity.
    assert_eq!((quantile([10, 11, 12]), quantile([10, 12, 13])), (Some(false), Some(true)));
}

#[test]
fn without_censored_samples_it_is_the_plain_quantile() {
    let exact = hist_of(1..=10);
    assert_eq!(censored_quantile(&exact, &Hist::new(), 0.5), Some(Censored { value: 5, at_least: false }));
    assert_eq!(censored_quantile(&Hist::new(), &Hist::new(), 0.5), None);
    let only = censored_quantile(&Hist::new(), &exact, 0.5);
    assert_eq!(only, Some(Censored { value: 5, at_least: true }));
}

#[test]
fn medians_of_odd_even_and_no_values() {
    assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), Some(2.5));
    assert_eq!(median(&mut [7.0]), Some(7.0));
    assert_eq!(median(&mut []), None);
    assert_eq!(median(&mut [1.0, f64::NAN, 2.0]), None);
    assert_eq!(median(&mut [f64::MAX, f64::MAX]), Some(f64::MAX));
}

#[test]
fn inverse_normal_has_the_values_of_the_tables() {
    for (p, x) in [
        (0.5, 0.0),
        (0.75, 0.674_489_750_196_081_7),
        (0.975, 1.959_963_984_540_054),
        (0.995, 2.575_829_303_548_901),
        (0.999_5, 3.290_526_731_491_896),
        (1e-9, -5.997_807_015_007_687),
        (1e-20, -9.262_340_089_798_408),
    ] {
        let found = inverse_normal(p);
        assert!((found - x).abs() <= 1e-13 * x.abs().max(1.0), "p = {p}: {found}");
    }
    assert_eq!((inverse_normal(0.0), inverse_normal(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    assert!(
        inverse_normal(-0.1).is_nan() && inverse_normal(1.1).is_nan() && inverse_normal(f64::NAN).is_nan()
    );
}

#[test]
fn inverse_normal_undoes_the_integral_of_the_density() {
    // Simpson's rule from 0 to x, accurate to about 1e-14 here: every coefficient of the central and middle ranges is
    // used.
    let phi = |x: f64| {
        let (steps, density) = (4_000, |t: f64| (-t * t / 2.0).exp() / std::f64::consts::TAU.sqrt());
        let h = x / f64::from(steps);
        let inner: f64 =
            (1..steps).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * density(h * f64::from(i))).sum();
        0.5 + h / 3.0 * (density(0.0) + inner + density(x))
    };
    for i in 0..=90 {
        let x = f64::from(i) * 0.05;
        // Near x = 4.5, a rounding error in p is 1e-16 / density = 6e-12 in x.
        assert!((inverse_normal(phi(x)) - x).abs() < 1e-10, "x = {x}: {}", inverse_normal(phi(x)));
    }
}

#[test]
fn inverse_normal_agrees_with_itself_where_its_three_formulas_meet() {
    for seam in [0.075, (-25.0f64).exp()] {
        let (left, right) = (inverse_normal(seam * (1.0 - 1e-12)), inverse_normal(seam * (1.0 + 1e-12)));
        assert!(left < right && right - left < 1e-10, "{left} {right}");
    }
}

/// Groups of 1,000 values, in which this share lies above the quantile.
fn groups(shares: impl Iterator<Item = f64>) -> Vec<(u64, u64)> {
    shares.map(|share| ((share * 1_000.0).round() as u64, 1_000)).collect()
}

#[test]
fn independent_groups_have_a_design_effect_of_about_one() {
    let mut rng = Rng(41);
    let mut effects = Vec::new();
    for _ in 0..200 {
        let groups: Vec<(u64, u64)> = (0..30)
            .map(|_| ((0..400).filter(|_| rng.next().is_multiple_of(20)).count() as u64, 400))
            .collect();
        effects.push(design_effect(&groups).unwrap());
    }
    let mean = effects.iter().sum::<f64>() / 200.0;
    // Estimates below 1 count as 1: half of a spread of sqrt(3/29) = 0.32, which is 0.13 on average.
    assert!((1.05..1.25).contains(&mean), "{mean}");
}

#[test]
fn late_values_that_come_together_have_the_design_effect_of_their_number() {
    // One value in a hundred is late. Alone, or always 20 together.
    let mut rng = Rng(42);
    let mut groups = Vec::new();
    for _ in 0..400 {
        let bursts = (0..50).filter(|_| rng.next().is_multiple_of(100)).count() as u64;
        groups.push((bursts * 20, 1_000));
    }
    let effect = design_effect(&groups).unwrap();
    assert!((16.0..24.0).contains(&effect), "{effect}");
}

#[test]
fn a_step_of_the_load_is_not_a_correlation() {
    let step = groups((0..20).map(|at| if at < 10 { 0.01 } else { 0.05 }));
    // One difference of 20 is due to the step: 0.04^2 * 500 = 0.8, of 19 * 0.03 * 0.97.
    assert!(design_effect(&step).unwrap() < 1.6);
    let alternating = groups((0..20).map(|at| if at % 2 == 0 { 0.01 } else { 0.05 }));
    assert!(design_effect(&alternating).unwrap() > 20.0);
}

#[test]
fn few_groups_have_no_design_effect() {
    assert_eq!(design_effect(&groups((0..7).map(|_| 0.5))), None);
    assert!(design_effect(&groups((0..8).map(|_| 0.5))).is_some());
    assert_eq!(design_effect(&[(0, 0); 50]), None, "groups without values do not count");
    assert_eq!(design_effect(&[(0, 10); 50]), Some(1.0));
}

#[test]
fn a_design_effect_makes_the_sample_smaller() {
    let hist = hist_of(1..=200);
    assert_eq!(clustered_interval(&hist, 0.5, 0.95, 1.0), quantile_interval(&hist, 0.5, 0.95));
    // Worth 100 values: ranks 40 and 61 of 100, so 80 and 122 of 200.
    assert_eq!(clustered_interval(&hist, 0.5, 0.95, 2.0), Bounds { low: Some(80), high: Some(122) });
    // Worth 5: too few for either side.
    assert_eq!(clustered_interval(&hist, 0.5, 0.95, 40.0), Bounds::default());
    assert_eq!(clustered_ranks(200, 0.5, 0.95, 40.0), Some((0, 201)));
    for effect in [0.5, f64::NAN, f64::NEG_INFINITY] {
        assert_eq!(clustered_interval(&hist, 0.5, 0.95, effect), Bounds::default(), "{effect}");
    }
}

//! Change points, trends, spikes, and steady state: they agree with reference programs, find planted effects, and
//! report nothing for noise.

use plimsoll_stats::maths::changepoint::{changes, pelt, spikes, trend};
use plimsoll_stats::maths::steady::{State, mser5};
use plimsoll_stats::random::SplitMix64;

const REFERENCE: &str = include_str!("data/changepoint.tsv");

fn noise(random: &mut SplitMix64) -> f64 {
    (0..12).map(|_| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
}

/// Level plus unit noise with an autocorrelation of `r`.
fn group_identical(n: usize, r: f64, seed: u64, level: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let (mut state, fresh) = (0.0, (1.0 - r * r).sqrt());
    (0..n)
        .map(|at| {
            state = r * state + fresh * noise(&mut random);
            level(at) + state
        })
        .collect()
}

#[test]
fn cuts_slopes_and_p_values_are_those_of_the_reference_programs() {
    let mut seen = 0;
    for line in REFERENCE.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, penalty, cuts, slope, p, _, values] = fields[..] else {
            panic!("seven fields: {name}", name = fields[0])
        };
        let number = |text: &str| text.parse::<f64>().expect("the data are numbers");
        let values: Vec<f64> = values.split(',').map(number).collect();
        let wanted: Vec<usize> =
            cuts.split(',').filter(|c| *c != "-").map(|c| c.parse().expect("an index")).collect();
        assert_eq!(pelt(&values, number(penalty), 5), wanted, "{name}");
        let found = trend(&values).expect("long enough");
        assert!((found.slope - number(slope)).abs() < 1e-9, "{name}: {}", found.slope);
        assert!(found.low <= found.slope && found.slope <= found.high, "{name}");
        assert!((found.p_value - number(p)).abs() < 1e-6 + 1e-4 * number(p), "{name}: {} {p}", found.p_value);
        seen += 1;
    }
    assert_eq!(seen, 5);
}

/// The best cuts without any pruning.
fn best_of_all(values: &[f64], penalty: f64, shortest: usize) -> (f64, Vec<usize>) {
    let mut best: Vec<Option<(f64, Vec<usize>)>> = vec![Some((-penalty, Vec::new()))];
    for to in 1..=values.len() {
        let through = |from: usize| {
            let (total, cuts) = best[from].as_ref()?;
            let cuts: Vec<usize> = cuts.iter().copied().chain((from > 0).then_some(from)).collect();
            Some((total + penalty + squares(&values[from..to]), cuts))
        };
        let reachable = (0..to).filter(|from| to - from >= shortest).filter_map(through);
        let found = reachable.min_by(|a, b| a.0.total_cmp(&b.0));
        best.push(found);
    }
    best.pop().flatten().unwrap_or_else(|| panic!("{} values contain no segment of {shortest}", values.len()))
}

fn squares(part: &[f64]) -> f64 {
    let mean = part.iter().sum::<f64>() / part.len() as f64;
    part.iter().map(|v| (v - mean).powi(2)).sum()
}

#[test]
fn pruning_loses_no_cut_whatever_the_shortest_stretch_is() {
    for seed in 0..400 {
        let shortest = 1 + (seed % 8) as usize;
        let length = 2 * shortest + 5 + (seed % 23) as usize;
        let period = 3 + (seed % 7) as usize;
        let values =
            group_identical(length, 0.0, seed, |at| if (at / period).is_multiple_of(2) { 0.0 } else { 3.0 });
        for penalty in [0.1, 2.0, 8.0] {
            let (least, wanted) = best_of_all(&values, penalty, shortest);
            let found = pelt(&values, penalty, shortest);
            let bounds: Vec<usize> = [0].into_iter().chain(found.clone()).chain([length]).collect();
            assert!(bounds.windows(2).all(|w| w[1] - w[0] >= shortest), "seed {seed}: {found:?}");
            let cost: f64 = bounds.windows(2).map(|w| squares(&values[w[0]..w[1]]) + penalty).sum();
            let gap = cost - penalty - least;
            assert!(gap.abs() < 1e-9, "seed {seed}, {shortest}, {penalty}: {found:?}, not {wanted:?}");
        }
    }
}

#[test]
fn a_shift_is_found_where_it_is() {
    for seed in 0..20 {
        let values = group_identical(300, 0.0, seed, |at| if at < 120 { 50.0 } else { 54.0 });
        let found = changes(&values);
        assert_eq!(found.len(), 1, "seed {seed}: {found:?}");
        assert!(found[0].at.abs_diff(120) <= 3 && (found[0].after - found[0].before - 4.0).abs() < 0.5);
    }
}

#[test]
fn noise_has_no_levels_even_if_neighbours_are_alike() {
    for (r, most) in [(0.0, 1), (0.5, 2), (0.8, 4)] {
        let false_alarms = (0..40)
            .filter(|seed| !changes(&group_identical(400, r, 1_000 + seed, |_| 80.0)).is_empty())
            .count();
        assert!(false_alarms <= most, "r = {r}: {false_alarms} of 40");
    }
}

#[test]
fn spikes_are_no_levels_and_levels_no_spikes() {
    let values = group_identical(400, 0.3, 5, |at| if at % 40 == 20 { 90.0 } else { 20.0 });
    assert_eq!(spikes(&values).len(), 10);
    assert!(changes(&values).is_empty(), "{:?}", changes(&values));
    let step = group_identical(400, 0.3, 5, |at| if at < 200 { 20.0 } else { 90.0 });
    assert!(spikes(&step).is_empty());
    assert_eq!(changes(&step).len(), 1);
}

#[test]
fn a_leak_has_a_slope_and_noise_has_none() {
    let leak = trend(&group_identical(600, 0.5, 3, |at| 10.0 + 0.01 * at as f64)).expect("long enough");
    assert!(leak.p_value < 1e-6 && leak.low < 0.01 && leak.high > 0.01, "{leak:?}");
    let silent =
        |seed: &u64| trend(&group_identical(600, 0.6, *seed, |_| 10.0)).is_some_and(|t| t.p_value > 0.001);
    assert!((2_000..2_040).filter(silent).count() >= 38);
}

#[test]
fn the_beginning_is_cut_where_it_ends() {
    // Some 30 values of a warm-up that fades, at first 15 deviations above the rest. The heuristic sometimes cuts too
    // much, never too little.
    let cuts: Vec<usize> = (0..20)
        .map(|seed| {
            let cut = mser5(&group_identical(300, 0.0, seed, |at| 20.0 + 15.0 * (-(at as f64) / 10.0).exp()));
            assert!(matches!(cut.state, State::Steady | State::StillSettling), "seed {seed}: {cut:?}");
            cut.at
        })
        .collect();
    assert!(cuts.iter().all(|at| *at >= 15), "{cuts:?}");
    assert!(cuts.iter().filter(|at| **at <= 80).count() >= 16, "{cuts:?}");
}

#[test]
fn a_run_that_never_settles_says_so() {
    let rising = mser5(&group_identical(300, 0.0, 1, |at| 20.0 + 0.1 * at as f64));
    assert!(!matches!(rising.state, State::Steady), "{rising:?}");
    let late = mser5(&group_identical(300, 0.0, 1, |at| if at < 200 { 20.0 } else { 60.0 }));
    assert!(!matches!(late.state, State::Steady), "{late:?}");
    assert_eq!(mser5(&[1.0; 19]).state, State::TooShort);
}

#[test]
fn the_cut_is_the_least_squared_error_of_all_cuts() {
    for seed in 0..10 {
        let values = group_identical(200, 0.4, seed, |at| if at < 25 { 24.0 } else { 20.0 });
        let batches: Vec<f64> = values.chunks(5).map(|c| c.iter().sum::<f64>() / 5.0).collect();
        let error = |at: usize| {
            let rest = &batches[at..];
            let (n, mean) = (rest.len() as f64, rest.iter().sum::<f64>() / rest.len() as f64);
            rest.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n * n)
        };
        let best = (0..=batches.len() / 2).min_by(|a, b| error(*a).total_cmp(&error(*b))).expect("some cut");
        assert_eq!(mser5(&values).at, best * 5, "seed {seed}");
    }
}

#[test]
fn nothing_in_the_values_makes_it_panic_or_loop() {
    let odd: [&[f64]; 8] = [
        &[],
        &[1.0],
        &[f64::NAN; 40],
        &[f64::INFINITY; 40],
        &[0.0; 40],
        &[5.0; 3_600],
        &[f64::MAX; 40],
        &[f64::MIN_POSITIVE; 40],
    ];
    for values in odd {
        assert!(changes(values).is_empty() && spikes(values).is_empty(), "{:?}", values.first());
        assert!(trend(values).is_none_or(|t| t.slope == 0.0));
        let _any = (mser5(values), pelt(values, f64::NAN, 0), pelt(values, 0.0, 0), pelt(values, -1.0, 1));
    }
}

#[test]
fn nine_hours_of_seconds_are_judged() {
    let calm = group_identical(32_400, 0.5, 1, |_| 50.0);
    assert_eq!(mser5(&calm).state, State::Steady);
    let stepped = group_identical(32_400, 0.5, 1, |at| if at < 20_000 { 50.0 } else { 60.0 });
    assert!(!matches!(mser5(&stepped).state, State::Steady));
}

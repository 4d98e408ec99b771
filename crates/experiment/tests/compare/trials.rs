//! Many comparisons with a known truth: how often they miss it, and how often they raise a false alarm.

use crate::compare::sim::{Random, Service, Spread, USUAL, place, run, side, sides};
use plimsoll_experiment::compare::{Basis, CompareOptions, Comparison, Overall, Side, compare};

/// Counts over many comparisons.
#[derive(Debug, Default)]
struct Score {
    /// Comparisons with any metric that was called better or worse.
    named: u32,
    slower: u32,
    none: u32,
    /// Comparisons whose interval of the median contains no change.
    holds_zero: u32,
    half_width_p50: f64,
    half_width_p99: f64,
}

fn score(of: u32, asked: &CompareOptions, mut make: impl FnMut() -> (Side, Side)) -> Score {
    let mut score = Score::default();
    for seed in 0..of {
        let (a, b) = make();
        let c: Comparison = compare(&a, &b, &CompareOptions { seed: u64::from(seed), ..asked.clone() });
        score.named += u32::from(c.figures.iter().any(|f| f.verdict.is_better() || f.verdict.is_worse()));
        score.slower += u32::from(c.verdict == Overall::Slower);
        score.none += u32::from(c.verdict == Overall::Equivalent);
        let ends = |name: &str| {
            let row = c.figure(name).expect("it is compared");
            (row.low.unwrap_or(f64::NAN), row.high.unwrap_or(f64::NAN))
        };
        let (p50, p99) = (ends("response_time p50"), ends("response_time p99"));
        score.half_width_p50 += (p50.1 - p50.0) / 2.0 / f64::from(of);
        score.half_width_p99 += (p99.1 - p99.0) / 2.0 / f64::from(of);
        score.holds_zero += u32::from(p50.0 < 0.0 && p50.1 > 0.0);
    }
    score
}

fn slowed(service: Service, by: f64) -> Service {
    Service { mean_ns: service.mean_ns * by, ..service }
}

#[test]
fn equal_services_differ_in_at_most_17_of_200_comparisons() {
    let short = Service { seconds: 20, ..USUAL };
    let mut random = Random::new(101);
    let score = score(200, &CompareOptions::default(), || sides(&short, &short, 5, &mut random));
    assert!(score.named <= 17, "{score:?}");
    // The intervals must not be too wide either: a 95% interval misses occasionally.
    assert!((180..200).contains(&score.holds_zero), "{score:?}");
    assert!(score.half_width_p50 < 0.10, "{score:?}");
}

#[test]
fn a_service_slowed_by_5_percent_is_found_in_nine_of_ten() {
    for spread in [Spread::Exponential, Spread::Lognormal(1.0)] {
        let a = Service { spread, ..USUAL };
        let mut random = Random::new(102);
        let score = score(30, &CompareOptions::default(), || sides(&a, &slowed(a, 1.05), 5, &mut random));
        assert!(score.slower >= 27, "{spread:?} {score:?}");
    }
}

#[test]
fn a_faster_service_is_the_mirror_image_of_a_slower_one() {
    let (a, b) = sides(&USUAL, &slowed(USUAL, 1.10), 5, &mut Random::new(103));
    let (there, back) =
        (compare(&a, &b, &CompareOptions::default()), compare(&b, &a, &CompareOptions::default()));
    assert_eq!((there.verdict, back.verdict), (Overall::Slower, Overall::Faster));
    for (x, y) in there.figures.iter().zip(&back.figures).filter(|(x, _)| x.figure.contains("time")) {
        // The resamples of the two sides are drawn in a different order, which moves the minimum a little.
        let (x, y) = (x.difference.unwrap(), y.difference.unwrap());
        assert!(((1.0 + x) * (1.0 + y) - 1.0).abs() < 1e-9, "{x} {y}");
    }
}

#[test]
fn one_run_of_each_side_reports_only_differences_far_above_run_to_run_variation() {
    let short = Service { seconds: 20, ..USUAL };
    let mut random = Random::new(104);
    let same = score(60, &CompareOptions::default(), || sides(&short, &short, 1, &mut random));
    assert!(same.named <= 1, "{same:?}");
    let slower =
        score(20, &CompareOptions::default(), || sides(&short, &slowed(short, 1.05), 1, &mut random));
    assert!(slower.slower <= 2, "{slower:?}");
    let twice = score(20, &CompareOptions::default(), || sides(&short, &slowed(short, 1.3), 1, &mut random));
    assert_eq!(twice.slower, 20, "{twice:?}");
}

#[test]
fn steady_services_are_found_equal() {
    let steady = Service { between: 0.002, drift: 0.002, rate: 400.0, ..USUAL };
    let mut random = Random::new(105);
    let asked = CompareOptions { min_difference_ratio: 0.10, ..CompareOptions::default() };
    let score = score(20, &asked, || sides(&steady, &steady, 5, &mut random));
    assert!(score.none >= 18, "{score:?}");
}

/// The machine's speed changes by 10% from repeat to repeat; consecutive runs share it.
fn in_one_weather(a: &Service, b: &Service, repeats: u32, random: &mut Random) -> (Side, Side) {
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for repeat in 0..repeats {
        let weather = (0.10 * random.normal()).exp();
        let (mut first, mut second) = (run(a, weather, random), run(b, weather, random));
        place(&mut first, "a", repeat, 2 * repeat);
        place(&mut second, "b", repeat, 2 * repeat + 1);
        of_a.push(first);
        of_b.push(second);
    }
    (side("a", of_a), side("b", of_b))
}

#[test]
fn interleaved_repeats_cancel_a_drift_that_both_sides_share() {
    let light = Service { seconds: 10, rate: 500.0, ..USUAL };
    let mut random = Random::new(106);
    let (a, b) = in_one_weather(&light, &slowed(light, 1.10), 8, &mut random);
    let paired = compare(&a, &b, &CompareOptions::default());
    let p50 = paired.figure("response_time p50").unwrap();
    assert_eq!((p50.basis, paired.verdict), (Basis::Pairs, Overall::Slower), "{}", paired.sentence);

    // Without their places, the same runs have the drift in the interval.
    let bare = |side: &Side| {
        let mut side = side.clone();
        side.runs.iter_mut().for_each(|run| run.cell = None);
        side
    };
    let apart = compare(&bare(&a), &bare(&b), &CompareOptions::default());
    let wide = apart.figure("response_time p50").unwrap();
    assert_eq!(wide.basis, Basis::Runs);
    assert!(wide.high.unwrap() - wide.low.unwrap() > 1.5 * (p50.high.unwrap() - p50.low.unwrap()));

    // If all runs of one side came first, there are no pairs.
    let mut later = b.clone();
    later.runs.iter_mut().for_each(|run| run.started_unix_ns += 1_000_000_000_000);
    let after = compare(&a, &later, &CompareOptions::default());
    assert!(after.figures.iter().all(|row| row.basis == Basis::Runs));

    // Pairs raise no false alarm either.
    let same = score(60, &CompareOptions::default(), || in_one_weather(&light, &light, 8, &mut random));
    assert!(same.named <= 7, "{same:?}");

    // With too few runs for pairs, the drift counts twice: that hides differences and never causes one.
    let same = score(40, &CompareOptions::default(), || in_one_weather(&light, &light, 5, &mut random));
    assert!(same.named <= 1 && same.holds_zero >= 38, "{same:?}");
}

#[test]
fn the_order_of_the_runs_and_not_their_results_decides_between_pairs_and_welch() {
    let short = Service { seconds: 10, rate: 300.0, ..USUAL };
    let mut random = Random::new(110);
    for (repeats, wanted) in [(5, Basis::Runs), (7, Basis::Runs), (8, Basis::Pairs)] {
        for _ in 0..8 {
            let (a, b) = sides(&short, &short, repeats, &mut random);
            let c = compare(&a, &b, &CompareOptions::default());
            assert!(c.figures.iter().all(|row| row.basis == wanted), "{repeats} repeats: {:?}", c.figures);
        }
    }
}

#[test]
fn runs_that_agree_by_chance_are_not_more_exact_than_their_samples() {
    let short = Service { seconds: 10, rate: 300.0, ..USUAL };
    let mut random = Random::new(109);
    let width = |a: &Side, b: &Side| {
        let c = compare(a, b, &CompareOptions::default());
        let row = c.figure("response_time p50").expect("it is compared").clone();
        (row.basis, row.high.unwrap_or(f64::NAN) - row.low.unwrap_or(f64::NAN))
    };
    // The same run four times on each side: the runs do not differ at all.
    let copies = |name: &str, first: u32, random: &mut Random| {
        let one = run(&short, 1.0, random);
        let of = |repeat: u32| {
            let mut copy = one.clone();
            place(&mut copy, name, repeat, 2 * repeat + first);
            copy
        };
        side(name, (0..4).map(of).collect())
    };
    let (a, b) = (copies("a", 0, &mut random), copies("b", 1, &mut random));
    assert!(width(&a, &b).1 > 0.02, "{:?}", width(&a, &b));

    // Runs that differ a lot, in pairs that do not differ at all.
    let (a, _) = in_one_weather(&short, &short, 8, &mut random);
    let mut b = a.clone();
    b.runs.iter_mut().enumerate().for_each(|(at, run)| place(run, "b", at as u32, 2 * at as u32 + 1));
    let (basis, width) = width(&a, &b);
    assert!(basis == Basis::Pairs && width > 0.02, "{basis:?} {width}");
}

#[test]
fn the_suggested_number_of_repeats_is_about_right() {
    let short = Service { seconds: 15, rate: 500.0, ..USUAL };
    let mut random = Random::new(107);
    let mut asked_for = Vec::new();
    for _ in 0..15 {
        let (a, b) = sides(&short, &slowed(short, 1.05), 3, &mut random);
        let c = compare(&a, &b, &CompareOptions::default());
        let p50 = c.figure("response_time p50").unwrap();
        asked_for.extend(p50.more_repeats.map(f64::from));
    }
    let median = plimsoll_stats::median(&mut asked_for).expect("three repeats seldom settle it");
    // 3 + median repeats must usually find the difference, and far fewer must not.
    let more = (median.round() as u32).clamp(1, 17);
    let score =
        score(12, &CompareOptions::default(), || sides(&short, &slowed(short, 1.05), 3 + more, &mut random));
    assert!(score.slower >= 6, "{more} more: {score:?}");
    assert!((1.0..=17.0).contains(&median), "{median}");
}

#[test]
fn two_runs_of_an_hour_are_compared_within_seconds() {
    let hour = Service { seconds: 3_600, rate: 20.0, mean_ns: 3e7, ..USUAL };
    let (a, b) = sides(&hour, &hour, 1, &mut Random::new(108));
    let begin = std::time::Instant::now();
    let c = compare(&a, &b, &CompareOptions::default());
    println!("two hours compared in {:?}", begin.elapsed());
    assert!(begin.elapsed().as_secs_f64() < 3.0, "{:?}", begin.elapsed());
    assert!(c.figures.len() == 9);
}

/// The first table of docs/explanation/comparing.md.
#[test]
#[ignore = "thousands of simulated comparisons: `cargo xtask nightly`"]
fn detection_by_number_of_repeats() {
    for spread in [Spread::Exponential, Spread::Lognormal(1.0)] {
        for repeats in [1, 3, 5, 10] {
            let a = Service { spread, ..USUAL };
            let mut random = Random::new(200 + u64::from(repeats));
            let same = score(200, &CompareOptions::default(), || sides(&a, &a, repeats, &mut random));
            let slow =
                score(100, &CompareOptions::default(), || sides(&a, &slowed(a, 1.05), repeats, &mut random));
            println!("{spread:?}, {repeats} repeats of 30 s: A/A {same:?}");
            println!("{spread:?}, {repeats} repeats of 30 s: 5% {slow:?}");
            assert!(same.named <= 17, "{same:?}");
            assert!(repeats < 5 || slow.slower >= 90, "{slow:?}");
        }
        let a = Service { spread, seconds: 10, ..USUAL };
        let mut random = Random::new(300);
        let same = score(200, &CompareOptions::default(), || sides(&a, &a, 10, &mut random));
        let slow = score(100, &CompareOptions::default(), || sides(&a, &slowed(a, 1.05), 10, &mut random));
        println!("{spread:?}, 10 repeats of 10 s: A/A {same:?}");
        println!("{spread:?}, 10 repeats of 10 s: 5% {slow:?}");
        assert!(same.named <= 17 && slow.slower >= 90, "{same:?} {slow:?}");
    }
}

/// Its second table: almost no queue, so that 5% more work takes 6% more time and not 14%.
#[test]
#[ignore = "thousands of simulated comparisons: `cargo xtask nightly`"]
fn detection_by_number_of_repeats_without_a_queue() {
    for spread in [Spread::Exponential, Spread::Lognormal(1.0)] {
        let a = Service { spread, rate: 200.0, ..USUAL };
        for repeats in [3, 5, 10] {
            let mut random = Random::new(400 + u64::from(repeats));
            let same = score(200, &CompareOptions::default(), || sides(&a, &a, repeats, &mut random));
            let slow =
                score(100, &CompareOptions::default(), || sides(&a, &slowed(a, 1.05), repeats, &mut random));
            println!("{spread:?}, {repeats} repeats of 30 s at 12% load: A/A {same:?}");
            println!("{spread:?}, {repeats} repeats of 30 s at 12% load: 5% {slow:?}");
            assert!(same.named <= 17, "{same:?}");
        }
    }
}

#[test]
fn both_charted_distributions_match_the_values_in_the_table() {
    let mut random = Random::new(7);
    let (a, b) = sides(&USUAL, &slowed(USUAL, 1.3), 3, &mut random);
    let c = compare(&a, &b, &CompareOptions::default());
    let both = c.spectra.as_deref().expect("both sides have times");
    for (side, spectrum) in [&c.a, &c.b].into_iter().zip(both) {
        assert_eq!(spectrum.response_count, side.requests, "{}", side.name);
        let rising =
            spectrum.response.windows(2).all(|two| two[0].q < two[1].q && two[0].value_ns <= two[1].value_ns);
        assert!(rising, "{}", side.name);
    }
    for (name, q) in [("response_time p50", 0.5), ("response_time p90", 0.9), ("response_time p99", 0.99)] {
        let row = c.figure(name).expect("it is compared");
        for (value, spectrum) in [row.a, row.b].into_iter().zip(both) {
            let point = spectrum.response.iter().find(|point| (point.q - q).abs() < 1e-9).expect("a bend");
            let (value, drawn) = (value.expect("it has samples"), point.value_ns as f64);
            // A value in the table lies between the ends of a bucket, and a point in the middle.
            assert!((value / drawn - 1.0).abs() < 0.01, "{name}: {value} in the table, {drawn} in the chart");
        }
    }
    let nothing = compare(&Side { runs: Vec::new(), ..a.clone() }, &b, &CompareOptions::default());
    assert!(nothing.spectra.is_none());
}

//! The universal scalability law: it agrees with published fits, covers parameters hidden in noise, and is not fitted
//! to data that follow another law.

use plimsoll_stats::maths::usl::{Unfit, Usl, fit};
use plimsoll_stats::random::SplitMix64;

const PUBLISHED: &str = include_str!("data/usl.tsv");

fn law(lambda: f64, sigma: f64, kappa: f64, n: f64) -> f64 {
    lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

/// Normal deviates by the sum of twelve uniforms: good enough for noise.
fn noise(random: &mut SplitMix64) -> f64 {
    (0..12).map(|_| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
}

fn near(found: f64, wanted: f64, relative: f64, absolute: f64, what: &str) {
    assert!((found - wanted).abs() <= relative * wanted.abs() + absolute, "{what}: {found}, not {wanted}");
}

#[test]
fn published_data_sets_give_the_published_parameters() {
    let mut seen = 0;
    for line in PUBLISHED.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, lambda, sigma, kappa, peak, points] = fields[..] else { panic!("six fields: {line}") };
        let number = |text: &str| text.parse::<f64>().expect("the data are numbers");
        let points: Vec<(f64, f64)> = points
            .split(' ')
            .filter_map(|pair| pair.split_once(':'))
            .map(|(n, x)| (number(n), number(x)))
            .collect();
        let usl = fit(&points).expect("published data are worth a fit");
        near(usl.lambda, number(lambda), 1e-3, 0.0, &format!("lambda of {name}"));
        near(usl.sigma, number(sigma), 2e-3, 1e-5, &format!("sigma of {name}"));
        near(usl.kappa, number(kappa), 2e-3, 1e-8, &format!("kappa of {name}"));
        match (peak, usl.peak) {
            ("-", None) => {}
            (text, Some(peak)) => near(peak.n, number(text), 5e-3, 0.0, &format!("peak of {name}")),
            (text, None) => panic!("{name} has its peak at {text}"),
        }
        seen += 1;
    }
    assert_eq!(seen, 3);
}

fn swept(sigma: f64, kappa: f64, spread: f64, seed: u64) -> (f64, Result<Usl, Unfit>) {
    let mut random = SplitMix64::new(seed);
    let lambda = 10.0 + (random.next_u64() % 10_000) as f64;
    let levels = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 192.0, 256.0];
    let points: Vec<(f64, f64)> = levels
        .iter()
        .flat_map(|n| [*n, *n])
        .map(|n| (n, law(lambda, sigma, kappa, n) * (1.0 + spread * noise(&mut random))))
        .collect();
    (lambda, fit(&points))
}

#[test]
fn the_bands_hold_the_parameters_that_were_hidden() {
    let (mut sigmas, mut kappas, mut peaks, runs) = (0, 0, 0, 40);
    for seed in 0..runs {
        let (_, usl) = swept(0.03, 1e-4, 0.02, seed);
        let usl = usl.expect("the law is found despite 2% noise");
        let holds = |band: [f64; 2], truth: f64| u32::from(band[0] <= truth && truth <= band[1]);
        sigmas += holds(usl.sigma_band, 0.03);
        kappas += holds(usl.kappa_band, 1e-4);
        peaks += usl.peak.map_or(0, |p| holds(p.n_band, (0.97f64 / 1e-4).sqrt()));
    }
    // 95% of 40 are 38; fewer than 34 has a binomial probability below one in two hundred.
    assert!(sigmas >= 34 && kappas >= 34 && peaks >= 34, "{sigmas}, {kappas}, {peaks} of {runs}");
}

/// Returns how many of `runs` fits contain sigma, kappa, and N*, and how many peaks were claimed, with one point per
/// level.
fn held(levels: &[f64], sigma: f64, kappa: f64, in_proportion: bool, runs: u64) -> ([u32; 3], u32, u32) {
    let (mut random, mut held, mut claimed, mut fits) = (SplitMix64::new(levels.len() as u64), [0; 3], 0, 0);
    let summit = ((1.0 - sigma) / kappa).sqrt();
    let middle = law(100.0, sigma, kappa, levels[levels.len() / 2]);
    for _ in 0..runs {
        let scattered = |n: &f64| {
            let x = law(100.0, sigma, kappa, *n);
            let size = if in_proportion { x } else { middle };
            (*n, (x + 0.02 * size * noise(&mut random)).max(0.0))
        };
        let points: Vec<(f64, f64)> = levels.iter().map(scattered).collect();
        // A result of another law or of noise claims nothing, so it cannot be wrong.
        let Ok(usl) = fit(&points) else { continue };
        let holds = |band: [f64; 2], truth: f64| u32::from(band[0] <= truth && truth <= band[1]);
        fits += 1;
        held[0] += holds(usl.sigma_band, sigma);
        held[1] += holds(usl.kappa_band, kappa);
        if let Some(peak) = usl.peak {
            claimed += 1;
            held[2] += holds(peak.n_band, summit);
        }
    }
    (held, claimed, fits)
}

#[test]
fn intervals_of_one_point_per_level_hold_what_they_say() {
    let is_nightly = std::env::var_os("PLIMSOLL_NIGHTLY").is_some_and(|value| value == "1");
    let runs = if is_nightly { 2_000 } else { 150 };
    let doubling = |n: u32| (0..n).map(|k| f64::from(1u32 << k)).collect::<Vec<f64>>();
    let even: Vec<f64> = (1..=8).map(|k| f64::from(8 * k)).collect();
    for levels in [doubling(6), doubling(7), doubling(8), doubling(10), even] {
        for (sigma, kappa) in [(0.05, 1e-3), (0.02, 4e-4), (0.1, 1e-4), (0.0, 5e-4)] {
            for in_proportion in [true, false] {
                let (held, claimed, fits) = held(&levels, sigma, kappa, in_proportion, runs);
                let last = levels[levels.len() - 1];
                let what = format!(
                    "{} levels up to {last}, sigma {sigma}, kappa {kappa}, noise in proportion: {in_proportion}: \
                     {held:?} of {fits} fits contain the parameters, {claimed} peaks claimed",
                    levels.len(),
                );
                println!("{what}");
                // 93% is the lowest coverage that 2,000 draws of any of these cases showed, minus three standard
                // deviations of a proportion.
                let fits = f64::from(fits);
                let room = 0.07 * fits + 3.0 * (fits * 0.05 * 0.95).sqrt();
                assert!(fits > 0.97 * runs as f64, "{what}");
                assert!(f64::from(held[0]) >= fits - room && f64::from(held[1]) >= fits - room, "{what}");
                assert!(f64::from(claimed - held[2]) <= room, "wrong peaks: {what}");
                // Claiming nothing is not enough: a peak well within the levels must be found.
                let is_within = ((1.0 - sigma) / kappa).sqrt() < 0.5 * last;
                assert!(!is_within || f64::from(claimed) > 0.9 * fits, "{what}");
            }
        }
    }
}

#[test]
fn no_summit_is_claimed_where_throughput_never_falls() {
    let claimed = (0..30).filter(|seed| {
        let (_, usl) = swept(0.05, 0.0, 0.02, 100 + seed);
        usl.is_ok_and(|usl| usl.peak.is_some())
    });
    let claimed = claimed.count();
    assert!(claimed <= 2, "{claimed} of 30");
}

#[test]
fn a_summit_far_behind_the_last_level_is_marked() {
    let points: Vec<(f64, f64)> =
        (1..=8).map(|n| (f64::from(n), law(100.0, 0.01, 1e-3, f64::from(n)))).collect();
    let peak = fit(&points).expect("the law itself").peak.expect("kappa is above 0");
    assert!((peak.n - (0.99f64 / 1e-3).sqrt()).abs() < 0.1 && peak.is_extrapolated);
    let more: Vec<(f64, f64)> =
        (1..=30).map(|n| (f64::from(n), law(100.0, 0.01, 1e-3, f64::from(n)))).collect();
    assert!(!fit(&more).expect("the law itself").peak.expect("kappa is above 0").is_extrapolated);
}

#[test]
fn what_is_no_such_law_is_called_unfit_with_its_reason() {
    let five: Vec<(f64, f64)> = (1..=5).map(|n| (f64::from(n), law(1.0, 0.1, 0.0, f64::from(n)))).collect();
    assert_eq!(fit(&five), Err(Unfit::TooFewLevels { levels: 5 }));
    // A hinge: linear up to a hard limit, as an ideal server with a saturated network link.
    let hinge: Vec<(f64, f64)> = (1..=20).map(|n| (f64::from(n), f64::from(n.min(8)))).collect();
    assert!(matches!(fit(&hinge), Err(Unfit::Pattern { .. })), "{:?}", fit(&hinge));
    let wild: Vec<(f64, f64)> =
        (1..=12).map(|n| (f64::from(n), if n % 2 == 0 { 10.0 } else { 100.0 })).collect();
    assert!(matches!(fit(&wild), Err(Unfit::Noise { .. })));
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        let mut points = five.clone();
        points.push((9.0, bad));
        assert_eq!(fit(&points), Err(Unfit::NotMeasured));
    }
    // Far beyond the bend, N / (1 + sigma (N - 1)) is 1 / sigma: only lambda / sigma is visible.
    let beyond: Vec<(f64, f64)> =
        (1..=8).map(|n| 1e12 * f64::from(n)).map(|n| (n, law(5.0, 0.1, 0.0, n))).collect();
    assert_eq!(fit(&beyond), Err(Unfit::Undetermined));
    assert_eq!(fit(&[]), Err(Unfit::TooFewLevels { levels: 0 }));
    assert_eq!(fit(&[(1.0, 0.0); 9]), Err(Unfit::NotMeasured));
}

#[test]
fn units_and_order_change_nothing() {
    let points: Vec<(f64, f64)> =
        (1..=10).map(|n| (f64::from(n * n), law(3.0, 0.04, 2e-4, f64::from(n * n)))).collect();
    let usl = fit(&points).expect("the law itself");
    let mut other: Vec<(f64, f64)> = points.iter().map(|(n, x)| (*n, x * 1e9)).collect();
    other.reverse();
    let scaled = fit(&other).expect("the law itself");
    near(scaled.sigma, usl.sigma, 1e-6, 0.0, "sigma");
    near(scaled.kappa, usl.kappa, 1e-6, 0.0, "kappa");
    near(scaled.lambda, usl.lambda * 1e9, 1e-6, 0.0, "lambda");
    for (n, x) in &points {
        near(usl.at(*n), *x, 1e-6, 0.0, "the law");
    }
    // Absurd sizes terminate, too.
    let huge: Vec<(f64, f64)> = points.iter().map(|(n, x)| (n * 1e150, x * 1e300)).collect();
    let _ends = fit(&huge);
}

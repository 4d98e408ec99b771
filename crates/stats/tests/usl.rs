//! The universal scalability law: agrees with published fits, covers what is hidden in noise, and stays silent where
//! the law is another.

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
        let usl = fit(&points, 1).expect("published data are worth a fit");
        near(usl.lambda, number(lambda), 1e-3, 0.0, &format!("lambda of {name}"));
        near(usl.sigma, number(sigma), 2e-3, 1e-5, &format!("sigma of {name}"));
        near(usl.kappa, number(kappa), 2e-3, 1e-8, &format!("kappa of {name}"));
        match (peak, usl.peak) {
            ("-", None) => {}
            (text, Some(peak)) => near(peak.n, number(text), 5e-3, 0.0, &format!("peak of {name}")),
            (text, None) => panic!("{name} has its summit at {text}"),
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
    (lambda, fit(&points, seed))
}

#[test]
fn the_bands_hold_the_parameters_that_were_hidden() {
    let (mut sigmas, mut kappas, mut peaks, runs) = (0, 0, 0, 40);
    for seed in 0..runs {
        let (_, usl) = swept(0.03, 1e-4, 0.02, seed);
        let usl = usl.expect("two per cent of noise leave a law");
        let holds = |band: [f64; 2], truth: f64| u32::from(band[0] <= truth && truth <= band[1]);
        sigmas += holds(usl.sigma_band, 0.03);
        kappas += holds(usl.kappa_band, 1e-4);
        peaks += usl.peak.map_or(0, |p| holds(p.n_band, (0.97f64 / 1e-4).sqrt()));
    }
    // 95 % of 40 are 38; below 34 lies less than one binomial in two hundred.
    assert!(sigmas >= 34 && kappas >= 34 && peaks >= 34, "{sigmas}, {kappas}, {peaks} of {runs}");
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
    let peak = fit(&points, 1).expect("the law itself").peak.expect("kappa is above 0");
    assert!((peak.n - (0.99f64 / 1e-3).sqrt()).abs() < 0.1 && peak.is_extrapolated);
    let more: Vec<(f64, f64)> =
        (1..=30).map(|n| (f64::from(n), law(100.0, 0.01, 1e-3, f64::from(n)))).collect();
    assert!(!fit(&more, 1).expect("the law itself").peak.expect("kappa is above 0").is_extrapolated);
}

#[test]
fn what_is_no_such_law_is_called_unfit_with_its_reason() {
    let five: Vec<(f64, f64)> = (1..=5).map(|n| (f64::from(n), law(1.0, 0.1, 0.0, f64::from(n)))).collect();
    assert_eq!(fit(&five, 1), Err(Unfit::TooFewLevels { levels: 5 }));
    // A hinge: linear up to a hard limit, as an ideal server with a full link.
    let hinge: Vec<(f64, f64)> = (1..=20).map(|n| (f64::from(n), f64::from(n.min(8)))).collect();
    assert!(matches!(fit(&hinge, 1), Err(Unfit::Pattern { .. })), "{:?}", fit(&hinge, 1));
    let wild: Vec<(f64, f64)> =
        (1..=12).map(|n| (f64::from(n), if n % 2 == 0 { 10.0 } else { 100.0 })).collect();
    assert!(matches!(fit(&wild, 1), Err(Unfit::Noise { .. })));
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        let mut points = five.clone();
        points.push((9.0, bad));
        assert_eq!(fit(&points, 1), Err(Unfit::NotMeasured));
    }
    assert_eq!(fit(&[], 1), Err(Unfit::TooFewLevels { levels: 0 }));
    assert_eq!(fit(&[(1.0, 0.0); 9], 1), Err(Unfit::NotMeasured));
}

#[test]
fn units_and_order_change_nothing() {
    let points: Vec<(f64, f64)> =
        (1..=10).map(|n| (f64::from(n * n), law(3.0, 0.04, 2e-4, f64::from(n * n)))).collect();
    let usl = fit(&points, 1).expect("the law itself");
    let mut other: Vec<(f64, f64)> = points.iter().map(|(n, x)| (*n, x * 1e9)).collect();
    other.reverse();
    let scaled = fit(&other, 1).expect("the law itself");
    near(scaled.sigma, usl.sigma, 1e-6, 0.0, "sigma");
    near(scaled.kappa, usl.kappa, 1e-6, 0.0, "kappa");
    near(scaled.lambda, usl.lambda * 1e9, 1e-6, 0.0, "lambda");
    for (n, x) in &points {
        near(usl.at(*n), *x, 1e-6, 0.0, "the law");
    }
    // Absurd sizes end all the same.
    let huge: Vec<(f64, f64)> = points.iter().map(|(n, x)| (n * 1e150, x * 1e300)).collect();
    let _ends = fit(&huge, 1);
}

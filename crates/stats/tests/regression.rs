//! Lines and monotone curves: correct for data with a known answer, `None` for data without one.

use plimsoll_stats::maths::regression::{Point, Share, falling, fit_line, fit_shares};
use plimsoll_stats::random::SplitMix64;

fn points(xy: &[(f64, f64)]) -> Vec<Point> {
    xy.iter().map(|(x, y)| Point { x: *x, y: *y, weight: 1.0 }).collect()
}

#[test]
fn a_line_through_exact_points_is_found_to_the_digit() {
    let line = fit_line(&points(&[(1.0, 5.0), (2.0, 3.0), (3.0, 1.0), (7.0, -7.0)])).expect("four points");
    assert!((line.slope + 2.0).abs() < 1e-12 && line.residual < 1e-9);
    assert!((line.at(10.0) + 13.0).abs() < 1e-9);
    let root = line.root(0.0, 0.95, 0.0).expect("it falls");
    assert!((root.at - 3.5).abs() < 1e-9 && root.high - root.low < 1e-6);
}

#[test]
fn a_heavier_point_draws_the_line_to_itself() {
    let mut all = points(&[(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]);
    assert!((fit_line(&all).expect("a square").at(0.5) - 0.5).abs() < 1e-12);
    all[2].weight = 9.0;
    all[3].weight = 9.0;
    assert!((fit_line(&all).expect("a square").at(0.5) - 0.9).abs() < 1e-12);
}

#[test]
fn points_without_a_line_give_none() {
    let nan = f64::NAN;
    for bad in [
        vec![],
        points(&[(1.0, 1.0), (2.0, 2.0)]),
        points(&[(3.0, 1.0), (3.0, 2.0), (3.0, 9.0)]),
        points(&[(1.0, 1.0), (2.0, nan), (3.0, 1.0)]),
        points(&[(f64::INFINITY, 1.0), (2.0, 1.0), (3.0, 1.0)]),
        points(&[(1e300, 1.0), (-1e300, 1e300), (3.0, -1e300)]),
    ] {
        assert!(fit_line(&bad).is_none(), "{bad:?}");
    }
}

#[test]
fn fiellers_interval_holds_the_crossing_as_often_as_it_says() {
    let mut random = SplitMix64::new(4);
    let mut noise = || random.exponential() - random.exponential();
    let (mut held, rounds) = (0, 2_000);
    for _ in 0..rounds {
        let sample: Vec<(f64, f64)> =
            (0..9).map(|n| f64::from(n) / 8.0).map(|x| (x, 0.6 - 1.2 * x + 0.1 * noise())).collect();
        let root = fit_line(&points(&sample)).and_then(|l| l.root(0.0, 0.95, 0.0)).expect("a clear slope");
        held += u32::from(root.low <= 0.5 && 0.5 <= root.high);
    }
    assert!((1_860..=1_960).contains(&held), "{held} of {rounds}");
}

#[test]
fn a_slope_that_may_be_none_bounds_nothing() {
    let flat = points(&[(0.0, 0.3), (1.0, -0.4), (2.0, 0.5), (3.0, -0.6), (4.0, 0.1)]);
    let root = fit_line(&flat).and_then(|l| l.root(0.0, 0.95, 0.0)).expect("a line, if a poor one");
    assert_eq!((root.low, root.high), (f64::NEG_INFINITY, f64::INFINITY));
}

#[test]
fn shares_are_fitted_where_most_points_hold_no_event() {
    // part = 1000 exp(-4 + 8 x): the exact counts of the model are its own best fit.
    let exact: Vec<Share> = (0..7)
        .map(|n| f64::from(n) / 10.0 - 0.3)
        .map(|x| Share { x, part: 1_000.0 * (-4.0 + 8.0 * x).exp(), whole: 1_000.0 })
        .collect();
    let line = fit_shares(&exact).expect("counts");
    assert!((line.slope - 8.0).abs() < 1e-6, "{line:?}");
    let root = line.root_within(0.01f64.ln(), 0.95, 0.0).expect("it rises");
    assert!((root.at - (0.01f64.ln() + 4.0) / 8.0).abs() < 1e-6);
    let sparse = [(-0.2, 0.0), (-0.1, 0.0), (0.0, 1.0), (0.1, 0.0), (0.2, 4.0), (0.3, 9.0)];
    let sparse: Vec<Share> =
        sparse.iter().map(|(x, part)| Share { x: *x, part: *part, whole: 100.0 }).collect();
    assert!(fit_shares(&sparse).expect("events").slope > 3.0);
}

#[test]
fn events_in_bursts_widen_the_interval() {
    let share = |part: f64, n: usize| Share { x: n as f64 / 20.0, part, whole: 10_000.0 };
    let even: Vec<Share> = (0..20).map(|n| share(100.0 + n as f64, n)).collect();
    let bursts: Vec<Share> =
        (0..20).map(|n| share((100.0 + n as f64) * f64::from((n % 2) as u32) * 2.0, n)).collect();
    let residual = |points: &[Share]| fit_shares(points).expect("events").residual;
    assert!((residual(&even) - 1.0).abs() < 1e-9, "never less than for independent events");
    assert!(residual(&bursts) > 8.0);
}

#[test]
fn shares_without_a_slope_give_none() {
    let share = |x: f64, part: f64, whole: f64| Share { x, part, whole };
    for bad in [
        vec![],
        vec![share(0.0, 0.0, 9.0), share(1.0, 0.0, 9.0), share(2.0, 0.0, 9.0)],
        vec![share(1.0, 1.0, 9.0), share(1.0, 2.0, 9.0), share(1.0, 3.0, 9.0)],
        vec![share(f64::NAN, 1.0, 9.0), share(1.0, 2.0, 9.0), share(2.0, 3.0, 9.0)],
        vec![share(0.0, 10.0, 9.0), share(1.0, 2.0, 9.0), share(2.0, 3.0, 9.0)],
    ] {
        assert!(fit_shares(&bad).is_none(), "{bad:?}");
    }
}

#[test]
fn intervals_of_few_points_use_students_exact_quantile() {
    // Residuals of 1, -1, -1, and 1 around y = x: two degrees of freedom.
    let four = points(&[(-3.0, -2.0), (-1.0, -2.0), (1.0, 0.0), (3.0, 4.0)]);
    // One more point in the middle, on the line: three degrees of freedom.
    let mut five = four.clone();
    five.push(Point { x: 0.0, y: 0.0, weight: 1.0 });
    for (sample, t) in [(four, 4.302_653), (five, 3.182_446)] {
        let line = fit_line(&sample).expect("points apart");
        let root = line.root_within(line.mean_y, 0.95, 0.0).expect("it rises");
        let half = t * line.residual / line.slope / (sample.len() as f64).sqrt();
        assert!(((root.high - root.low) / 2.0 / half - 1.0).abs() < 1e-6, "{root:?} {half}");
    }
    let line = fit_line(&points(&[(0.0, 1.0), (1.0, 0.5), (2.0, 0.1)])).expect("three points");
    assert_eq!((line.root(0.2, 1.0, 0.0), line.root_within(0.2, f64::NAN, 0.0)), (None, None));
}

#[test]
fn points_without_an_event_count_as_points() {
    let share = |x: f64, part: f64| Share { x, part, whole: 100.0 };
    let one_pair = [share(0.0, 0.0), share(1.0, 0.0), share(2.0, 2.0), share(3.0, 0.0), share(4.0, 5.0)];
    assert!(fit_shares(&one_pair).expect("five points, two with events").slope > 0.0);
    let empty = Share { x: 5.0, part: 0.0, whole: 0.0 };
    assert!(fit_shares(&[share(0.0, 1.0), share(1.0, 2.0), empty]).is_none(), "only two points have counts");
}

#[test]
fn what_rises_is_pooled() {
    let weighted = |values: &[(f64, f64)]| falling(values);
    assert_eq!(weighted(&[(1.0, 1.0), (1.0, 1.0), (0.0, 1.0)]), [1.0, 1.0, 0.0]);
    assert_eq!(
        weighted(&[(1.0, 1.0), (0.0, 1.0), (1.0, 1.0), (1.0, 1.0)]),
        [1.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]
    );
    assert_eq!(weighted(&[(0.0, 1.0), (1.0, 3.0)]), [0.75, 0.75]);
    assert_eq!(weighted(&[]), [0.0; 0]);
    assert_eq!(weighted(&[(0.0, 0.0), (1.0, 0.0)]).len(), 2);
    assert_eq!(weighted(&[(f64::NAN, 1.0), (1.0, 1.0)]).len(), 2);
}

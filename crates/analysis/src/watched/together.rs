//! What went up and down with p99, second by second. Never a cause: both may follow a third, or the clock.
//!
//! Spearman's rank correlation at lags of -5 to 5 s. Seconds are not independent, so the number of them that count is
//! reduced after Bartlett by both series' autocorrelations (Pyper & Peterman 1998); the interval is Fisher's z with
//! the standard error for ranks (Fieller, Hartley & Pearson 1957). The best of eleven lags was picked: its p-value
//! counts eleven times (Bonferroni), and all numbers that were tried are adjusted together (Holm 1979).

use crate::summary::{Correlation, Course, MonitorRow};
use crate::timeline::Moment;
use plimsoll_plan::watch::WATCH_NS;
use plimsoll_stats::maths::autocorrelation;
use plimsoll_stats::maths::holm;
use plimsoll_stats::maths::ranks::ranks;
use plimsoll_stats::maths::student::normal_cdf;
use std::collections::BTreeSet;

const LAGS: i32 = 5;
/// Fewer seconds than this say nothing about eleven lags.
const LEAST: usize = 30;
/// Fewer than this, of those that count: two slopes, or two loads that went up once, always agree.
const COUNTED: f64 = 10.0;
/// A number with fewer different values is a state, and ranks of it are mostly ties.
const DIFFERENT: usize = 5;
/// Told at most.
const TOLD: usize = 5;
/// Further lags of an autocorrelation add noise, and cost.
const MEMORY: usize = 200;
const ALPHA: f64 = 0.05;
const Z: f64 = 1.959_964;

struct Tried {
    at: usize,
    best: Correlation,
    p: f64,
}

/// Adds the few strongest to their rows.
pub(super) fn p99_correlation(monitors: &mut [MonitorRow], courses: &[Course], moments: &[Moment]) {
    let seconds: Vec<(f64, f64, Option<f64>)> = moments
        .iter()
        .map(|moment| &moment.second)
        .filter(|second| !second.is_warmup && second.length_s > 0.5)
        .map(|s| (s.from_s, s.from_s + s.length_s, s.p99_ns.map(|ns| ns as f64)))
        .collect();
    if seconds.iter().filter(|(.., p99)| p99.is_some()).count() < LEAST {
        return;
    }
    let p99: Vec<Option<f64>> = seconds.iter().map(|(.., p99)| *p99).collect();
    let is_whole = |course: &Course| {
        course.part.is_empty()
            || !courses.iter().any(|other| {
                other.part.is_empty()
                    && (other.generator, &other.monitor, &other.metric)
                        == (course.generator, &course.monitor, &course.metric)
            })
    };
    let mut tried: Vec<Tried> = courses
        .iter()
        .enumerate()
        .filter(|(_, course)| is_whole(course))
        .filter_map(|(at, course)| {
            let (best, p) = best_lag(&by_second(course, &seconds), &p99)?;
            Some(Tried { at, best, p })
        })
        .collect();
    let adjusted = holm::adjust(&tried.iter().map(|one| one.p).collect::<Vec<f64>>());
    tried.iter_mut().zip(adjusted).for_each(|(one, p)| one.p = p);
    tried.retain(|one| one.p < ALPHA && one.best.low * one.best.high > 0.0);
    tried.sort_by(|a, b| b.best.rho.abs().total_cmp(&a.best.rho.abs()));
    for one in tried.into_iter().take(TOLD) {
        let course = &courses[one.at];
        let rows = monitors
            .iter_mut()
            .filter(|monitor| monitor.generator == course.generator && monitor.name == course.monitor)
            .flat_map(|monitor| &mut monitor.rows);
        let mut own = rows.filter(|row| row.part == course.part && row.metric == course.metric);
        if let Some(row) = own.next() {
            row.p99_correlation = Some(one.best);
        }
    }
}

/// The value of each second: a sample covers the second before it.
fn by_second(course: &Course, seconds: &[(f64, f64, Option<f64>)]) -> Vec<Option<f64>> {
    let half_s = WATCH_NS as f64 / 2e9;
    let mut values = vec![None; seconds.len()];
    for (at, value) in &course.points {
        let middle = at - half_s;
        let after = seconds.partition_point(|(from, ..)| *from <= middle);
        if let Some(index) = after.checked_sub(1).filter(|index| middle < seconds[*index].1) {
            values[index] = Some(*value);
        }
    }
    values
}

fn best_lag(x: &[Option<f64>], y: &[Option<f64>]) -> Option<(Correlation, f64)> {
    let different: BTreeSet<u64> = x.iter().flatten().map(|value| value.to_bits()).collect();
    if different.len() < DIFFERENT {
        return None;
    }
    // Eleven lags share one reduction: a series remembers the same however it is moved.
    let (mut xs, mut ys): (Vec<f64>, Vec<f64>) = pairs(x, y, 0).into_iter().unzip();
    if xs.len() < LEAST {
        return None;
    }
    (xs, ys) = (ranks(&xs), ranks(&ys));
    let factor = reduction(&xs, &ys);
    let one = |lag: i32| {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs(x, y, lag).into_iter().unzip();
        (a.len() >= LEAST).then(|| (lag, a.len(), pearson(&ranks(&a), &ranks(&b))))
    };
    let all: Vec<(i32, usize, f64)> =
        (-LAGS..=LAGS).filter_map(one).filter(|(.., rho)| rho.is_finite()).collect();
    // Among equals the smallest lag.
    let (lag_s, n, rho) = all.iter().copied().reduce(|a, b| {
        let (more, same) = (b.2.abs() > a.2.abs(), b.2.abs() == a.2.abs());
        if more || (same && b.0.abs() < a.0.abs()) { b } else { a }
    })?;
    let counted = n as f64 / factor;
    if counted < COUNTED {
        return None;
    }
    // 1 is not reached by ranks of a sample, only by their rounding.
    let z = rho.clamp(-0.999_999, 0.999_999).atanh();
    let error = (1.06 / (counted - 3.0)).sqrt();
    let p = (2.0 * normal_cdf(-(z / error).abs()) * f64::from(2 * LAGS + 1)).min(1.0);
    let (low, high) = ((z - Z * error).tanh(), (z + Z * error).tanh());
    let sentence = format!("correlated with p99 (rho {rho:.2}, lag {lag_s} s; not necessarily the cause)");
    Some((Correlation { rho, lag_s, samples: n as u64, low, high, sentence }, p))
}

/// Seconds that have both, p99 `lag` later.
fn pairs(x: &[Option<f64>], y: &[Option<f64>], lag: i32) -> Vec<(f64, f64)> {
    let later = |at: usize| at.checked_add_signed(lag as isize).and_then(|at| y.get(at).copied().flatten());
    x.iter().enumerate().filter_map(|(at, value)| Some(((*value)?, later(at)?))).collect()
}

/// n / n*: 1 + 2 times the sum of the products of both autocorrelations, each weighed by the pairs that it is of.
fn reduction(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len();
    let most = (n / 5).min(MEMORY);
    let (x, y) = (centered(x), centered(y));
    let sum: f64 = (1..=most)
        .map(|lag| (n - lag) as f64 / n as f64 * autocorrelation(&x, lag) * autocorrelation(&y, lag))
        .sum();
    (1.0 + 2.0 * sum).max(1.0)
}

fn centered(x: &[f64]) -> Vec<f64> {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter().map(|v| v - mean).collect()
}

fn pearson(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let shared: f64 = x.iter().zip(y).map(|(a, b)| (a - mx) * (b - my)).sum();
    let spread = |v: &[f64], m: f64| v.iter().map(|a| (a - m) * (a - m)).sum::<f64>();
    shared / (spread(x, mx) * spread(y, my)).sqrt()
}

//! Pacing without a clock: every arrival and every user by arithmetic, for any distribution of the work.

use super::{Arrivals, Users, WorkerSlot};
use plimsoll_plan::load::{Arrivals as Spread, Profile, Share, Stage};
use plimsoll_stats::random::SplitMix64;

const S: u64 = 1_000_000_000;
const ALONE: WorkerSlot = WorkerSlot { offset: 0, stride: 1 };

fn profile(start: f64, legs: &[(f64, f64)]) -> Profile {
    let stages = legs.iter().map(|(s, to)| Stage { duration_ns: (s * 1e9) as u64, to: *to }).collect();
    Profile { start, stages }
}

fn sequence(
    p: &Profile,
    spread: Spread,
    seat: WorkerSlot,
    begin_ns: u64,
    end_ns: u64,
    limit: u64,
) -> Vec<u64> {
    let mut arrivals = Arrivals::new(p, spread, 42, seat, begin_ns, end_ns, limit);
    let mut all = Vec::new();
    while let Some(t) = arrivals.peek_ns() {
        all.push(t);
        arrivals.advance();
    }
    all
}

fn evenly(p: &Profile, end_ns: u64) -> Vec<u64> {
    sequence(p, Spread::Constant, ALONE, 0, end_ns, u64::MAX)
}

// ---- the open model, constant rate ------------------------------------------------------------------------------

#[test]
fn a_constant_rate_offers_rate_times_duration_exactly() {
    let mut rates: Vec<f64> = (1..=400).map(f64::from).collect();
    rates.extend([0.5, 0.1, 1.5, 33.3, 99.9, 1_000.0, 1_001.0, 3_333.0, 9_999.0, 10_000.0, 123_456.0]);
    for rate in rates {
        for seconds in [1u64, 2, 3, 7, 10] {
            // Arrival k is due at k / rate; count all with k / rate < seconds.
            let expected = (rate * seconds as f64 - 1e-9).ceil() as usize;
            let found = evenly(&Profile::constant(rate), seconds * S);
            assert_eq!(found.len(), expected, "{rate}/s for {seconds} s");
            assert_eq!(found[0], 0, "the first immediately");
        }
    }
}

#[test]
fn the_count_does_not_depend_on_the_reading_of_the_clock_at_the_start() {
    let p = Profile::constant(997.0);
    let from_zero = evenly(&p, 3 * S);
    for begin in [1, 123_456_789, 86_400 * S, 400 * 86_400 * S + 17] {
        let moved = sequence(&p, Spread::Constant, ALONE, begin, begin + 3 * S, u64::MAX);
        assert!(moved.iter().zip(&from_zero).all(|(m, z)| *m == z + begin));
        assert_eq!(moved.len(), from_zero.len());
    }
}

#[test]
fn arrivals_are_evenly_spaced_to_the_nanosecond_for_hours() {
    let p = Profile::constant(300.0);
    let mut arrivals = Arrivals::new(&p, Spread::Constant, 0, ALONE, 0, u64::MAX, u64::MAX);
    for k in 0..(300 * 3_600u64) {
        let exact = k as u128 * u128::from(S) / 300;
        assert!(arrivals.peek_ns().unwrap().abs_diff(exact as u64) <= 1, "arrival {k}");
        arrivals.advance();
    }
    // The same at the end of a week, by a slot that starts there.
    let k = 300 * 7 * 86_400u64;
    let late =
        Arrivals::new(&p, Spread::Constant, 0, WorkerSlot { offset: k, stride: 1 }, 0, u64::MAX, u64::MAX);
    assert!(late.peek_ns().unwrap().abs_diff(7 * 86_400 * S) <= 1);
}

#[test]
fn a_limit_ends_the_sequence_for_all_seats_together() {
    let p = Profile::constant(50.0);
    for (limit, workers) in [(0u64, 2u32), (1, 4), (10, 3), (12, 4), (1_000, 7)] {
        let mine = |w| {
            sequence(&p, Spread::Constant, WorkerSlot::new(Share::default(), w, workers), 0, u64::MAX, limit)
        };
        assert_eq!((0..workers).map(|w| mine(w).len() as u64).sum::<u64>(), limit);
    }
    let mut arrivals = Arrivals::new(&p, Spread::Constant, 0, ALONE, 0, 10 * S, 3);
    assert!(!arrivals.is_limit_reached());
    (0..3).for_each(|_| arrivals.advance());
    assert!(arrivals.is_limit_reached() && arrivals.peek_ns().is_none());
}

#[test]
fn an_end_is_no_limit() {
    let mut arrivals = Arrivals::new(&Profile::constant(1.0), Spread::Constant, 0, ALONE, 0, S, 10);
    arrivals.advance();
    assert_eq!(arrivals.peek_ns(), None);
    assert!(!arrivals.is_limit_reached());
}

// ---- sharing ----------------------------------------------------------------------------------------------------

/// Returns all slots of `machines` machines with `workers` workers each.
fn seats(machines: u32, workers: u32) -> Vec<WorkerSlot> {
    let of = |part| Share { part, of: machines };
    (1..=machines).flat_map(|m| (0..workers).map(move |w| WorkerSlot::new(of(m), w, workers))).collect()
}

#[test]
fn machines_and_workers_partition_the_sequence() {
    let profiles = [
        Profile::constant(123.0),
        profile(0.0, &[(2.0, 200.0), (1.0, 200.0), (2.0, 0.0)]),
        profile(10.0, &[(1.0, 10.0), (0.0, 500.0), (1.0, 500.0), (0.0, 0.0), (1.0, 0.0), (1.0, 77.0)]),
    ];
    for p in &profiles {
        for spread in [Spread::Constant, Spread::Poisson] {
            let whole = sequence(p, spread, ALONE, 5 * S, 10 * S, u64::MAX);
            for (machines, workers) in [(1, 1), (1, 2), (1, 7), (2, 1), (3, 4), (5, 2)] {
                let mut parts: Vec<u64> = seats(machines, workers)
                    .into_iter()
                    .flat_map(|seat| sequence(p, spread, seat, 5 * S, 10 * S, u64::MAX))
                    .collect();
                parts.sort_unstable();
                assert_eq!(parts, whole, "{machines} machines with {workers} workers each");
            }
        }
    }
}

#[test]
fn consecutive_arrivals_go_to_different_machines_then_to_different_workers() {
    let owner = |k: u64| {
        seats(2, 3).iter().position(|s| k >= s.offset && (k - s.offset).is_multiple_of(s.stride)).unwrap()
    };
    // Machine = index / 3, worker = index % 3 in the order of `seats`.
    let order: Vec<(usize, usize)> = (0..6).map(|k| (owner(k) / 3, owner(k) % 3)).collect();
    assert_eq!(order, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]);
}

#[test]
fn counts_of_seats_add_up() {
    for machines in 1..4 {
        for workers in 1..5 {
            for total in 0..60 {
                let sum: u64 = seats(machines, workers).iter().map(|s| s.count_of(total)).sum();
                assert_eq!(sum, total);
            }
        }
    }
}

// ---- changing rates ---------------------------------------------------------------------------------------------

/// Returns the area under a profile until `t` seconds, by its trapezoids.
fn area(p: &Profile, t: f64) -> f64 {
    let (mut sum, mut begin, mut level) = (0.0, 0.0, p.start);
    for stage in &p.stages {
        let d = stage.duration_ns as f64 / 1e9;
        if d > 0.0 {
            let x = (t - begin).clamp(0.0, d);
            sum += x * (level + 0.5 * (stage.to - level) * x / d);
        }
        (begin, level) = (begin + d, stage.to);
    }
    sum + (t - begin).max(0.0) * level
}

#[test]
fn arrival_k_is_due_when_the_area_under_the_rate_reaches_k() {
    let profiles = [
        profile(0.0, &[(10.0, 100.0)]),
        profile(0.0, &[(5.0, 1_000.0), (5.0, 0.0)]),
        profile(100.0, &[(10.0, 1.0)]),
        profile(0.0, &[(3.0, 30.0), (0.0, 300.0), (3.0, 300.0), (3.0, 7.0)]),
        profile(20.0, &[(1.0, 20.0), (0.0, 0.0), (5.0, 0.0), (1.0, 20.0)]),
    ];
    for p in &profiles {
        let found = evenly(p, p.total_ns());
        let whole = area(p, p.total_ns() as f64 / 1e9);
        assert!((found.len() as f64 - whole).abs() <= 1.0, "{} arrivals for an area of {whole}", found.len());
        assert!(found.is_sorted());
        for (k, t) in found.iter().enumerate() {
            // Where the rate is 0, many times have the same area; elsewhere, this determines the time.
            let here = area(p, *t as f64 / 1e9);
            assert!((here - k as f64).abs() < 1e-5, "arrival {k} at {t} ns has area {here} in {p:?}");
        }
    }
}

#[test]
fn a_ramp_to_a_hundred_in_ten_seconds_is_five_hundred_arrivals() {
    assert_eq!(evenly(&profile(0.0, &[(10.0, 100.0)]), 10 * S).len(), 500);
    assert_eq!(evenly(&profile(100.0, &[(10.0, 0.0)]), 10 * S).len(), 500);
}

#[test]
fn a_leg_at_rate_zero_offers_nothing() {
    let p = profile(100.0, &[(1.0, 100.0), (0.0, 0.0), (5.0, 0.0), (0.0, 100.0), (1.0, 100.0)]);
    let found = evenly(&p, 7 * S);
    assert_eq!(found.len(), 200);
    assert!(found.iter().all(|t| *t < S || *t >= 6 * S));
    // Also at the end of the sequence, and from its very beginning.
    assert_eq!(evenly(&profile(10.0, &[(1.0, 10.0), (0.0, 0.0)]), 100 * S).len(), 10);
    assert_eq!(evenly(&Profile::constant(0.0), 100 * S), [] as [u64; 0]);
}

#[test]
fn a_new_rate_goes_on_where_the_old_one_stopped_for_all_seats_alike() {
    for spread in [Spread::Constant, Spread::Poisson] {
        let changed = |seat: WorkerSlot| {
            let mut found = Vec::new();
            let mut arrivals = Arrivals::new(&Profile::constant(100.0), spread, 3, seat, S, 100 * S, 1_000);
            while arrivals.peek_ns().is_some_and(|t| t < 3 * S) {
                found.extend(arrivals.peek_ns());
                arrivals.advance();
            }
            arrivals.set_rate(3 * S, 20.0);
            while let Some(t) = arrivals.peek_ns() {
                found.push(t);
                arrivals.advance();
            }
            found
        };
        let whole = changed(ALONE);
        // The limit of 1,000 applies to both rates together.
        assert_eq!(whole.len(), 1_000);
        let mut parts: Vec<u64> = seats(1, 3).into_iter().flat_map(changed).collect();
        parts.sort_unstable();
        assert_eq!(parts, whole);
        if spread == Spread::Constant {
            assert_eq!(whole[200], 3 * S);
            assert_eq!(whole[201] - whole[200], S / 20);
        }
    }
}

#[test]
fn a_rate_set_to_zero_and_back() {
    let mut arrivals =
        Arrivals::new(&Profile::constant(10.0), Spread::Constant, 0, ALONE, 0, 100 * S, u64::MAX);
    (0..10).for_each(|_| arrivals.advance());
    arrivals.set_rate(S, 0.0);
    assert_eq!(arrivals.peek_ns(), None);
    arrivals.set_rate(5 * S, 10.0);
    assert_eq!(arrivals.peek_ns(), Some(5 * S));
}

#[test]
fn what_is_skipped_does_not_use_up_the_limit() {
    let p = Profile::constant(10.0);
    let mut arrivals =
        Arrivals::new(&p, Spread::Constant, 0, WorkerSlot { offset: 1, stride: 2 }, 0, u64::MAX, 20);
    arrivals.skip_until(S);
    let mut found = Vec::new();
    while let Some(t) = arrivals.peek_ns() {
        found.push(t);
        arrivals.advance();
    }
    assert_eq!((found.len(), found[0]), (10, 11 * S / 10));
}

// ---- Poisson ----------------------------------------------------------------------------------------------------

#[test]
fn poisson_gaps_have_the_mean_and_variance_of_an_exponential() {
    let n = 200_000;
    let found = sequence(&Profile::constant(1_000.0), Spread::Poisson, ALONE, 0, u64::MAX, n);
    let gaps: Vec<f64> = found.windows(2).map(|w| (w[1] - w[0]) as f64 / 1e6).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    // Standard errors: 1/sqrt(n) = 0.0022 for the mean, sqrt(8/n) = 0.0063 for the variance; four of each.
    assert!((mean - 1.0).abs() < 0.009, "mean {mean} ms");
    assert!((variance - 1.0).abs() < 0.026, "variance {variance} ms^2");
    // Memoryless: the share of gaps above t is exp(-t).
    for t in [0.1f64, 0.5, 1.0, 2.0, 4.0] {
        let above = gaps.iter().filter(|g| **g > t).count() as f64 / gaps.len() as f64;
        assert!((above - (-t).exp()).abs() < 0.005, "P(gap > {t}) = {above}");
    }
}

#[test]
fn poisson_counts_in_equal_windows_have_a_variance_equal_to_their_mean() {
    let p = profile(0.0, &[(0.0, 500.0)]);
    let found = sequence(&p, Spread::Poisson, ALONE, 0, 400 * S, u64::MAX);
    let mut counts = vec![0f64; 4_000];
    found.iter().for_each(|t| counts[(t / (S / 10)) as usize] += 1.0);
    let mean = counts.iter().sum::<f64>() / 4_000.0;
    let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / 4_000.0;
    assert!((mean - 50.0).abs() < 0.5, "{mean}");
    // The standard error of the ratio is sqrt(2/4000) = 0.022.
    assert!((variance / mean - 1.0).abs() < 0.09, "{}", variance / mean);
}

#[test]
fn poisson_follows_a_ramp() {
    let found = sequence(&profile(0.0, &[(100.0, 1_000.0)]), Spread::Poisson, ALONE, 0, 100 * S, u64::MAX);
    // 50,000 +- 4 sqrt; a quarter of them in the first half.
    assert!((found.len() as f64 - 50_000.0).abs() < 900.0, "{}", found.len());
    let early = found.iter().filter(|t| **t < 50 * S).count() as f64;
    assert!((early - 12_500.0).abs() < 450.0, "{early}");
}

#[test]
fn a_seed_repeats_and_another_seed_differs() {
    let of = |seed| {
        let p = Profile::constant(100.0);
        let mut a = Arrivals::new(&p, Spread::Poisson, seed, ALONE, 0, u64::MAX, u64::MAX);
        (0..100).map(|_| (a.peek_ns(), a.advance()).0).collect::<Vec<_>>()
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

// ---- the closed model -------------------------------------------------------------------------------------------

/// Walks from change to change and compares `active_at` with a fine grid in between.
fn walk(p: &Profile, seat: WorkerSlot, grid_ns: u64) {
    let begin = 77 * S;
    let users = Users::new(p.clone(), seat, begin);
    let end = begin + p.total_ns() + S;
    let (mut t, mut steps) = (begin, 0);
    loop {
        let active = users.active_at(t);
        let next = users.next_change_ns(t);
        let until = next.unwrap_or(end).min(end);
        assert!(next.is_none_or(|n| n > t), "{p:?} {seat:?}: a change at {t} must lie ahead");
        let mut at = t;
        while at < until {
            let here = users.active_at(at);
            assert_eq!(
                here, active,
                "{p:?} {seat:?}: {here} users at {at}, {active} since {t}, next {next:?}"
            );
            at += grid_ns;
        }
        if until == end {
            break;
        }
        (t, steps) = (until, steps + 1);
        assert!(steps < 20_000, "{p:?} {seat:?}: more changes than users come and go");
    }
}

#[test]
fn between_two_changes_the_number_of_users_stands_still() {
    let profiles = [
        Profile::constant(7.0),
        profile(0.0, &[(10.0, 10.0)]),
        profile(0.0, &[(2.0, 10.0), (1.0, 10.0), (2.0, 0.0)]),
        profile(10.0, &[(1.0, 10.0), (0.0, 3.0), (1.0, 3.0), (0.0, 0.0), (1.0, 0.0), (0.0, 5.0), (1.0, 5.0)]),
        profile(0.0, &[(1.0, 1.0), (1.0, 0.0), (1.0, 1.0), (1.0, 0.0)]),
        profile(0.0, &[(0.0, 4.0), (0.0, 2.0), (1.0, 2.0)]),
    ];
    for p in &profiles {
        for seat in seats(1, 1).into_iter().chain(seats(2, 3)) {
            walk(p, seat, 1_234_567);
        }
    }
}

#[test]
fn random_profiles_agree_with_brute_force() {
    let mut random = SplitMix64::new(2024);
    let mut draw = |below: u64| random.next_u64() % below;
    for _ in 0..150 {
        let legs: Vec<(f64, f64)> = (0..1 + draw(5))
            .map(|_| {
                let seconds = [0.0, 0.5, 1.0, 0.333_333_333, 2.0][draw(5) as usize];
                (seconds, draw(20) as f64)
            })
            .collect();
        let p = profile(draw(10) as f64, &legs);
        let (machines, workers) = (1 + draw(3) as u32, 1 + draw(4) as u32);
        for seat in seats(machines, workers) {
            walk(&p, seat, 3_333_333);
        }
    }
}

#[test]
fn seats_share_the_users_and_none_is_counted_twice() {
    let p = profile(0.0, &[(3.0, 17.0), (0.0, 5.0), (2.0, 11.0), (1.0, 0.0)]);
    for (machines, workers) in [(1, 1), (1, 4), (3, 2)] {
        let all: Vec<Users> = seats(machines, workers).iter().map(|s| Users::new(p.clone(), *s, 0)).collect();
        for t in (0..7 * S).step_by(12_345_678) {
            let whole = Users::new(p.clone(), ALONE, 0).active_at(t);
            assert_eq!(all.iter().map(|u| u.active_at(t)).sum::<u32>(), whole, "at {t}");
        }
        assert_eq!(all.iter().map(Users::peak).sum::<u32>(), 17);
    }
}

#[test]
fn a_ramp_up_and_down_has_the_users_that_the_level_says() {
    let users = Users::new(profile(0.0, &[(10.0, 10.0), (10.0, 0.0)]), ALONE, 0);
    // User k is active while the level is above k.
    assert_eq!(users.active_at(0), 0);
    assert_eq!(users.active_at(S / 1_000), 1);
    assert_eq!(users.active_at(5 * S), 5);
    assert_eq!(users.active_at(5 * S + S / 1_000), 6);
    assert_eq!(users.active_at(10 * S), 10);
    assert_eq!(users.active_at(15 * S), 5);
    assert_eq!(users.active_at(20 * S), 0);
    assert_eq!(users.next_change_ns(20 * S), None);
}

#[test]
fn a_jump_to_zero_is_a_change_at_its_instant() {
    let users = Users::new(profile(8.0, &[(2.0, 8.0), (0.0, 0.0), (2.0, 0.0)]), ALONE, 0);
    assert_eq!((users.active_at(0), users.active_at(2 * S - 1), users.active_at(2 * S)), (8, 8, 0));
    assert_eq!(users.next_change_ns(0), Some(2 * S));
    assert_eq!(users.next_change_ns(2 * S), None);
}

#[test]
fn so_many_random_arrivals_over_a_time_are_so_many_and_still_random() {
    let mut gaps = Vec::new();
    for seed in 0..50 {
        let all: Vec<u64> = (0..3)
            .flat_map(|worker| {
                let seat = WorkerSlot { offset: worker, stride: 3 };
                let profile = Profile::constant(92.5);
                let mut mine = Arrivals::new(&profile, Spread::Poisson, seed, seat, 0, 400_000_000, 37);
                std::iter::from_fn(move || {
                    let next = mine.peek_ns()?;
                    mine.advance();
                    Some(next)
                })
            })
            .collect();
        assert_eq!(all.len(), 37, "seed {seed}");
        let mut sorted = all;
        sorted.sort_unstable();
        gaps.extend(sorted.windows(2).map(|w| (w[1] - w[0]) as f64));
    }
    // Gaps of a Poisson process vary as much as their mean; evenly spaced ones would not vary at all.
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let deviation = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
    assert!((0.85..1.1).contains(&(deviation / mean)), "{deviation} / {mean}");
}

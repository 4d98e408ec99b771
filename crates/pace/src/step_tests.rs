//! Users that change in whole steps, and arrivals that come when they are due as a whole: every instant by hand.

use super::{Arrivals, Users, WorkerSlot};
use plimsoll_plan::load::{Arrivals as Spread, Profile, Stage, UserSteps};

const S: u64 = 1_000_000_000;
const ALONE: WorkerSlot = WorkerSlot { offset: 0, stride: 1 };

fn profile(start: f64, legs: &[(f64, f64)]) -> Profile {
    let stages =
        legs.iter().map(|(s, to)| Stage { duration_ns: (s * 1e9).round() as u64, to: *to }).collect();
    Profile { start, stages }
}

fn users(profile: Profile, seat: WorkerSlot) -> Users {
    Users::new(profile, seat, 0).steps(UserSteps::Reached)
}

/// Returns every change as (ns, users).
fn changes(users: &Users) -> Vec<(u64, u32)> {
    let mut all = vec![(0, users.active_at(0))];
    let mut at = 0;
    while let Some(next) = users.next_change_ns(at) {
        assert!(next > at, "time advances");
        at = next;
        all.push((at, users.active_at(at)));
    }
    all
}

#[test]
fn users_change_by_one_when_the_level_reaches_a_whole_number() {
    // Up by 3 in 10 s: the k-th step at k * 10 s / 3, rounded up. Down by 2 in 1 s: at 0.5 s and 1 s.
    let ramp = users(profile(0.0, &[(10.0, 3.0), (2.0, 3.0), (1.0, 1.0)]), ALONE);
    let expected =
        [(0, 0), (3_333_333_334, 1), (6_666_666_667, 2), (10 * S, 3), (12 * S + S / 2, 2), (13 * S, 1)];
    assert_eq!(changes(&ramp), expected);
    // Just before a step, the number is the old one.
    assert_eq!((ramp.active_at(3_333_333_333), ramp.active_at(12 * S + S / 2 - 1)), (0, 3));
}

#[test]
fn a_stage_without_a_duration_is_a_jump() {
    let jumps = users(profile(1.0, &[(0.0, 5.0), (1.0, 5.0), (0.0, 2.0), (1.0, 4.0)]), ALONE);
    assert_eq!(changes(&jumps), [(0, 5), (S, 2), (S + S / 2, 3), (2 * S, 4)]);
}

#[test]
fn the_steps_of_all_workers_add_up_and_no_change_is_missed() {
    let legs = [(1.0, 7.0), (0.5, 2.0), (0.0, 6.0), (0.7, 6.0), (1.3, 0.0), (0.4, 3.0)];
    let whole = users(profile(1.0, &legs), ALONE);
    for workers in [2u64, 3, 5] {
        let seats = (0..workers).map(|offset| WorkerSlot { offset, stride: workers });
        let parts: Vec<Users> = seats.map(|seat| users(profile(1.0, &legs), seat)).collect();
        // A worker that looks only at its announced changes has the right number at all times.
        let mut known: Vec<(u32, Option<u64>)> =
            parts.iter().map(|part| (part.active_at(0), part.next_change_ns(0))).collect();
        for ms in 0..4_200 {
            let t = ms * 1_000_000;
            for (part, (active, next)) in parts.iter().zip(&mut known) {
                while let Some(at) = next.filter(|at| *at <= t) {
                    (*active, *next) = (part.active_at(at), part.next_change_ns(at));
                }
            }
            let sum: u32 = known.iter().map(|(active, _)| active).sum();
            assert_eq!(sum, whole.active_at(t), "{workers} workers at {ms} ms");
        }
    }
}

fn due(profile: &Profile, seat: WorkerSlot, end_ns: u64) -> Vec<u64> {
    let mut arrivals = Arrivals::new(profile, Spread::Constant, 0, seat, 0, end_ns, u64::MAX).when_due();
    let mut all = Vec::new();
    while let Some(t) = arrivals.peek_ns() {
        all.push(t);
        arrivals.advance();
    }
    all
}

#[test]
fn arrival_i_comes_when_the_area_under_the_rate_reaches_i() {
    // From 0 to 5/s in 1 s, the area is 2.5 t^2: 2 arrivals, and a half that the next stage completes at 5/s.
    let p = profile(0.0, &[(1.0, 5.0), (2.0, 5.0)]);
    let seconds: Vec<f64> = due(&p, ALONE, 2 * S).iter().map(|t| *t as f64 / 1e9).collect();
    let expected = [0.4f64.sqrt(), 0.8f64.sqrt(), 1.1, 1.3, 1.5, 1.7, 1.9];
    assert_eq!(seconds.len(), expected.len());
    assert!(seconds.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{seconds:?}");
}

#[test]
fn a_falling_rate_spaces_arrivals_by_the_square_root_formula() {
    // From 10 to 0/s in 2 s, the area is 10 t - 2.5 t^2: arrival i at 2 - sqrt(4 - 0.4 i).
    let p = profile(10.0, &[(2.0, 0.0)]);
    let all = due(&p, ALONE, 2 * S);
    assert_eq!(all.len(), 9, "the tenth would be at the very end");
    for (i, t) in (1..).zip(&all) {
        let exact = (2.0 - (4.0 - 0.4 * f64::from(i)).sqrt()) * 1e9;
        assert!((*t as f64 - exact).abs() <= 1.0, "arrival {i}: {t} and {exact}");
    }
}

#[test]
fn an_arrival_that_is_due_at_the_end_of_a_stage_does_not_wait_for_the_pause_after_it() {
    // 4/s for 1 s, a pause of 5 s, 1/s: the fourth is due at 1 s, and the fifth a second after the pause.
    let p = profile(4.0, &[(1.0, 4.0), (0.0, 0.0), (5.0, 0.0), (0.0, 1.0), (3.0, 1.0)]);
    assert_eq!(due(&p, ALONE, 9 * S), [S / 4, S / 2, 3 * S / 4, S, 7 * S, 8 * S]);
}

#[test]
fn workers_divide_one_sequence_of_due_arrivals() {
    let p = profile(0.0, &[(1.0, 40.0), (1.0, 10.0)]);
    let whole = due(&p, ALONE, 2 * S);
    let mut parts: Vec<u64> =
        (0..3).flat_map(|offset| due(&p, WorkerSlot { offset, stride: 3 }, 2 * S)).collect();
    parts.sort_unstable();
    assert_eq!(parts, whole);
    assert_eq!(whole.len(), 44, "the area is 45, and the last is at the end");
}

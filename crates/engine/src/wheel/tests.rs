//! Timers are never lost, never early by more than a slot, and at most one slot late if the owner checks at the time
//! the wheel returns.

use super::Wheel;
use plimsoll_stats::random::SplitMix64;

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
/// The wheel's own precision, from its documentation.
const SLOT_NS: u64 = 1 << 20;

/// A wheel with its owner's duties: true deadlines, checked when an entry comes up.
struct Timers {
    wheel: Wheel,
    deadlines: Vec<Option<u64>>,
    looks: u64,
}

impl Timers {
    fn new(now_ns: u64, len: usize) -> Timers {
        let mut wheel = Wheel::new(now_ns);
        wheel.grow(len);
        Timers { wheel, deadlines: vec![None; len], looks: 0 }
    }

    fn set(&mut self, id: u32, at_ns: u64) {
        self.deadlines[id as usize] = Some(at_ns);
        self.wheel.arm(id, at_ns);
    }

    /// Returns the ids due at `now_ns`.
    fn turn(&mut self, now_ns: u64) -> Vec<u32> {
        let (mut up, mut due) = (Vec::new(), Vec::new());
        self.wheel.expire(now_ns, &mut up);
        self.looks += up.len() as u64;
        for id in up {
            match self.deadlines[id as usize] {
                None => {}
                Some(at_ns) if at_ns > now_ns => self.wheel.arm(id, at_ns),
                Some(_) => {
                    self.deadlines[id as usize] = None;
                    due.push(id);
                }
            }
        }
        due
    }

    /// Runs from wake-up to wake-up until everything has fired; returns (id, time).
    fn run(&mut self) -> Vec<(u32, u64)> {
        let (mut fired, mut turns) = (Vec::new(), 0);
        while let Some(now_ns) = self.wheel.next_ns() {
            turns += 1;
            assert!(turns < 100_000, "repeated wake-ups, and nothing fires");
            fired.extend(self.turn(now_ns).into_iter().map(|id| (id, now_ns)));
        }
        fired
    }
}

#[test]
fn every_deadline_fires_once_within_two_slots_and_never_before() {
    let begin = 987_654_321 * S;
    let mut random = SplitMix64::new(1);
    let mut timers = Timers::new(begin, 2_000);
    let mut wanted = Vec::new();
    for id in 0..2_000 {
        let at_ns = begin + random.next_u64() % (12 * S);
        wanted.push(at_ns);
        timers.set(id, at_ns);
    }
    let mut fired = timers.run();
    fired.sort_unstable();
    assert_eq!(fired.len(), 2_000);
    for (i, (id, at_ns)) in fired.into_iter().enumerate() {
        assert_eq!(i, id as usize);
        assert!(at_ns >= wanted[i], "{id} fired early");
        assert!(at_ns - wanted[i] <= 2 * SLOT_NS, "{id} fired {} ns late", at_ns - wanted[i]);
    }
}

#[test]
fn ten_seconds_cost_one_look_per_horizon() {
    let mut timers = Timers::new(5 * S, 1);
    timers.set(0, 15 * S);
    assert_eq!(timers.run().len(), 1);
    // The horizon is 512 slots of 1.05 ms: 19 rounds of it, and the last check.
    assert!((19..=21).contains(&timers.looks), "{}", timers.looks);
}

#[test]
fn a_deadline_that_is_cancelled_by_its_answer_costs_no_operation_and_does_not_fire() {
    let mut timers = Timers::new(S, 1);
    for k in 0..1_000 {
        // A request every ms with a timeout of 10 s and an immediate response: the timer is rearmed, and only its owner
        // cancels it.
        timers.set(0, S + k * MS + 10 * S);
        timers.deadlines[0] = None;
        assert!(timers.turn(S + k * MS).is_empty());
    }
    assert!(timers.looks <= 2, "{}", timers.looks);
}

#[test]
fn a_nearer_deadline_moves_an_entry_forward() {
    let mut timers = Timers::new(S, 2);
    timers.set(0, 4 * S);
    timers.set(1, 3 * S);
    timers.set(0, S + 20 * MS);
    let fired = timers.run();
    assert_eq!(fired.iter().map(|f| f.0).collect::<Vec<_>>(), [0, 1]);
    assert!(fired[0].1 - (S + 20 * MS) <= 2 * SLOT_NS);
}

#[test]
fn disarmed_entries_never_fire_and_adjacent_ones_do() {
    for gone in 0..5u32 {
        let mut timers = Timers::new(S, 5);
        // All in one slot: a list of five, from which one is removed at each position.
        (0..5).for_each(|id| timers.set(id, S + 50 * MS));
        timers.wheel.disarm(gone);
        timers.wheel.disarm(gone);
        let mut fired: Vec<u32> = timers.run().into_iter().map(|f| f.0).collect();
        fired.sort_unstable();
        assert_eq!(fired, (0..5).filter(|id| *id != gone).collect::<Vec<_>>());
    }
}

#[test]
fn a_stall_of_minutes_loses_nothing() {
    let mut timers = Timers::new(S, 1_000);
    for id in 0..1_000 {
        timers.set(id, S + u64::from(id) * 11 * MS);
    }
    let after = 300 * S;
    let mut due = timers.turn(after);
    due.sort_unstable();
    assert_eq!(due, (0..1_000).collect::<Vec<_>>());
    // And the wheel still works.
    timers.set(7, after + 30 * MS);
    let fired = timers.run();
    assert_eq!(fired.len(), 1);
    assert!(fired[0].1 >= after + 30 * MS && fired[0].1 <= after + 30 * MS + 2 * SLOT_NS);
}

#[test]
fn a_deadline_in_the_past_comes_up_with_the_next_slot() {
    let mut timers = Timers::new(100 * S, 1);
    timers.set(0, S);
    assert!(timers.wheel.next_ns().unwrap() <= 100 * S + 2 * SLOT_NS);
    assert_eq!(timers.turn(100 * S + 2 * SLOT_NS), [0]);
}

#[test]
fn nothing_armed_means_no_wake_up() {
    let mut wheel = Wheel::new(7 * S);
    wheel.grow(3);
    assert_eq!(wheel.next_ns(), None);
    wheel.arm(1, 8 * S);
    wheel.disarm(1);
    assert_eq!(wheel.next_ns(), None);
}

#[test]
fn against_a_plain_list_over_random_operations() {
    let mut random = SplitMix64::new(99);
    let mut timers = Timers::new(50 * S, 64);
    let mut now = 50 * S;
    for _ in 0..200_000 {
        let id = (random.next_u64() % 64) as u32;
        match random.next_u64() % 4 {
            0 => timers.set(id, now + random.next_u64() % (2 * S)),
            1 => timers.set(id, now + random.next_u64() % (20 * MS)),
            2 => {
                timers.deadlines[id as usize] = None;
                timers.wheel.disarm(id);
            }
            _ => now += random.next_u64() % (3 * MS),
        }
        for id in timers.turn(now) {
            assert_eq!(timers.deadlines[id as usize], None);
        }
        // A timer overdue by more than a slot was lost.
        let overdue = timers.deadlines.iter().flatten().find(|at| **at + 2 * SLOT_NS < now);
        assert_eq!(overdue, None);
        let next = timers.deadlines.iter().flatten().min();
        if let (Some(next), Some(look)) = (next, timers.wheel.next_ns()) {
            assert!(look <= (*next).max(now) + 2 * SLOT_NS, "a look at {look} is too late for {next}");
        }
    }
}

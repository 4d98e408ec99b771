//! `-n` over several workers: exactly this many, regardless of which worker is faster.

use super::{Lease, RequestBudget};
use std::sync::Arc;

fn take_all(mut lease: Lease) -> u64 {
    let mut taken = 0;
    while lease.take() {
        taken += 1;
    }
    taken
}

#[test]
fn threads_take_exactly_the_total_between_them() {
    for (total, workers) in [(0, 3), (1, 8), (7, 8), (1_000, 3), (100_003, 4), (1_000_000, 2)] {
        let pot = RequestBudget::new(total, workers, 0);
        let threads: Vec<_> = (0..workers)
            .map(|_| {
                let lease = Lease::new(Some(Arc::clone(&pot)));
                std::thread::spawn(move || take_all(lease))
            })
            .collect();
        let taken: u64 = threads.into_iter().map(|t| t.join().unwrap()).sum();
        assert_eq!(taken, total, "{total} over {workers}");
    }
}

#[test]
fn a_lease_says_that_it_is_exhausted_only_after_it_was_refused() {
    let mut lease = Lease::new(Some(RequestBudget::new(2, 1, 0)));
    assert!(lease.take() && lease.take());
    assert!(!lease.is_exhausted());
    assert!(!lease.take() && lease.is_exhausted());
    assert!(!lease.take(), "and stays so");
}

#[test]
fn who_never_took_sees_that_nothing_is_left() {
    let pot = RequestBudget::new(100, 2, 0);
    let idle = Lease::new(Some(Arc::clone(&pot)));
    let mut busy = Lease::new(Some(pot));
    assert!(busy.take() && !idle.is_drained());
    assert_eq!(take_all(busy), 99);
    assert!(idle.is_drained() && !idle.is_exhausted());
    assert!(!Lease::new(None).is_drained());
}

#[test]
fn without_a_pot_there_is_no_limit() {
    let mut lease = Lease::new(None);
    assert!((0..100_000).all(|_| lease.take()));
    assert!(!lease.is_exhausted());
}

#[test]
fn no_worker_sits_on_requests_that_another_could_send() {
    // One worker takes one request and stalls: of a total of 1,000, it may hold at most 1/16.
    let pot = RequestBudget::new(1_000, 2, 0);
    let mut stalled = Lease::new(Some(Arc::clone(&pot)));
    assert!(stalled.take());
    let others = take_all(Lease::new(Some(pot)));
    assert!(others >= 1_000 - 1_000 / 16, "{others}");
}

#[test]
fn each_of_as_many_users_gets_one() {
    // The 200 users of one worker take one each, before those of the other begin.
    for total in [400, 450, 1_000] {
        let pot = RequestBudget::new(total, 2, 400);
        let (mut first, mut second) = (Lease::new(Some(Arc::clone(&pot))), Lease::new(Some(pot)));
        assert!((0..200).all(|_| first.take()));
        assert!((0..200).all(|_| second.take()), "of {total}");
    }
}

#[test]
fn a_worker_that_ends_first_leaves_the_rest_to_the_others() {
    let pot = RequestBudget::new(3, 2, 1);
    let (mut idle, mut busy) = (Lease::new(Some(Arc::clone(&pot))), Lease::new(Some(pot)));
    assert_eq!(idle.give_up(), 0);
    assert!(busy.take());
    assert_eq!(busy.give_up(), 2, "the last one");
}

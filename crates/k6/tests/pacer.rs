//! The limit of requests per second, with times as arguments.

use plimsoll_k6::pacer::RequestPacer;
use std::sync::Arc;

const MS: u64 = 1_000_000;

#[test]
fn requests_are_spaced_evenly_and_a_pause_allows_no_burst() {
    let pacer = RequestPacer::new(100, 1);
    assert_eq!([0, 0, 0].map(|now| pacer.wait_ns(now)), [0, 10 * MS, 20 * MS]);
    // The next time is 30 ms; after a pause, the first request is sent at once, and the others wait again.
    assert_eq!(pacer.wait_ns(25 * MS), 5 * MS);
    assert_eq!([500 * MS, 500 * MS].map(|now| pacer.wait_ns(now)), [0, 10 * MS]);
}

#[test]
fn machines_divide_the_limit() {
    let pacer = RequestPacer::new(100, 4);
    assert_eq!([0, 0].map(|now| pacer.wait_ns(now)), [0, 40 * MS]);
}

#[test]
fn users_on_several_threads_never_get_one_time() {
    let pacer = Arc::new(RequestPacer::new(1_000, 1));
    let threads = (0..4).map(|_| {
        let pacer = Arc::clone(&pacer);
        std::thread::spawn(move || (0..250).map(|_| pacer.wait_ns(0)).collect::<Vec<u64>>())
    });
    let threads: Vec<_> = threads.collect();
    let mut all: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    all.sort_unstable();
    assert_eq!(all, (0..1_000).map(|n| n * MS).collect::<Vec<u64>>());
}

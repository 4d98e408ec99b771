//! Neither counting nor clearing allocates: both happen on the workers.
//!
//! One test in a separate program, because the count covers all threads.

use std::alloc::{GlobalAlloc, Layout as Shape, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use plimsoll_stats::{Interval, Layout};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged to the system's allocator; the counter does not touch the allocated memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, shape: Shape) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's guarantees are those that the system's allocator requires.
        unsafe { System.alloc(shape) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, shape: Shape) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, shape) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn counting_merging_and_clearing_allocate_nothing() {
    let layout = Layout { sums: 600, peaks: 4, floors: 4, hists: 6, lasts: 0 };
    let mut interval = Interval::new(layout, layout, 3);
    let mut gathered = Interval::new(layout, layout, 3);
    // Make sure that the counter works; otherwise, zero would mean nothing.
    assert!(ALLOCATIONS.load(Ordering::Relaxed) >= 24);

    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for round in 0..1_000u64 {
        for id in 0..6 {
            interval.run.record(id, (round + 1) << (7 * id));
            interval.series[id % 3].record(id, u64::MAX - round);
        }
        interval.run.add(round as usize % 600, 1);
        interval.run.peak(0, round);
        interval.run.floor(0, round);
        if round % 100 == 99 {
            gathered.merge(&interval);
            interval.clear();
        }
    }
    let after = ALLOCATIONS.load(Ordering::Relaxed);
    assert_eq!(after - before, 0);
    assert_eq!(gathered.run.hists[0].count(), 1_000);
}

//! State that all users share: the values of setup, and the counters. Every request of every worker thread reads or
//! increments one of them, so neither has a lock.

use plimsoll_plan::value::GlobalId;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A growing list that never moves its items, so that one thread can read while another appends. Bucket `k` has room
/// for `2^k` items and is created when the first of them is requested.
#[derive(Debug)]
struct Buckets<T, const N: usize>([OnceLock<Box<[T]>>; N]);

impl<T: Default, const N: usize> Buckets<T, N> {
    const fn new() -> Self {
        Buckets([const { OnceLock::new() }; N])
    }

    /// Returns item `at`, or `None` if `at` is `2^N - 1` or more.
    fn item(&self, at: usize) -> Option<&T> {
        let place = at + 1;
        let bucket = place.ilog2() as usize;
        let items = self.0.get(bucket)?.get_or_init(|| (0..1usize << bucket).map(|_| T::default()).collect());
        items.get(place - (1 << bucket))
    }
}

/// All values that one global has had, the newest last. They are kept until the run ends, because a reader may hold
/// any of them. Only setup writes them, so they are few.
#[derive(Debug)]
struct History {
    values: Buckets<OnceLock<Box<[u8]>>, 28>,
    claimed: AtomicUsize,
    /// Number of the newest value, starting at 1; 0 if there is none.
    newest: AtomicUsize,
}

/// The values that setup extracted, the same for all users. Reads take no lock and return the newest value.
#[derive(Debug)]
pub struct Globals {
    slots: Box<[History]>,
}

impl Globals {
    /// Returns `count` slots without values.
    pub fn new(count: usize) -> Arc<Globals> {
        let history =
            |_| History { values: Buckets::new(), claimed: AtomicUsize::new(0), newest: AtomicUsize::new(0) };
        Arc::new(Globals { slots: (0..count).map(history).collect() })
    }

    /// Returns the newest value; `None` if none was set.
    pub fn get(&self, id: GlobalId) -> Option<&[u8]> {
        let slot = self.slots.get(usize::from(id))?;
        // Acquire pairs with the release in `set`, so the value with this number is visible.
        let newest = slot.newest.load(Ordering::Acquire).checked_sub(1)?;
        slot.values.item(newest)?.get().map(|value| &value[..])
    }

    /// Sets the value. Returns `false` if it was not kept, because the slot does not exist or was set 2^28 times.
    pub fn set(&self, id: GlobalId, value: &[u8]) -> bool {
        let Some(slot) = self.slots.get(usize::from(id)) else { return false };
        let number = slot.claimed.fetch_add(1, Ordering::Relaxed);
        let kept = slot.values.item(number).is_some_and(|place| place.set(value.into()).is_ok());
        if kept {
            slot.newest.fetch_max(number + 1, Ordering::Release);
        }
        kept
    }
}

/// The number of uses of each counter on this machine.
#[derive(Debug)]
pub struct Counters {
    uses: Buckets<Uses, 17>,
}

/// Has a whole cache line, so that two counters do not slow each other down.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Uses(AtomicU64);

impl Default for Counters {
    fn default() -> Counters {
        Counters::new()
    }
}

impl Counters {
    /// Returns all counters at their start. A counter takes memory only after its first use.
    pub const fn new() -> Counters {
        Counters { uses: Buckets::new() }
    }

    /// Returns the next value of counter `id`: `start`, then `start + step`, and so on. Wraps at the ends of `i64`.
    pub fn next(&self, id: u16, start: i64, step: i64) -> i64 {
        // proof: 17 buckets hold 2^17 - 1 items, more than a `u16` can number, so the fallback is never taken.
        let uses = self.uses.item(usize::from(id)).map_or(0, |uses| uses.0.fetch_add(1, Ordering::Relaxed));
        start.wrapping_add(step.wrapping_mul(uses as i64))
    }
}

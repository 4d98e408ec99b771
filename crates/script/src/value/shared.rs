//! What all users share: the values of the set-up and the counters. Both are read or counted by every request of every
//! worker thread, so neither has a lock.

use plimsoll_plan::value::GlobalId;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A list that grows and never moves what it holds, so that it can be read while another thread appends: bucket `k`
/// has room for `2^k` items and is made when the first of them is asked for.
#[derive(Debug)]
struct Buckets<T, const N: usize>([OnceLock<Box<[T]>>; N]);

impl<T: Default, const N: usize> Buckets<T, N> {
    const fn new() -> Self {
        Buckets([const { OnceLock::new() }; N])
    }

    /// Item `at`; `None` from `2^N - 1` on.
    fn item(&self, at: usize) -> Option<&T> {
        let place = at + 1;
        let bucket = place.ilog2() as usize;
        let items = self.0.get(bucket)?.get_or_init(|| (0..1usize << bucket).map(|_| T::default()).collect());
        items.get(place - (1 << bucket))
    }
}

/// Every value that one global has had, the newest last. They are kept until the run ends, because a reader may hold
/// any of them; only a set-up writes, so they are few.
#[derive(Debug)]
struct History {
    values: Buckets<OnceLock<Box<[u8]>>, 28>,
    claimed: AtomicUsize,
    /// Number of the newest value, from 1; 0: none.
    newest: AtomicUsize,
}

/// The values that the set-up extracted, the same for all users. Reads take no lock and give the last value written.
#[derive(Debug)]
pub struct Globals {
    slots: Box<[History]>,
}

impl Globals {
    /// Room for the values 0 to `count` - 1, none of them set.
    pub fn new(count: usize) -> Arc<Globals> {
        let history =
            |_| History { values: Buckets::new(), claimed: AtomicUsize::new(0), newest: AtomicUsize::new(0) };
        Arc::new(Globals { slots: (0..count).map(history).collect() })
    }

    /// `None`: nothing has set it.
    pub fn get(&self, id: GlobalId) -> Option<&[u8]> {
        let slot = self.slots.get(usize::from(id))?;
        // Acquire: pairs with the release in `set`, so that the value of this number is there.
        let newest = slot.newest.load(Ordering::Acquire).checked_sub(1)?;
        slot.values.item(newest)?.get().map(|value| &value[..])
    }

    /// The value from now on. `false`: it was not kept, because there is no such slot or it was set 2^28 times.
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

/// How often each counter was used on this machine.
#[derive(Debug)]
pub struct Counters {
    uses: Buckets<Uses, 17>,
}

/// A cache line of its own, so that two counters do not slow each other down.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Uses(AtomicU64);

impl Default for Counters {
    fn default() -> Counters {
        Counters::new()
    }
}

impl Counters {
    /// All at their start; a counter takes memory from its first use on.
    pub const fn new() -> Counters {
        Counters { uses: Buckets::new() }
    }

    /// The next value of counter `id`: `start`, then `start + step`, and so on; wraps at the ends of `i64`.
    pub fn next(&self, id: u16, start: i64, step: i64) -> i64 {
        // proof: 17 buckets hold 2^17 - 1 items, more than a `u16` can name, so the fall-back is never taken.
        let uses = self.uses.item(usize::from(id)).map_or(0, |uses| uses.0.fetch_add(1, Ordering::Relaxed));
        start.wrapping_add(step.wrapping_mul(uses as i64))
    }
}

//! The ruler's one place for clocks. Stamps are CLOCK_MONOTONIC, the same for every process of the
//! machine, so that a stamp taken here can be laid beside one taken by a load generator.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds since some fixed point (usually boot).
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Both parts are never negative for this clock.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Nanoseconds since 1970, for stamps that stand in an answer and for ticks that streams have in common.
fn wall_ns() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    // A date before 1970 is no date to run tests at.
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + now.tv_nsec as u64
}

/// The same instant on both clocks: [`now_ns`] and [`wall_ns`].
///
/// Between two readings the thread may be put to sleep, which would shift one clock against the other; so the date is
/// read between two monotonic readings, until these lie close together (or the machine is too busy for that).
pub(crate) fn both_ns() -> (u64, u64) {
    const CLOSE_NS: u64 = 5_000;
    const TRIES: usize = 8;
    let mut tightest = (u64::MAX, 0, 0);
    for _ in 0..TRIES {
        let (before, wall, after) = (now_ns(), wall_ns(), now_ns());
        tightest = tightest.min((after - before, before + (after - before) / 2, wall));
        if tightest.0 < CLOSE_NS {
            break;
        }
    }
    (tightest.1, tightest.2)
}

/// A span as the kernel wants it.
pub(crate) fn timespec(span_ns: u64) -> Timespec {
    Timespec { tv_sec: (span_ns / 1_000_000_000) as i64, tv_nsec: (span_ns % 1_000_000_000) as _ }
}

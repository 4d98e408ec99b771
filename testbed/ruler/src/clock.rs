//! The only place where the ruler reads clocks. Timestamps are CLOCK_MONOTONIC, the same for every process of the
//! machine, so they are comparable with those of a load generator.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Returns the nanoseconds since a fixed point (usually boot).
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Both parts are never negative for this clock.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Returns the nanoseconds since 1970, for timestamps in a response and for the common ticks of streams.
fn wall_ns() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    // Tests do not run before 1970.
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + now.tv_nsec as u64
}

/// Returns the same time on both clocks: [`now_ns`] and [`wall_ns`].
///
/// If the kernel suspends the thread between two readings, one clock is shifted against the other. So the date is read
/// between two monotonic readings, and again until these are close together (or the machine is too busy for that).
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

/// Converts a span to the kernel's type.
pub(crate) fn timespec(span_ns: u64) -> Timespec {
    Timespec { tv_sec: (span_ns / 1_000_000_000) as i64, tv_nsec: (span_ns % 1_000_000_000) as _ }
}

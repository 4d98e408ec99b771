//! The ruler's one clock: CLOCK_MONOTONIC, the same for every process of the machine, so that a stamp
//! taken here can be laid beside one taken by a load generator.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds since some fixed point (usually boot).
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Both parts are never negative for this clock.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A span as the kernel wants it.
pub(crate) fn timespec(span_ns: u64) -> Timespec {
    Timespec { tv_sec: (span_ns / 1_000_000_000) as i64, tv_nsec: (span_ns % 1_000_000_000) as _ }
}

//! The only place that reads the time; all other code gets the time as an argument.

pub use crate::sys::time::{monotonic_ns as now_ns, unix_ns};

/// Returns the offset from [`now_ns`] to the time since 1970. It is read once, because a step of the wall clock during
/// a run must not show in its times.
pub fn unix_offset_ns() -> i128 {
    i128::from(unix_ns()) - i128::from(now_ns())
}

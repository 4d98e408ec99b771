//! The one place that asks what time it is; everything else gets the time as an argument.

pub use crate::sys::time::{monotonic_ns as now_ns, unix_ns};

/// What has to be added to [`now_ns`] for the time since 1970. Read once: a step of the wall clock in the middle of a
/// run must not show in its times.
pub fn unix_offset_ns() -> i128 {
    i128::from(unix_ns()) - i128::from(now_ns())
}

//! The one place that asks what time it is; everything else gets the time as an argument.

pub use crate::sys::time::{monotonic_ns as now_ns, unix_ns};

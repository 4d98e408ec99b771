//! Survives the end of memory long enough to write a report.
//!
//! Rust ends the process by a signal when an allocation fails, which would lose the run. Therefore, a measuring process
//! keeps a reserve. The first failing allocation releases the reserve and succeeds; every worker notices in its next
//! event-loop iteration and ends; the results are written within the released memory.

pub use crate::sys::memory::{Reserve, is_used_up, keep_reserve};

/// The error message.
pub const SENTENCE: &str =
    "out of memory: use fewer users, or a lower `kept_body_bytes` or `kept_total_bytes`";

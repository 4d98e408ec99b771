//! The end of memory, survived long enough for a report.
//!
//! Rust ends the process by a signal when an allocation fails, and with it goes the run. So a program that measures
//! keeps a reserve: the first allocation that fails gives it up and succeeds, every worker sees that at its next turn
//! and ends, and what was measured is written down in the room that the reserve has left.

pub use crate::sys::memory::{Reserve, is_used_up, keep_reserve};

/// What is said of it.
pub const SENTENCE: &str =
    "out of memory: use fewer users, or a lower `kept_body_bytes` or `kept_total_bytes`";

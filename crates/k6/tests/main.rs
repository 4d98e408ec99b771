//! Tests of this crate through its public interface: options, thresholds, drafts, and flags. They are one program,
//! because linking one costs less than linking each file.

// Helper functions of the tests may also stop at the first error; the setting for tests does not apply to them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop")]

mod drafts;
mod flags;
mod options;
mod pacer;
mod thresholds;

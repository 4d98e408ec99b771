//! Tests of this crate through its public interface. They are one program, because linking one costs less than linking
//! each file.

// Helper functions of the tests may also stop at the first error; the setting for tests does not apply to them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop")]

mod corpus;
#[path = "../../../tests/support/jmx.rs"]
mod jmx;
mod keys;
mod plans;
mod texts;

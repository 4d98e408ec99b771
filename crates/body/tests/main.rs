//! Tests of this crate through its surface. Checks and extractions of scenarios test the rest (`crates/script/tests`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop")]

mod json;
mod values;

//! Generated runs with the shape of real ones, for tests of how numbers are processed and shown. Everything is
//! generated from a seed, in simulated time, with the writer of real runs.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::should_implement_trait,
    reason = "the same lints as in the tests that use it"
)]

pub mod made_up;
pub mod odd_runs;
pub mod scene;
pub mod shop;
pub mod trouble;

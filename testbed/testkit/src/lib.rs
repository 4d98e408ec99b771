//! Runs that never happened, with the shape of real ones: for tests of what becomes of numbers, and for those of what
//! is shown of a run. Everything is made from a seed, in simulated time, through the writer of real runs.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::should_implement_trait,
    reason = "as the tests whose tools it has"
)]

pub mod made_up;
pub mod odd_runs;
pub mod scene;
pub mod shop;
pub mod trouble;

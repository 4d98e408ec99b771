//! The surface of the crate, in one program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may stop at the first error"
)]

mod certificates;
mod clocks;
mod codec;
mod cost;
mod fixture;
mod hub;
mod signed;
mod simulated;
mod simulator;
mod trouble;
mod who;

//! Tests of this crate through its public interface: histograms and statistics. They are one program, because linking
//! one costs less than linking each file; a test that counts allocations or memory of its process is a separate program
//! (`Cargo.toml`).

// Helper functions of the tests may also stop at the first error; the setting for tests does not apply to them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and print"
)]

mod common;
mod comparisons;
mod golden;
mod hist;
mod hostile_bytes;
mod quantile;
mod regression;
mod series;
mod tally;
mod usl;

//! Tests of this crate through its surface: histograms and what is computed from them. They are one program, because
//! linking one costs less than linking each file; what counts allocations or memory of its process is a program of its
//! own (`Cargo.toml`).

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and talk"
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

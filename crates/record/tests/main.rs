//! Tests of this crate through its surface: events, merging, the run file. They are one
//! program, because linking one costs less than linking each file. Tests that count the allocations or the memory of
//! their process are separate programs (`Cargo.toml`).

// Helper functions of the tests may panic too; the setting for tests does not cover them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and talk"
)]

mod disk_full;
mod found;
mod merge;
mod opened;
mod run_file;
mod run_file_killed;
mod run_file_places;
mod run_file_size;
mod run_file_sums;
mod run_file_watched;

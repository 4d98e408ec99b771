//! Tests of this crate through its surface: plans run without an engine, in simulated time.

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test may stop and talk"
)]

mod checks;
mod compatible;
mod controllers;
mod data;
mod extractors;
mod pages;
mod requests;
mod simulator;
mod texts;
mod timers;
mod xml;

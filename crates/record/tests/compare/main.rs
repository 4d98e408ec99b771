//! Comparison: that equal services are not told apart, that slower ones are, and that doubts are raised.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a test may stop and talk")]

mod doubted;
mod rules;
mod sim;
mod trials;

//! Tests of this crate through its surface: modules, their factories, and their mistakes. They are one program, because
//! linking one costs less than linking each file.
//!
//! The expected factories have run under Node: what they print equals what Node prints for the same modules.

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and talk"
)]

mod archives;
mod commonjs;
mod exports;
mod imports;
mod isolation;
mod mistakes;
mod mutations;
mod places;
mod support;
mod typescript;
mod usage;

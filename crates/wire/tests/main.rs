//! Tests of this crate through its surface: HTTP/1 and server-sent events, cut everywhere. They are one program,
//! because linking one costs less than linking each file; what counts allocations or memory of its process is a program
//! of its own (`Cargo.toml`).

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and talk"
)]

mod accepts;
mod common;
mod fuzz_h1;
mod fuzz_sse;
mod limits;
mod refuses;
mod render;
mod splits;
mod sse;
mod streams;

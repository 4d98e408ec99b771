//! Tests of this crate through its public interface: HTTP/1, HTTP/2, WebSocket, and server-sent events, split
//! everywhere. They are one program, because linking one costs less than linking each file; a test that counts
//! allocations or memory of its process is a separate program (`Cargo.toml`).

// Helper functions of the tests may also stop at the first error; the setting for tests does not apply to them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and print"
)]

mod accepts;
mod common;
mod fuzz_h1;
mod fuzz_sse;
mod h2;
mod hpack;
mod limits;
mod proxy;
mod redis;
mod refuses;
mod render;
mod splits;
mod sse;
mod streams;
mod ws;

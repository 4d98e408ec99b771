//! Tests of this crate through its surface: the server that tests command, as a client sees it. They are one program,
//! because linking one costs less than linking each file.

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and talk"
)]

mod answers;
mod common;
mod content;
mod draw;
mod events;
mod faults;
mod frames;
mod http2;
mod http2_curl;
mod observed;
mod pure;
mod record;
mod requests;
mod station;
mod websocket;

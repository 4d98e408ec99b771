//! Tests of this crate through its surface: pacing, programs and connections, over links in memory and over sockets.
//! They are one program, because linking one costs less than linking each file; what counts allocations or memory of
//! its process is a program of its own (`Cargo.toml`).

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and talk"
)]

mod beyond_a_table;
mod cache;
mod floods;
mod hostile_link;
mod hostile_tls;
mod link_openssl;
mod link_support;
mod link_tls;
mod link_trust;
mod opened;
mod origins;
mod own_limits;
mod phases;
mod programs;
mod programs_more;
mod reuse;
mod served;
mod sleeps;
mod streams;
mod support;
mod unasked;
mod worker_closed;
mod worker_faults;
mod worker_open;
mod workloads;

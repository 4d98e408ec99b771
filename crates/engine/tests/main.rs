//! Tests of this crate through its public interface: pacing, programs, and connections, over links in memory and over
//! sockets. They are one program, because linking one costs less than linking each file; a test that counts allocations
//! or memory of its process is a separate program (`Cargo.toml`).

// Helper functions of the tests may also stop at the first error; the setting for tests does not apply to them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and print"
)]

mod beyond_a_table;
mod cache;
mod floods;
mod hostile_link;
mod hostile_tls;
mod http2;
mod http2_bodies;
mod http2_chaos;
mod http2_ends;
mod http2_limits;
mod http2_links;
mod http2_programs;
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
mod reached;
mod reuse;
mod routes;
mod rules;
mod rules_stop;
mod served;
mod sleeps;
mod streams;
mod support;
mod unasked;
mod worker_closed;
mod worker_faults;
mod worker_open;
mod workloads;

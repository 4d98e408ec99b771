//! Tests of this crate through its surface: a run's life, and monitors against real servers. They are one program,
//! because linking one costs less than linking each file.

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and talk"
)]

mod breaker;
mod certificate;
mod fetch;
mod found;
mod found_support;
mod gather;
mod monitor_cgroup;
mod monitor_command;
mod monitor_host;
mod monitor_nginx;
mod monitor_postgres;
mod monitor_process;
mod monitor_prometheus;
mod monitor_redis;
mod monitor_runtime;
mod monitor_support;
mod permission;
mod place;
mod run;
mod servers;
mod watch;

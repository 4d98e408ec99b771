//! The binary as people meet it: what it accepts, what it says when it does not, and how it ends.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/mod.rs"]
mod support;

mod agents;
mod bad_input;
mod breaker;
mod demo;
mod disk;
mod examples;
mod figures;
mod follow;
mod help;
mod interrupt;
mod jmeter;
mod k6_commands;
mod lines;
mod listed;
mod origins;
mod pages;
mod permission;
mod ready;
mod request;
mod result;
mod run_file;
mod runs;
mod script_archives;
mod script_imports;
mod script_isolation;
mod script_reasons;
mod script_redis;
mod script_sweeps;
mod scripts;
mod steered;
mod strange;
mod template;
mod terminal;
mod tls;
mod verbs;

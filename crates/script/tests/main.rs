//! Tests of this crate through its surface: scenarios as programs: templates, data, answers. They are one program,
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

mod answer_coding;
mod answer_extract;
mod answer_fuzz;
mod answer_judge;
mod answer_markup;
mod answer_rules;
mod answer_schema;
mod answer_support;
mod ask_common;
mod ask_cookies;
mod ask_form;
mod ask_hostile;
mod ask_redirect;
mod auth;
mod feed_files;
mod feed_fuzz;
mod feed_sharing;
mod feed_support;
mod program;
mod value;
mod value_derived;
mod watch;

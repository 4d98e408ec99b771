//! Tests of this crate through its surface: the run file, its analysis, comparison, search, and the audit. They are one
//! program, because linking one costs less than linking each file; what counts allocations or memory of its process is
//! a program of its own (`Cargo.toml`).

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and talk"
)]

mod analysis;
mod audit_across;
mod audit_published;
mod audit_row;
mod by_class;
mod compare;
mod disk_full;
mod foreign_tables;
mod foreign_tables_columns;
mod foreign_tools;
mod foreign_tools_odd;
mod golden;
mod made_up;
mod merge;
mod picture;
mod run_file;
mod run_file_killed;
mod run_file_places;
mod run_file_size;
mod run_file_sums;
mod run_file_tail;
mod run_file_watched;
mod schedule;
mod search;
mod study;

// The example that makes runs is tested with them.
#[allow(dead_code, reason = "the example makes more of them")]
#[path = "../examples/make_run"]
mod making {
    pub mod odd;
    pub mod scene;
    pub mod shop;
    pub mod trouble;
}
use making::{odd, scene, shop, trouble};

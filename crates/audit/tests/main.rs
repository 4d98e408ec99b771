//! Tests of this crate through its surface, as one program, because linking one costs less than linking each file.

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and talk"
)]

mod across;
mod corpus;
mod foreign_tables;
mod foreign_tables_columns;
mod foreign_tools;
mod foreign_tools_odd;
mod lone_figures;
mod more_tools;
mod mutations;
mod not_doubted;
mod own_definitions;
mod printed_tables;
mod published;
mod reduced;
mod row;
mod shapes;

//! Tests of this crate through its surface: what people and programs read, as committed and as promised. They are one
//! program, because linking one costs less than linking each file.

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop and talk"
)]

mod audit;
mod compare;
mod find;
mod format_table;
mod html;
mod html_pages;
mod output;
mod page_size;
mod script;
mod study;

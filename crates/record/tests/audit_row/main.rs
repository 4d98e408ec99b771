//! The rules that look at one row, through the public surface.

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
mod fixture;
mod groups;
mod robust;

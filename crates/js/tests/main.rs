//! Tests of the crate's surface.

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
<<<<<<< HEAD
    clippy::print_stderr,
=======
    clippy::print_stdout,
>>>>>>> fc4da0ac2bdb9c899358a3d98b022f4d450bc575
    reason = "a test may stop and talk"
)]

mod surface;

//! Tests of the crate, by subject.

mod fibers;
mod interleaved;
mod torture;

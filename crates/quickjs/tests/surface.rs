//! Tests of the crate, by subject.

mod contracts;
mod fibers;
mod interleaved;
mod memory;
mod offset;
mod promises;
mod stack;
mod support;
mod torture;

//! Protocols as state machines: bytes go in, finished answers come out.
//!
//! Nothing here owns a socket, reads a clock or knows a runtime. The owner of a connection hands over
//! whatever the kernel gave it, in whatever pieces, and learns how much of it belongs to the answer it waits
//! for. That makes every protocol testable with plain byte strings, split wherever a network could split
//! them.

#![forbid(unsafe_code)]

pub mod h1;
pub mod sse;

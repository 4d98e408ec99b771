//! Protocols as state machines: they take bytes and return finished responses.
//!
//! Nothing here owns a socket, reads a clock, or knows a runtime. The owner of a connection passes on the bytes from
//! the kernel, in any pieces, and learns how many of them belong to the expected response. Therefore, every protocol
//! can be tested with plain byte strings, split wherever a network could split them.

#![forbid(unsafe_code)]

pub mod grpc;
pub mod h1;
pub mod h2;
pub mod hpack;
mod malformed;
pub mod proto;
pub mod proxy;
pub mod redis;
pub mod sse;
pub mod ws;

//! What may lie between a socket and HTTP. A link has no socket of its own: bytes go in, bytes come out, so that the
//! same code runs over the kernel and over a pretended network in a test.

pub mod tls;

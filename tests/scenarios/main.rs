//! Experiment files by the real binary, judged at the server: what every key of a file does in bytes and counts, what
//! goes together with what, and what is refused before anything is sent.
//!
//! The judge is the ruler or a server that none of us wrote, never the tool itself; that the tool's own figures agree
//! is asked afterwards. Counts are exact; times are bounded on the side on which a slow machine cannot help.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/mod.rs"]
mod support;

mod bench;
mod curl;
mod judged;
mod keys;
mod models;
mod names;
mod peers;
mod refused;
mod streams;
mod table;
mod tls;

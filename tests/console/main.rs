//! The console as browsers meet it: over HTTP, from the binary itself.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/mod.rs"]
mod support;

mod agents;
mod attack;
mod client;
mod confined;
mod crowded;
mod door;
mod list;
mod loads;
mod secure;
mod separate;

//! The commands that answer questions, the real binary against the ruler: `find`, sweeps, `compare`, `audit`, `size`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/mod.rs"]
mod support;

mod compare;
mod find;
mod parts;
mod published;
mod sizes;
mod sweep;
mod whole;

//! What the runs of a sweep say together: hidden truths that must be found, and clean twins that must stay silent.

// Clippy sees tests only in functions marked as such; the fixture is one of their tools.
#![allow(clippy::expect_used)]

mod clusters;
mod courses;
mod curves;
mod findings;
mod fixture;
mod odd;
mod sentences;
mod table;

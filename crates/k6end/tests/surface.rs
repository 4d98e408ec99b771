//! The surface of the crate.

mod golden;
mod k6;

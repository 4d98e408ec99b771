//! The surface of the crate.

mod golden;
mod texts;

//! Reads the options of a k6 script, its thresholds, and the flags of `k6 run` into a [`plimsoll_plan::Draft`], or
//! returns all mistakes at once.
//!
//! The options of a script are its exported object as JSON: what JavaScript computes is known, but not the lines that
//! computed it, so diagnostics name the path of a value, such as `scenarios.login.vus`. This crate runs no script and
//! opens no sockets. Codes: `K1xx`.

#![forbid(unsafe_code)]

pub mod draft;
pub mod flags;
pub mod options;
pub mod pacer;
pub mod requirements;
pub mod settings;
pub mod test;
pub mod threshold;

mod value;

pub use options::{Overrides, read};
pub use test::Test;
pub use value::{duration_text_ns, go_duration};

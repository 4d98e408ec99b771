//! Scenarios as programs: a plan's script becomes one [`plimsoll_plan::program::Program`] per user.
//!
//! [`value`] fills templates, [`feed`] reads files of rows, [`ask`] makes requests, [`answer`] checks answers and takes
//! values out of them, [`watch`] accounts for the events of streams; the interpreter that ties them together sends
//! nothing itself: it says to the engine what it wants, as any other program.

#![forbid(unsafe_code)]

pub mod answer;
pub mod ask;
pub mod feed;
pub mod program;
pub mod value;
pub mod watch;

//! Reads command lines of other tools, and lists of URLs, into a [`plimsoll_plan::Draft`], or returns all mistakes at
//! once.
//!
//! This crate opens no sockets and does not run loads. Codes: `C0xx`.

#![forbid(unsafe_code)]

pub mod curl;
pub mod urls;

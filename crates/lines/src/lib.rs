//! Reads command lines of other tools, and lists of URLs, into a [`plimsoll_plan::Draft`], or returns all mistakes at
//! once.
//!
//! This crate opens no sockets and does not run loads. Codes: `C0xx`.

#![forbid(unsafe_code)]

pub mod ab;
mod ask;
pub mod curl;
pub mod flags;
pub mod hey;
pub mod loadtest;
pub mod oha;
mod rotation;
pub mod urls;
pub mod vegeta;
pub mod wrk;

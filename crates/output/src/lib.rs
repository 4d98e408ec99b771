//! All output for people and programs: the only place where numbers become text.
//!
//! Everything is drawn from a finished [`plimsoll_analysis::summary::Summary`] or from the events of a run. This crate
//! decides nothing: verdicts, cautions, and percentiles are given, and a sign next to a line only repeats a caution.
//! Every renderer is a pure function to a `String`; only the two live sinks have a writer.

#![forbid(unsafe_code)]

mod anchor;
pub mod audit;
pub mod compare;
pub mod csv;
pub mod diag;
pub mod doctor;
pub mod experiment;
pub mod figure;
pub mod find;
pub mod health;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod ndjson;
mod next;
mod run;
pub mod sizing;
pub mod study;
pub mod terminal;
mod watched;
mod words;

use plimsoll_document as document;
pub use plimsoll_document::{Error, Look, error, format, line, style};

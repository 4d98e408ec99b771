//! The run record: its events, its file, merging.
//!
//! A run is a sequence of [`event::RunEvent`]s. They gather into a [`record::RunRecord`] (live, or read back from a
//! run file). What its numbers mean is said elsewhere.

#![forbid(unsafe_code)]

pub mod event;
pub mod gauge;
pub mod record;
pub mod run_file;
pub mod steered;

pub use record::RunRecord;
pub use run_file::Error;

//! Run record: its events, its file, and merging. A run is a sequence of [`event::RunEvent`]s, gathered into a
//! [`record::RunRecord`] (live, or read from a run file). Other crates interpret its numbers.

#![forbid(unsafe_code)]

pub mod event;
pub mod gauge;
pub mod record;
pub mod run_file;
pub mod steered;

pub use record::RunRecord;
pub use run_file::Error;

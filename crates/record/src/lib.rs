//! The run record: its events, its file, merging, and the analysis that turns numbers into a verdict.
//!
//! A run is a sequence of [`event::RunEvent`]s. They gather into a [`record::RunRecord`] (live, or read back from a
//! run file), and [`analysis::summarise`] turns that into the one [`summary::Summary`] which every renderer shows.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod audit;
pub mod cause;
pub mod caution;
pub mod event;
pub mod experiment;
pub mod folder;
pub mod foreign;
pub mod gauge;
pub mod phrase;
pub mod picture;
pub mod record;
pub mod run_file;
pub mod schedule;
pub mod steered;
pub mod summary;

pub use record::RunRecord;
pub use run_file::Error;
pub use summary::Summary;

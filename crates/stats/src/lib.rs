//! Numbers with opaque ids, and statistics on them: the lowest layer.
//!
//! A worker counts into an [`Interval`], hands it over once per tick, and everything downstream merges. Therefore,
//! merging must be associative and commutative and have an identity. The order in which workers, seconds, or machines
//! are added up then makes no difference.
//!
//! This crate does not know requests, metric names, protocols, or clocks; the owner of the table of metrics defines
//! what id 7 means.
#![forbid(unsafe_code)]

mod error;
pub mod hist;
pub mod interval;
pub mod maths;
pub mod random;
pub mod tally;
pub mod varint;

pub use error::Error;
pub use hist::{BUCKETS, COUNT_MAX, Hist, LAYOUT_ID, SUM_MAX, VALUE_MAX, bucket_bounds, bucket_of};
pub use interval::Interval;
pub use maths::{
    Bounds, Censored, censored_quantile, clustered_interval, clustered_ranks, design_effect, enough_samples,
    inverse_normal, median, quantile_interval, samples_needed,
};
pub use tally::{Last, Layout, Tally};

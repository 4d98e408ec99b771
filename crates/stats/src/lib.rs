//! Numbers under opaque ids, and the statistics over them: the bottom of the hourglass.
//!
//! A worker counts into an [`Interval`], hands it over once a tick, and everything downstream merges. So the
//! one property that matters here is that merging is an algebra: associative, commutative, with an identity.
//! Then it makes no difference in which order workers, seconds or machines are added up.
//!
//! This crate knows nothing of requests, metric names, protocols or clocks; what id 7 means is decided by
//! whoever owns the table of metrics.
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
    Bounds, Censored, censored_quantile, enough_samples, inverse_normal, median, quantile_interval,
    quantile_ranks, samples_needed,
};
pub use tally::{Last, Layout, Tally};

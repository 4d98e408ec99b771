//! What charts show of a run beyond the figures of its summary: its course in rows that are few enough to draw, where
//! times lay in each of them, whole distributions, and what the slowest requests waited for.
//!
//! All of it is added up from the histograms of the run file: a row of ten seconds has the percentiles of ten seconds,
//! not the mean or the highest of ten percentiles.

mod groups;
mod heat;
mod make;
mod spans;
mod spectra;

pub use crate::slices::Slice;
pub use crate::summary::{EventKind as MomentKind, EventRow as Moment};
pub(crate) use make::Strokes;
pub use make::picture;
pub use spans::{SpansOf, spans_of};
pub(crate) use spectra::curve;

use crate::summary::Second;
use serde::Serialize;

/// Most rows of a course: more cannot be seen, and would make a page large.
pub const ROWS_MAX: usize = 1_800;

/// See the module.
#[derive(Debug, Clone, Serialize, Default)]
pub struct Picture {
    /// Ticks that make one row; 1: rows are those of the summary's timeline.
    pub ticks_per_row: u32,
    /// The course, warm-up included, in the order of time. Rows without any tick are not there.
    pub rows: Vec<Second>,
    /// By row: failures of each class, in the order of `classes`; those on this machine's side are in
    /// `client_faults`. The most frequent class comes first.
    pub classes: Vec<&'static str>,
    pub failures: Vec<Vec<u64>>,
    /// Where the times of each stretch lay.
    pub response_heat: Heat,
    pub service_heat: Heat,
    /// Whole distributions: first that of all requests, then that of each named request (the busiest 50).
    pub spectra: Vec<Spectrum>,
    /// What requests waited for, from the fastest to the slowest; empty in files of earlier versions.
    pub slices: Vec<Slice>,
    /// The course of each named request in coarser steps; empty where a file has none.
    pub sparks: Vec<Spark>,
    /// The summary's `events`.
    pub moments: Vec<Moment>,
}

/// Number of requests by time of completion (columns) and response time (rows), including the warm-up. A time that
/// was cut off is drawn where that happened if a timeout cut it off, or if no completed request took longer. All
/// others would look like fast responses that never existed: they are in no cell, but counted.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct Heat {
    /// Left edges of the columns, s from the start. A column ends where the next begins; where the file has a gap,
    /// there is an empty one.
    pub from_s: Vec<f64>,
    /// Where the last column ends, s.
    pub to_s: f64,
    /// Rising, ns; one more than there are rows. Equal steps of their logarithm, at round parts of a power of ten.
    pub edges_ns: Vec<f64>,
    /// By column, then by row from the fastest.
    pub counts: Vec<Vec<u64>>,
    /// By column: times that were cut off and are in no cell. With the cells they are the samples of the run.
    pub cut_off: Vec<u64>,
}

/// A distribution as a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct Spectrum {
    /// Name of the request; empty: all of them.
    pub request: String,
    pub scenario: Option<String>,
    pub response: Vec<Point>,
    pub service: Vec<Point>,
    pub response_count: u64,
    pub service_count: u64,
    /// Times that are only known to be longer than some bound; they are in the curve where they are known to lie at
    /// least.
    pub censored: u64,
    /// The same of the service times.
    pub service_censored: u64,
    /// From this quantile on the response times are lower bounds; `None`: nowhere.
    pub at_least_from: Option<f64>,
}

impl Spectrum {
    /// Samples of the curve of response times, finished or not.
    pub fn response_samples(&self) -> u64 {
        self.response_count.saturating_add(self.censored)
    }

    /// Samples of the curve of service times.
    pub fn service_samples(&self) -> u64 {
        self.service_count.saturating_add(self.service_censored)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
pub struct Point {
    /// Share of the samples up to here. The last point has 1: the longest of all, which of n samples has the rank of
    /// 1 - 1/n on an axis that never gets to 1.
    pub q: f64,
    pub value_ns: u64,
}

/// A named request over time.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct Spark {
    /// Index in the summary's `requests`.
    pub request: usize,
    /// Left edges of the steps, s from the start, and where the last one ends.
    pub from_s: Vec<f64>,
    pub to_s: f64,
    pub rate_per_s: Vec<f64>,
    pub p99_ns: Vec<Option<u64>>,
    pub errors: Vec<u64>,
}

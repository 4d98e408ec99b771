//! A series that a program opened during the run.

use plimsoll_plan::outline::RequestOutline;
use plimsoll_plan::series::SeriesKey;
use std::sync::Arc;

/// An opened series.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// Number of the series in the run.
    pub series: u32,
    pub key: Arc<SeriesKey>,
    /// Outline of a request or stream, as the plan would contain it.
    pub request: Option<RequestOutline>,
}

impl Opened {
    pub fn new(series: u32, key: Arc<SeriesKey>) -> Self {
        let request = key.request();
        Self { series, key, request }
    }
}

//! A series that a program opened during the run.

use plimsoll_plan::outline::RequestOutline;
use plimsoll_plan::series::SeriesKey;
use std::sync::Arc;

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// Its number in the run.
    pub series: u32,
    pub key: Arc<SeriesKey>,
    /// Of requests and streams: as the plan would have shown them.
    pub request: Option<RequestOutline>,
}

impl Opened {
    pub fn new(series: u32, key: Arc<SeriesKey>) -> Self {
        let request = key.request();
        Self { series, key, request }
    }
}

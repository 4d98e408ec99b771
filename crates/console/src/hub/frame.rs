//! One event of a run, as viewers receive it.

use serde_json::Value;
use std::sync::Arc;

/// Name and data of an event.
#[derive(Debug, Clone)]
pub struct Frame {
    pub event: &'static str,
    pub data: Arc<str>,
}

impl Frame {
    pub fn new(event: &'static str, data: &Value) -> Self {
        Self { event, data: data.to_string().into() }
    }
}

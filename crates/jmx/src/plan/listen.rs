//! Listeners that write files. All others only show results, and are left out.

use crate::text::Text;

/// A listener with a file name.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultFile {
    pub file: Text,
    /// Only samples that failed.
    pub only_failed: bool,
    /// Only samples that passed.
    pub only_passed: bool,
    pub columns: Columns,
}

/// What is written for each sample (`saveConfig`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    pub is_xml: bool,
    pub has_names: bool,
    pub time: bool,
    pub timestamp: bool,
    pub label: bool,
    pub code: bool,
    pub message: bool,
    pub thread_name: bool,
    pub data_type: bool,
    pub success: bool,
    pub failure_message: bool,
    pub bytes: bool,
    pub sent_bytes: bool,
    pub thread_counts: bool,
    pub url: bool,
    pub file_name: bool,
    pub latency: bool,
    pub encoding: bool,
    pub sample_count: bool,
    pub hostname: bool,
    pub idle_time: bool,
    pub connect_time: bool,
    pub sub_results: bool,
    // Only as XML.
    pub assertions: bool,
    pub request_headers: bool,
    pub response_headers: bool,
    pub response_data: bool,
    pub response_data_on_error: bool,
    pub sampler_data: bool,
}

impl Columns {
    /// Returns whether the results of assertions are written.
    pub const fn has_checks(&self) -> bool {
        self.is_xml && self.assertions
    }

    /// Returns whether parts of requests or responses are written.
    pub const fn has_content(&self) -> bool {
        self.is_xml
            && (self.encoding
                || self.request_headers
                || self.response_headers
                || self.response_data
                || self.response_data_on_error
                || self.sampler_data)
    }
}

impl Default for Columns {
    /// Those of `-l`.
    fn default() -> Self {
        Columns {
            is_xml: false,
            has_names: true,
            time: true,
            timestamp: true,
            label: true,
            code: true,
            message: true,
            thread_name: true,
            data_type: true,
            success: true,
            failure_message: true,
            bytes: true,
            sent_bytes: true,
            thread_counts: true,
            url: true,
            file_name: false,
            latency: true,
            encoding: false,
            sample_count: false,
            hostname: false,
            idle_time: true,
            connect_time: true,
            sub_results: true,
            assertions: true,
            request_headers: false,
            response_headers: false,
            response_data: false,
            response_data_on_error: false,
            sampler_data: false,
        }
    }
}

/// Save Responses to a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultSaver {
    /// The beginning of the name; a number and an ending follow.
    pub prefix: Text,
    /// The variable that gets the name of the file; empty: none.
    pub variable: Text,
    pub only_failed: bool,
    pub only_passed: bool,
    pub has_no_number: bool,
    pub has_no_ending: bool,
    pub has_timestamp: bool,
    pub number_width: Text,
}

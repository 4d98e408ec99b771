//! The end of a test as k6 reports it: the data of `handleSummary()`, thresholds, the text, and the exported JSON.
//!
//! All of these are pure functions of an [`EndOfTest`], which is the record of a run in the metrics of k6 and their
//! definitions. Only series that programs opened count. What the record does not contain is omitted, never estimated:
//! [`EndOfTest::missing`] names it, and [`unmeasured`] finds thresholds on it before the test.
//!
//! The differences from k6: `http_req_duration` excludes requests without a response (k6 counts those that
//! never connected as 0 s), except for timeouts, which count with their whole time; `data_sent` and `data_received` are
//! the bytes of HTTP without those of TLS; percentiles are values of histograms, exact to less than 1%.

#![forbid(unsafe_code)]

mod collect;
mod data;
mod evaluate;
mod export;
mod flat;
mod groups;
mod layout;
mod metric;
mod numbers;
mod sample_file;
mod samples;
mod select;
mod text;
mod times;

pub use collect::{EndOfTest, Part};
pub use data::data;
pub use evaluate::{ThresholdOutcome, evaluate, unmeasured};
pub use export::export;
pub use groups::{CheckCount, Group};
pub use metric::{Contains, Metric, Trend, Values};
pub use sample_file::{About, OwnMetric, SampleFile, SampleTarget, TimeFormat};

use plimsoll_k6::settings::TimeUnit;
use plimsoll_k6::threshold::Threshold;

/// What a report depends on in addition to the record.
#[derive(Debug, Clone, Default)]
pub struct Options<'a> {
    pub thresholds: &'a [Threshold],
    /// The statistics of trends, such as `avg` and `p(95)`.
    pub trend_stats: &'a [String],
    /// The unit of times in the text; `None`: the best one for each value.
    pub time_unit: Option<TimeUnit>,
    pub has_color: bool,
    pub is_stdout_tty: bool,
    pub is_stderr_tty: bool,
    /// The names of user-defined trends whose values are times in ms.
    pub time_trends: &'a [String],
    /// The names of the scenarios. The samples of a single one have no label.
    pub scenarios: &'a [String],
    /// The result of `setup()`, as JSON.
    pub setup_data: Option<&'a str>,
}

/// How much the text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Thresholds, checks, and the most relevant metrics.
    Compact,
    /// All metrics, and separate results of scenarios and groups.
    Full,
    /// The list of all metrics that versions before 1.0 printed.
    Legacy,
}

/// Returns the text that is printed at the end of a test.
pub fn text(end: &EndOfTest, options: &Options<'_>, mode: Mode) -> String {
    match mode {
        Mode::Compact | Mode::Full => text::write(end, options, mode == Mode::Full),
        Mode::Legacy => flat::write(end, options),
    }
}

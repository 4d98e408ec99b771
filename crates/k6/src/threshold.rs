//! Thresholds of k6: `http_req_duration{status:200}: ["p(95) < 500"]`.

mod map;
mod metric;
mod read;

pub use metric::{BUILT_IN, Kind};
pub use read::{parse, read};

use plimsoll_plan::threshold::Comparison;

/// The value of a metric that a threshold compares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aggregator {
    Avg,
    Min,
    Max,
    Med,
    /// `p(N)`, in percent.
    Percentile(f64),
    Count,
    /// Of a counter, per second; of a rate, the share of true values.
    Rate,
    /// The last value of a gauge.
    Value,
}

impl std::fmt::Display for Aggregator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Aggregator::Avg => f.write_str("avg"),
            Aggregator::Min => f.write_str("min"),
            Aggregator::Max => f.write_str("max"),
            Aggregator::Med => f.write_str("med"),
            Aggregator::Percentile(percent) => write!(f, "p({percent})"),
            Aggregator::Count => f.write_str("count"),
            Aggregator::Rate => f.write_str("rate"),
            Aggregator::Value => f.write_str("value"),
        }
    }
}

/// The comparison of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// `==` or `===`.
    Equal,
    NotEqual,
}

impl Operator {
    /// Returns whether `left` and `right` are in this relation.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self.comparison() {
            Some(comparison) => comparison.holds(left, right),
            None => left != right,
        }
    }

    /// Returns the same comparison of plimsoll, which has no `!=`.
    pub fn comparison(self) -> Option<Comparison> {
        match self {
            Operator::Less => Some(Comparison::Less),
            Operator::LessOrEqual => Some(Comparison::LessOrEqual),
            Operator::Greater => Some(Comparison::Greater),
            Operator::GreaterOrEqual => Some(Comparison::GreaterOrEqual),
            Operator::Equal => Some(Comparison::Equal),
            Operator::NotEqual => None,
        }
    }
}

/// What a threshold does when it is missed during the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abort {
    /// The time before which it does not stop the test, in ns from the start.
    pub delay_ns: u64,
}

/// One condition on one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The metric with its tags, as written: the name of the sub-metric in the summary.
    pub key: String,
    /// The name of the metric.
    pub metric: String,
    pub kind: Kind,
    /// The tags that samples must have; empty: all samples.
    pub tags: Vec<(String, String)>,
    /// The expression as written: its name in the summary.
    pub source: String,
    pub aggregator: Aggregator,
    pub operator: Operator,
    /// The limit: ms for times, bytes for data, a share of 1 for rates.
    pub limit: f64,
    /// Whether a miss stops the test.
    pub abort: Option<Abort>,
}

impl Threshold {
    /// Returns whether a value meets it.
    pub fn holds(&self, value: f64) -> bool {
        self.operator.holds(value, self.limit)
    }

    /// Returns the threshold of plimsoll with the same meaning, if there is one.
    pub fn counterpart(&self) -> Option<plimsoll_plan::threshold::Threshold> {
        map::counterpart(self)
    }
}

/// Narrows a threshold of plimsoll on requests or messages to those that are not gRPC calls of a script, which have
/// their own metrics in k6.
pub fn exclude_calls(threshold: &mut plimsoll_plan::threshold::Threshold) {
    map::exclude_calls(threshold);
}

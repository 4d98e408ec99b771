//! A metric of k6 and its values.

use plimsoll_k6::threshold::{Aggregator, Kind, Threshold};
use plimsoll_stats::Hist;

/// What the values of a metric are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contains {
    /// Times, in ms.
    Time,
    /// Bytes.
    Data,
    Default,
}

impl Contains {
    /// Returns the name in the data of `handleSummary()`.
    pub fn name(self) -> &'static str {
        match self {
            Contains::Time => "time",
            Contains::Data => "data",
            Contains::Default => "default",
        }
    }
}

/// A distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    values: Hist,
    /// Values of the histogram per unit of the metric.
    scale: f64,
    /// Whether the values are a user's.
    is_rounded: bool,
}

impl Trend {
    /// Creates a distribution of times, in ms, from a histogram in ns.
    pub(super) fn of_ns(values: Hist) -> Trend {
        Trend { values, scale: 1e6, is_rounded: false }
    }

    /// Creates a distribution of numbers from a histogram in thousandths.
    pub(super) fn of_thousandths(values: Hist) -> Trend {
        Trend { values, scale: plimsoll_plan::series::THOUSANDTHS, is_rounded: true }
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.values.count()
    }

    /// Returns a percentile of 0 to 100; 0 without values, as in k6.
    pub fn percentile(&self, percent: f64) -> f64 {
        // Between two samples, k6 interpolates.
        let at = (percent / 100.0).clamp(0.0, 1.0) * self.count().saturating_sub(1) as f64;
        let (low, share) = (self.at_rank(at as u64 + 1), at.fract());
        if share == 0.0 { low } else { low + share * (self.at_rank(at as u64 + 2) - low) }
    }

    /// Returns the value of a rank. Of the numbers in a bucket of a user's trend, it is the roundest,
    /// because scripts often add whole numbers.
    fn at_rank(&self, rank_from_1: u64) -> f64 {
        let value = match self.values.bounds_at_rank(rank_from_1) {
            None => 0,
            Some((low, high)) if self.is_rounded => roundest(low, high),
            Some(_) => self.values.value_at_rank(rank_from_1).unwrap_or(0),
        };
        value as f64 / self.scale
    }

    /// Returns a statistic by its name in `summaryTrendStats`; `None` if the name is unknown.
    pub fn stat(&self, name: &str) -> Option<f64> {
        Some(match name {
            "avg" => self.values.mean().unwrap_or(0.0) / self.scale,
            "min" => self.percentile(0.0),
            "med" => self.percentile(50.0),
            "max" => self.percentile(100.0),
            "count" => self.count() as f64,
            other => self.percentile(other.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?),
        })
    }
}

/// Returns the number between two others, inclusive, that ends in the most zeros.
fn roundest(low: u64, high: u64) -> u64 {
    let mut step = 1_u64;
    while let Some(next) = step.checked_mul(10).filter(|next| high / next * next >= low) {
        step = next;
        if high / step == 0 {
            break;
        }
    }
    high / step * step
}

/// The values of a metric.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    Counter {
        count: f64,
        rate_per_s: f64,
    },
    /// `None`: no value was set.
    Gauge(Option<Gauge>),
    Rate {
        /// Samples that are true (or not zero).
        passes: u64,
        fails: u64,
    },
    Trend(Trend),
}

/// The values of a gauge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gauge {
    /// The last value.
    pub value: f64,
    pub min: f64,
    pub max: f64,
}

impl Values {
    pub fn kind(&self) -> Kind {
        match self {
            Values::Counter { .. } => Kind::Counter,
            Values::Gauge(_) => Kind::Gauge,
            Values::Rate { .. } => Kind::Rate,
            Values::Trend(_) => Kind::Trend,
        }
    }

    /// Returns the value that a threshold compares; `None` without samples, or if the metric has no such value.
    pub fn get(&self, aggregator: Aggregator) -> Option<f64> {
        match (self, aggregator) {
            (Values::Counter { count, .. }, Aggregator::Count) => Some(*count),
            (Values::Counter { rate_per_s, .. }, Aggregator::Rate) => Some(*rate_per_s),
            (Values::Gauge(gauge), Aggregator::Value) => gauge.map(|gauge| gauge.value),
            (Values::Rate { passes, fails }, Aggregator::Rate) => {
                let all = passes.saturating_add(*fails);
                (all > 0).then(|| ratio(*passes, *fails))
            }
            (Values::Trend(trend), _) if trend.count() == 0 => None,
            (Values::Trend(trend), Aggregator::Avg) => trend.stat("avg"),
            (Values::Trend(trend), Aggregator::Min) => trend.stat("min"),
            (Values::Trend(trend), Aggregator::Max) => trend.stat("max"),
            (Values::Trend(trend), Aggregator::Med) => trend.stat("med"),
            (Values::Trend(trend), Aggregator::Percentile(percent)) => Some(trend.percentile(percent)),
            _ => None,
        }
    }
}

/// Returns the share of true samples; 0 without samples, as in k6.
pub(super) fn ratio(passes: u64, fails: u64) -> f64 {
    match passes.saturating_add(fails) {
        0 => 0.0,
        all => passes as f64 / all as f64,
    }
}

/// A metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    pub contains: Contains,
    pub values: Values,
    /// The thresholds on it, in their order, each with whether it is met.
    pub thresholds: Vec<(Threshold, bool)>,
}

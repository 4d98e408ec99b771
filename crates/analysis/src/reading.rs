//! What a threshold observes in a stretch of time.

use super::facts::ratio;
use super::times::{Belief, bent, percentile};
use plimsoll_plan::threshold::{FigureUnit, Kind, Statistic, Subject, Threshold};
use plimsoll_record::gauge::Gauge;
use plimsoll_stats::Hist;

/// What a threshold saw.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// ns, ratio, per second or count; `None`: there is no sample.
    pub value: Option<f64>,
    /// The true value may be higher.
    pub at_least: bool,
    pub samples: u64,
    pub unit: FigureUnit,
}

impl Reading {
    /// Whether it meets the condition for certain. `None`: there is no sample.
    pub fn meets(&self, threshold: &Threshold) -> Option<bool> {
        // What is only known to be "at least" meets no upper limit for certain.
        let certain = !self.at_least || threshold.comparison.is_upwards();
        Some(certain && threshold.comparison.holds(snapped(self.value?, threshold.value), threshold.value))
    }
}

/// A figure that differs from its limit only by the rounding of its last bits is the limit: 7 of 1,000 are 0.7%.
pub(super) fn snapped(value: f64, limit: f64) -> f64 {
    if (value - limit).abs() <= limit.abs() * 1e-12 { limit } else { value }
}

/// Returns the value for a period within a run. The true length of requests that were cut off in it is still unknown,
/// so they count like the others.
pub fn reading_within(threshold: &Threshold, gauge: &Gauge, length_ns: u64) -> Reading {
    reading(threshold, gauge, length_ns, Belief::LikeTheOthers)
}

pub(super) fn reading(threshold: &Threshold, gauge: &Gauge, length_ns: u64, belief: Belief) -> Reading {
    let number = |value, samples, unit| Reading { value, at_least: false, samples, unit };
    let share = |samples: u64| (samples > 0).then(|| gauge.part as f64 / samples as f64);
    match threshold.subject.kind() {
        Kind::Times if threshold.subject == Subject::FirstByte => {
            first_byte(threshold.statistic, gauge, belief)
        }
        Kind::Times => time(threshold.statistic, &gauge.exact, &gauge.bounds, belief),
        Kind::Share => number(share(gauge.whole), gauge.whole, FigureUnit::Ratio),
        Kind::PerSecond => {
            let rate = (length_ns > 0).then(|| ratio(gauge.part as f64, length_ns as f64 / 1e9));
            number(rate, gauge.part, FigureUnit::PerSecond)
        }
        Kind::Count if threshold.subject == Subject::IterationsFailed => {
            number(Some(gauge.part as f64), gauge.whole, FigureUnit::Count)
        }
        Kind::Count => number(Some(gauge.part as f64), gauge.part, FigureUnit::Count),
        // Only the course of a whole run has it.
        Kind::Length => number(None, 0, FigureUnit::Nanoseconds),
        // See `metrics`: only the whole run has it.
        Kind::Number | Kind::Numbers => number(None, 0, FigureUnit::Number),
    }
}

fn time(statistic: Statistic, exact: &Hist, bounds: &Hist, belief: Belief) -> Reading {
    let bent = bent(exact, bounds, belief);
    let (value, at_least) = match statistic {
        Statistic::Quantile(q) => match percentile(exact, bounds, q, belief) {
            Some(c) => (Some(c.value as f64), c.at_least),
            None => (None, false),
        },
        // The figure that is printed, with cut-off times at their bounds where these matter.
        Statistic::Mean if bent => {
            let mut all = exact.clone();
            all.merge(bounds);
            (all.mean(), true)
        }
        Statistic::Mean => (exact.mean(), false),
        Statistic::Min => (exact.min().map(|v| v as f64), false),
        Statistic::Max => (exact.max().max(bounds.max()).map(|v| v as f64), bent),
        // The grammar gives every time a figure.
        Statistic::Value => (None, false),
    };
    Reading {
        value,
        at_least,
        samples: exact.count().saturating_add(bounds.count()),
        unit: FigureUnit::Nanoseconds,
    }
}

/// The first byte of a request that was cut off is unknown, so these values are those of the others, and lower bounds
/// wherever the service time is one.
fn first_byte(statistic: Statistic, gauge: &Gauge, belief: Belief) -> Reading {
    let cut = time(statistic, &gauge.beside, &gauge.bounds, belief);
    let known = time(statistic, &gauge.exact, &Hist::on_demand(), belief);
    Reading { at_least: cut.at_least, ..known }
}

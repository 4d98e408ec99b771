//! Thresholds: what was observed, and whether that meets the condition for certain.

use super::availability::ServiceCourse;
use super::bounds::{Grounds, Look, settle};
use super::facts::{Facts, ratio};
use super::metrics;
use super::times::{Belief, bent, percentile};
use super::windows::worst;
use crate::summary::{Achieved, Availability, Standing, ThresholdResult, Window};
use plimsoll_plan::metric::RunHist;
use plimsoll_plan::threshold::{Comparison, FigureUnit, Kind, OutageFigure, Statistic, Subject, Threshold};
use plimsoll_record::gauge::Gauge;
use plimsoll_record::record::windowed;
use plimsoll_stats::{Hist, samples_needed};

/// Judges every threshold of the plan, in its order.
pub(super) fn judge(
    facts: &Facts,
    achieved: &Achieved,
    belief: Belief,
    grounds: &Grounds,
    service: (&ServiceCourse, &Availability),
) -> Vec<ThresholdResult> {
    let mut windows = windowed(&facts.plan).enumerate();
    let one = |threshold: &Threshold| {
        if let Some(family) = threshold.subject.family() {
            let (reading, sum) = metrics::reading(threshold, family, facts);
            let values = sum.hists.into_iter().next().unwrap_or_else(Hist::on_demand);
            let gauge = Gauge { exact: values, ..Gauge::default() };
            return judge_one(
                &Look { threshold, reading: &reading, gauge: &gauge, grounds, windowed: false },
                None,
            );
        }
        if let Some(figure) = threshold.subject.outage_figure() {
            let (reading, gauge) = (of_outages(figure, threshold, facts, service), Gauge::default());
            return judge_one(
                &Look { threshold, reading: &reading, gauge: &gauge, grounds, windowed: false },
                None,
            );
        }
        if threshold.over_ns.is_none() {
            let (reading, gauge) = whole(threshold, facts, achieved, belief);
            return judge_one(
                &Look { threshold, reading: &reading, gauge: &gauge, grounds, windowed: false },
                None,
            );
        }
        let number = windows.next().map_or(0, |(number, _)| number);
        let (reading, gauge, window) = match worst(threshold, number, facts) {
            Some((reading, gauge, window)) => (reading, gauge, Some(window)),
            None => (reading(threshold, &Gauge::default(), 0, belief), Gauge::default(), None),
        };
        judge_one(&Look { threshold, reading: &reading, gauge: &gauge, grounds, windowed: true }, window)
    };
    facts.plan.thresholds.iter().map(one).collect()
}

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

/// A figure that differs from its limit only by the rounding of its last bits is the limit: 7 of 1,000 are 0.7 %.
pub(super) fn snapped(value: f64, limit: f64) -> f64 {
    if (value - limit).abs() <= limit.abs() * 1e-12 { limit } else { value }
}

/// The figure of a stretch of time within a run. Nobody can tell yet how long those took that were cut off in it, so
/// they count like the others.
pub fn reading_within(threshold: &Threshold, gauge: &Gauge, length_ns: u64) -> Reading {
    reading(threshold, gauge, length_ns, Belief::LikeTheOthers)
}

fn reading(threshold: &Threshold, gauge: &Gauge, length_ns: u64, belief: Belief) -> Reading {
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
        Kind::Count => number(Some(gauge.part as f64), gauge.part, FigureUnit::Count),
        // Only the course of a whole run has it.
        Kind::Length => number(None, 0, FigureUnit::Nanoseconds),
        // See `metrics`: only the whole run has it.
        Kind::Number | Kind::Numbers => number(None, 0, FigureUnit::Number),
    }
}

/// What the course of the run says: the requests finished are the samples.
fn of_outages(
    figure: OutageFigure,
    threshold: &Threshold,
    facts: &Facts,
    (course, available): (&ServiceCourse, &Availability),
) -> Reading {
    let figures = course.figures(threshold.scope.as_ref(), available);
    let (value, unit) = match figure {
        OutageFigure::Availability => (figures.map(|(ratio, _)| ratio), FigureUnit::Ratio),
        OutageFigure::Longest => (figures.map(|(_, longest_ns)| longest_ns as f64), FigureUnit::Nanoseconds),
    };
    Reading { value, at_least: false, samples: facts.finished(), unit }
}

/// The figure of the run as a whole, all machines together.
fn whole(threshold: &Threshold, facts: &Facts, achieved: &Achieved, belief: Belief) -> (Reading, Gauge) {
    let mut sum = Gauge::default();
    let mut rate_per_s = 0.0;
    for machine in &facts.machines {
        let one = Gauge::of(threshold, machine.plan(), &machine.origin.opened, &machine.origin.totals);
        // Machines load at the same time, and one may stop before the others.
        rate_per_s += ratio(one.part as f64, machine.measured_ns as f64 / 1e9);
        sum.merge(&one);
    }
    // Connections are made once and used to the end, so they are counted from the start, warm-up included.
    for (subject, id) in [(Subject::Connect, RunHist::Connect), (Subject::TlsHandshake, RunHist::Handshake)] {
        if threshold.subject == subject {
            sum.exact = facts.run.hists.get(id.id()).cloned().unwrap_or_else(Hist::on_demand);
        }
    }
    let reading = reading(threshold, &sum, facts.measured_ns, belief);
    let reading = match threshold.subject {
        Subject::Achieved => Reading { value: achieved.ratio, ..reading },
        Subject::Rate => Reading { value: reading.value.map(|_| rate_per_s), ..reading },
        Subject::ResponseTime
        | Subject::ServiceTime
        | Subject::FirstByte
        | Subject::GroupTime
        | Subject::Errors
        | Subject::Requests
        | Subject::Connect
        | Subject::TlsHandshake
        | Subject::StreamHead
        | Subject::FirstEvent
        | Subject::EventGap
        | Subject::EventAge
        | Subject::Checks
        | Subject::Events
        | Subject::EventsLost
        | Subject::Availability
        | Subject::LongestOutage
        | Subject::Counter
        | Subject::Gauge
        | Subject::TrueRatio
        | Subject::Trend => reading,
    };
    (reading, sum)
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

/// Of a request that was cut off nobody knows the first byte, so the figures are those of the others, and lower
/// bounds wherever the service time's are.
fn first_byte(statistic: Statistic, gauge: &Gauge, belief: Belief) -> Reading {
    let cut = time(statistic, &gauge.beside, &gauge.bounds, belief);
    let known = time(statistic, &gauge.exact, &Hist::on_demand(), belief);
    Reading { at_least: cut.at_least, ..known }
}

fn judge_one(look: &Look, window: Option<Window>) -> ThresholdResult {
    let (threshold, observed) = (look.threshold, look.reading);
    let limit = threshold.value;
    let value = observed.value.map(|value| snapped(value, limit));
    let settled = settle(look);
    ThresholdResult {
        text: threshold.text.clone(),
        what: threshold.left(),
        implied: threshold.implied,
        observed: value,
        at_least: observed.at_least,
        limit,
        unit: observed.unit,
        standing: settled.standing,
        best: settled.best,
        worst: settled.worst,
        doubts: settled.doubts,
        met: settled.standing == Standing::Met,
        margin: value.filter(|_| limit != 0.0).map(|v| match threshold.comparison {
            Comparison::Less | Comparison::LessOrEqual => (limit - v) / limit,
            Comparison::Greater | Comparison::GreaterOrEqual => (v - limit) / limit,
            Comparison::Equal => -((v - limit) / limit).abs(),
        }),
        samples: observed.samples,
        too_few_samples: match threshold.statistic {
            Statistic::Quantile(q) => observed.samples < samples_needed(q),
            Statistic::Mean | Statistic::Min | Statistic::Max | Statistic::Value => false,
        },
        window,
    }
}

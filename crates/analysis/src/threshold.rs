//! Thresholds: what was observed, and whether that meets the condition for certain.

use super::availability::ServiceCourse;
use super::bounds::{Grounds, Look, settle};
use super::facts::{Facts, ratio};
use super::metrics;
use super::reading::{Reading, reading, snapped};
use super::times::Belief;
use super::windows::worst;
use crate::summary::{Achieved, Availability, Standing, ThresholdResult, Window};
use plimsoll_plan::metric::RunHist;
use plimsoll_plan::threshold::{Basis, Comparison, FigureUnit, OutageFigure, Statistic, Subject, Threshold};
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
        if let Basis::Custom(family) = threshold.subject.basis() {
            let (reading, sum) = metrics::reading(threshold, family, facts);
            let values = sum.hists.into_iter().next().unwrap_or_else(Hist::on_demand);
            let gauge = Gauge { exact: values, ..Gauge::default() };
            return judge_one(
                &Look { threshold, reading: &reading, gauge: &gauge, grounds, windowed: false },
                None,
            );
        }
        if let Basis::Outages(figure) = threshold.subject.basis() {
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

/// The figure of the run as a whole, all machines together, or those of the agents in the scope.
fn whole(threshold: &Threshold, facts: &Facts, achieved: &Achieved, belief: Belief) -> (Reading, Gauge) {
    let mut sum = Gauge::default();
    let mut rate_per_s = 0.0;
    for machine in facts.machines.iter().filter(|machine| machine.is_within(threshold.scope.as_ref())) {
        let one = Gauge::of(threshold, machine.plan(), &machine.origin.opened, &machine.origin.totals);
        // Machines load at the same time, and one may stop before the others.
        rate_per_s += ratio(one.part as f64, machine.rated_ns as f64 / 1e9);
        sum.merge(&one);
    }
    // Connections are made once and used to the end, so they are counted from the start, warm-up included.
    for (subject, id) in [(Subject::Connect, RunHist::Connect), (Subject::TlsHandshake, RunHist::Handshake)] {
        if threshold.subject == subject {
            sum.exact = facts.run.hists.get(id.id()).cloned().unwrap_or_else(Hist::on_demand);
        }
    }
    let reading = reading(threshold, &sum, facts.measured_ns, belief);
    let reading = match threshold.subject.basis() {
        Basis::Achieved => Reading { value: achieved.ratio, ..reading },
        Basis::Throughput => Reading { value: reading.value.map(|_| rate_per_s), ..reading },
        Basis::Response | Basis::Service | Basis::Outages(_) | Basis::Custom(_) | Basis::Totals => reading,
    };
    (reading, sum)
}

fn judge_one(look: &Look, window: Option<Window>) -> ThresholdResult {
    let (threshold, observed) = (look.threshold, look.reading);
    let limit = threshold.value;
    let value = observed.value.map(|value| snapped(value, limit));
    let settled = settle(look);
    ThresholdResult {
        text: threshold.text.clone(),
        subject: threshold.left(),
        is_default: threshold.is_default,
        observed: value,
        is_lower_bound: observed.at_least,
        limit,
        unit: observed.unit,
        standing: settled.standing,
        best: settled.best,
        worst: settled.worst,
        doubts: settled.doubts,
        is_met: settled.standing == Standing::Met,
        margin: value.filter(|_| limit != 0.0).map(|v| match threshold.comparison {
            Comparison::Less | Comparison::LessOrEqual => (limit - v) / limit,
            Comparison::Greater | Comparison::GreaterOrEqual => (v - limit) / limit,
            Comparison::Equal => -((v - limit) / limit).abs(),
        }),
        samples: observed.samples,
        has_too_few_samples: match threshold.statistic {
            Statistic::Quantile(q) => observed.samples < samples_needed(q),
            Statistic::Mean | Statistic::Min | Statistic::Max | Statistic::Value => false,
        },
        window,
    }
}

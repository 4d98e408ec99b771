//! Thresholds: what was observed, and whether that meets the condition for certain.

use super::cells::Cells;
use super::facts::Facts;
use super::times::{Belief, bent, percentile};
use crate::summary::{Achieved, FigureUnit, Judged};
use plimsoll_plan::metric::{SeriesHist, SeriesSum};
use plimsoll_plan::threshold::{Comparison, Statistic, Subject, Threshold};
use plimsoll_stats::{Hist, samples_needed};

/// Judges every threshold of the plan, in its order.
pub(super) fn judge(facts: &Facts, achieved: &Achieved, belief: Belief) -> Vec<Judged> {
    facts.plan.thresholds.iter().map(|t| judge_one(t, &observe(t, facts, achieved, belief))).collect()
}

struct Observed {
    value: Option<f64>,
    /// The true value may be higher.
    at_least: bool,
    samples: u64,
    unit: FigureUnit,
}

fn observe(threshold: &Threshold, facts: &Facts, achieved: &Achieved, belief: Belief) -> Observed {
    let number = |value, unit| Observed { value, at_least: false, samples: facts.finished(), unit };
    let times =
        |exact, bounds| time(threshold.statistic, facts.all.hist(exact), facts.all.hist(bounds), belief);
    match threshold.subject {
        Subject::ResponseTime => times(SeriesHist::Response, SeriesHist::ResponseCensored),
        Subject::ServiceTime => times(SeriesHist::Service, SeriesHist::ServiceCensored),
        Subject::FirstByte => first_byte(threshold.statistic, facts, belief),
        Subject::Errors => {
            let failed = facts.all.sum(SeriesSum::Failed) as f64;
            let finished = facts.finished();
            number((finished > 0).then(|| failed / finished as f64), FigureUnit::Ratio)
        }
        Subject::Achieved => number(achieved.ratio, FigureUnit::Ratio),
        Subject::Rate => {
            number((facts.measured_ns > 0).then_some(achieved.rate_per_s), FigureUnit::PerSecond)
        }
        Subject::Requests => number(Some(facts.finished() as f64), FigureUnit::Count),
    }
}

fn time(statistic: Statistic, exact: &Hist, bounds: &Hist, belief: Belief) -> Observed {
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
    Observed {
        value,
        at_least,
        samples: exact.count().saturating_add(bounds.count()),
        unit: FigureUnit::Nanoseconds,
    }
}

/// How many samples a percentile of this subject comes from.
pub(super) fn samples_of(subject: Subject, facts: &Facts) -> u64 {
    let (exact, bounds) = match subject {
        Subject::ResponseTime => (SeriesHist::Response, Some(SeriesHist::ResponseCensored)),
        Subject::ServiceTime => (SeriesHist::Service, Some(SeriesHist::ServiceCensored)),
        Subject::FirstByte => (SeriesHist::FirstByte, None),
        _ => return facts.finished(),
    };
    let count = |id| facts.all.hist(id).count();
    count(exact).saturating_add(bounds.map_or(0, count))
}

/// Of a request that was cut off nobody knows the first byte, so the figures are those of the others, and lower
/// bounds wherever the service time's are.
fn first_byte(statistic: Statistic, facts: &Facts, belief: Belief) -> Observed {
    let exact = facts.all.hist(SeriesHist::FirstByte);
    let service = facts.all.hist(SeriesHist::Service);
    let cut = time(statistic, service, facts.all.hist(SeriesHist::ServiceCensored), belief);
    let known = time(statistic, exact, &Hist::on_demand(), belief);
    Observed { at_least: cut.at_least, ..known }
}

fn judge_one(threshold: &Threshold, observed: &Observed) -> Judged {
    let limit = threshold.value;
    // 0.7 % is 0.006999999999999999 in binary, and 7 of 1,000 are 0.007: the same to everybody but the machine.
    let value = observed.value.map(|v| if (v - limit).abs() <= limit.abs() * 1e-12 { limit } else { v });
    let upwards = matches!(threshold.comparison, Comparison::Greater | Comparison::GreaterOrEqual);
    // What is only known to be "at least" meets no upper limit for certain.
    let certain = !observed.at_least || upwards;
    Judged {
        text: threshold.text.clone(),
        implied: threshold.implied,
        observed: value,
        at_least: observed.at_least,
        limit,
        unit: observed.unit,
        met: certain && value.is_some_and(|v| threshold.comparison.holds(v, limit)),
        margin: value.filter(|_| limit != 0.0).map(|v| match threshold.comparison {
            Comparison::Less | Comparison::LessOrEqual => (limit - v) / limit,
            Comparison::Greater | Comparison::GreaterOrEqual => (v - limit) / limit,
            Comparison::Equal => -((v - limit) / limit).abs(),
        }),
        too_few_samples: match threshold.statistic {
            Statistic::Quantile(q) => observed.samples < samples_needed(q),
            _ => false,
        },
    }
}

//! One figure and what it may be in truth, doubt by doubt.

use super::grounds::Look;
use super::queue::Queue;
use crate::caution::Evidence;
use crate::reading::snapped;
use crate::summary::{Bound, Doubt, Standing};
use plimsoll_plan::series::THOUSANDTHS;
use plimsoll_plan::threshold::{Comparison, Kind as Figure, Statistic, Subject, Threshold};
use plimsoll_stats::{Hist, VALUE_MAX, clustered_interval, clustered_ranks, quantile_interval};

const CONFIDENCE: f64 = 0.95;

/// What the doubts come to.
#[derive(Debug)]
pub(crate) struct Settled {
    pub best: Option<f64>,
    pub worst: Option<f64>,
    pub doubts: Vec<Doubt>,
    pub standing: Standing,
}

/// The ends so far.
struct Span {
    low: f64,
    high: f64,
    moves: Vec<Move>,
}

struct Move {
    upwards: bool,
    size: f64,
    /// Where the end is then.
    to: f64,
    evidence: Evidence,
}

impl Span {
    fn lower(&mut self, to: f64, evidence: Evidence) {
        let to = to.max(0.0);
        if to < self.low {
            self.moves.push(Move { upwards: false, size: self.low - to, to, evidence });
            self.low = to;
        }
    }

    fn raise(&mut self, to: f64, evidence: Evidence) {
        if to > self.high {
            self.moves.push(Move { upwards: true, size: to - self.high, to, evidence });
            self.high = to;
        }
    }
}

/// Applies every caution to the value and compares both ends with the limit.
pub(crate) fn settle(look: &Look) -> Settled {
    let Some(value) = look.reading.value else {
        let evidence = Evidence::FigureMissing { subject: look.threshold.left() };
        let nothing =
            Doubt { kind: evidence.kind(), bound: Bound::Worst, size: None, is_decisive: true, evidence };
        return Settled { best: None, worst: None, doubts: vec![nothing], standing: Standing::Undecided };
    };
    let mut span = Span { low: value, high: value, moves: Vec::new() };
    match look.threshold.subject.kind() {
        Figure::Times => times(look, value, &mut span),
        Figure::Share if look.threshold.subject == Subject::Achieved => achieved(look, &mut span),
        // When the load generator stalled or was paused is taken out of them already.
        Figure::Share if look.threshold.subject.is_of_outages() => {}
        // What a program counted is what it counted.
        Figure::Share if look.threshold.subject.family().is_some() => {}
        Figure::Length | Figure::Number => {}
        Figure::Numbers => few_numbers(look, &mut span),
        Figure::Share => share(look, &mut span),
        Figure::Count if look.threshold.subject == Subject::IterationsFailed => {
            exceptions(look, value, &mut span);
        }
        Figure::PerSecond | Figure::Count => amount(look, value, &mut span),
    }
    judged(look.threshold, value, span)
}

fn judged(threshold: &Threshold, value: f64, span: Span) -> Settled {
    let limit = threshold.value;
    let holds = |x: f64| threshold.comparison.holds(snapped(x, limit), limit);
    let is_upwards = threshold.comparison.is_upwards();
    let (best, worst) = match threshold.comparison {
        Comparison::Equal => {
            let far =
                if (span.high - limit).abs() >= (limit - span.low).abs() { span.high } else { span.low };
            (limit.clamp(span.low, span.high), far)
        }
        Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => {
            if is_upwards {
                (span.high, span.low)
            } else {
                (span.low, span.high)
            }
        }
    };
    let standing = match (holds(best), holds(worst)) {
        (true, true) => Standing::Met,
        (false, false) => Standing::Missed,
        _ => Standing::Undecided,
    };
    // A figure that meets the limit is doubted for the worse, one that misses it for the better.
    let doubted = if holds(value) { Bound::Worst } else { Bound::Best };
    let bound_of = |one: &Move| match threshold.comparison {
        // Away from the limit is worse.
        Comparison::Equal => {
            if one.upwards == (value >= limit) {
                Bound::Worst
            } else {
                Bound::Best
            }
        }
        Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => {
            if one.upwards == is_upwards {
                Bound::Best
            } else {
                Bound::Worst
            }
        }
    };
    // The first cautions that move the value across the limit decide; later ones do not change that.
    let mut crossed = standing != Standing::Undecided;
    let mut doubts = Vec::new();
    for one in &span.moves {
        let bound = bound_of(one);
        let decides = bound == doubted && !crossed;
        crossed |= decides && holds(one.to) != holds(value);
        doubts.push(Doubt {
            kind: one.evidence.kind(),
            bound,
            size: one.size.is_finite().then_some(one.size),
            is_decisive: decides,
            evidence: one.evidence.clone(),
        });
    }
    let known = |x: f64| x.is_finite().then(|| snapped(x, limit));
    Settled { best: known(best), worst: known(worst), doubts, standing }
}

/// Times: what delayed them here, what is not known of them, and what a sample says of a percentile.
fn times(look: &Look, value: f64, span: &mut Span) {
    let (gauge, grounds) = (look.gauge, look.grounds);
    let statistic = look.threshold.statistic;
    let all = merged(&gauge.exact, &gauge.bounds);
    // The low end: what the doubts take away from the samples, they take away from the figure.
    let mut low = all.clone();
    let base = figure(&all, statistic).unwrap_or(value);
    let down = |to: f64| value - (base - to).max(0.0);
    for (evidence, eased) in grounds.eased(look, &all) {
        let best = eased.into_iter().filter_map(|hist| Some((figure(&hist, statistic)?, hist)));
        if let Some((to, hist)) = best.max_by(|a, b| a.0.total_cmp(&b.0)) {
            span.lower(down(to), evidence);
            low = hist;
        }
    }
    // Waiting for a CPU is subtracted again at each step, because the rank determines which samples it lowers.
    let queue = grounds.queue();
    let relieved = |low: &Hist| match &queue {
        Some((queue, _)) => queue.relieve(low, statistic),
        None => figure(low, statistic),
    };
    if let (Some((_, evidence)), Some(to)) = (&queue, relieved(&low)) {
        span.lower(down(to), evidence.clone());
    }
    // The high end.
    let mut high = gauge.exact.clone();
    if look.reading.at_least {
        let requests_count = gauge.bounds.count();
        let evidence = match grounds.timed_out {
            true => Evidence::TimesCutOff { requests_count },
            false => Evidence::TimesUnfinished { requests_count },
        };
        span.raise(f64::INFINITY, evidence);
    }
    for unknown in grounds.unknown(look) {
        low.record_n(0, unknown.number);
        if let Some(to) = relieved(&low) {
            span.lower(down(to), unknown.evidence.clone());
        }
        high.record_n(VALUE_MAX, unknown.number);
        let to = match statistic {
            Statistic::Mean if unknown.number > 0 => Some(f64::INFINITY),
            Statistic::Mean | Statistic::Quantile(_) | Statistic::Min | Statistic::Max | Statistic::Value => {
                figure(&high, statistic).map(beyond)
            }
        };
        if let Some(to) = to {
            span.raise(to, unknown.evidence);
        }
    }
    if let Some(evidence) = grounds.unloaded(look) {
        span.raise(f64::INFINITY, evidence);
    }
    if let Statistic::Quantile(q) = statistic {
        let sample = Sample {
            q,
            design_effect: grounds.dependence().of_threshold(look.threshold.subject, q),
            low: &low,
            high: &high,
        };
        sample.few(queue.map(|(queue, _)| queue), down, span);
    }
}

/// What is left of a sample when the other doubts are granted.
struct Sample<'a> {
    q: f64,
    /// See [`plimsoll_stats::design_effect`].
    design_effect: f64,
    low: &'a Hist,
    high: &'a Hist,
}

impl Sample<'_> {
    /// The sample's own interval.
    fn few(&self, queue: Option<Queue>, down: impl Fn(f64) -> f64, span: &mut Span) {
        let Self { q, design_effect, low, high } = *self;
        let n = high.count();
        let rank = clustered_ranks(low.count(), q, CONFIDENCE, design_effect).map_or(0, |(low, _)| low);
        let below = match queue {
            _ if rank == 0 => None,
            Some(queue) => queue.relieve_rank(low, rank),
            None => low.bounds_at_rank(rank).map(|(ns, _)| ns as f64),
        };
        let below = below.map_or(0.0, |ns| down(ns).max(0.0));
        let above = clustered_interval(high, q, CONFIDENCE, design_effect)
            .high
            .map_or(f64::INFINITY, |ns| beyond(ns as f64));
        let evidence = match above.is_finite() {
            true => Evidence::TimeInterval {
                samples_count: n,
                quantile: q,
                low_ns: below as u64,
                high_ns: above as u64,
            },
            false => Evidence::NoInterval {
                samples_count: n,
                quantile: q,
                needed_count: (bounding(q) as f64 * design_effect).ceil() as u64,
            },
        };
        span.lower(below.min(span.low), evidence.clone());
        span.raise(above.max(span.high), evidence);
    }
}

/// The interval of a quantile of a user-defined trend, whose values are kept in thousandths.
fn few_numbers(look: &Look, span: &mut Span) {
    let Statistic::Quantile(q) = look.threshold.statistic else { return };
    let values = &look.gauge.exact;
    let interval = quantile_interval(values, q, CONFIDENCE);
    let [low, high] = [interval.low, interval.high].map(|v| v.map(|v| v as f64 / THOUSANDTHS));
    let samples_count = values.count();
    let evidence = match (low, high) {
        (Some(low), Some(high)) => Evidence::ValueInterval { samples_count, quantile: q, low, high },
        _ => Evidence::NoInterval { samples_count, quantile: q, needed_count: bounding(q) },
    };
    span.lower(low.unwrap_or(0.0).min(span.low), evidence.clone());
    span.raise(high.unwrap_or(f64::INFINITY).max(span.high), evidence);
}

/// The fewest samples of which the longest bounds quantile `q` from above: q^n is at most half of the doubt.
fn bounding(q: f64) -> u64 {
    (((1.0 - CONFIDENCE) / 2.0).ln() / q.ln()).ceil() as u64
}

/// The last bucket represents unknown values.
fn beyond(ns: f64) -> f64 {
    if ns >= VALUE_MAX as f64 * 0.99 { f64::INFINITY } else { ns }
}

/// Failed of completed, met of checked, lost of expected: exact, except for requests that were never sent or
/// recorded. A response with an error status remains one, no matter what the load generator's machine did.
fn share(look: &Look, span: &mut Span) {
    let (part, whole) = (look.gauge.part as f64, look.gauge.whole as f64);
    let mut unknown = 0.0;
    for one in look.grounds.unknown(look) {
        unknown += one.number as f64;
        span.lower(part / (whole + unknown), one.evidence.clone());
        span.raise((part + unknown) / (whole + unknown), one.evidence);
    }
    if look.threshold.subject == Subject::ErrorRate {
        let ours = look.grounds.own_timeouts(look);
        span.lower(
            (part - ours as f64).max(0.0) / (whole + unknown).max(1.0),
            Evidence::TimeoutsInStalls { timeouts_count: ours },
        );
        if let Some(evidence) = look.grounds.unloaded(look) {
            span.raise(1.0, evidence);
        }
    }
}

/// The share of the arrivals that were answered, with what those in flight at the end may still become.
fn achieved(look: &Look, span: &mut Span) {
    // In a window in the middle as many are in flight at its end as at its beginning.
    let Some(edge) = look.grounds.edge().filter(|_| !look.windowed) else { return };
    (span.low, span.high) = (edge.least, edge.least);
    // What this side did not send comes first: it explains what is in flight as well.
    for (to, evidence) in look.grounds.with_unsent(edge) {
        span.raise(to, evidence);
    }
    span.raise(edge.most, Evidence::RequestsYoung { requests_count: edge.young.round() as u64 });
}

/// Iterations that threw: as many as were counted, and of those that were never recorded at most all.
fn exceptions(look: &Look, value: f64, span: &mut Span) {
    let mut unknown = 0.0;
    // Not more than there were.
    let most = value.max(look.gauge.whole as f64);
    for one in look.grounds.unknown(look) {
        unknown += one.number as f64;
        span.raise((value + unknown).min(most), one.evidence);
    }
}

/// Numbers and rates: what was never made or never recorded may have been more of it.
fn amount(look: &Look, value: f64, span: &mut Span) {
    let known = look.gauge.part as f64;
    let mut more = 0.0;
    for one in look.grounds.unknown(look) {
        more += one.number as f64;
        // The figure grows with what is unknown; from 0 there is nothing to scale, so any amount is possible.
        let to = if known > 0.0 { value * (known + more) / known } else { f64::INFINITY };
        span.raise(to, one.evidence);
    }
    for (factor, evidence) in look.grounds.held_back(look) {
        span.raise(if factor.is_finite() { span.high * factor } else { factor }, evidence);
    }
}

/// A statistic of times in one histogram.
fn figure(hist: &Hist, statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Quantile(q) => hist.quantile(q).map(|ns| ns as f64),
        Statistic::Mean => hist.mean(),
        Statistic::Min => hist.min().map(|ns| ns as f64),
        Statistic::Max => hist.max().map(|ns| ns as f64),
        Statistic::Value => None,
    }
}

fn merged(a: &Hist, b: &Hist) -> Hist {
    let mut all = a.clone();
    all.merge(b);
    all
}

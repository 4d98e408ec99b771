//! What one run contributes to a search: whether its level is met, its distance from the limits, and whether it
//! counts.

use super::limits::{Limited, limit_of};
use super::probe::Probe;
use plimsoll_analysis::digest::{Block, Digest, Generator, Watching, coarser};
use plimsoll_analysis::summary::{Caution, Percentile, Standing, ThresholdResult};
use plimsoll_plan::threshold::{FigureUnit, Subject};
use plimsoll_stats::Hist;

/// A probe that was run.
#[derive(Debug, Clone)]
pub struct Trial {
    pub probe: Probe,
    /// Offered arrivals per second; `None` in the closed model.
    pub offered_rate_per_s: Option<f64>,
    /// Completed requests per second.
    pub rate_per_s: f64,
    /// Completed iterations per second.
    pub iterations_per_s: f64,
    pub measured_s: f64,
    pub requests: u64,
    pub errors: u64,
    pub socket_errors: u64,
    pub error_ratio: f64,
    pub response_p50_ns: Option<u64>,
    pub service_p50_ns: Option<u64>,
    /// p50, p99, and the others with intervals, as in the run's summary.
    pub percentiles: Vec<Percentile>,
    pub judged: Vec<ThresholdResult>,
    pub cautions: Vec<Caution>,
    /// A limit outside of the service, if there was one.
    pub limited_by: Option<Limited>,
    /// The record is complete.
    pub complete: bool,
    /// The backlog grew during the step: a longer one would have shown longer times.
    pub unstable: bool,
    /// The run in at most [`BLOCKS`] stretches, without service times: a search holds dozens of runs.
    pub blocks: Vec<Block>,
    pub watched: Watching,
    /// Load generator health.
    pub generator: Generator,
}

/// A figure farther from its limit than this share of the limit does not show where the limit is crossed.
pub(super) const FAR: f64 = 0.75;
/// An undecided step whose figures are farther within the limit has too few samples, and need not be repeated.
const NEAR: f64 = 0.2;
/// Stretches of a run that are kept.
pub const BLOCKS: usize = 12;
/// With a higher error rate, the service is broken, not slow.
const RUNAWAY_ERRORS: f64 = 0.5;

impl Trial {
    /// Reads a run.
    pub fn of(probe: Probe, digest: &Digest) -> Trial {
        Trial {
            offered_rate_per_s: digest.offered_rate_per_s,
            rate_per_s: digest.rate_per_s,
            iterations_per_s: digest.iterations_per_s,
            measured_s: digest.measured_s,
            requests: digest.requests,
            errors: digest.errors,
            socket_errors: digest.socket_errors,
            error_ratio: digest.error_ratio,
            response_p50_ns: digest.response_time.p50_ns,
            service_p50_ns: digest.service_time.p50_ns,
            percentiles: digest.response_time.percentiles.clone(),
            judged: digest.thresholds.clone(),
            cautions: digest.cautions.clone(),
            limited_by: limit_of(digest),
            complete: digest.complete,
            unstable: is_unstable(digest),
            blocks: stretches(&digest.blocks),
            watched: digest.watched.clone(),
            generator: digest.generator,
            probe,
        }
    }

    /// Whether the figures are within the limits, with or without certainty: all thresholds that decide are met, the
    /// backlog did not grow, and most requests succeeded. See [`Trial::standing`] for the certain result.
    pub fn met(&self) -> bool {
        let sound = !self.unstable && !self.is_runaway() && self.requests > 0;
        sound && self.judged.iter().filter(|j| decides(j)).all(is_inside)
    }

    /// Whether the result is valid despite the load generator, which may have caused a backlog.
    pub(super) fn is_sure(&self) -> bool {
        match self.standing() {
            Standing::Undecided => false,
            Standing::Met => true,
            Standing::Missed => {
                self.judged.iter().any(|j| decides(j) && self.standing_of(j) == Standing::Missed)
            }
        }
    }

    /// Whether all requests of one user succeeded, so that its times are those of responses.
    pub(super) fn is_unloaded(&self) -> bool {
        self.errors == 0 && self.requests > 0
    }

    /// Whether the limit lies within the uncertainty of the figures, and near them: the step must be repeated.
    pub(super) fn is_near(&self) -> bool {
        self.standing() == Standing::Undecided && self.slack().is_some_and(|slack| slack < NEAR)
    }

    /// Whether most requests failed: no higher level is tried, and this one is not repeated.
    pub fn is_runaway(&self) -> bool {
        self.error_ratio > RUNAWAY_ERRORS || (self.requests == 0 && self.complete)
    }

    /// Returns the arrivals per second without a response; 0 in the closed model.
    pub fn shortfall_per_s(&self) -> f64 {
        let offered = self.offered_rate_per_s.filter(|r| r.is_finite()).unwrap_or(0.0);
        (offered - self.iterations_per_s).max(0.0)
    }

    /// Returns the distance to the nearest limit: positive is within, [`FAR`] is far, `None` if no threshold decides.
    pub fn slack(&self) -> Option<f64> {
        let each = self.judged.iter().filter(|j| decides(j)).map(|j| self.slack_of(j));
        each.reduce(f64::min)
    }

    pub(super) fn slack_of(&self, judged: &ThresholdResult) -> f64 {
        // Errors are fast: if most requests failed, the times of the rest mean nothing.
        if self.is_runaway() {
            return -FAR;
        }
        let slack = slack(judged);
        if self.unstable && self.shows_backlog(judged) { slack.min(-0.25) } else { slack }
    }

    /// Whether a growing backlog must show in this threshold. A backlog makes response times longer than the step
    /// shows. If no threshold is on a time, and none is missed because of the backlog (as `achieved` is), a longer
    /// step would have missed the others. Outages do not follow from a backlog.
    fn shows_backlog(&self, judged: &ThresholdResult) -> bool {
        let sees_it = |j: &ThresholdResult| decides(j) && (is_time(j) || slack(j) < 0.0);
        is_time(judged) || (!is_outage(judged) && !self.judged.iter().any(sees_it))
    }
}

/// Returns whether the value is on the right side of the limit, regardless of its uncertainty.
pub(super) fn is_inside(judged: &ThresholdResult) -> bool {
    judged.is_met || (!judged.is_lower_bound && judged.margin.is_some_and(|margin| margin > 0.0))
}

fn is_time(judged: &ThresholdResult) -> bool {
    judged.unit == FigureUnit::Nanoseconds && !is_outage(judged)
}

pub(super) fn is_outage(judged: &ThresholdResult) -> bool {
    judged.subject == Subject::LongestOutage.name()
}

/// Returns whether a threshold decides: any low load misses a minimum rate or count, even with a perfect service.
pub(super) fn decides(judged: &ThresholdResult) -> bool {
    !(matches!(judged.unit, FigureUnit::PerSecond | FigureUnit::Count | FigureUnit::Number)
        && is_upwards(judged))
}

fn stretches(blocks: &[Block]) -> Vec<Block> {
    let mut kept = coarser(blocks, BLOCKS);
    kept.iter_mut().for_each(|block| block.service = Hist::on_demand());
    kept
}

fn is_upwards(judged: &ThresholdResult) -> bool {
    match (judged.observed, judged.margin) {
        (Some(observed), Some(margin)) if margin != 0.0 => (observed > judged.limit) == (margin > 0.0),
        _ => judged.text.contains(">"),
    }
}

/// Returns the distance from the limit on a scale that is linear near it.
///
/// For a time: limit / observed - 1. In any queue near saturation, the tail of the waiting time is proportional to 1
/// / (1 - load), so its inverse falls along a line, with equal noise on both sides of the crossing (the relative
/// noise of a quantile is proportional to 1 / (1 - load) as well). For a share of errors: the logarithm, because
/// losses of a full queue grow by powers of the load. Without a scale (`error_rate == 0%`), only met or missed is
/// known.
fn slack(judged: &ThresholdResult) -> f64 {
    let sign = |met: bool| if met { 0.5 } else { -0.5 };
    let Some(observed) = judged.observed.filter(|x| x.is_finite()) else { return -FAR };
    let limit = judged.limit;
    if limit <= 0.0 || !limit.is_finite() {
        return sign(is_inside(judged));
    }
    let raw = match judged.unit {
        _ if is_upwards(judged) => {
            // `achieved >= 99%` cannot be exceeded by more than 1%, so there is no scale within the limit.
            if is_inside(judged) { 0.5 } else { ((observed - limit) / limit * 20.0).clamp(-0.5, -0.05) }
        }
        FigureUnit::Nanoseconds => limit / observed.max(1.0) - 1.0,
        FigureUnit::Ratio => {
            // Zero errors in n requests count as half an error.
            let least = 0.5 / (judged.samples.max(1) as f64);
            0.3 * (limit / observed.max(least)).ln()
        }
        FigureUnit::PerSecond | FigureUnit::Count | FigureUnit::Number => (limit - observed) / limit,
    };
    // A judgment based on more than the figure (a lower bound, an excluded limit) is kept.
    let raw = if is_inside(judged) { raw.max(0.0) } else { raw.min(-0.0) };
    raw.clamp(-FAR, FAR)
}

/// Whether throughput was below the offered rate, by more than chance and by a relevant amount, or the number of
/// requests in flight rose from third to third of the step.
fn is_unstable(digest: &Digest) -> bool {
    let blocks = &digest.blocks;
    let Some(offered) = digest.offered_rate_per_s else { return false };
    if blocks.len() < 3 || !offered.is_finite() {
        return false;
    }
    let arrivals = offered * digest.measured_s;
    let missing = arrivals - digest.iterations_per_s * digest.measured_s;
    // At full load, the difference of two random counts varies by the root of their sum: three of those.
    let short = missing > 0.02 * arrivals && missing > 3.0 * (2.0 * arrivals).sqrt();
    let third = blocks.len() / 3;
    let mean = |part: &[Block]| part.iter().map(|b| b.in_flight).sum::<f64>() / part.len().max(1) as f64;
    let parts = [mean(&blocks[..third]), mean(&blocks[third..2 * third]), mean(&blocks[2 * third..])];
    // The growth must be a backlog of the load, and account for arrivals without a response.
    let climbs =
        parts[1] > 1.5 * parts[0] && parts[2] > 1.5 * parts[1] && parts[2] - parts[0] > 0.01 * arrivals;
    short || climbs
}

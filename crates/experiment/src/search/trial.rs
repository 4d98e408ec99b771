//! What one run says to the search: whether its level is met, how far from the limits it is, whether it counts at all.

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
    /// Arrivals per second that came due; `None` in the closed model.
    pub offered_rate_per_s: Option<f64>,
    /// Finished requests per second.
    pub rate_per_s: f64,
    /// Finished iterations per second.
    pub iterations_per_s: f64,
    pub measured_s: f64,
    pub requests: u64,
    pub errors: u64,
    pub socket_errors: u64,
    pub error_ratio: f64,
    pub response_p50_ns: Option<u64>,
    pub service_p50_ns: Option<u64>,
    /// p50, p99 and the others with intervals, as the run's summary has them.
    pub percentiles: Vec<Percentile>,
    pub judged: Vec<ThresholdResult>,
    pub cautions: Vec<Caution>,
    /// Something else than the service limited the run.
    pub limited_by: Option<Limited>,
    /// The record has its end and all its seconds.
    pub complete: bool,
    /// The backlog grew through the step: a longer one would have shown longer times.
    pub unstable: bool,
    /// The run in at most [`BLOCKS`] stretches, their service times left out: a search holds dozens of runs.
    pub blocks: Vec<Block>,
    pub watched: Watching,
    /// What the load generator says of itself.
    pub generator: Generator,
}

/// A figure further from its limit than this, as a share of the limit, says nothing about where the limit is crossed.
pub(super) const FAR: f64 = 0.75;
/// An undecided step whose figures are further inside than this has too few samples, and is no reason to stay.
const NEAR: f64 = 0.2;
/// Stretches of a run that are kept.
pub const BLOCKS: usize = 12;
/// Errors above this share: the service is broken, not slow.
const RUNAWAY_ERRORS: f64 = 0.5;

impl Trial {
    /// What a run says.
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

    /// On which side of the limits the figures lie, sure or not: all thresholds that a search can be held against are
    /// met, the backlog did not grow, and not most of it failed. For what is sure see [`Trial::standing`].
    pub fn met(&self) -> bool {
        let sound = !self.unstable && !self.is_runaway() && self.requests > 0;
        sound && self.judged.iter().filter(|j| decides(j)).all(is_inside)
    }

    /// The standing holds despite the load generator. A backlog alone may have been caused by the load generator.
    pub(super) fn is_sure(&self) -> bool {
        match self.standing() {
            Standing::Undecided => false,
            Standing::Met => true,
            Standing::Missed => {
                self.judged.iter().any(|j| decides(j) && self.standing_of(j) == Standing::Missed)
            }
        }
    }

    /// What one user alone was answered, all of it: its times are those of answers.
    pub(super) fn is_unloaded(&self) -> bool {
        self.errors == 0 && self.requests > 0
    }

    /// The limit lies within what the figures of the step may be, and near them: it has to be run again.
    pub(super) fn is_near(&self) -> bool {
        self.standing() == Standing::Undecided && self.slack().is_some_and(|slack| slack < NEAR)
    }

    /// Most of it failed: no higher level is tried, and this one is not repeated.
    pub fn is_runaway(&self) -> bool {
        self.error_ratio > RUNAWAY_ERRORS || (self.requests == 0 && self.complete)
    }

    /// Arrivals that nobody answered, per second; 0 in the closed model.
    pub fn shortfall_per_s(&self) -> f64 {
        let offered = self.offered_rate_per_s.filter(|r| r.is_finite()).unwrap_or(0.0);
        (offered - self.iterations_per_s).max(0.0)
    }

    /// How far inside the limits, the nearest of them: above 0 is inside, [`FAR`] is far, `None`: nothing decides.
    pub fn slack(&self) -> Option<f64> {
        let each = self.judged.iter().filter(|j| decides(j)).map(|j| self.slack_of(j));
        each.reduce(f64::min)
    }

    pub(super) fn slack_of(&self, judged: &ThresholdResult) -> f64 {
        // Errors are quick: with most requests failed, the times of what is left say nothing.
        if self.is_runaway() {
            return -FAR;
        }
        let slack = slack(judged);
        if self.unstable && self.tells_of_backlog(judged) { slack.min(-0.25) } else { slack }
    }

    /// A growing backlog makes response times longer than the step shows. If no threshold is on a time, and none misses
    /// because of the backlog (as `achieved` does), a longer step would have missed the others. Outages do not follow
    /// from a backlog.
    fn tells_of_backlog(&self, judged: &ThresholdResult) -> bool {
        let sees_it = |j: &ThresholdResult| decides(j) && (is_time(j) || slack(j) < 0.0);
        is_time(judged) || (!is_outage(judged) && !self.judged.iter().any(sees_it))
    }
}

/// The figure itself is on the right side of the limit, whatever it may be in truth.
pub(super) fn is_inside(judged: &ThresholdResult) -> bool {
    judged.is_met || (!judged.is_lower_bound && judged.margin.is_some_and(|margin| margin > 0.0))
}

fn is_time(judged: &ThresholdResult) -> bool {
    judged.unit == FigureUnit::Nanoseconds && !is_outage(judged)
}

pub(super) fn is_outage(judged: &ThresholdResult) -> bool {
    judged.subject == Subject::LongestOutage.name()
}

/// Rates and counts that should be high are missed by any low load, whatever the service can do.
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

/// The distance from the limit on a scale that is straight near it.
///
/// A time: limit / observed - 1. In any queue the tail of the waiting time goes with 1 / (1 - load) near saturation, so
/// its inverse falls along a line, and its noise is the same on both sides of the crossing (the relative noise of a
/// quantile goes with 1 / (1 - load) as well). A share of errors: the logarithm, since losses of a full queue grow by
/// powers of the load. Where there is no scale (`error_rate == 0%`), met or not is all that is known.
fn slack(judged: &ThresholdResult) -> f64 {
    let sign = |met: bool| if met { 0.5 } else { -0.5 };
    let Some(observed) = judged.observed.filter(|x| x.is_finite()) else { return -FAR };
    let limit = judged.limit;
    if limit <= 0.0 || !limit.is_finite() {
        return sign(is_inside(judged));
    }
    let raw = match judged.unit {
        _ if is_upwards(judged) => {
            // `achieved >= 99%` cannot be exceeded by more than 1%: inside there is no scale.
            if is_inside(judged) { 0.5 } else { ((observed - limit) / limit * 20.0).clamp(-0.5, -0.05) }
        }
        FigureUnit::Nanoseconds => limit / observed.max(1.0) - 1.0,
        FigureUnit::Ratio => {
            // No error in n requests is less than half of one.
            let least = 0.5 / (judged.samples.max(1) as f64);
            0.3 * (limit / observed.max(least)).ln()
        }
        FigureUnit::PerSecond | FigureUnit::Count | FigureUnit::Number => (limit - observed) / limit,
    };
    // What was judged on more than the figure (a lower bound, a limit that is not allowed itself) is kept.
    let raw = if is_inside(judged) { raw.max(0.0) } else { raw.min(-0.0) };
    raw.clamp(-FAR, FAR)
}

/// Whether fewer were answered than came, by more than chance and by an amount that matters, or the number in flight
/// climbed from third to third of the step.
fn is_unstable(digest: &Digest) -> bool {
    let blocks = &digest.blocks;
    let Some(offered) = digest.offered_rate_per_s else { return false };
    if blocks.len() < 3 || !offered.is_finite() {
        return false;
    }
    let arrivals = offered * digest.measured_s;
    let missing = arrivals - digest.iterations_per_s * digest.measured_s;
    // At full load the difference of two random counts wanders by the root of their sum: three of those.
    let short = missing > 0.02 * arrivals && missing > 3.0 * (2.0 * arrivals).sqrt();
    let third = blocks.len() / 3;
    let mean = |part: &[Block]| part.iter().map(|b| b.in_flight).sum::<f64>() / part.len().max(1) as f64;
    let parts = [mean(&blocks[..third]), mean(&blocks[third..2 * third]), mean(&blocks[2 * third..])];
    // What has grown must be a backlog of the load, and account for arrivals that were not answered.
    let climbs =
        parts[1] > 1.5 * parts[0] && parts[2] > 1.5 * parts[1] && parts[2] - parts[0] > 0.01 * arrivals;
    short || climbs
}

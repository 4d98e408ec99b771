//! Apdex of a request relative to its own limit (Apdex Alliance, Application Performance Index technical
//! specification, version 1.1, 2007): the satisfied plus half of the tolerating requests, as a share of all.
//!
//! A user is satisfied up to the target T, tolerates up to 4 T, and is frustrated beyond. A failure is frustrating,
//! no matter how long it took. T is specific to the run: the one limit that its thresholds set for response times of
//! the request.

use super::cells::Cells;
use super::facts::Series;
use crate::summary::Apdex;
use plimsoll_plan::metric::{SeriesHist, SeriesSum};
use plimsoll_plan::outline::RequestOutline;
use plimsoll_plan::threshold::{Statistic, Subject, Threshold};

/// 4 T is where the specification lets tolerating end.
const FRUSTRATED_FROM: u64 = 4;

/// `None`: no target or more than one, nothing finished, or a stream, whose time is its whole life.
pub(super) fn apdex(one: &Series, thresholds: &[Threshold]) -> Option<Apdex> {
    let finished = one.tally.sum(SeriesSum::Finished);
    let target_ns = target_ns(&one.request, thresholds).filter(|_| finished > 0 && !one.request.is_stream)?;
    let times = one.tally.hist(SeriesHist::Response);
    let failed = one.tally.sum(SeriesSum::Failed).min(finished);
    let answered = times.count().min(finished);
    // What has no response time got no answer: a failure, and frustrating.
    let wrong_answers = failed.saturating_sub(finished - answered);
    let satisfied = times.count_at_most(target_ns).min(answered);
    let within = times.count_at_most(target_ns.saturating_mul(FRUSTRATED_FROM)).min(answered);
    let levels = [satisfied, within - satisfied, answered - within];
    // The file does not know which of the times were those of failures: taken from the fast ones first they give the
    // lowest index that there can be, from the slow ones first the highest.
    let [low_satisfied, low_tolerating, _] = without(levels, wrong_answers);
    let [slow, middle, fast] = levels;
    let [_, high_tolerating, high_satisfied] = without([fast, middle, slow], wrong_answers);
    let index =
        |satisfied: u64, tolerating: u64| (satisfied as f64 + tolerating as f64 / 2.0) / finished as f64;
    Some(Apdex {
        target_ns,
        index: index(low_satisfied, low_tolerating),
        index_max: index(high_satisfied, high_tolerating),
        satisfied: low_satisfied,
        tolerating: low_tolerating,
        frustrated: finished - low_satisfied - low_tolerating,
        samples: finished,
    })
}

/// The counts less `n`, which is taken from the first as far as there are any, then from the next.
fn without(mut counts: [u64; 3], mut n: u64) -> [u64; 3] {
    for count in &mut counts {
        let taken = n.min(*count);
        *count -= taken;
        n -= taken;
    }
    counts
}

/// Returns the one upper limit for its response times, ns: that of thresholds on this request alone, or else on
/// several requests, or else on all. Two limits are ambiguous, so there is no target.
fn target_ns(request: &RequestOutline, thresholds: &[Threshold]) -> Option<u64> {
    let upper = |t: &&Threshold| {
        // A limit for the minimum is not a target, because one response meets it.
        t.subject == Subject::ResponseTime
            && t.statistic != Statistic::Min
            && t.comparison.is_downwards()
            && t.value >= 1.0
            && t.value <= u64::MAX as f64
            && t.scope.as_ref().is_none_or(|scope| scope.covers(request) && scope.agents().is_none())
    };
    // The narrowest scope decides: 0 its own name, 1 a part that it is in, 2 all.
    let width = |t: &Threshold| match &t.scope {
        Some(plimsoll_plan::threshold::Scope::Request(_)) => 0,
        Some(_) => 1,
        None => 2,
    };
    let narrowest = thresholds.iter().filter(upper).map(width).min()?;
    let mut limits =
        thresholds.iter().filter(upper).filter(|t| width(t) == narrowest).map(|t| t.value as u64);
    let first = limits.next()?;
    limits.all(|limit| limit == first).then_some(first)
}

//! The choice of reasons for a result.

use super::{FirstMissed, Reason, Unserved};
use crate::search::answer::{Answer, Capacity, StepRow};
use plimsoll_analysis::summary::{Bottleneck, Standing};
use plimsoll_plan::experiment::Purpose;

/// A throughput below this share of the offered rate is reported.
const SERVED: f64 = 0.98;
/// A throughput above this share of the offered rate is not an effect of the ends of a run.
const MORE: f64 = 1.005;

pub(super) fn reasons(answer: &Answer) -> Vec<Reason<'_>> {
    let all =
        [first_missed(answer), held_back(answer), more_than_offered(answer), limiting(answer), calm(answer)];
    all.into_iter().flatten().collect()
}

/// Returns the runs that count, without the run of one user.
pub(super) fn counted(answer: &Answer) -> impl Iterator<Item = &StepRow> {
    answer.steps.iter().filter(|step| step.purpose != Purpose::Baseline && step.limited_by.is_none())
}

/// Returns the misses at the lowest missed level above the capacity, or at the lowest of all if none was met.
fn first_missed(answer: &Answer) -> Option<Reason<'_>> {
    let from = answer.capacity.as_ref().map_or(0.0, Capacity::level);
    let is_missed = |step: &&StepRow| step.standing == Standing::Missed && step.level >= from;
    let above = counted(answer).filter(is_missed);
    let step = above.min_by(|a, b| a.level.total_cmp(&b.level))?;
    let achieved_rate_per_s = step.achieved_rate_per_s;
    let offered = step.offered_rate_per_s.filter(|rate| achieved_rate_per_s < SERVED * rate);
    let unserved = offered.map(|offered_rate_per_s| Unserved { achieved_rate_per_s, offered_rate_per_s });
    // Thresholds and rates explain the rest.
    let is_open = step.missed_thresholds.is_empty() && unserved.is_none();
    let error_ratio = (is_open && step.errors > 0).then_some(step.error_ratio);
    let unstable = is_open && error_ratio.is_none() && step.is_unstable;
    let is_known = !is_open || error_ratio.is_some() || unstable;
    let (level, missed) = (step.level, step.missed_thresholds.as_slice());
    is_known.then_some(Reason::FirstMissed(FirstMissed {
        level,
        missed_thresholds: missed,
        unserved,
        error_ratio,
        is_unstable: unstable,
    }))
}

/// Returns the limit outside of the service that excluded runs.
fn held_back(answer: &Answer) -> Option<Reason<'_>> {
    let held = || answer.steps.iter().filter_map(|step| Some((step.level, step.limited_by.as_ref()?)));
    let (lowest_level, limited_by) = held().min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Reason::HeldBack { runs: held().count(), lowest_level, limited_by })
}

/// Returns a throughput above the offered rate: the warm-up left arrivals waiting.
fn more_than_offered(answer: &Answer) -> Option<Reason<'_>> {
    let more =
        |step: &&StepRow| step.offered_rate_per_s.is_some_and(|rate| step.achieved_rate_per_s > MORE * rate);
    let step = counted(answer).filter(more).max_by(|a, b| a.level.total_cmp(&b.level))?;
    let (achieved_rate_per_s, offered_rate_per_s) = (step.achieved_rate_per_s, step.offered_rate_per_s?);
    let waiting = ((achieved_rate_per_s - offered_rate_per_s) * step.length_s).round().max(1.0) as u64;
    Some(Reason::MoreThanOffered { level: step.level, achieved_rate_per_s, offered_rate_per_s, waiting })
}

fn limiting(answer: &Answer) -> Option<Reason<'_>> {
    Some(match answer.bottleneck.as_ref()? {
        Bottleneck::Saturated { what, evidence } => {
            Reason::Saturated { resource: what, evidence: evidence.text() }
        }
        Bottleneck::NoneWatched => Reason::NothingSaturated,
        Bottleneck::NotKnown => Reason::NothingWatched,
    })
}

/// Returns the behavior of the service below the knee.
fn calm(answer: &Answer) -> Option<Reason<'_>> {
    let (knee, unloaded_p50_ns) = (answer.knee.as_ref()?, answer.unloaded_p50_ns?);
    Some(Reason::CalmBelow { level: knee.level, p50_ns: knee.p50_ns, unloaded_p50_ns })
}

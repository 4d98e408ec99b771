//! The choice of next steps for a result.

use super::Step;
use super::reasons::counted;
use crate::search::answer::{Answer, Capacity, IntervalKind, RefusalKind};
use plimsoll_analysis::summary::Bottleneck;

/// If nothing was met, the next search starts lower by this factor.
const LOWER: f64 = 10.0;

pub(super) fn steps(answer: &Answer) -> Vec<Step<'_>> {
    match (&answer.refusal, &answer.capacity) {
        (Some(refusal), capacity) => vec![refused(answer, refusal.kind, capacity.as_ref())],
        (None, Some(capacity)) => found(answer, capacity),
        (None, None) => Vec::new(),
    }
}

fn refused<'a>(answer: &Answer, refusal: RefusalKind, capacity: Option<&Capacity>) -> Step<'a> {
    match refusal {
        RefusalKind::MaxTimeReached => more_time(capacity),
        RefusalKind::GeneratorLimited => Step::MendGenerator,
        RefusalKind::NetworkSaturated => Step::SearchFromNearer,
        RefusalKind::NothingMet | RefusalKind::EndedAtFirstStep => {
            let lowest = counted(answer).map(|step| step.level).reduce(f64::min);
            Step::BeginLower { from: lowest.map(|lowest| lowest / LOWER) }
        }
        RefusalKind::BaselineFailed => Step::SeeFirstRun,
        RefusalKind::RunIncomplete => Step::SeeLastRun,
        RefusalKind::Unsettled | RefusalKind::Contradicted => Step::SteadyAndRepeat,
        RefusalKind::StopWhenNeedsArrivals => Step::EndOnMissed,
    }
}

/// A search with a known starting point needs less time.
fn more_time<'a>(capacity: Option<&Capacity>) -> Step<'a> {
    let Some(capacity) = capacity else { return Step::GiveMoreTime { from: None } };
    let [from, to] = capacity.interval;
    match capacity.interval_kind == IntervalKind::Bracket && !capacity.is_lower_bound && to > from {
        true => Step::SearchBetween { from, to },
        false => Step::GiveMoreTime { from: Some(from) },
    }
}

fn found<'a>(answer: &'a Answer, capacity: &Capacity) -> Vec<Step<'a>> {
    if capacity.is_lower_bound {
        return vec![Step::AllowHigher];
    }
    let first = match &answer.bottleneck {
        Some(Bottleneck::Saturated { what, .. }) => Step::Relieve { resource: what },
        Some(Bottleneck::NoneWatched | Bottleneck::NotKnown) => Step::WatchMore,
        None => Step::Watch,
    };
    let keep = match &answer.knee {
        Some(knee) if knee.level < capacity.level() => Step::StayBelowKnee { level: knee.level },
        Some(_) | None => Step::LeaveRoom,
    };
    vec![first, keep]
}

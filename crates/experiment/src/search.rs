//! Searches for the highest load that meets the thresholds: a pure state machine that takes the history and returns
//! the next probe.
//!
//! Without a `step`, it searches. A run of one user measures the unloaded response time. Short steps go up or down by
//! a factor until the capacity is bracketed, and full steps bisect the bracket. Then rounds of three levels (below,
//! at, and above the estimate, in random order) run until a line through all full steps near the crossing determines
//! it to the requested half width. With a `step`, it is a ladder: one run per level until a rule ends it.
//!
//! A single run never decides: near the crossing, meeting a p99 is a matter of chance. The machine keeps no state:
//! given the trials, a search can continue after a crash, or show what would have come next.

mod answer;
mod bracket;
mod build;
mod capacity_search;
mod confirm;
mod crossing;
mod curve;
mod ladder;
mod limits;
pub mod next;
mod probe;
mod refuse;
mod shape;
mod shares;
mod standing;
mod trial;
mod view;

pub use answer::{
    Answer, Capacity, Deciding, IntervalKind, Knee, Point, Raised, Reading, Refusal, RefusalKind, Rise,
    Shape, StepRow, Style,
};
pub use capacity_search::{CapacitySearch, Move};
pub use limits::{Limited, Limiter, limit_of};
pub use plimsoll_analysis::summary::Standing;
pub use probe::Probe;
pub use trial::Trial;

/// Limit on the runs of a search.
pub const MOST_TRIALS: usize = 80;
/// Limit on the steps of a ladder.
pub const MOST_STEPS: usize = 1_000;

/// Returns the last of these trials as the search sees it among the others, for progress reports.
pub fn last_step(quest: &CapacitySearch, history: &[Trial]) -> Option<StepRow> {
    let view = view::View::new(&quest.sane(), history);
    history.last().map(|trial| build::step(trial, &view))
}

/// Returns what follows these trials, which are in the order in which they ran.
pub fn next(quest: &CapacitySearch, history: &[Trial]) -> Move {
    let quest = &quest.sane();
    let chosen = match quest.step {
        Some(step) => ladder::next(quest, step, history),
        None => bracket::next(quest, history),
    };
    let chosen = match chosen {
        // There is no answer while a step contradicts it and can be rerun.
        view::Choice::Done(None) if quest.step.is_none() => {
            build::again(quest, history).map_or(view::Choice::Done(None), view::Choice::Try)
        }
        other => other,
    };
    match chosen {
        view::Choice::Try(probe) => {
            let left_ns =
                quest.max_time_ns.map_or(u64::MAX, |budget| budget.saturating_sub(spent_ns(quest, history)));
            match quest.fitted(probe, left_ns) {
                Some(probe) => Move::Try(probe),
                None if history.is_empty() => Move::Try(probe),
                None => {
                    let why = refuse::budget(quest, &view::View::new(quest, history));
                    Move::Done(Box::new(build::answer(quest, history, Some(why))))
                }
            }
        }
        view::Choice::Done(refusal) => Move::Done(Box::new(build::answer(quest, history, refusal))),
    }
}

/// Returns the duration of all runs with their warm-ups and rests in ns. A run file does not record the rest before
/// it, so at least the requested rest counts.
fn spent_ns(quest: &CapacitySearch, history: &[Trial]) -> u64 {
    let mut last = None;
    let each = history.iter().map(|trial| {
        let rest_ns = view::rest(quest, last.replace(trial)).max(trial.probe.rest_ns);
        Probe { rest_ns, ..trial.probe }.total_ns()
    });
    each.fold(0, u64::saturating_add)
}

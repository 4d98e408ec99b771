//! Searches the highest load that meets the thresholds: a pure machine, history in, next probe out.
//!
//! Without a `step` it searches: a run of one user tells what an unloaded answer takes; short steps go up (or down) by
//! a factor until the answer is enclosed; full steps halve the enclosure; then rounds of three levels (below, at and
//! above the estimate, in drawn order) are run until a line through all full steps near the crossing tells it to the
//! half width that was asked for. With a `step` it is a ladder: one run a level until a rule ends it.
//!
//! What decides is never one run: near the crossing, meeting a p99 is a matter of chance. The machine keeps no state:
//! whoever holds the trials can go on after a crash, or ask what would have come next.

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

/// Never more runs than this in one search, whatever they say.
pub const MOST_TRIALS: usize = 80;
/// Never more steps than this in one ladder.
pub const MOST_STEPS: usize = 1_000;

/// The last of these trials as the search sees it among the others: for those who tell of it while the search goes on.
pub fn last_step(quest: &CapacitySearch, history: &[Trial]) -> Option<StepRow> {
    let view = view::View::new(&quest.sane(), history);
    history.last().map(|trial| build::step(trial, &view))
}

/// What comes next after these trials, in the order in which they ran.
pub fn next(quest: &CapacitySearch, history: &[Trial]) -> Move {
    let quest = &quest.sane();
    let chosen = match quest.step {
        Some(step) => ladder::next(quest, step, history),
        None => bracket::next(quest, history),
    };
    let chosen = match chosen {
        // While a step contradicts the answer and may be run again, there is none.
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

/// All runs with their warm-ups and rests, ns. A run file does not know how long the service was left alone before it,
/// so at least what was asked for counts.
fn spent_ns(quest: &CapacitySearch, history: &[Trial]) -> u64 {
    let mut last = None;
    let each = history.iter().map(|trial| {
        let rest_ns = view::rest(quest, last.replace(trial)).max(trial.probe.rest_ns);
        Probe { rest_ns, ..trial.probe }.total_ns()
    });
    each.fold(0, u64::saturating_add)
}

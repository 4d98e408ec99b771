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
mod confirm;
mod crossing;
mod curve;
mod ladder;
mod limits;
mod quest;
mod refuse;
mod shares;
mod trial;

pub use answer::{Answer, Capacity, IntervalIs, Knee, Point, Reading, Refusal, Shape, StepRow, Style};
pub use limits::{Limited, limit_of};
pub use quest::{Move, Probe, Quest};
pub use trial::Trial;

/// Never more runs than this in one search, whatever they say.
pub const MOST_TRIALS: usize = 80;
/// Never more steps than this in one ladder.
pub const MOST_STEPS: usize = 1_000;

/// The last of these trials as the search sees it among the others: for those who tell of it while the search goes on.
pub fn last_step(quest: &Quest, history: &[Trial]) -> Option<StepRow> {
    let view = bracket::View::new(&quest.sane(), history);
    history.last().map(|trial| build::step(trial, &view))
}

/// What comes next after these trials, in the order in which they ran.
pub fn next(quest: &Quest, history: &[Trial]) -> Move {
    let quest = &quest.sane();
    let chosen = match quest.step {
        Some(step) => ladder::next(quest, step, history),
        None => bracket::next(quest, history),
    };
    let spent_ns: u64 = history.iter().map(|t| t.probe.total_ns()).fold(0, u64::saturating_add);
    match chosen {
        bracket::Choice::Try(probe) => {
            let over =
                quest.budget_ns.is_some_and(|budget| spent_ns.saturating_add(probe.total_ns()) > budget);
            if over && !history.is_empty() {
                let why = refuse::budget(quest, &bracket::View::new(quest, history));
                return Move::Done(Box::new(build::answer(quest, history, Some(why))));
            }
            Move::Try(probe)
        }
        bracket::Choice::Done(refusal) => Move::Done(Box::new(build::answer(quest, history, refusal))),
    }
}

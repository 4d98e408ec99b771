//! The first stages of a search: the run of one user, steps up or down by a factor, and bisection.

use super::capacity_search::CapacitySearch;
use super::confirm;
use super::probe::{FLOORS, Probe};
use super::trial::Trial;
use super::view::{Choice, View, rest};
use super::{MOST_TRIALS, refuse};
use plimsoll_analysis::summary::Standing;
use plimsoll_plan::experiment::Purpose;

/// Factor of the steps up until a level is missed.
const UP: f64 = 2.0;
/// Factor of the steps down until a level is met; large, because a start that is too high overloads the service.
const DOWN: f64 = 0.25;
/// A level that the load generator cannot send is approached no closer than this factor.
const LIMIT_RATIO: f64 = 1.25;
/// A wider bracket is bisected again, even after confirming rounds have begun.
const BEGUN: f64 = 1.5;
/// Runs of an undecided level: short ones and full ones.
const SHORT_REPEATS: usize = 3;
const FULL_REPEATS: usize = 2;
/// Rest before rerunning a step with a temporary limit, in ns.
const PASSING_NS: u64 = 2_000_000_000;
/// First level if nothing is known, in arrivals per second.
const BLIND: f64 = 50.0;

pub(super) fn next(quest: &CapacitySearch, history: &[Trial]) -> Choice {
    let view = View::new(quest, history);
    let turn = history.len() as u32;
    if let Some(choice) = floor(quest, history) {
        return choice;
    }
    if view.incomplete >= 2 {
        return Choice::Done(Some(refuse::incomplete(view.incomplete)));
    }
    if history.len() >= MOST_TRIALS {
        return Choice::Done(confirm::end(quest, &view));
    }
    let last = history.last();
    if let Some(spoilt) = view.again {
        let rest_ns = rest(quest, last).max(PASSING_NS);
        return Choice::Try(Probe { rest_ns, turn, ..spoilt.probe });
    }
    let try_at = |level: f64, purpose: Purpose| {
        let (warmup_ns, length_ns) = match purpose {
            Purpose::Bracket => quest.short_ns(level, view.floor_ns),
            Purpose::Baseline | Purpose::Bisect | Purpose::Confirm | Purpose::Ladder => {
                quest.full_ns(level, view.floor_ns)
            }
        };
        Choice::Try(Probe { level, purpose, rest_ns: rest(quest, last), warmup_ns, length_ns, turn })
    };
    if let Some(undecided) = undecided(&view, last) {
        return try_at(undecided.probe.level, undecided.probe.purpose);
    }
    // A level that cannot be sent or must not be repeated is an upper bound, like a miss.
    let stop = [view.ceiling.map(|c| c.0), view.runaway].into_iter().flatten().reduce(f64::min);
    let top = [view.missed, stop].into_iter().flatten().reduce(f64::min);
    let Some(met) = view.met else {
        let Some(top) = top else { return try_at(start(quest, view.floor_ns), Purpose::Bracket) };
        if top <= lowest_level(quest, history, view.floor_ns) {
            let because = view.ceiling.filter(|c| c.0 <= top).map(|c| refuse::limited(c.1));
            let tried = history.iter().filter(|t| t.probe.purpose != Purpose::Baseline && !t.met());
            let lowest = tried.min_by(|a, b| a.probe.level.total_cmp(&b.probe.level));
            return Choice::Done(Some(because.unwrap_or_else(|| refuse::nothing_met(quest, lowest))));
        }
        return try_at(quest.level(top * DOWN), Purpose::Bracket);
    };
    let Some(top) = top else {
        if met >= quest.to {
            return confirm::at_cap(quest, &view, last, turn);
        }
        return try_at(quest.level(met * UP), Purpose::Bracket);
    };
    if let Some((_, by)) =
        view.ceiling.filter(|c| c.0 <= top && view.missed.is_none_or(|missed| c.0 < missed))
        && (top / met <= LIMIT_RATIO || (quest.users && top - met <= 1.0))
    {
        return Choice::Done(Some(refuse::limited(by)));
    }
    // After the first round, the rounds determine the bracket, unless a vote has moved it far away.
    let begun = confirm::has_begun(&view) && top / met <= BEGUN;
    let close =
        begun || top / met <= 1.0 + (4.0 * quest.precision).max(0.08) || (quest.users && top - met <= 1.0);
    let between = quest.level((met * top).sqrt());
    if close || between <= met || between >= top {
        return confirm::next(quest, &view, last, turn);
    }
    try_at(between, Purpose::Bisect)
}

/// Returns the level below which none is tried. If even the run of one user certainly missed a threshold, load is not
/// the reason, so two steps below the first level are enough to show that.
fn lowest_level(quest: &CapacitySearch, history: &[Trial], floor_ns: Option<u64>) -> f64 {
    let unloaded = history.iter().rfind(|t| t.probe.purpose == Purpose::Baseline && t.is_unloaded());
    let is_hopeless = unloaded.is_some_and(|t| t.standing() == Standing::Missed && t.is_sure());
    let few = if is_hopeless { start(quest, floor_ns) * DOWN * DOWN } else { 0.0 };
    quest.min_level().max(few)
}

/// Returns the last step if its result is uncertain: one such step decides nothing.
fn undecided<'a>(view: &View<'a>, last: Option<&'a Trial>) -> Option<&'a Trial> {
    let last = last.filter(|t| !confirm::has_begun(view) && t.is_near())?;
    let rung = view.rungs.iter().find(|rung| rung.trials.iter().any(|t| std::ptr::eq(*t, last)))?;
    let alike = rung.trials.iter().filter(|t| t.probe.purpose == last.probe.purpose).count();
    let most = if last.probe.purpose == Purpose::Bracket { SHORT_REPEATS } else { FULL_REPEATS };
    (rung.standing == Standing::Undecided && alike < most).then_some(last)
}

/// Returns the run of one user, which precedes everything unless the unloaded response time is known. Times of
/// failures do not count; after failures, the user sends less often.
pub(super) fn floor(quest: &CapacitySearch, history: &[Trial]) -> Option<Choice> {
    let runs = history.iter().take_while(|t| t.probe.purpose == Purpose::Baseline).count();
    if quest.floor_ns.is_some() || runs < history.len() {
        return None;
    }
    match history.last() {
        Some(last) if last.is_unloaded() => None,
        Some(last) if runs >= FLOORS.len() => {
            last.is_runaway().then(|| Choice::Done(Some(refuse::floor_failed(last))))
        }
        _ => Some(Choice::Try(Probe::floor(runs))),
    }
}

/// Returns a quarter of the rate of one sequential connection: nearly every service meets it, and it is close to the
/// capacity of those that serve one request at a time.
pub(super) fn start(quest: &CapacitySearch, floor_ns: Option<u64>) -> f64 {
    let blind = if quest.users { 1.0 } else { BLIND };
    let quarter = floor_ns.filter(|ns| *ns > 0 && !quest.users).map(|ns| 0.25e9 / ns as f64);
    quest.level(quest.from.or(quarter).unwrap_or(blind))
}

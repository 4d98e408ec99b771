//! From nothing to an enclosure: the run of one user, steps up or down by a factor, halving.

use super::capacity_search::CapacitySearch;
use super::confirm;
use super::probe::{FLOORS, Probe};
use super::trial::Trial;
use super::view::{Choice, View, rest};
use super::{MOST_TRIALS, refuse};
use plimsoll_analysis::summary::Standing;
use plimsoll_plan::experiment::Purpose;

/// Up by this factor until a level is missed.
const UP: f64 = 2.0;
/// Down by this one until a level is met: a start that is too high loads a service that is on its knees already.
const DOWN: f64 = 0.25;
/// A level that the generator cannot send is not looked at more closely than this factor.
const LIMIT_RATIO: f64 = 1.25;
/// Wider than this, an enclosure is halved again although rounds have begun.
const BEGUN: f64 = 1.5;
/// Runs of one level that is undecided: short ones, and full ones.
const SHORT_REPEATS: usize = 3;
const FULL_REPEATS: usize = 2;
/// Waited for it to pass, ns.
const PASSING_NS: u64 = 2_000_000_000;
/// First level of a search that knows nothing, arrivals per second.
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
    // What cannot be sent or must not be repeated closes the range from above like a miss.
    let stop = [view.ceiling.map(|c| c.0), view.runaway].into_iter().flatten().reduce(f64::min);
    let top = [view.missed, stop].into_iter().flatten().reduce(f64::min);
    let Some(met) = view.met else {
        let Some(top) = top else { return try_at(start(quest, view.floor_ns), Purpose::Bracket) };
        if top <= quest.min_level() {
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
    // Behind the first round the enclosure is what rounds made of it, unless a vote has moved it far away.
    let begun = confirm::has_begun(&view) && top / met <= BEGUN;
    let close =
        begun || top / met <= 1.0 + (4.0 * quest.precision).max(0.08) || (quest.users && top - met <= 1.0);
    let between = quest.level((met * top).sqrt());
    if close || between <= met || between >= top {
        return confirm::next(quest, &view, last, turn);
    }
    try_at(between, Purpose::Bisect)
}

/// The last step, when the limit lies within what its figures may be: one such step decides nothing.
fn undecided<'a>(view: &View<'a>, last: Option<&'a Trial>) -> Option<&'a Trial> {
    let last = last.filter(|t| !confirm::has_begun(view) && t.is_near())?;
    let rung = view.rungs.iter().find(|rung| rung.trials.iter().any(|t| std::ptr::eq(*t, last)))?;
    let alike = rung.trials.iter().filter(|t| t.probe.purpose == last.probe.purpose).count();
    let most = if last.probe.purpose == Purpose::Bracket { SHORT_REPEATS } else { FULL_REPEATS };
    (rung.standing == Standing::Undecided && alike < most).then_some(last)
}

/// The run of one user in front of everything, unless it is known what an unloaded answer takes. Times of failures are
/// not what an answer takes: then it asks less often.
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

/// A quarter of what one connection after the other could do: met by nearly every service, and not far from those that
/// answer one request at a time.
pub(super) fn start(quest: &CapacitySearch, floor_ns: Option<u64>) -> f64 {
    let blind = if quest.users { 1.0 } else { BLIND };
    let quarter = floor_ns.filter(|ns| *ns > 0 && !quest.users).map(|ns| 0.25e9 / ns as f64);
    quest.level(quest.from.or(quarter).unwrap_or(blind))
}

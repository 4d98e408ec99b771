//! Repeats below, at, and above the estimate, until a line through them determines the crossing as precisely as
//! requested.

use super::answer::Refusal;
use super::capacity_search::CapacitySearch;
use super::crossing::{Crossing, crossing};
use super::probe::Probe;
use super::refuse;
use super::trial::Trial;
use super::view::{Choice, View, rest};
use plimsoll_plan::experiment::Purpose;
use plimsoll_stats::random::SplitMix64;

/// Maximum number of rounds of three.
const MOST_ROUNDS: usize = 20;
/// Maximum distance of the outer levels from the middle, as a share.
const WIDEST: f64 = 0.12;
/// Half widths by which an estimate may lie outside of its bracket: a vote of few runs is that imprecise.
const ENCLOSED: f64 = 3.0;
/// A round that was entirely met (or missed) is followed by a step of this factor beyond it.
const BEYOND: f64 = 1.15;

pub(super) fn has_begun(view: &View) -> bool {
    view.usable.iter().any(|t| t.probe.purpose == Purpose::Confirm)
}

/// Returns the next run of a round, or the end.
pub(super) fn next(quest: &CapacitySearch, view: &View, last: Option<&Trial>, turn: u32) -> Choice {
    let confirmed: Vec<&Trial> = of_purpose(view);
    let (rounds, place) = (confirmed.len() / 3, confirmed.len() % 3);
    if place == 0 && rounds > 0 {
        if rounds >= MOST_ROUNDS || (rounds as u32 >= quest.confirm && is_settled(quest, view)) {
            return Choice::Done(end(quest, view));
        }
        if let Some(level) = beyond(quest, view, &confirmed[(rounds - 1) * 3..]) {
            return full(quest, view, level, Purpose::Bisect, last, turn);
        }
    }
    // All three levels of a round come from what was known when it began.
    let known = before_round(view, place);
    let levels = levels(quest, view, &known);
    let order = order(quest.seed, rounds as u64);
    full(quest, view, levels[order[place]], Purpose::Confirm, last, turn)
}

/// Repeats the highest allowed level, to show that meeting it is not chance.
pub(super) fn at_cap(quest: &CapacitySearch, view: &View, last: Option<&Trial>, turn: u32) -> Choice {
    let repeats =
        view.usable.iter().filter(|t| t.probe.level == quest.to && t.probe.purpose != Purpose::Bracket);
    if repeats.count() as u32 >= quest.confirm {
        return Choice::Done(None);
    }
    full(quest, view, quest.to, Purpose::Bisect, last, turn)
}

/// Returns the refusal at the end; `None` if the estimate is valid.
pub(super) fn end(quest: &CapacitySearch, view: &View) -> Option<Refusal> {
    if estimate(quest, view).is_some() || view.met.is_some_and(|met| met >= quest.to) {
        return None;
    }
    let limited = view.ceiling.filter(|c| view.missed.is_none_or(|missed| c.0 < missed));
    Some(limited.map_or_else(refuse::unsettled, |c| refuse::limited(c.1)))
}

pub(super) fn estimate(quest: &CapacitySearch, view: &View) -> Option<Crossing> {
    crossing(&view.usable, quest.precision).filter(|found| is_credible(quest, view, found))
}

/// Whether an estimate is credible. While all full steps are on one side of the capacity, a line through them
/// extrapolates: outside of the bracket it is wrong, or belongs to a threshold that is not the first to be missed.
fn is_credible(quest: &CapacitySearch, view: &View, found: &Crossing) -> bool {
    let full = || view.usable.iter().filter(|t| t.probe.purpose != Purpose::Bracket);
    if full().any(|t| t.met()) && full().any(|t| !t.met()) {
        return true;
    }
    let room = 1.0 + ENCLOSED * quest.precision;
    let below = view.missed.is_none_or(|missed| found.at <= missed * room);
    below && view.met.is_none_or(|met| found.at * room >= met)
}

fn of_purpose<'a>(view: &View<'a>) -> Vec<&'a Trial> {
    view.usable.iter().copied().filter(|t| t.probe.purpose == Purpose::Confirm).collect()
}

fn is_settled(quest: &CapacitySearch, view: &View) -> bool {
    let half = |c: &Crossing| (c.high - c.low) / 2.0 / c.at;
    // For users, nothing is finer than a whole one.
    let allowed = |c: &Crossing| if quest.users { quest.precision.max(1.0 / c.at) } else { quest.precision };
    estimate(quest, view).is_some_and(|c| half(&c) <= allowed(&c))
}

/// Returns a level beyond a round that was entirely met or missed: the estimate was off.
fn beyond(quest: &CapacitySearch, view: &View, round: &[&Trial]) -> Option<f64> {
    // Once after each round: its result goes into the next estimate.
    if view.usable.last().is_some_and(|t| t.probe.purpose != Purpose::Confirm) {
        return None;
    }
    let highest = view.usable.iter().filter(|t| t.met()).map(|t| t.probe.level).reduce(f64::max)?;
    let all = |met: bool| round.iter().all(|t| t.met() == met);
    let of = |pick: fn(f64, f64) -> f64| round.iter().map(|t| t.probe.level).reduce(pick);
    if all(true) {
        let top = of(f64::max)?;
        let next = allowed(quest, view, step_from(quest, top, BEYOND), top);
        // One miss above may be the chance result that led here; two are reliable.
        let misses = view.usable.iter().filter(|t| !t.met() && t.probe.level > top && t.probe.level <= next);
        return (highest <= top && next > top && misses.count() < 2).then_some(next);
    }
    if all(false) {
        let bottom = of(f64::min)?;
        let next = step_from(quest, bottom, 1.0 / BEYOND);
        let lower = view.usable.iter().any(|t| t.met() && t.probe.level < bottom && t.probe.level >= next);
        return (!lower && next < bottom).then_some(next);
    }
    None
}

fn step_from(quest: &CapacitySearch, level: f64, factor: f64) -> f64 {
    let next = level * factor;
    let whole =
        if quest.users && (next - level).abs() < 1.0 { level + (factor - 1.0).signum() } else { next };
    quest.level(whole)
}

/// Keeps a level below those that failed entirely or could not be sent.
fn allowed(quest: &CapacitySearch, view: &View, level: f64, known: f64) -> f64 {
    let stop = [view.ceiling.map(|c| c.0), view.runaway].into_iter().flatten().reduce(f64::min);
    match stop {
        Some(stop) if level >= stop && known < stop => {
            let between = quest.level((known * stop).sqrt());
            if between < stop { between } else { quest.level(known) }
        }
        Some(stop) if level >= stop => quest.level(quest.min_level()),
        _ => level,
    }
}

/// Returns what was known when the round began. All three levels come from one estimate; otherwise the later ones
/// would follow the chance result of the first.
fn before_round<'a>(view: &View<'a>, place: usize) -> Vec<&'a Trial> {
    let mut known = view.usable.clone();
    for _ in 0..place {
        if let Some(at) = known.iter().rposition(|t| t.probe.purpose == Purpose::Confirm) {
            known.truncate(at);
        }
    }
    known
}

/// Returns the levels below, at, and above the estimate.
fn levels(quest: &CapacitySearch, view: &View, known: &[&Trial]) -> [f64; 3] {
    let found = crossing(known, quest.precision).filter(|found| is_credible(quest, view, found));
    let met = view.met.unwrap_or_else(|| quest.min_level());
    let between = view.missed.map_or(met, |missed| (met * missed).sqrt());
    let center = found.as_ref().map_or(between, |c| c.at);
    let reach = found.as_ref().map_or(2.0 * quest.precision, |c| c.reach);
    let reach = reach.clamp((0.5 * quest.precision).min(WIDEST), WIDEST);
    let mut levels = [center / (1.0 + reach), center, center * (1.0 + reach)];
    if quest.users && levels[2] - levels[0] < 2.0 {
        levels = [center.floor() - 1.0, center.floor(), center.floor() + 1.0];
    }
    levels.map(|level| allowed(quest, view, quest.level(level), quest.level(met)))
}

pub(super) fn full(
    quest: &CapacitySearch,
    view: &View,
    level: f64,
    purpose: Purpose,
    last: Option<&Trial>,
    turn: u32,
) -> Choice {
    let (warmup_ns, length_ns) = quest.full_ns(level, view.floor_ns);
    Choice::Try(Probe { level, purpose, rest_ns: rest(quest, last), warmup_ns, length_ns, turn })
}

/// Returns a random order of three: a drift (a cache that fills, a noisy neighbor) must not affect only one level.
fn order(seed: u64, round: u64) -> [usize; 3] {
    let mut random = SplitMix64::new(seed ^ round.wrapping_mul(0x9e37_79b9));
    let mut order = [0, 1, 2];
    for last in [2usize, 1] {
        order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
    order
}

//! From nothing to an enclosure: the run of one user, steps up or down by a factor, halving.

use super::answer::Refusal;
use super::capacity_search::{CapacitySearch, Probe};
use super::confirm;
use super::limits::{CONNECTIONS, Limited};
use super::standing::{Rung, rungs};
use super::trial::Trial;
use super::{MOST_TRIALS, refuse};
use plimsoll_analysis::summary::Standing;
use plimsoll_plan::experiment::Purpose;
use plimsoll_stats::maths::regression::falling;

/// What a stage of the search says.
pub(super) enum Choice {
    Try(Probe),
    Done(Option<Refusal>),
}

/// Up by this factor until a level is missed.
const UP: f64 = 2.0;
/// Down by this one until a level is met: a start that is too high loads a service that is on its knees already.
const DOWN: f64 = 0.25;
/// Runs of one user: pause between two of its requests, and length, ns. The first may fail at a service that is asked
/// too often (a rate limiter); the others ask less often.
const FLOORS: [(u64, u64); 3] =
    [(100_000_000, 2_000_000_000), (500_000_000, 5_000_000_000), (2_000_000_000, 10_000_000_000)];
/// Between two of them, ns.
const BACK_OFF_NS: u64 = 2_000_000_000;
/// A level that the generator cannot send is not looked at more closely than this factor.
const LIMIT_RATIO: f64 = 1.25;
/// Wider than this, an enclosure is halved again although rounds have begun.
const BEGUN: f64 = 1.5;
/// A limit that may pass is one when it has spoilt so many steps of one level.
const TRIES: usize = 3;
/// Runs of one level that is undecided: short ones, and full ones.
const SHORT_REPEATS: usize = 3;
const FULL_REPEATS: usize = 2;
/// Waited for it to pass, ns.
const PASSING_NS: u64 = 2_000_000_000;
/// First level of a search that knows nothing, arrivals per second.
const BLIND: f64 = 50.0;

/// The history as the search sees it.
pub(super) struct View<'a> {
    /// Those that say something about the service, the run of one user apart.
    pub usable: Vec<&'a Trial>,
    /// Their levels in rising order, repeats pooled.
    pub rungs: Vec<Rung<'a>>,
    /// Highest level met and lowest level missed, contradictions voted out.
    pub met: Option<f64>,
    pub missed: Option<f64>,
    /// Lowest level at which something else was the limit.
    pub ceiling: Option<(f64, &'a Limited)>,
    /// The last step, when something that may pass spoilt it.
    pub again: Option<&'a Trial>,
    /// Lowest level at which most failed.
    pub runaway: Option<f64>,
    pub floor_ns: Option<u64>,
    incomplete: usize,
}

impl<'a> View<'a> {
    pub fn new(quest: &CapacitySearch, history: &'a [Trial]) -> View<'a> {
        let floor_ns = quest.floor(history);
        // A ladder has no run of one user: its quickest step stands for it.
        let service_floor = history.iter().filter_map(|t| t.service_p50_ns).min();
        // A ladder visits each level once, as it came.
        let may_pass = |by: &Limited| quest.step.is_none() && by.may_pass();
        let limit = |t: &'a Trial| {
            let by = t.limited_by.as_ref()?;
            // Connections are full in any overload. They are the limit only if each of them is still quick.
            let slowed = match (t.service_p50_ns, service_floor.or(floor_ns)) {
                (Some(now), Some(floor)) => now > floor.saturating_mul(2),
                _ => false,
            };
            // A result that holds despite the load generator counts, met or missed.
            let counts = (by.kind != CONNECTIONS || !slowed) && !(may_pass(by) && t.is_sure());
            counts.then_some((t.probe.level, by))
        };
        let loads = || history.iter().filter(|t| t.probe.purpose != Purpose::Floor);
        let usable: Vec<&Trial> = loads().filter(|t| t.complete && limit(t).is_none()).collect();
        let rungs = rungs(&usable);
        let (met, missed) = enclose(&rungs);
        let times = |level: f64| loads().filter_map(limit).filter(|other| other.0 == level).count();
        let stays = |(level, by): &(f64, &Limited)| !may_pass(by) || times(*level) >= TRIES;
        let ceiling = loads().filter_map(limit).filter(stays).min_by(|a, b| a.0.total_cmp(&b.0));
        let again = history.last().filter(|t| limit(t).is_some_and(|l| !stays(&l)));
        let runaway = loads().filter(|t| t.is_runaway()).map(|t| t.probe.level).reduce(f64::min);
        let incomplete = history.iter().filter(|t| !t.complete).count();
        View { usable, rungs, met, missed, ceiling, again, runaway, floor_ns, incomplete }
    }
}

/// A share of votes with which a level counts as missed.
const BELOW_HALF: f64 = 0.49;

/// Highest level met and lowest missed, after a vote: the falling curve nearest to what was met at each level. A fluke
/// at a low level is outvoted by two runs above it; a full step counts twice, and what is not sure of itself half.
fn enclose(rungs: &[Rung<'_>]) -> (Option<f64>, Option<f64>) {
    let weight = |trial: &Trial| {
        let full = if trial.probe.purpose == Purpose::Bracket { 1.0 } else { 2.0 };
        if trial.standing() == Standing::Undecided { full / 2.0 } else { full }
    };
    let value = |rung: &Rung<'_>| {
        let sum = |of: &dyn Fn(&Trial) -> bool| {
            rung.trials.iter().filter(|t| of(t)).map(|t| weight(t)).sum::<f64>()
        };
        let all = sum(&|_| true);
        let share = sum(&Trial::met) / all;
        // A level that was certainly missed cannot win by a tie.
        (if rung.standing == Standing::Missed { share.min(BELOW_HALF) } else { share }, all)
    };
    let values: Vec<(f64, f64)> = rungs.iter().map(value).collect();
    let curve = falling(&values);
    let cut = curve.iter().position(|share| *share < 0.5).unwrap_or(curve.len());
    let met = cut.checked_sub(1).map(|at| rungs[at].level);
    (met, rungs.get(cut).map(|rung| rung.level))
}

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
            Purpose::Floor | Purpose::Bisect | Purpose::Confirm | Purpose::Ladder => {
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
            let tried = history.iter().filter(|t| t.probe.purpose != Purpose::Floor && !t.met());
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
        begun || top / met <= 1.0 + (4.0 * quest.within).max(0.08) || (quest.users && top - met <= 1.0);
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
    let runs = history.iter().take_while(|t| t.probe.purpose == Purpose::Floor).count();
    if quest.floor_ns.is_some() || runs < history.len() {
        return None;
    }
    match history.last() {
        Some(last) if last.is_unloaded() => None,
        Some(last) if runs >= FLOORS.len() => {
            last.is_runaway().then(|| Choice::Done(Some(refuse::floor_failed(last))))
        }
        _ => Some(Choice::Try(floor_probe(runs))),
    }
}

/// The run of one user, `behind` others that failed.
fn floor_probe(behind: usize) -> Probe {
    let (_, length_ns) = FLOORS[behind.min(FLOORS.len() - 1)];
    let rest_ns = if behind == 0 { 0 } else { BACK_OFF_NS };
    Probe { level: 1.0, purpose: Purpose::Floor, rest_ns, warmup_ns: 0, length_ns, turn: behind as u32 }
}

/// Pause between the requests of the one user of a run, ns.
pub(super) fn floor_pause_ns(probe: &Probe) -> u64 {
    FLOORS[(probe.turn as usize).min(FLOORS.len() - 1)].0
}

/// A quarter of what one connection after the other could do: met by nearly every service, and not far from those that
/// answer one request at a time.
pub(super) fn start(quest: &CapacitySearch, floor_ns: Option<u64>) -> f64 {
    let blind = if quest.users { 1.0 } else { BLIND };
    let quarter = floor_ns.filter(|ns| *ns > 0 && !quest.users).map(|ns| 0.25e9 / ns as f64);
    quest.level(quest.from.or(quarter).unwrap_or(blind))
}

/// How long the service takes to work off what the last step left, half as long again, ns.
pub(super) fn rest(quest: &CapacitySearch, last: Option<&Trial>) -> u64 {
    let is_loaded = |t: &&Trial| t.probe.purpose != Purpose::Floor && !t.met();
    let Some(last) = last.filter(is_loaded) else { return 0 };
    let backlog_s = last.shortfall_per_s() * last.measured_s / last.iterations_rate_per_s.max(1e-3);
    let least = if last.is_runaway() { 5.0 } else { 1.0 };
    let rest_ns = ((1.5 * backlog_s).clamp(least, 30.0) * 1e9) as u64;
    quest.budget_ns.map_or(rest_ns, |budget| rest_ns.min((budget / 10).max(2_000_000_000)))
}

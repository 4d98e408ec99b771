//! The history as the search sees it, and the decision of one of its stages.

use super::answer::Refusal;
use super::capacity_search::CapacitySearch;
use super::limits::{CONNECTIONS, Limited};
use super::probe::Probe;
use super::standing::{Rung, rungs};
use super::trial::Trial;
use plimsoll_analysis::summary::Standing;
use plimsoll_plan::experiment::Purpose;
use plimsoll_stats::maths::regression::falling;

/// A temporary limit counts after spoiling this many steps of one level.
const TRIES: usize = 3;

/// The decision of a stage of the search.
pub(super) enum Choice {
    Try(Probe),
    Done(Option<Refusal>),
}

/// The history as the search sees it.
pub(super) struct View<'a> {
    /// Trials that describe the service, without the run of one user.
    pub usable: Vec<&'a Trial>,
    /// Their levels in rising order, with repeats pooled.
    pub rungs: Vec<Rung<'a>>,
    /// Highest met and lowest missed level, with contradictions outvoted.
    pub met: Option<f64>,
    pub missed: Option<f64>,
    /// Lowest level with a limit outside of the service.
    pub ceiling: Option<(f64, &'a Limited)>,
    /// The last step, if a temporary limit spoiled it.
    pub again: Option<&'a Trial>,
    /// Lowest level at which most requests failed.
    pub runaway: Option<f64>,
    pub floor_ns: Option<u64>,
    pub incomplete: usize,
}

impl<'a> View<'a> {
    pub fn new(quest: &CapacitySearch, history: &'a [Trial]) -> View<'a> {
        let floor_ns = quest.floor(history);
        // A ladder has no run of one user, so its fastest step replaces it.
        let service_floor = history.iter().filter_map(|t| t.service_p50_ns).min();
        // A ladder visits each level once.
        let may_pass = |by: &Limited| quest.step.is_none() && by.may_pass();
        let limit = |t: &'a Trial| {
            let by = t.limited_by.as_ref()?;
            // Connections are full in any overload. They are the limit only if each of them is still fast.
            let slowed = match (t.service_p50_ns, service_floor.or(floor_ns)) {
                (Some(now), Some(floor)) => now > floor.saturating_mul(2),
                _ => false,
            };
            // A result that is valid despite the load generator counts, met or missed.
            let counts = (by.kind != CONNECTIONS || !slowed) && !(may_pass(by) && t.is_sure());
            counts.then_some((t.probe.level, by))
        };
        let loads = || history.iter().filter(|t| t.probe.purpose != Purpose::Baseline);
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

/// Returns the highest met and lowest missed level after a vote: the falling curve nearest to the results of each
/// level. Two runs above outvote a chance result at a low level. A full step counts twice, an uncertain one half.
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

/// Returns how long the service needs for the backlog of the last step, plus half of that, in ns.
pub(super) fn rest(quest: &CapacitySearch, last: Option<&Trial>) -> u64 {
    let is_loaded = |t: &&Trial| t.probe.purpose != Purpose::Baseline && !t.met();
    let Some(last) = last.filter(is_loaded) else { return 0 };
    let backlog_s = last.shortfall_per_s() * last.measured_s / last.iterations_per_s.max(1e-3);
    let least = if last.is_runaway() { 5.0 } else { 1.0 };
    let rest_ns = ((1.5 * backlog_s).clamp(least, 30.0) * 1e9) as u64;
    quest.max_time_ns.map_or(rest_ns, |budget| rest_ns.min((budget / 10).max(2_000_000_000)))
}

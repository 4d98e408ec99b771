//! A ladder: one run per level, upward, until a rule ends it. Many published results come from ladders. The result is
//! the last level before the rule, exact only to one step.

use super::answer::Refusal;
use super::bracket::{floor, start};
use super::capacity_search::CapacitySearch;
use super::probe::Probe;
use super::trial::Trial;
use super::view::{Choice, View, rest};
use super::{MOST_STEPS, refuse};
use plimsoll_analysis::digest::Block;
use plimsoll_plan::experiment::{Bound, Limit, Purpose, Step, Until};

pub(super) fn next(quest: &CapacitySearch, step: Step, history: &[Trial]) -> Choice {
    let until = rule(quest);
    if quest.users && matches!(until, Until::Shortfall(_)) {
        return Choice::Done(Some(refuse::needs_arrivals()));
    }
    let view = View::new(quest, history);
    let steps: Vec<&Trial> = history.iter().filter(|t| t.probe.purpose == Purpose::Ladder).collect();
    let probe = |level: f64| {
        let (warmup_ns, length_ns) = quest.ladder_ns();
        let turn = history.len() as u32;
        let rest_ns = rest(quest, history.last());
        Choice::Try(Probe { level, purpose: Purpose::Ladder, rest_ns, warmup_ns, length_ns, turn })
    };
    let Some(last) = steps.last() else {
        // Without a first level, the unloaded response time determines it.
        let search = quest.from.is_none().then(|| floor(quest, history)).flatten();
        return search.unwrap_or_else(|| probe(start(quest, view.floor_ns)));
    };
    if let Some((_, by)) = view.ceiling {
        return Choice::Done(Some(refuse::limited(by)));
    }
    if !last.complete {
        return Choice::Done(Some(refuse::incomplete(1)));
    }
    if ends(quest, last) {
        return Choice::Done((steps.len() == 1).then(|| refused_at_first(quest, last)));
    }
    let level = last.probe.level;
    let mut higher = step.next(level);
    // For four users, x1.10 rounds to four again.
    if quest.users {
        higher = higher.round().max(level + 1.0);
    }
    // A step that does not lead upward would never end.
    if higher > quest.to || !higher.is_finite() || higher <= level || steps.len() >= MOST_STEPS {
        return Choice::Done(None);
    }
    probe(higher)
}

pub(super) fn rule(quest: &CapacitySearch) -> Until {
    quest.stop_when.unwrap_or(Until::Missed)
}

/// Returns why a ladder ended at its first level: the rule that ended it, because all thresholds may be met.
fn refused_at_first(quest: &CapacitySearch, trial: &Trial) -> Refusal {
    match rule(quest) {
        Until::Missed => refuse::nothing_met(quest, Some(trial)),
        Until::Shortfall(_) | Until::SocketErrors(_) => refuse::ended_at_first_step(fired(quest, trial)),
    }
}

/// Whether a step fulfills the rule, or most of its requests failed.
pub(super) fn ends(quest: &CapacitySearch, trial: &Trial) -> bool {
    fired(quest, trial).is_some() || trial.is_runaway()
}

/// Returns the rule if a step fulfills it.
pub(super) fn fired(quest: &CapacitySearch, trial: &Trial) -> Option<Until> {
    let until = rule(quest);
    let is_fulfilled = match until {
        Until::Missed => !trial.met(),
        Until::SocketErrors(most) => trial.socket_errors > most,
        Until::Shortfall(bound) => falls_short(bound, trial),
    };
    is_fulfilled.then_some(until)
}

fn falls_short(Bound { limit, inclusive }: Bound, trial: &Trial) -> bool {
    let shortfall = trial.shortfall_per_s();
    let offered = trial.offered_rate_per_s.filter(|rate| rate.is_finite()).unwrap_or(0.0);
    if limit.is_none() {
        return shortfall * trial.measured_s > under_way(trial);
    }
    let least = match limit {
        Limit::PerSecond(least) => least,
        Limit::Ratio(ratio) => ratio * offered,
    };
    // Both rates are counts over the same time; if their difference equals the limit, the last bits are chance.
    let blur = 1e-9 * offered;
    if inclusive { shortfall >= least - blur } else { shortfall > least + blur }
}

/// Returns how many arrivals may be missing although all are served: those in flight at the end of a step, less those
/// at its start. Each number is approximately Poisson (M/G/infinity) with the mean of the step. The allowance is four
/// standard deviations of the difference, which chance exceeds in one of 30,000 steps, plus one response in progress
/// at the end.
fn under_way(trial: &Trial) -> f64 {
    let sum = |of: &dyn Fn(&Block) -> f64| trial.blocks.iter().map(of).sum::<f64>();
    let length_ns = sum(&|block| block.length_ns as f64);
    let mean = sum(&|block| block.in_flight * block.length_ns as f64) / length_ns.max(1.0);
    1.0 + 4.0 * (2.0 * mean.max(0.0)).sqrt()
}

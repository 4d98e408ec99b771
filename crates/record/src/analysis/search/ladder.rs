//! A ladder: one run a level, upwards, until a rule ends it. What many published figures are, and no better than they:
//! the answer is the last level before the rule, known to one step.

use super::bracket::{Choice, View, floor_probe, rest, start};
use super::quest::{Probe, Quest};
use super::trial::Trial;
use super::{MOST_STEPS, refuse};
use plimsoll_plan::experiment::{Limit, Purpose, Step, Until};

pub(super) fn next(quest: &Quest, step: Step, history: &[Trial]) -> Choice {
    let until = rule(quest);
    if quest.users && matches!(until, Until::Shortfall(_)) {
        return Choice::Done(Some(refuse::needs_arrivals()));
    }
    // Without a first level an unloaded answer is needed to find one.
    if history.is_empty() && quest.from.is_none() && quest.floor_ns.is_none() {
        return Choice::Try(floor_probe());
    }
    let view = View::new(quest, history);
    let steps: Vec<&Trial> = history.iter().filter(|t| t.probe.purpose == Purpose::Ladder).collect();
    let probe = |level: f64| {
        let (warmup_ns, length_ns) = quest.ladder_ns();
        let turn = history.len() as u32;
        let rest_ns = rest(history.last());
        Choice::Try(Probe { level, purpose: Purpose::Ladder, rest_ns, warmup_ns, length_ns, turn })
    };
    let Some(last) = steps.last() else {
        return match history.first().filter(|t| t.is_runaway()) {
            Some(_) => Choice::Done(Some(refuse::floor_failed())),
            None => probe(start(quest, view.floor_ns)),
        };
    };
    if let Some((_, by)) = view.ceiling {
        return Choice::Done(Some(refuse::limited(by)));
    }
    if !last.complete {
        return Choice::Done(Some(refuse::incomplete()));
    }
    if ends(quest, last) {
        return Choice::Done((steps.len() == 1).then(refuse::nothing_met));
    }
    let level = last.probe.level;
    let mut higher = step.next(level);
    // x1.10 of four users is four again once rounded.
    if quest.users {
        higher = higher.round().max(level + 1.0);
    }
    // A step that does not lead upwards would never end.
    if higher > quest.to || !higher.is_finite() || higher <= level || steps.len() >= MOST_STEPS {
        return Choice::Done(None);
    }
    probe(higher)
}

pub(super) fn rule(quest: &Quest) -> Until {
    quest.until.unwrap_or(Until::Missed)
}

/// Whether a step fulfils the rule, or goes so wrong that none follows.
pub(super) fn ends(quest: &Quest, trial: &Trial) -> bool {
    let fired = match rule(quest) {
        Until::Missed => !trial.met(),
        Until::SocketErrors(most) => trial.socket_errors > most,
        Until::Shortfall(Limit::PerSecond(least)) => trial.shortfall_per_s() >= least,
        Until::Shortfall(Limit::Ratio(most)) => {
            let offered = trial.offered_rate_per_s.unwrap_or(0.0);
            trial.shortfall_per_s() > most * offered
        }
    };
    fired || trial.is_runaway()
}

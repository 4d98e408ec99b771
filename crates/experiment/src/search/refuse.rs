//! Why there is no answer: sentences that may be quoted.

use super::answer::{Refusal, RefusalKind};
use super::capacity_search::CapacitySearch;
use super::limits::{Limited, Limiter};
use super::trial::{Trial, decides};
use super::view::View;
use plimsoll_plan::experiment::Until;
use plimsoll_plan::phrase::{counted, rate_per_s, ratio};

pub(super) fn limited(by: &Limited) -> Refusal {
    let (kind, who) = match by.limiter() {
        Limiter::Link => (RefusalKind::NetworkSaturated, "the link to the target"),
        Limiter::Generator => (RefusalKind::GeneratorLimited, "the load generator"),
    };
    let evidence = if by.evidence.is_empty() { String::new() } else { format!(" ({})", by.evidence) };
    refusal(kind, format!("{who} was the limit, not the service: {}{evidence}", by.title))
}

/// `trial`: the lowest level that was run.
pub(super) fn nothing_met(quest: &CapacitySearch, trial: Option<&Trial>) -> Refusal {
    let missed = |trial: &Trial| -> Vec<String> {
        let all = trial.judged.iter().filter(|judged| decides(judged) && !judged.is_met);
        all.map(|judged| judged.text.clone()).collect()
    };
    let why = match trial {
        Some(trial) if trial.is_runaway() => "most requests fail".into(),
        Some(trial) => match missed(trial).join(" and ") {
            texts if texts.is_empty() && trial.unstable => "fewer are answered than come".into(),
            texts if texts.is_empty() => "the thresholds are missed".into(),
            texts => format!("{texts} {} missed", if missed(trial).len() > 1 { "are" } else { "is" }),
        },
        None => "the thresholds are missed".into(),
    };
    let at = match (trial, quest.step) {
        (Some(trial), None) => {
            format!("even at {}, the lowest level that was tried", describe(quest, trial.probe.level))
        }
        (Some(trial), Some(_)) => {
            format!("already at {}, the first level", describe(quest, trial.probe.level))
        }
        (None, _) => "even at the lowest level".into(),
    };
    refusal(RefusalKind::NothingMet, format!("{why} {at}"))
}

/// `fired`: the rule that the first step fulfilled; `None`: most of it failed, which no rule asks for.
pub(super) fn ended_at_first_step(fired: Option<Until>) -> Refusal {
    let why = fired.map_or("most of it failed".into(), |until| format!("`{until}` held there already"));
    refusal(RefusalKind::EndedAtFirstStep, format!("the ladder ended at its first level: {why}"))
}

pub(super) fn incomplete(runs: usize) -> Refusal {
    let which = if runs == 1 { "a run" } else { "two runs" };
    refusal(RefusalKind::RunIncomplete, format!("{which} ended without a complete record"))
}

pub(super) fn floor_failed(floor: &Trial) -> Refusal {
    let why = match floor.requests {
        0 => "one user alone got no answer".into(),
        _ => format!("{} of the requests of one user alone failed", ratio(floor.error_ratio)),
    };
    refusal(RefusalKind::BaselineFailed, format!("{why}, so no load was tried"))
}

/// What the time was over before: that says how much is known.
pub(super) fn budget(quest: &CapacitySearch, view: &View) -> Refusal {
    let sentence = match (quest.step, view.met, view.missed) {
        (Some(_), ..) => "the time was over before the ladder ended".into(),
        (None, None, None) => "the time was over before a level could be judged".into(),
        (None, Some(_), None) => "the time for the search was over before a level was missed".into(),
        (None, None, Some(lowest)) => format!(
            "the time for the search was over before a level was met; {} was the lowest that was tried",
            describe(quest, lowest)
        ),
        (None, Some(_), Some(_)) => format!(
            "the time for the search was over before the interval was as narrow as asked for ({} either way)",
            ratio(quest.precision)
        ),
    };
    refusal(RefusalKind::MaxTimeReached, sentence)
}

fn describe(quest: &CapacitySearch, level: f64) -> String {
    if quest.users { counted(level.max(0.0) as u64, "user") } else { rate_per_s(level) }
}

pub(super) fn unsettled() -> Refusal {
    refusal(
        RefusalKind::Unsettled,
        "the runs contradict each other: no level separates met from missed".into(),
    )
}

/// What was missed at a lower level than something else was met, and could not be run again.
pub(super) fn contradicted(quest: &CapacitySearch, missed: f64, met: Option<f64>) -> Refusal {
    let sentence = match met {
        Some(met) => format!(
            "the runs contradict each other: missed at {}, met at {}",
            describe(quest, missed),
            describe(quest, met)
        ),
        None => format!("the runs contradict each other: missed at {}", describe(quest, missed)),
    };
    refusal(RefusalKind::Contradicted, sentence)
}

pub(super) fn needs_arrivals() -> Refusal {
    refusal(
        RefusalKind::StopWhenNeedsArrivals,
        "users offer no rate that could be missed; end the ladder with `missed`".into(),
    )
}

fn refusal(kind: RefusalKind, sentence: String) -> Refusal {
    Refusal { kind, sentence }
}

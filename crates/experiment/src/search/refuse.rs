//! Why there is no result, in sentences that can be quoted.

use super::answer::{Refusal, RefusalKind};
use super::capacity_search::CapacitySearch;
use super::limits::{Limited, Limiter};
use super::trial::{Trial, decides};
use super::view::View;
use plimsoll_plan::experiment::Until;
use plimsoll_plan::phrase::{counted, rate_of, ratio};

pub(super) fn limited(by: &Limited) -> Refusal {
    let (kind, who) = match by.limiter() {
        Limiter::Link => (RefusalKind::NetworkSaturated, "the network"),
        Limiter::Generator => (RefusalKind::GeneratorLimited, "the load generator"),
    };
    let evidence = if by.evidence.is_empty() { String::new() } else { format!(" ({})", by.evidence) };
    refusal(kind, format!("{who} was the bottleneck, not the service: {}{evidence}", by.title))
}

/// `trial`: the lowest level that was run.
pub(super) fn nothing_met(quest: &CapacitySearch, trial: Option<&Trial>) -> Refusal {
    let missed = |trial: &Trial| -> Vec<String> {
        let all = trial.judged.iter().filter(|judged| decides(judged) && !judged.is_met);
        all.map(|judged| judged.text.clone()).collect()
    };
    let why = match trial {
        Some(trial) if trial.is_runaway() => "most requests failed".into(),
        Some(trial) => match missed(trial).join(" and ") {
            texts if texts.is_empty() && trial.unstable => "throughput was below the offered rate".into(),
            texts if texts.is_empty() => "the thresholds were missed".into(),
            texts => format!("{texts} {} missed", if missed(trial).len() > 1 { "were" } else { "was" }),
        },
        None => "the thresholds were missed".into(),
    };
    let at = match (trial, quest.step) {
        (Some(trial), None) => {
            format!("even at {}, the lowest tested level", describe(quest, trial.probe.level))
        }
        (Some(trial), Some(_)) => {
            format!("already at {}, the first level", describe(quest, trial.probe.level))
        }
        (None, _) => "even at the lowest level".into(),
    };
    refusal(RefusalKind::NothingMet, format!("{why} {at}"))
}

/// `fired`: the rule that the first step fulfilled; `None`: most requests failed, which ends every ladder.
pub(super) fn ended_at_first_step(fired: Option<Until>) -> Refusal {
    let why = fired.map_or("most requests failed".into(), |until| format!("`{until}` was true there"));
    refusal(RefusalKind::EndedAtFirstStep, format!("the ladder ended at its first level: {why}"))
}

pub(super) fn incomplete(runs: usize) -> Refusal {
    let which = if runs == 1 { "a run" } else { "two runs" };
    refusal(RefusalKind::RunIncomplete, format!("{which} ended without a complete record"))
}

pub(super) fn floor_failed(floor: &Trial) -> Refusal {
    let why = match floor.requests {
        0 => "the baseline run with one user received no response".into(),
        _ => format!("{} of the requests of the baseline run with one user failed", ratio(floor.error_ratio)),
    };
    refusal(RefusalKind::BaselineFailed, format!("{why}, so no load was applied"))
}

/// Describes how far the search got before its maximum time.
pub(super) fn budget(quest: &CapacitySearch, view: &View) -> Refusal {
    let sentence = match (quest.step, view.met, view.missed) {
        (Some(_), ..) => "the search reached `--max-time` before the ladder ended".into(),
        (None, None, None) => "the search reached `--max-time` before it could judge a level".into(),
        (None, Some(_), None) => "the search reached `--max-time` before a level was missed".into(),
        (None, None, Some(lowest)) => format!(
            "the search reached `--max-time` before a level was met; the lowest tested level was {}",
            describe(quest, lowest)
        ),
        (None, Some(_), Some(_)) => format!(
            "the search reached `--max-time` before it reached the requested precision (±{})",
            ratio(quest.precision)
        ),
    };
    refusal(RefusalKind::MaxTimeReached, sentence)
}

fn describe(quest: &CapacitySearch, level: f64) -> String {
    if quest.users { counted(level.max(0.0) as u64, "user") } else { rate_of(level, "arrivals") }
}

pub(super) fn unsettled() -> Refusal {
    refusal(
        RefusalKind::Unsettled,
        "the runs contradict each other: no level separates met levels from missed ones".into(),
    )
}

/// A level was missed below another one that was met, and could not be rerun.
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
        "users have no offered rate to compare with; use `--stop-when missed`".into(),
    )
}

fn refusal(kind: RefusalKind, sentence: String) -> Refusal {
    Refusal { kind, sentence }
}

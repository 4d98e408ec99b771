//! Why there is no answer: sentences that may be quoted.

use super::answer::Refusal;
use super::limits::{LINK, Limited};
use plimsoll_plan::experiment::Until;

pub(super) fn limited(by: &Limited) -> Refusal {
    let (code, who) = match by.code.as_str() {
        LINK => ("link_limited", "the link to the target"),
        _ => ("generator_limited", "the load generator"),
    };
    let evidence = if by.evidence.is_empty() { String::new() } else { format!(" ({})", by.evidence) };
    refusal(code, format!("{who} was the limit, not the service: {}{evidence}", by.title))
}

pub(super) fn nothing_met() -> Refusal {
    refusal("nothing_met", "the thresholds are missed even at the lowest level".into())
}

/// `fired`: the rule that the first step fulfilled; `None`: most of it failed, which no rule asks for.
pub(super) fn ended_at_first_step(fired: Option<Until>) -> Refusal {
    let why = fired.map_or("most of it failed".into(), |until| format!("`{until}` held there already"));
    refusal("ended_at_first_step", format!("the ladder ended at its first level: {why}"))
}

pub(super) fn incomplete() -> Refusal {
    refusal("run_incomplete", "two runs ended without a complete record".into())
}

pub(super) fn floor_failed() -> Refusal {
    refusal("floor_failed", "one user alone got no answers worth the name: there is nothing to load".into())
}

pub(super) fn budget() -> Refusal {
    refusal(
        "budget",
        "the time for the search was over before its interval was as narrow as asked for".into(),
    )
}

pub(super) fn unsettled() -> Refusal {
    refusal("unsettled", "the runs contradict each other: no level separates met from missed".into())
}

pub(super) fn needs_arrivals() -> Refusal {
    refusal(
        "until_needs_arrivals",
        "users offer no rate that could be missed; end the ladder with `missed`".into(),
    )
}

fn refusal(code: &'static str, sentence: String) -> Refusal {
    Refusal { code, sentence }
}

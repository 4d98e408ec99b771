//! Why a search ended where it did and what to do next, in sentences: the page, the terminal, Markdown and `--json`
//! have the same ones.
//!
//! What is told and in which order is decided in [`plimsoll_experiment::search::next`].

use super::level;
use crate::format::{counted, duration_ns, rate_per_s, ratio};
use crate::next::{Hint, NextRows};
use plimsoll_analysis::summary::Bottleneck;
use plimsoll_experiment::search::Answer;
use plimsoll_experiment::search::next::{FirstMissed, Next, Reason, Step};

/// Reasons first, then steps.
pub(crate) fn hints(answer: &Answer) -> Vec<Hint> {
    let Next { reasons, steps } = Next::of(answer);
    let reasons = reasons.iter().map(|reason| hint(false, reason_text(answer, reason)));
    reasons.chain(steps.iter().map(|step| hint(true, step_text(answer, step)))).collect()
}

/// The same for programs.
pub(crate) fn rows(answer: &Answer) -> NextRows<Reason<'_>, Step<'_>> {
    let Next { reasons, steps } = Next::of(answer);
    NextRows::described(reasons, steps, |one| reason_text(answer, one), |one| step_text(answer, one))
}

fn hint(is_next: bool, text: String) -> Hint {
    Hint { is_next, text, command: None, shown: &[] }
}

/// `800/s`, `40 users`.
fn named(answer: &Answer, at: f64) -> String {
    if answer.is_users { format!("{} users", level(at, true)) } else { level(at, false) }
}

/// As a flag takes it.
fn flag(answer: &Answer, at: f64) -> String {
    if answer.is_users { format!("{:.0}", at.max(1.0)) } else { format!("{at:.0}/s") }
}

fn reason_text(answer: &Answer, reason: &Reason<'_>) -> String {
    match reason {
        Reason::FirstMissed(first) => first_missed(answer, first),
        Reason::HeldBack { runs, lowest_level, limited_by: by } => {
            let evidence = if by.evidence.is_empty() { String::new() } else { format!(" ({})", by.evidence) };
            let verb = if *runs == 1 { "does" } else { "do" };
            let (runs, at) = (counted(*runs as u64, "run"), named(answer, *lowest_level));
            format!("{runs} {verb} not count, the lowest at {at}: {}{evidence}.", by.title)
        }
        Reason::MoreThanOffered { level, achieved_rate_per_s, offered_rate_per_s, waiting } => format!(
            "At {} more finished ({}) than was offered ({}): {} that the warm-up had left waiting.",
            named(answer, *level),
            rate_per_s(*achieved_rate_per_s),
            rate_per_s(*offered_rate_per_s),
            counted(*waiting, "arrival")
        ),
        Reason::Saturated { resource: what, evidence } => {
            format!("At its limit near the answer: {what} ({evidence}).")
        }
        Reason::NothingSaturated => format!("What gave out is open: {}.", Bottleneck::NoneWatched),
        Reason::NothingWatched => format!("What gave out is open: {}.", Bottleneck::NotKnown),
        Reason::CalmBelow { level, p50_ns, unloaded_p50_ns } => {
            let (p50, floor) = (duration_ns(*p50_ns), duration_ns(*unloaded_p50_ns));
            format!("Up to {} the median stays near the unloaded {floor} ({p50}).", named(answer, *level))
        }
    }
}

fn first_missed(answer: &Answer, first: &FirstMissed<'_>) -> String {
    let mut told: Vec<String> = Vec::new();
    if !first.missed_thresholds.is_empty() {
        told.push(format!("missed {}", first.missed_thresholds.join(" and ")));
    }
    if let Some(unserved) = &first.unserved {
        let (achieved, offered) =
            (rate_per_s(unserved.achieved_rate_per_s), rate_per_s(unserved.offered_rate_per_s));
        told.push(format!("{achieved} of {offered} were answered"));
    }
    told.extend(first.error_ratio.map(|share| format!("{} of the requests failed", ratio(share))));
    if first.is_unstable {
        told.push("what waited grew through the run".into());
    }
    format!("At {}: {}.", named(answer, first.level), told.join("; "))
}

fn step_text(answer: &Answer, step: &Step<'_>) -> String {
    match step {
        Step::SearchBetween { from, to } => {
            let (from, to) = (flag(answer, *from), flag(answer, *to));
            format!(
                "Search between the two: the same command with `--from {from} --to {to}` and more time (`--max-time`)."
            )
        }
        Step::GiveMoreTime { from: None } => "Give the search more time (`--max-time`).".into(),
        Step::GiveMoreTime { from: Some(from) } => {
            format!("Give the search more time (`--max-time`); it may begin at {}.", flag(answer, *from))
        }
        Step::MendGenerator => {
            "Mend what limited the load generator (`plimsoll doctor` looks for it) or load from more machines, then \
             search again."
                .into()
        }
        Step::SearchFromNearer => {
            "The service was not at its end: search from nearer, or with smaller or compressed answers.".into()
        }
        Step::BeginLower { from: None } => "Begin lower (`--from`).".into(),
        Step::BeginLower { from: Some(from) } => format!(
            "Begin lower (`--from {}`), or see in the report of that run where the time goes.",
            flag(answer, *from)
        ),
        Step::SeeFirstRun => "See in the report of the first run why its requests failed.".into(),
        Step::SeeLastRun => {
            "See in the report of the last run why it ended early, then search again.".into()
        }
        Step::SteadyAndRepeat => {
            "Look for what changes between the runs (other load on the service, caches, a neighbour), then search \
             again with more repeats (`--confirm`)."
                .into()
        }
        Step::EndOnMissed => "End the ladder with `--stop-when missed`, or search for a rate.".into(),
        Step::AllowHigher => "Where the service ends was not seen: allow a higher level (`--to`).".into(),
        Step::Relieve { .. } => {
            "Relieve what stood at its limit, then search again with the same command.".into()
        }
        Step::WatchMore => "Watch more of the service (`--monitor`) to learn what gives out first.".into(),
        Step::Watch => "To learn what gives out first, search again with `--monitor` on the service.".into(),
        Step::StayBelowKnee { level } => {
            let knee = named(answer, *level);
            format!("In operation stay below {knee}: above it waiting begins, and the answer leaves no room.")
        }
        Step::LeaveRoom => {
            "In operation leave room below it: a search loads the service evenly, and nothing else does.".into()
        }
    }
}

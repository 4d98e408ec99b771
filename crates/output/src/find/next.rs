//! Reasons why a search ended where it did, and next steps, in sentences: the page, the terminal, Markdown, and
//! `--json` have the same ones.
//!
//! [`plimsoll_experiment::search::next`] decides which are reported, and in which order.

use super::level;
use crate::format::{counted, duration_ns, rate_of, rate_per_s, ratio};
use crate::next::{Hint, NextRows, quoted, step, why};
use plimsoll_experiment::search::Answer;
use plimsoll_experiment::search::next::{FirstMissed, Next, Reason, Step};

/// Reasons and steps.
pub(crate) fn hints(answer: &Answer) -> (Vec<Hint>, Vec<Hint>) {
    let Next { reasons, steps } = Next::of(answer);
    let reasons = reasons.iter().map(|reason| why(reason_text(answer, reason), &[]));
    (reasons.collect(), steps.iter().map(|step| step_hint(answer, step)).collect())
}

/// The same for programs.
pub(crate) fn rows(answer: &Answer) -> NextRows<Reason<'_>, Step<'_>> {
    let Next { reasons, steps } = Next::of(answer);
    let step = |one: &Step<'_>| step_hint(answer, one).whole_text();
    NextRows::described(reasons, steps, |one| reason_text(answer, one), step)
}

/// `800 arrivals/s`, `40 users`.
fn named(answer: &Answer, at: f64) -> String {
    if answer.is_users { format!("{} users", level(at, true)) } else { rate_of(at, "arrivals") }
}

/// As the value of a flag.
fn flag(answer: &Answer, at: f64) -> String {
    if answer.is_users { format!("{:.0}", at.max(1.0)) } else { format!("{at:.0}/s") }
}

fn reason_text(answer: &Answer, reason: &Reason<'_>) -> String {
    match reason {
        Reason::FirstMissed(first) => first_missed(answer, first),
        Reason::HeldBack { runs, lowest_level, limited_by: by } => {
            let evidence = if by.evidence.is_empty() { String::new() } else { format!(" ({})", by.evidence) };
            let verb = if *runs == 1 { "was" } else { "were" };
            let (runs, at) = (counted(*runs as u64, "run"), named(answer, *lowest_level));
            format!("{runs} {verb} excluded, the lowest at {at}: {}{evidence}.", by.title)
        }
        Reason::MoreThanOffered { level, achieved_rate_per_s, offered_rate_per_s, waiting } => format!(
            "At {}, throughput ({}) exceeded the offered rate ({}): the warm-up left {} waiting.",
            named(answer, *level),
            rate_per_s(*achieved_rate_per_s),
            rate_per_s(*offered_rate_per_s),
            counted(*waiting, "arrival")
        ),
        Reason::Saturated { resource: what, evidence } => {
            format!("Bottleneck: {what} ({evidence}).")
        }
        Reason::NothingSaturated => "Bottleneck: unknown. No monitored resource was saturated.".into(),
        Reason::NothingWatched => "Bottleneck: unknown. The monitors have no data.".into(),
        Reason::CalmBelow { level, p50_ns, unloaded_p50_ns } => {
            let (p50, floor) = (duration_ns(*p50_ns), duration_ns(*unloaded_p50_ns));
            format!(
                "Up to {}, the median ({p50}) is within twice the unloaded median ({floor}).",
                named(answer, *level)
            )
        }
    }
}

fn first_missed(answer: &Answer, first: &FirstMissed<'_>) -> String {
    let mut told: Vec<String> = Vec::new();
    if !first.missed_thresholds.is_empty() {
        told.push(first.missed_thresholds.join(" and "));
    }
    if let Some(unserved) = &first.unserved {
        let (achieved, offered) =
            (rate_per_s(unserved.achieved_rate_per_s), rate_per_s(unserved.offered_rate_per_s));
        told.push(format!("throughput {achieved} of the offered {offered}"));
    }
    told.extend(first.error_ratio.map(|share| format!("{} of the requests failed", ratio(share))));
    if first.is_unstable {
        told.push("the backlog grew during the run".into());
    }
    format!("First miss at {}: {}.", named(answer, first.level), told.join("; "))
}

fn step_hint(answer: &Answer, next: &Step<'_>) -> Hint {
    const MONITORS: &str = "--monitor host --monitor process=:PORT";
    let step = |text: &str| step(text.into(), &[]);
    match next {
        Step::SearchBetween { from, to } => {
            let (from, to) = (flag(answer, *from), flag(answer, *to));
            step("Rerun the search between these levels, with a longer `--max-time`:")
                .with_command(format!("--from {from} --to {to}"))
        }
        Step::GiveMoreTime { from: None } => step("Rerun the search with a longer `--max-time`."),
        Step::GiveMoreTime { from: Some(from) } => {
            step("Rerun the search with a longer `--max-time`, and start at the known level:")
                .with_command(format!("--from {}", flag(answer, *from)))
        }
        Step::MendGenerator => step(
            "Fix the limit of the load generator (`plimsoll doctor` checks it), or use several load generators, then \
             rerun the search.",
        ),
        Step::SearchFromNearer => step(
            "Rerun the search closer to the target, or with smaller or compressed responses: the service was not \
             saturated.",
        ),
        Step::BeginLower { from: None } => step("Start at a lower level with `--from`."),
        Step::BeginLower { from: Some(from) } => {
            step("Check the report of the lowest level to see where the time is spent, or start lower:")
                .with_command(format!("--from {}", flag(answer, *from)))
        }
        Step::SeeFirstRun => step("Check the report of the first run to see why its requests failed."),
        Step::SeeLastRun => {
            step("Check the report of the last run to see why it ended early, then rerun the search.")
        }
        Step::SteadyAndRepeat => step(
            "Find what changes between the runs (other load on the service, caches, a noisy neighbor), then rerun the \
             search with more repeats (`--confirm`).",
        ),
        Step::EndOnMissed => step("Use `--stop-when missed`, or search for a rate."),
        Step::AllowHigher => {
            step("Rerun the search with a higher `--to`: the service met the highest allowed level.")
        }
        Step::Relieve { resource } => {
            step(&format!("Relieve {}, then rerun the same search.", quoted(resource)))
        }
        Step::WatchMore => {
            step("To find the bottleneck, monitor more of the service:").with_command(MONITORS)
        }
        Step::Watch => {
            step("To find the bottleneck, add server metrics and rerun the search:").with_command(MONITORS)
        }
        Step::StayBelowKnee { level } => step(&format!(
            "Run production below the knee ({}), not at capacity: above the knee, requests queue.",
            named(answer, *level)
        )),
        Step::LeaveRoom => {
            step("Run production below capacity: a search applies an even load, real traffic is uneven.")
        }
    }
}

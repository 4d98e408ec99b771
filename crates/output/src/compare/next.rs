//! Where a difference comes from and what to do next, in sentences for somebody who sees a comparison for the first
//! time: the page, the terminal, Markdown and `--json` have the same ones.
//!
//! What is told and in which order is decided in [`plimsoll_experiment::compare::next`].

use super::maybe_change;
use crate::format::{count, counted, duration_f64_ns};
use crate::next::{Hint, NextRows, quoted, shell};
use plimsoll_experiment::compare::gate::Gated;
use plimsoll_experiment::compare::next::{Next, Reason, Step, TimeMoved, TimeOrigin};
use plimsoll_experiment::compare::{Comparison, Scale, change};
use plimsoll_plan::phrase::watched;

/// `next` of a comparison's document.
pub(crate) type Rows<'a> = NextRows<Reason<'a>, Step<'a>>;

/// Reasons first, then steps.
pub(crate) fn hints(one: &Comparison, gated: Option<&Gated>) -> Vec<Hint> {
    let Next { reasons, steps } = Next::of(one, gated);
    let hint = |is_next: bool| move |text: String| Hint { is_next, text, command: None, shown: &[] };
    let reasons = reasons.iter().map(reason_text).map(hint(false));
    reasons.chain(steps.iter().map(step_text).map(hint(true))).collect()
}

/// The same for programs.
pub(crate) fn rows<'a>(one: &'a Comparison, gated: Option<&'a Gated>) -> Rows<'a> {
    let Next { reasons, steps } = Next::of(one, gated);
    NextRows::described(reasons, steps, reason_text, step_text)
}

fn reason_text(reason: &Reason<'_>) -> String {
    match reason {
        Reason::Doubt { row, .. } => format!("{}.", row.sentence),
        Reason::RuleBroken { row, .. } => format!("Broken first: {} ({}).", row.text, row.evidence),
        Reason::TimeMoved(moved) => time(moved),
        Reason::RequestMoved {
            request,
            a_mean_ns,
            b_mean_ns,
            difference,
            a_samples,
            b_samples,
            requests,
        } => {
            let (a, b) = (duration_f64_ns(*a_mean_ns), duration_f64_ns(*b_mean_ns));
            let by = change(*difference, Scale::Ratio);
            let (of_a, of_b) = (count(*a_samples), count(*b_samples));
            let name = quoted(request);
            let subject = match requests {
                1 => format!("The request {name}"),
                n => format!("Of {} {name} moved most", counted(*n as u64, "request")),
            };
            format!("{subject}: mean {b} against {a}, {by} ({of_b} and {of_a} samples).")
        }
        Reason::PeakMoved { metric: what, unit, a, b } => {
            let (what, a, b) = (quoted(what), watched(*a, *unit), watched(*b, *unit));
            format!(
                "Of what was watched {what} differs most: {b} against {a} (a peak is one second of one run)."
            )
        }
    }
}

fn time(moved: &TimeMoved<'_>) -> String {
    let response = format!("{} changed by {}", moved.figure, maybe_change(moved.row, moved.difference));
    let Some(service) = &moved.service else { return format!("{response}.") };
    let (name, change) = (service.figure, maybe_change(service.row, service.difference));
    let answers = |more: &str, wait: &str| {
        format!(
            "{response}, and {name} with it ({change}): the answers themselves take {more}, it is {wait} before the \
             send."
        )
    };
    match service.origin {
        TimeOrigin::WaitAgainstService => format!(
            "{response}, {name} went the other way ({change}): the wait for a turn before the send made the \
             difference."
        ),
        TimeOrigin::Wait => format!(
            "{response}, {name} did not ({change}): the wait for a turn before the send made the difference."
        ),
        TimeOrigin::MostlyWait => format!(
            "{response}, {name} hardly ({change}): most of the difference is the wait for a turn before the send."
        ),
        TimeOrigin::WaitAndService => format!(
            "{response}, {name} by {change}: part of the difference is in the answers, part in the wait before the \
             send."
        ),
        TimeOrigin::ServiceLonger => answers("longer", "no wait"),
        TimeOrigin::ServiceShorter => answers("less time", "no shorter wait"),
        TimeOrigin::NotKnown => format!("{response}; of {name} nobody can tell ({change})."),
    }
}

fn step_text(step: &Step<'_>) -> String {
    match step {
        Step::FreeGenerator => {
            "Free CPU on the load generator (move the target, stop other programs), then run both sides again.".into()
        }
        Step::MendDoubt => "Mend what stands above, and run both sides again.".into(),
        Step::RepeatMore { repeats } => format!(
            "Run each side {} more, in turns: that settles it if difference and spread stay as they are.",
            counted(u64::from(*repeats), "time")
        ),
        Step::RunLonger => "Run both sides longer, or three times each in turns.".into(),
        Step::Repeat { repeats: 1 } => {
            "Run each side three times, in turns: one run of each does not show how much runs differ.".into()
        }
        Step::Repeat { .. } => {
            "Run each side three times, in turns: two of each hardly show how much runs differ.".into()
        }
        // The command, where the side is one file.
        Step::SeeReport { run_file } => {
            let file = run_file.map_or_else(|| "RUN".to_owned(), shell);
            format!(
                "See where the time goes: `plimsoll report {file} --html report.html` shows phases, requests and \
                 errors."
            )
        }
        Step::KeepAsBaseline => {
            "Keep it as what the next change is held against: `plimsoll compare` with `--save NAME`.".into()
        }
        Step::Watch => "Watch the service in both (`--monitor`): then the comparison says what it used.".into(),
    }
}

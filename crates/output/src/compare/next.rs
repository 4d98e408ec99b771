//! Reasons for a difference and next steps, in sentences for readers who see a comparison for the first time: the page,
//! the terminal, Markdown, and `--json` have the same ones.
//!
//! [`plimsoll_experiment::compare::next`] decides which are reported, and in which order.

use super::maybe_change;
use crate::format::{count, counted, duration_f64_ns};
use crate::next::{Hint, NextRows, capital, quoted, sentence, shell, step, why};
use plimsoll_experiment::compare::gate::Gated;
use plimsoll_experiment::compare::next::{Next, Reason, Step, TimeMoved, TimeOrigin};
use plimsoll_experiment::compare::{Comparison, Scale, change, figure_phrase};
use plimsoll_plan::phrase::watched;

/// `next` of a comparison's document.
pub(crate) type Rows<'a> = NextRows<Reason<'a>, Step<'a>>;

/// Reasons and steps.
pub(crate) fn hints(one: &Comparison, gated: Option<&Gated>) -> (Vec<Hint>, Vec<Hint>) {
    let Next { reasons, steps } = Next::of(one, gated);
    let reasons = reasons.iter().map(|reason| why(reason_text(reason), &[]));
    (reasons.collect(), steps.iter().map(|step| step_hint(one, step)).collect())
}

/// The same for programs.
pub(crate) fn rows<'a>(one: &'a Comparison, gated: Option<&'a Gated>) -> Rows<'a> {
    let Next { reasons, steps } = Next::of(one, gated);
    NextRows::described(reasons, steps, reason_text, |step| step_hint(one, step).whole_text())
}

fn reason_text(reason: &Reason<'_>) -> String {
    match reason {
        Reason::Doubt { row, .. } => sentence(&capital(&row.finding())),
        Reason::RuleBroken { row, .. } => format!("The rule {} failed: {}.", quoted(&row.text), row.evidence),
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
                1 => format!("The mean response time of request {name}"),
                n => format!(
                    "Of {}, {name} changed most: its mean response time",
                    counted(*n as u64, "request")
                ),
            };
            format!("{subject} is {b} vs. {a}, {by} ({of_b} and {of_a} samples).")
        }
        Reason::PeakMoved { metric: what, unit, a, b } => {
            let (what, a, b) = (quoted(what), watched(*a, *unit), watched(*b, *unit));
            format!(
                "Of the monitored metrics, {what} differs most: {b} vs. {a} (each the peak of one second)."
            )
        }
    }
}

fn time(moved: &TimeMoved<'_>) -> String {
    let change = maybe_change(moved.row, moved.difference);
    let response = format!("{} changed by {change}", figure_phrase(moved.row.kind));
    let Some(service) = &moved.service else { return format!("{response}.") };
    let (name, change) = (figure_phrase(service.row.kind), maybe_change(service.row, service.difference));
    match service.origin {
        TimeOrigin::WaitAgainstService => format!(
            "{response}, and {name} by {change}, in the opposite direction: the wait before the send explains the \
             difference."
        ),
        TimeOrigin::Wait => format!(
            "{response}, but {name} did not change ({change}): the wait before the send explains the difference."
        ),
        TimeOrigin::MostlyWait => format!(
            "{response}, and {name} by only {change}: the wait before the send explains most of the difference."
        ),
        TimeOrigin::WaitAndService => format!(
            "{response}, and {name} by {change}: responses explain part of the difference, the wait before the send \
             the rest."
        ),
        TimeOrigin::ServiceLonger => {
            format!(
                "{response}, and {name} by {change}: the responses take longer, not the wait before the send."
            )
        }
        TimeOrigin::ServiceShorter => {
            format!(
                "{response}, and {name} by {change}: the responses take less time, not the wait before the send."
            )
        }
        TimeOrigin::NotKnown => format!("{response}; the change of {name} is inconclusive ({change})."),
    }
}

fn step_hint(one: &Comparison, next: &Step<'_>) -> Hint {
    let step = |text: &str| step(text.into(), &[]);
    match next {
        Step::FreeGenerator => step(
            "Free CPU on the load generator (move the target, stop other programs), then rerun both sides.",
        ),
        Step::MendDoubt => match one.blocking() {
            Some(doubt) => step(&sentence(&capital(doubt.action))),
            None => step("Fix the problem above, then rerun both sides."),
        },
        Step::RepeatMore { repeats } => step(&format!(
            "Run each side {}, interleaved. This decides if difference and variation stay the same.",
            counted(u64::from(*repeats), "more time")
        )),
        Step::RunLonger => step("Run both sides longer, or repeat each three times, interleaved."),
        Step::Repeat { repeats: 1 } => {
            step("Run each side three times, interleaved. One run of each does not show how much runs vary.")
        }
        Step::Repeat { .. } => {
            step("Run each side three times, interleaved. Two runs of each hardly show how much runs vary.")
        }
        Step::SeeReport { run_file } => {
            let file = run_file.map_or_else(|| "RUN.plim".to_owned(), shell);
            let [_, b] = one.short_names();
            step(&format!(
                "Check the phases, requests, and errors of {} to see where the time is spent:",
                quoted(b)
            ))
            .with_command(format!("plimsoll report {file} --html report.html"))
        }
        Step::KeepAsBaseline => {
            step("Save this result as the baseline for later changes:").with_command(save(one))
        }
        Step::Watch => step("To find the bottleneck, add server metrics to both sides:")
            .with_command("--monitor host --monitor process=:PORT"),
    }
}

/// With the name of the run file, if B is one.
fn save(one: &Comparison) -> String {
    let name = one.b.name.as_str();
    let is_one_file = name.ends_with(".plim") && !name.contains(", ");
    let file = if is_one_file { shell(name) } else { "RUN.plim".into() };
    format!("plimsoll compare {file} --save NAME")
}

//! Below the verdict of a comparison: which rule of the gate decided, where the difference comes from, and what to do
//! next. A reader who sees nothing but the first screen has these three.

use super::super::piece::prose;
use crate::compare::maybe_change;
use crate::format::{count, counted};
use maud::{Markup, html};
use plimsoll_record::analysis::compare::gate::{Gated, Passage};
use plimsoll_record::analysis::compare::{Compared, Comparison, Overall, Verdict};

/// So many runs of each side tell how much runs differ.
const REPEATS: usize = 3;

pub fn lines(one: &Comparison, gated: Option<&Gated>) -> Markup {
    // Of runs that cannot be compared no figure is a reason.
    let why: Vec<String> = match blocked(one) {
        Some(why) => vec![why],
        None => [gated.and_then(broken), place(one)].into_iter().flatten().collect(),
    };
    html! {
        dl.next {
            @if !why.is_empty() { dt { "Why" } @for line in &why { dd { (prose(line)) } } }
            dt { "Next" }
            dd { (prose(&next(one))) }
        }
    }
}

fn blocked(one: &Comparison) -> Option<String> {
    one.blocking().map(|doubt| format!("{}.", doubt.sentence))
}

/// The first rule that was broken, and how many there are.
fn broken(gated: &Gated) -> Option<String> {
    let broken: Vec<_> = gated.rules.iter().filter(|rule| rule.passage == Passage::Fail).collect();
    let first = broken.first()?;
    let of = counted(gated.rules.len() as u64, "rule");
    Some(format!(
        "{} of {of} of the gate broken, first: {} ({}).",
        count(broken.len() as u64),
        first.text,
        first.evidence
    ))
}

/// Whether the answers themselves take longer, or the wait for a turn in front of them: response time counts from the
/// intended instant, service time from the send.
fn place(one: &Comparison) -> Option<String> {
    let response =
        one.figures.iter().find(|row| row.figure.starts_with("response_time") && row.verdict.is_worse())?;
    let name = response.figure.replacen("response", "service", 1);
    let service: &Compared = one.figure(&name)?;
    let change = maybe_change(service, service.difference);
    match service.verdict {
        verdict if verdict.is_worse() => Some(format!(
            "{name} grew, too ({change}): the answers themselves take longer, it is no wait before the send."
        )),
        Verdict::NoDifference => {
            Some(format!("{name} did not ({change}): requests waited for their turn before they were sent."))
        }
        _ => None,
    }
}

fn next(one: &Comparison) -> String {
    let repeats = one.a.runs.min(one.b.runs);
    let [_, b] = one.short_names();
    if one.blocking().is_some() {
        return "mend what stands above, and run both sides again.".into();
    }
    let more = one.figures.iter().filter_map(|row| row.more_repeats).max();
    match (one.verdict, more) {
        (Overall::CannotTell, Some(n)) => format!(
            "run each side {} more, in turns: that settles it if difference and spread stay as they are.",
            counted(u64::from(n), "time")
        ),
        (Overall::CannotTell, None) => "run both sides longer, or three times each in turns.".into(),
        _ if repeats == 1 => {
            "run each side three times, in turns: one run of each does not show how much runs differ.".into()
        }
        _ if repeats < REPEATS => {
            "run each side three times, in turns: two of each hardly show how much runs differ.".into()
        }
        (Overall::Slower | Overall::MoreErrors | Overall::Mixed, _) => format!(
            "look where the time goes: `plimsoll report {b} --html report.html` shows phases, requests and errors."
        ),
        (Overall::Faster | Overall::FewerErrors | Overall::NoDifference, _) => {
            format!("keep it as what the next change is held against: `plimsoll compare {b} --save NAME`.")
        }
    }
}

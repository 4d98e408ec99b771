//! The progress of a search: one line for each run as it ends.

use super::report::tone_of;
use super::{errors, level, outcome, purpose, value};
use crate::document::Tone;
use crate::format::chosen_s;
use crate::line::Line;
use crate::style::{Look, TextStyle};
use plimsoll_experiment::search::StepRow;
use plimsoll_plan::experiment::Purpose;

/// Returns the line of a run that has just ended, without a line feed: the level and the result.
pub fn step_line(step: &StepRow, users: bool, look: &Look) -> String {
    let signs = look.signs();
    let (sign, ink) = match tone_of(step) {
        Tone::Pass => (signs.ok, TextStyle::Good),
        Tone::Fail => (signs.bad, TextStyle::Bad),
        Tone::Doubt | Tone::Note => (signs.warn, TextStyle::Warn),
    };
    let floor = step.purpose == Purpose::Baseline;
    let unit = if users && !floor { " users" } else { "" };
    let what = if floor { "1 user".into() } else { format!("{}{unit}", level(step.level, users)) };
    // The most important facts come first: a narrow window cuts off the rest.
    let facts = [
        outcome(step),
        format!("p99 {}", value(step.p99)),
        format!("errors {}", errors(step.error_ratio)),
        format!("achieved {}", level(step.achieved_rate_per_s, false)),
        format!("p50 {}", value(step.p50)),
    ];
    let line = Line::of(TextStyle::Dim, &format!("{:>3} ", step.run_index + 1))
        .ink(ink, sign)
        .text(" ")
        .line(Line::of(TextStyle::Strong, &what).pad(12))
        .line(
            Line::of(TextStyle::Dim, &format!("{} {}", purpose(step.purpose), chosen_s(step.length_s)))
                .pad(14),
        )
        .text(&facts.join(signs.between));
    let mut out = String::new();
    line.cut(look.columns(), look).write(look, &mut out);
    out
}

//! The choice of next steps for a comparison.

use super::{REPEATS, Step};
use crate::compare::types::{Comparison, Overall};

pub(super) fn steps(one: &Comparison) -> Vec<Step<'_>> {
    if one.figures.iter().any(|row| row.is_doubtful) && one.verdict == Overall::Inconclusive {
        return vec![Step::FreeGenerator];
    }
    if one.blocking().is_some() {
        return vec![Step::MendDoubt];
    }
    let repeats = one.a.runs.min(one.b.runs);
    let is_loss = match one.verdict {
        Overall::Slower | Overall::MoreErrors | Overall::Mixed => true,
        Overall::Faster | Overall::FewerErrors | Overall::Equivalent => false,
        Overall::Inconclusive => return vec![settle(one)],
    };
    let mut out = Vec::new();
    if repeats < REPEATS {
        out.push(Step::Repeat { repeats });
    } else if !is_loss {
        out.push(Step::KeepAsBaseline);
    }
    if is_loss {
        out.push(see_report(one));
    }
    if is_loss && one.peaks.is_empty() {
        out.push(Step::Watch);
    }
    out
}

/// Returns the step that can settle an inconclusive comparison.
fn settle<'a>(one: &Comparison) -> Step<'a> {
    let open = one.figures.iter().filter(|row| !row.has_too_few());
    match open.filter_map(|row| row.more_repeats).max() {
        Some(repeats) => Step::RepeatMore { repeats },
        None => Step::RunLonger,
    }
}

fn see_report(one: &Comparison) -> Step<'_> {
    let name = one.b.name.as_str();
    let is_one_file = name.ends_with(".plim") && !name.contains(", ");
    Step::SeeReport { run_file: is_one_file.then_some(name) }
}

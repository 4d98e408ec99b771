//! What was given and is used by no step. A reader takes each figure that stands in a question for a part of the
//! answer, so one that is not must not be passed over.

use super::solve::solve;
use super::{Sizing, SizingInput};
use crate::Problem;

/// Far enough from 1 that no contradiction within the tolerance hides it, and a part of a day stays one.
const OTHER: f64 = 0.5;

type Change = fn(&mut SizingInput);

/// Flag, whether it was given, how to leave it out, how to give another value, and the mend.
type Case = (&'static str, fn(&SizingInput) -> bool, Change, Change, &'static str);

const CASES: [Case; 6] = [
    (
        "--active",
        |a| a.active_ns.is_some(),
        |a| a.active_ns = None,
        |a| a.active_ns = a.active_ns.map(scaled),
        "it is about visitors: leave it out, or add `--session` or `--pages`, from which they follow",
    ),
    (
        "--peak",
        |a| a.peak.is_some(),
        |a| a.peak = None,
        // Below 1 it would be another mistake.
        |a| a.peak = a.peak.map(|peak| peak / OTHER),
        "it is about visitors: leave it out, or add `--session` or `--pages`, from which they follow",
    ),
    (
        "--session",
        |a| a.session_ns.is_some(),
        |a| a.session_ns = None,
        |a| a.session_ns = a.session_ns.map(scaled),
        "leave it out, or add `--visitors`, `--users` or `--pages`",
    ),
    (
        "--pages",
        |a| a.pages.is_some(),
        |a| a.pages = None,
        |a| a.pages = a.pages.map(|pages| pages * OTHER),
        "leave it out, or add `--visitors`, `--rate` or `--session`",
    ),
    (
        "--think",
        |a| a.think_ns.is_some(),
        |a| a.think_ns = None,
        |a| a.think_ns = a.think_ns.map(scaled),
        "leave it out, or add `--session`, `--pages` or `--users`",
    ),
    (
        "--response",
        |a| a.response_ns.is_some(),
        |a| a.response_ns = None,
        |a| a.response_ns = a.response_ns.map(scaled),
        "leave it out, or add `--think`, or `--pages` and `--session`",
    ),
];

fn scaled(ns: u64) -> u64 {
    (ns as f64 * OTHER) as u64
}

/// A sentence for each figure without which, and with another value of which, all steps are the same. Either
/// test alone would be wrong: what only confirms other figures can be left out, and a think time of 0 halved is itself.
pub(super) fn idle(asked: &SizingInput, sizing: &Sizing) -> Vec<Problem> {
    let is_same = |change: Change| {
        let mut other = asked.clone();
        change(&mut other);
        // What is taken for granted is said for a figure that is missing whether or not a step uses it.
        solve(&other)
            .is_ok_and(|other| Sizing { assumptions: sizing.assumptions.clone(), ..other } == *sizing)
    };
    let given = CASES.iter().filter(|(_, is_given, ..)| is_given(asked));
    let idle = given.filter(|(_, _, clear, change, _)| is_same(*clear) && is_same(*change));
    idle.map(|(flag, .., mend)| Problem::new(format!("`{flag}` changes nothing here"), *mend)).collect()
}

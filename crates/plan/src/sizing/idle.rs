//! Finds numbers that no step uses. They are errors, because a user expects every number to affect the result.

use super::solve::solve;
use super::{Sizing, SizingInput};
use crate::Problem;

/// A factor far enough from 1 that the tolerance does not hide a change, and below 1 so that part of a day stays one.
const OTHER: f64 = 0.5;

type Change = fn(&mut SizingInput);

/// Flag, whether it is set, how to clear it, how to change it, and the help line.
type Case = (&'static str, fn(&SizingInput) -> bool, Change, Change, &'static str);

const CASES: [Case; 6] = [
    (
        "--active",
        |a| a.active_ns.is_some(),
        |a| a.active_ns = None,
        |a| a.active_ns = a.active_ns.map(scaled),
        "remove it, or add `--session` or `--pages` to derive visitors",
    ),
    (
        "--peak",
        |a| a.peak.is_some(),
        |a| a.peak = None,
        // A peak below 1 would be a different mistake.
        |a| a.peak = a.peak.map(|peak| peak / OTHER),
        "remove it, or add `--session` or `--pages` to derive visitors",
    ),
    (
        "--session",
        |a| a.session_ns.is_some(),
        |a| a.session_ns = None,
        |a| a.session_ns = a.session_ns.map(scaled),
        "remove it, or add `--visitors`, `--users`, or `--pages`",
    ),
    (
        "--pages",
        |a| a.pages.is_some(),
        |a| a.pages = None,
        |a| a.pages = a.pages.map(|pages| pages * OTHER),
        "remove it, or add `--visitors`, `--rate`, or `--session`",
    ),
    (
        "--think",
        |a| a.think_ns.is_some(),
        |a| a.think_ns = None,
        |a| a.think_ns = a.think_ns.map(scaled),
        "remove it, or add `--session`, `--pages`, or `--users`",
    ),
    (
        "--response",
        |a| a.response_ns.is_some(),
        |a| a.response_ns = None,
        |a| a.response_ns = a.response_ns.map(scaled),
        "remove it, or add `--think`, or `--pages` and `--session`",
    ),
];

fn scaled(ns: u64) -> u64 {
    (ns as f64 * OTHER) as u64
}

/// Returns a problem for each number that changes no step, neither if it is removed nor if it has another value. One
/// test alone would be wrong: a number that only confirms others can be removed, and half a think time of 0 is 0.
pub(super) fn idle(asked: &SizingInput, sizing: &Sizing) -> Vec<Problem> {
    let is_same = |change: Change| {
        let mut other = asked.clone();
        change(&mut other);
        // A missing number causes an assumption even if no step uses it.
        solve(&other)
            .is_ok_and(|other| Sizing { assumptions: sizing.assumptions.clone(), ..other } == *sizing)
    };
    let given = CASES.iter().filter(|(_, is_given, ..)| is_given(asked));
    let idle = given.filter(|(_, _, clear, change, _)| is_same(*clear) && is_same(*change));
    idle.map(|(flag, .., help)| Problem::new(format!("`{flag}` has no effect"), *help)).collect()
}

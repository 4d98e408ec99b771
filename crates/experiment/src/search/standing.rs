//! The certain result of a step: met, missed, or neither. A step is judged as a run and by its own parts: near
//! saturation, slow requests come in bursts, and a share from one burst does not describe the service.

use super::shares::{Measure, measure};
use super::trial::{Trial, decides};
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::summary::{Standing, ThresholdResult};
use plimsoll_plan::experiment::Purpose;
use plimsoll_stats::maths::student;

/// Closer levels count as one.
pub(super) const SAME: f64 = 1.005;
/// Fewer parts have no meaningful variation.
const LEAST_PARTS: usize = 3;
const CONFIDENCE: f64 = 0.95;
const FEW: Kind = Kind::TooFewSamples;

impl Trial {
    /// Returns the result of all thresholds that decide.
    pub fn standing(&self) -> Standing {
        if self.unstable || self.is_runaway() || self.requests == 0 {
            return Standing::Missed;
        }
        let each: Vec<Standing> = self
            .judged
            .iter()
            .filter(|judged| decides(judged))
            .map(|judged| self.standing_of(judged))
            .collect();
        if each.contains(&Standing::Missed) {
            Standing::Missed
        } else if each.contains(&Standing::Undecided) {
            Standing::Undecided
        } else {
            Standing::Met
        }
    }

    /// Returns the result of one threshold: that of the run, unless the parts of the step contradict it.
    pub(super) fn standing_of(&self, judged: &ThresholdResult) -> Standing {
        match by_parts(&[self], &judged.text) {
            Some(parts) if parts != judged.standing => Standing::Undecided,
            _ => judged.standing,
        }
    }
}

/// Judges by the variation between parts of the share beyond the limit (Student's t over clusters). Returns `None` if
/// the parts have no data for the share, or are too few.
fn by_parts(trials: &[&Trial], text: &str) -> Option<Standing> {
    let Measure { limit, above_ns } = measure(text)?;
    let counts = trials.iter().flat_map(|t| &t.blocks).map(|block| super::shares::count(block, above_ns));
    let parts: Vec<(f64, f64)> = counts.filter(|(_, whole)| *whole > 0.0).collect();
    if parts.len() < LEAST_PARTS {
        return None;
    }
    let (beyond, all) = parts.iter().fold((0.0, 0.0), |(b, a), part| (b + part.0, a + part.1));
    let (share, n) = (beyond / all, parts.len() as f64);
    let squares: f64 = parts.iter().map(|(b, a)| (b - share * a).powi(2)).sum();
    let error = (squares * n / (n - 1.0)).sqrt() / all;
    let half = student::quantile(0.5 + CONFIDENCE / 2.0, n - 1.0) * error;
    let on_all_sides = |is_beyond: bool| parts.iter().all(|(b, a)| (b / a > limit) == is_beyond);
    Some(if share + half <= limit || on_all_sides(false) {
        Standing::Met
    } else if share - half > limit || on_all_sides(true) {
        Standing::Missed
    } else {
        Standing::Undecided
    })
}

/// All steps of one level.
pub(super) struct Rung<'a> {
    pub level: f64,
    pub trials: Vec<&'a Trial>,
    pub standing: Standing,
    /// Whether one of the steps is long enough to decide.
    pub is_full: bool,
}

/// Groups trials by level in rising order, with repeats pooled.
pub(super) fn rungs<'a>(trials: &[&'a Trial]) -> Vec<Rung<'a>> {
    let mut sorted = trials.to_vec();
    sorted.sort_by(|a, b| a.probe.level.total_cmp(&b.probe.level));
    let mut groups: Vec<Vec<&Trial>> = Vec::new();
    for trial in sorted {
        match groups.last_mut().filter(|group| trial.probe.level <= group[0].probe.level * SAME) {
            Some(group) => group.push(trial),
            None => groups.push(vec![trial]),
        }
    }
    groups.into_iter().map(rung).collect()
}

fn rung(trials: Vec<&Trial>) -> Rung<'_> {
    // Short steps hide an overload that full ones show.
    let full: Vec<&Trial> = trials.iter().copied().filter(|t| t.probe.purpose != Purpose::Bracket).collect();
    let standing = pooled(if full.is_empty() { &trials } else { &full });
    Rung { level: trials[0].probe.level, is_full: !full.is_empty(), trials, standing }
}

/// Returns the result of repeats: the majority of the certain ones, or, if there are none, the result of their parts.
fn pooled(trials: &[&Trial]) -> Standing {
    let count = |standing| trials.iter().filter(|t| t.standing() == standing).count();
    let (met, missed) = (count(Standing::Met), count(Standing::Missed));
    if met != missed {
        return if met > missed { Standing::Met } else { Standing::Missed };
    }
    if met > 0 {
        return Standing::Undecided;
    }
    let names =
        trials.iter().flat_map(|t| &t.judged).filter(|judged| decides(judged)).map(|j| j.text.as_str());
    let each: Vec<Standing> = names.map(|name| enough(trials, name).unwrap_or(Standing::Undecided)).collect();
    match each.as_slice() {
        all if all.contains(&Standing::Missed) => Standing::Missed,
        all if !all.is_empty() && all.iter().all(|one| *one == Standing::Met) => Standing::Met,
        _ => Standing::Undecided,
    }
}

/// Judges by the parts of steps that have too few samples each and enough together: fewer than 3 / share may all be
/// within the limit by chance.
fn enough(trials: &[&Trial], text: &str) -> Option<Standing> {
    let Measure { limit, above_ns } = measure(text)?;
    // The effect of the load generator on the parts is unknown.
    let is_few = |judged: &ThresholdResult| {
        judged.standing != Standing::Undecided || judged.doubts.iter().all(|doubt| doubt.kind == FEW)
    };
    let own = trials.iter().flat_map(|t| &t.judged).filter(|judged| judged.text == text);
    let samples = trials.iter().flat_map(|t| &t.blocks).map(|block| super::shares::count(block, above_ns).1);
    let is_enough = samples.sum::<f64>() * limit >= 3.0;
    by_parts(trials, text).filter(|_| is_enough).filter(|_| own.into_iter().all(is_few))
}

/// Returns the lowest level whose steps contradict the result of the search: certainly missed below it, or certainly
/// met above its interval.
pub(super) fn contradiction<'r, 'a>(rungs: &'r [Rung<'a>], at: f64, high: f64) -> Option<&'r Rung<'a>> {
    rungs.iter().find(|rung| match rung.standing {
        Standing::Missed => rung.level * SAME < at,
        Standing::Met => rung.is_full && rung.level > high * SAME,
        Standing::Undecided => false,
    })
}

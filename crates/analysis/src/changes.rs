//! Did a request begin to answer something else in the middle of the run? A fast error page, an empty list or a
//! fallback counts as an answer like the others, and makes the figures of two experiments into one.

use super::facts::Facts;
use super::windows::measured_ticks;
use crate::caution::CautionLimits;
use plimsoll_plan::outline::RequestOutline;
use plimsoll_record::record::Sizes;
use plimsoll_stats::median;

/// With fewer ticks with responses, a change cannot be distinguished from chance.
const TICKS_LEAST: usize = 9;

/// What changed.
pub(super) enum Change {
    /// Mean size of the answers, bytes.
    Size { from: f64, to: f64 },
    /// Number of responses whose shape differs from the previous one, after a third of the run with one shape only.
    Shape { changes: u64 },
}

/// A request whose answers changed.
pub(super) struct Changed {
    pub request: String,
    pub what: Change,
    /// From the start of the run, s.
    pub at_s: f64,
}

/// All of them, in the order of the plan; size before shape, because it says more.
pub(super) fn changes(facts: &Facts, limits: &CautionLimits) -> Vec<Changed> {
    let mut courses: Vec<Vec<(u32, Sizes)>> = vec![Vec::new(); facts.plan.requests.len()];
    let group_identical = || facts.machines.iter().filter(|m| m.plan().requests == facts.plan.requests);
    for tick in measured_ticks(facts) {
        let mut sums = vec![Sizes::default(); facts.plan.requests.len()];
        for row in group_identical().filter_map(|m| Some(m.origin.ticks.get(&tick)?.alongside(m.plan()))) {
            for (sum, more) in sums.iter_mut().zip(row.sizes) {
                sum.answers = sum.answers.saturating_add(more.answers);
                sum.bytes = sum.bytes.saturating_add(more.bytes);
                sum.changes = sum.changes.saturating_add(more.changes);
            }
        }
        for (course, sum) in courses.iter_mut().zip(sums).filter(|(_, sum)| sum.answers > 0) {
            course.push((tick, sum));
        }
    }
    let requests = facts
        .plan
        .requests
        .iter()
        .zip(courses)
        .filter(|(request, _)| !request.is_outside_load && !request.is_stream);
    requests.filter_map(|(request, course)| changed(facts, request, &course, limits)).collect()
}

fn changed(
    facts: &Facts,
    request: &RequestOutline,
    course: &[(u32, Sizes)],
    limits: &CautionLimits,
) -> Option<Changed> {
    if course.len() < TICKS_LEAST {
        return None;
    }
    let third = course.len() / 3;
    let means: Vec<f64> = course.iter().map(|(_, one)| one.bytes as f64 / one.answers as f64).collect();
    let (first, last) = (&means[..third], &means[means.len() - third..]);
    let (from, to) = (median(&mut first.to_vec())?, median(&mut last.to_vec())?);
    let least = first.iter().copied().fold(f64::INFINITY, f64::min);
    let most = first.iter().copied().fold(0.0, f64::max);
    let differs = (to - from).abs() > from * limits.answers_differ;
    let at = |index: usize| facts.plan.tick_bounds_ns(course[index].0).0 as f64 / 1e9;
    let found = |what, at_s| Some(Changed { request: request.name.clone(), what, at_s });
    // Sizes that vary by chance vary in the first third as well.
    if differs && !(least..=most).contains(&to) {
        return found(Change::Size { from, to }, at(turn(&means, from, to)));
    }
    let changes: u64 = course.iter().map(|(_, one)| one.changes).fold(0, u64::saturating_add);
    let begin = course.iter().position(|(_, one)| one.changes > 0)?;
    // Where shapes take turns they do so from the beginning.
    if begin < third { None } else { found(Change::Shape { changes }, at(begin)) }
}

/// Where one level best gives way to the other: the least sum of distances.
fn turn(means: &[f64], from: f64, to: f64) -> usize {
    let mut cost: f64 = means.iter().map(|mean| (mean - to).abs()).sum();
    let (mut best, mut at) = (cost, 0);
    for (index, mean) in means.iter().enumerate() {
        cost += (mean - from).abs() - (mean - to).abs();
        if cost < best {
            (best, at) = (cost, index + 1);
        }
    }
    // The last third is at the new level, so at least one tick follows the turn.
    at.min(means.len() - 1)
}

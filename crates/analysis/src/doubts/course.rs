//! Was the run one state from its beginning to its end? Percentiles over the whole hide both a queue that only grew and
//! a beginning of another kind.

use super::Inputs;
use crate::caution::Evidence;
use crate::caution::evidence::LevelFigure;
use crate::facts::ratio;
use crate::offered::is_steered;
use crate::summary::Caution;
use plimsoll_plan::load::Profile;
use plimsoll_record::event::StoppedBy;
use plimsoll_stats::median;

/// With fewer stretches order is chance: six in a row rise once in 720.
const STRETCHES_LEAST: usize = 6;
/// Pairs are compared, and an hour would have six million of them: longer runs are looked at in minutes.
const STRETCHES_MOST: usize = 60;
/// A second with fewer samples has no median.
const SAMPLES_LEAST: u64 = 5;
/// One second of another kind is a spike, and the timeline shows it.
const BEGINNING_LEAST: usize = 2;

pub(super) fn course(e: &Inputs, into: &mut Vec<Caution>) {
    if !is_level(e) {
        return;
    }
    let stretches = stretches(e);
    let grew = backlog_grew(e, &stretches);
    // What grows all the time has no level that a beginning could differ from.
    let beginning = if grew.is_some() { None } else { unsteady_start(e, &stretches) };
    into.extend(grew);
    into.extend(beginning);
}

/// A second, or the medians of several.
struct Stretch {
    from_s: f64,
    p50_ns: f64,
    per_s: f64,
    in_flight: f64,
}

/// The load did not change on purpose. Where a plan ramps, times and rates have every right to change with it.
fn is_level(e: &Inputs) -> bool {
    let plan = &e.facts.plan;
    let end_ns = e.facts.machines.iter().map(|m| m.elapsed_ns).max().unwrap_or(0);
    let level = |profile: &Profile| {
        let (mut at_ns, mut before) = (0u64, profile.start);
        profile.stages.iter().all(|stage| {
            let begin_ns = at_ns;
            at_ns = at_ns.saturating_add(stage.duration_ns);
            let is_flat = stage.to == std::mem::replace(&mut before, stage.to);
            // A leg that ends with the warm-up, or starts after the end, does not affect the measured part.
            is_flat || at_ns <= plan.warmup_ns || begin_ns >= end_ns
        })
    };
    level(plan.load.profile())
        && plan.workloads.iter().all(|workload| level(workload.load.profile()))
        && !e.facts.has_streams()
        && !e.facts.machines.iter().any(is_steered)
}

fn stretches(e: &Inputs) -> Vec<Stretch> {
    // At the end of a counted run users find no more work: its last second says nothing of the service.
    let counted = matches!(e.facts.stopped_by(), Some(StoppedBy::Requests | StoppedBy::Retired));
    let last = e.moments.last().map_or(0, |m| m.second.tick);
    let seconds: Vec<Stretch> = e
        .moments
        .iter()
        .filter(|m| !m.second.is_warmup && m.second.length_s > 0.5 && m.samples >= SAMPLES_LEAST)
        .filter(|m| !(counted && m.second.tick == last))
        .filter_map(|m| {
            let p50_ns = m.second.p50_ns? as f64;
            let (from_s, per_s) = (m.second.from_s, m.second.achieved_rate_per_s);
            Some(Stretch { from_s, p50_ns, per_s, in_flight: m.second.in_flight })
        })
        .collect();
    let middle = |part: &[Stretch], of: fn(&Stretch) -> f64| middle(&part.iter().map(of).collect::<Vec<_>>());
    let one = |part: &[Stretch]| Stretch {
        from_s: part.first().map_or(0.0, |s| s.from_s),
        p50_ns: middle(part, |s| s.p50_ns),
        per_s: middle(part, |s| s.per_s),
        in_flight: middle(part, |s| s.in_flight),
    };
    let width = seconds.len().div_ceil(STRETCHES_MOST).max(1);
    seconds.chunks(width).map(one).collect()
}

/// A queue that grows: each second's median above nearly all before (Kendall 1938, as a test of trend Mann 1945). A
/// spike that is over goes up and down and has no trend; one step has less than half of the pairs.
fn backlog_grew(e: &Inputs, stretches: &[Stretch]) -> Option<Caution> {
    if !e.facts.is_open() || stretches.len() < STRETCHES_LEAST {
        return None;
    }
    let times: Vec<f64> = stretches.iter().map(|s| s.p50_ns).collect();
    let busy: Vec<f64> = stretches.iter().map(|s| s.in_flight).collect();
    let ((first, last), (few, many)) = (ends(&times), ends(&busy));
    let slower = last > first * e.limits.grew_times && last - first > e.limits.grew_more_ns as f64;
    // With a connection limit, arrivals queue in the load generator, so the number in flight cannot grow.
    let waiting = e.demand.offered.as_ref().map_or(0, |offered| offered.arrivals_queued);
    let piled_up = many > few * e.limits.grew_times || waiting > 0;
    (slower && piled_up && tau(&times) >= e.limits.grew_tau).then(|| {
        let evidence = Evidence::BacklogGrew {
            first_p50_ns: first,
            last_p50_ns: last,
            first_in_flight: few,
            last_in_flight: many,
        };
        evidence.raise()
    })
}

/// A beginning of at least two seconds at another level than the rest, with room between them. Users of a script begin
/// together with the same step, so their beginning is always of another kind.
fn unsteady_start(e: &Inputs, stretches: &[Stretch]) -> Option<Caution> {
    if stretches.len() < STRETCHES_LEAST || e.facts.counts_iterations() {
        return None;
    }
    let times: Vec<f64> = stretches.iter().map(|s| s.p50_ns).collect();
    // N / X: the mean time. The median does not see what happens to a third of the requests; the rate does. And a
    // median of few samples wanders, or the shape changes and the service is as fast as before: then the mean objects.
    let means: Vec<f64> = stretches.iter().map(|s| ratio(s.in_flight, s.per_s) * 1e9).collect();
    let by_median = shift(e, &times).filter(|at| agree(e, &times, &means, *at));
    let (at, values, figure) = match by_median {
        Some(at) => (at, &times, LevelFigure::MedianResponseTime),
        None if e.facts.is_open() => return None,
        None => (shift(e, &means)?, &means, LevelFigure::MeanServiceTime),
    };
    let (before, after) = (middle(&values[..at]), middle(&values[at..]));
    let from_ns = (stretches[at].from_s * 1e9).round() as u64;
    let per_s = |part: &[Stretch]| {
        let rate = || middle(&part.iter().map(|stretch| stretch.per_s).collect::<Vec<_>>());
        (!e.facts.is_open()).then(rate)
    };
    let evidence = Evidence::LevelShift {
        figure,
        before_ns: before,
        after_ns: after,
        changed_at_ns: from_ns,
        rate_before_per_s: per_s(&stretches[..at]),
        rate_after_per_s: per_s(&stretches[at..]),
    };
    Some(evidence.raise())
}

/// The other values change at the same place in the same direction, if not as much.
fn agree(e: &Inputs, values: &[f64], others: &[f64], at: usize) -> bool {
    let by = |values: &[f64]| {
        let (before, after) = (middle(&values[..at]), middle(&values[at..]));
        (after - before, before.min(after))
    };
    let ((change, _), (other, level)) = (by(values), by(others));
    change * other > 0.0 && other.abs() > level * e.limits.steady_mean
}

/// Where the beginning gives way to the rest: the cut with the least sum of distances from the medians, if what it
/// divides are two levels.
fn shift(e: &Inputs, values: &[f64]) -> Option<usize> {
    let cost = |part: &[f64]| {
        let level = middle(part);
        part.iter().map(|value| (value - level).abs()).sum::<f64>()
    };
    let cuts = BEGINNING_LEAST..=values.len() / 2;
    let at = cuts.min_by(|a, b| {
        let of = |at: usize| cost(&values[..at]) + cost(&values[at..]);
        of(*a).total_cmp(&of(*b))
    })?;
    let (begin, rest) = values.split_at(at);
    let (before, after) = (middle(begin), middle(rest));
    let by = (after - before).abs();
    let gap = (range(rest).0 - range(begin).1).max(range(begin).0 - range(rest).1);
    let differs = by > before.min(after) * e.limits.steady_shift && by > e.limits.steady_more_ns as f64;
    let apart = gap >= by * e.limits.steady_gap;
    // A rest that continues to change has no level.
    let (first, last) = ends(rest);
    let drifts = (last - first).abs() > by * 0.5;
    (apart && differs && !drifts).then_some(at)
}

/// Kendall's tau against time: the share of pairs that rise minus that of those that fall.
fn tau(values: &[f64]) -> f64 {
    let pairs = values.iter().enumerate().flat_map(|(i, a)| values[i + 1..].iter().map(move |b| (a, b)));
    let (sum, count) = pairs
        .fold((0i64, 0u64), |(sum, count), (a, b)| (sum + i64::from(b > a) - i64::from(b < a), count + 1));
    ratio(sum as f64, count as f64)
}

/// Medians of the first and of the last third.
fn ends(values: &[f64]) -> (f64, f64) {
    let third = values.len().div_ceil(3);
    (middle(&values[..third]), middle(&values[values.len() - third..]))
}

/// From the lowest to the highest, one in twenty at each end left out: a long run has a spike now and then.
fn range(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let out = sorted.len() / 20;
    let at = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
    (at(out), at(sorted.len().saturating_sub(out + 1)))
}

fn middle(values: &[f64]) -> f64 {
    median(&mut values.to_vec()).unwrap_or(0.0)
}

//! The open model's two questions: was the load that was asked for sent, and was what was sent served?

use super::cells::Cells;
use super::facts::{Facts, Machine, ratio};
use crate::event::NoteKind;
use crate::summary::{Achieved, Offered};
use plimsoll_plan::load::{Arrivals, Load, Profile};
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::outline::TICK_NS;

/// Offered and achieved, and what lies between.
pub(super) struct Demand {
    pub offered: Option<Offered>,
    pub achieved: Achieved,
    /// Arrivals that the plan asked for and that never came due, beyond what chance and rounding explain.
    pub unsent: u64,
    /// Arrivals that the plan asked for; `None` when somebody steered the run.
    pub asked: Option<f64>,
}

pub(super) fn demand(facts: &Facts) -> Demand {
    let rate_per_s = facts.rate_per_s(|m| m.all.sum(SeriesSum::Finished));
    let iterations_rate_per_s = facts.rate_per_s(|m| m.origin.totals.run.of(RunSum::Iterations));
    if !facts.is_open() {
        return Demand {
            offered: None,
            achieved: Achieved { rate_per_s, iterations_rate_per_s, ratio: None },
            unsent: 0,
            asked: None,
        };
    }
    let arrivals = facts.run.of(RunSum::Arrivals);
    let (asked, slack) = asked(facts);
    let unsent = asked.map_or(0.0, |asked| (asked - arrivals as f64 - slack).max(0.0));
    Demand {
        offered: Some(Offered {
            arrivals,
            rate_per_s: facts.rate_per_s(|m| m.origin.totals.run.of(RunSum::Arrivals)),
            starved: facts.run.of(RunSum::Starved),
        }),
        achieved: Achieved { rate_per_s, iterations_rate_per_s, ratio: served(facts, arrivals) },
        unsent: unsent.floor() as u64,
        asked,
    }
}

/// The most that the number in service is thought to vary when arrivals come at an even rate.
const EVEN_DEVIATION: f64 = 5.0;

/// Share of the arrivals whose requests ended. At the stop a healthy service has X R of them in flight (Little);
/// those are not missed.
fn served(facts: &Facts, arrivals: u64) -> Option<f64> {
    if arrivals == 0 {
        return None;
    }
    // An arrival starts an iteration; with one request in it both counts are the same.
    let served = match facts.plan.requests.len() {
        0 | 1 => facts.finished(),
        _ => facts.run.of(RunSum::Iterations),
    };
    let mean_s = facts.all.hist(SeriesHist::Response).mean().unwrap_or(0.0) / 1e9;
    let requests_each = ratio(facts.finished() as f64, served as f64).max(1.0);
    let usual = facts.rate_per_s(|m| m.origin.totals.run.of(RunSum::Arrivals)) * mean_s * requests_each;
    // How many are in service varies by chance, about as a Poisson number does: three deviations. Arrivals at an even
    // rate vary less, and a backlog of hundreds must not hide behind chance.
    let by_chance = matches!(facts.plan.load, Load::Open { arrivals: Arrivals::Poisson, .. });
    let deviation = if by_chance { usual.sqrt() } else { usual.sqrt().min(EVEN_DEVIATION) };
    let young = (usual + 3.0 * deviation).ceil().min(facts.run.of(RunSum::InFlightAtStop) as f64);
    let missed = (arrivals as f64 - served as f64 - young).max(0.0);
    Some((1.0 - missed / arrivals as f64).max(0.0))
}

/// How many arrivals the plan asked for in the measured part, and how many fewer are no sign of trouble.
fn asked(facts: &Facts) -> (Option<f64>, f64) {
    let mut sum = 0.0;
    let mut slack = 0.0;
    for machine in &facts.machines {
        let Some(one) = asked_of(machine) else { return (None, 0.0) };
        sum += one;
        // Each worker rounds at both ends of the measured part.
        slack += 2.0 * f64::from(machine.plan().workers.max(1));
        if matches!(machine.plan().load, Load::Open { arrivals: Arrivals::Poisson, .. }) {
            // Four deviations: one run in 30,000 by chance.
            slack += 4.0 * one.sqrt();
        }
    }
    (Some(sum), slack)
}

fn asked_of(machine: &Machine) -> Option<f64> {
    let plan = machine.plan();
    let Load::Open { rate_per_s, .. } = &plan.load else { return None };
    // A command in the middle changed the load in a way that the plan does not know.
    let steered = machine.origin.notes.iter().any(|note| {
        note.kind == NoteKind::Control && note.at_ns.saturating_add(TICK_NS) < machine.elapsed_ns
    });
    if steered {
        return None;
    }
    let most = plan.stop.requests.map_or(f64::INFINITY, |n| n as f64 / plan.requests.len().max(1) as f64);
    let until = |t_ns: u64| arrivals_until(rate_per_s, t_ns).min(most);
    let asked = until(machine.elapsed_ns) - until(plan.warmup_ns.min(machine.elapsed_ns));
    Some(asked / f64::from(plan.share.of.max(1)))
}

/// The area under a profile of rates from 0 to `t_ns`.
fn arrivals_until(profile: &Profile, t_ns: u64) -> f64 {
    let (mut level, mut begin_ns, mut area) = (profile.start, 0u64, 0.0);
    for stage in &profile.stages {
        let end_ns = begin_ns.saturating_add(stage.duration_ns);
        let cut_ns = end_ns.min(t_ns);
        if cut_ns > begin_ns {
            // A straight line: the mean of its ends times its length.
            let length_s = (cut_ns - begin_ns) as f64 / 1e9;
            let part = (cut_ns - begin_ns) as f64 / stage.duration_ns as f64;
            area += (level + (level + (stage.to - level) * part)) / 2.0 * length_s;
        }
        if end_ns >= t_ns {
            return area;
        }
        (level, begin_ns) = (stage.to, end_ns);
    }
    area + level * (t_ns - begin_ns) as f64 / 1e9
}

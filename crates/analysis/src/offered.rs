//! The open model's two questions: was the load that was asked for sent, and was what was sent served?

use super::cells::Cells;
use super::facts::{Facts, Machine, ratio};
use super::times::Belief;
use crate::caution::CautionLimits;
use crate::summary::{Achieved, Offered};
use plimsoll_plan::load::{Arrivals, Load, Profile};
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::outline::TICK_NS;
use plimsoll_record::event::{Note, NoteKind};

/// Offered and achieved, and what lies between.
pub(super) struct Demand {
    pub offered: Option<Offered>,
    pub achieved: Achieved,
    /// Arrivals that the plan asked for and that never came due, beyond what chance and rounding explain.
    pub unsent: u64,
    /// Planned arrivals; `None` if the run was controlled manually.
    pub asked: Option<f64>,
    /// What the share of served arrivals may be in truth.
    pub edge: Option<Edge>,
}

impl Demand {
    /// Returns how to count times that were cut off. Up to the share that may be missed without a caution, the run
    /// kept up, and requests in flight at its end are like the others.
    pub fn belief(&self, limits: &CautionLimits) -> Belief {
        let kept_up = self.edge.as_ref().is_none_or(|edge| edge.most >= 1.0 - limits.offered_missed);
        if kept_up { Belief::LikeTheOthers } else { Belief::Worse }
    }
}

/// The end of the run, where arrivals are neither served nor missed.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    /// Requests in flight at the stop, as many as a service that keeps up has.
    pub young: f64,
    /// The share of the arrivals that were served, at least and at most.
    pub least: f64,
    pub most: f64,
    pub arrivals: f64,
    /// Arrivals that this side did not send, or not look at.
    pub unsent: f64,
}

impl Edge {
    /// Returns the share if this many more arrivals had been served that the load generator did not send.
    pub fn with_unsent(&self, missed: u64) -> f64 {
        (self.most + self.unsent.max(missed as f64) / self.arrivals.max(1.0)).min(self.most.max(1.0))
    }
}

/// The achieved load is the number of requests that completed with a response, no matter what its status, per second
/// of the measured part; for sequences and scripts, the number of iterations. Its share is this rate divided by the
/// offered rate.
pub(super) fn demand(facts: &Facts) -> Demand {
    let rate_per_s = facts.rate_per_s(|m| m.all.answered());
    // If users of the closed model run as well, only iterations that arrivals started count.
    let iterations = match facts.is_scripted() && facts.is_open() {
        true => RunSum::ArrivalsCompleted,
        false => RunSum::Iterations,
    };
    let iterations_per_s = facts.rate_per_s(|m| m.origin.totals.run.of(iterations));
    if !facts.is_open() {
        return Demand {
            offered: None,
            achieved: Achieved { rate_per_s, iterations_per_s, ratio: None },
            unsent: 0,
            asked: None,
            edge: None,
        };
    }
    let arrivals = facts.run.of(RunSum::Arrivals);
    let (asked, slack) = offered_rate(facts);
    let unsent = asked.map_or(0.0, |asked| (asked - arrivals as f64 - slack).max(0.0));
    let offered_per_s = facts.rate_per_s(|m| m.origin.totals.run.of(RunSum::Arrivals));
    // An arrival starts an iteration; with one request in it both are the same, but that one knows how it ended.
    let by_iterations = facts.counts_iterations() || facts.all.sum(SeriesSum::Redirects) > 0;
    let achieved_per_s = if by_iterations { iterations_per_s } else { rate_per_s };
    let ratio = (arrivals > 0).then(|| ratio(achieved_per_s, offered_per_s));
    let own = unsent + facts.run.of(RunSum::ArrivalsUnprocessed) as f64;
    let edge = ratio.map(|ratio| edge(facts, arrivals as f64, ratio, own));
    Demand {
        offered: Some(Offered {
            arrivals,
            rate_per_s: offered_per_s,
            arrivals_queued: facts.run.of(RunSum::ArrivalsQueued),
        }),
        achieved: Achieved { rate_per_s, iterations_per_s, ratio },
        unsent: unsent.floor() as u64,
        asked,
        edge,
    }
}

/// Returns whether requests wait in the service: the median service time is clearly above the shortest one.
pub(super) fn queues_in_service(service_min_ns: u64, service_p50_ns: u64) -> bool {
    service_p50_ns > service_min_ns.saturating_mul(3)
        && service_p50_ns > service_min_ns.saturating_add(1_000_000)
}

/// The most that the number in service is thought to vary when arrivals come at an even rate.
const EVEN_DEVIATION: f64 = 5.0;
/// Of the normal distribution, for 95%.
const Z: f64 = 1.96;

/// At the end, a healthy service has X R requests in flight (Little). Their outcome is unknown: at most all succeed,
/// and at least the share that those with a known outcome suggest (Wilson 1927, 95%), because they are alike. The
/// number beyond X R is missed.
fn edge(facts: &Facts, arrivals: f64, ratio: f64, own: f64) -> Edge {
    let (served, dataless) = match facts.is_scripted() {
        true => (facts.run.of(RunSum::ArrivalsCompleted) as f64, dataless(facts) as f64),
        false => (ratio * arrivals, 0.0),
    };
    let young = match facts.is_scripted() {
        true => thinking(facts),
        false => waiting(facts, served),
    };
    let young = young.min((arrivals - served - dataless).max(0.0));
    let known = (arrivals - young - dataless).max(served);
    let share = wilson_low(served, known);
    let upper = |more: f64| (ratio + more / arrivals).min(ratio.max(1.0));
    Edge {
        young,
        least: upper(dataless + young * share),
        most: upper(dataless + young),
        arrivals,
        unsent: own,
    }
}

fn wilson_low(part: f64, whole: f64) -> f64 {
    if whole <= 0.0 {
        return 0.0;
    }
    let (p, z2) = ((part / whole).min(1.0), Z * Z);
    let reach = Z * (p * (1.0 - p) / whole + z2 / (4.0 * whole * whole)).sqrt();
    ((p + z2 / (2.0 * whole) - reach) / (1.0 + z2 / whole)).max(0.0)
}

/// Requests in flight at the end, up to X R. After a warm-up, as many were in flight at the start and completed among
/// the others, so only the difference to X R may be added; otherwise its own times would excuse every backlog.
fn waiting(facts: &Facts, served: f64) -> f64 {
    let in_flight = facts.run.of(RunSum::InFlightAtEnd) as f64;
    // Before the first response, its duration is unknown.
    let Some(mean_ns) = facts.all.hist(SeriesHist::Response).mean() else { return in_flight };
    let requests_each = ratio(facts.finished() as f64, served).max(1.0);
    let usual =
        facts.rate_per_s(|m| m.origin.totals.run.of(RunSum::Arrivals)) * mean_ns / 1e9 * requests_each;
    (healthy(facts, usual) - facts.under_way_behind_warmup()).clamp(0.0, in_flight)
}

/// Number of requests that a healthy service may have in flight if X R are usual. The number varies about like a
/// Poisson number: three standard deviations. Arrivals at a constant rate vary less, but chance must not hide a
/// backlog of hundreds.
fn healthy(facts: &Facts, usual: f64) -> f64 {
    let is_even =
        |load: &Load| !matches!(load, Load::Open { arrivals: Arrivals::Poisson | Arrivals::Recorded, .. });
    let even =
        is_even(&facts.plan.load) && facts.plan.workloads.iter().all(|workload| is_even(&workload.load));
    let deviation = if even { usual.sqrt().min(EVEN_DEVIATION) } else { usual.sqrt() };
    (usual + 3.0 * deviation).ceil()
}

/// The same where arrivals start iterations of a script. One that the stop cut off while its user was thinking, or held
/// a stream open, is not missed; of those that waited for an answer a healthy service has X R, as above.
fn thinking(facts: &Facts) -> f64 {
    let run = &facts.run;
    let (cut, in_flight) = (run.of(RunSum::IterationsInterrupted), run.of(RunSum::InFlightAtEnd));
    let mean_s = facts.all.hist(SeriesHist::Response).mean().unwrap_or(0.0) / 1e9;
    let answered = |m: &Machine| m.all.hist(SeriesHist::Response).count();
    // The share of requests that waited for a response is assumed equal at the start and at the end.
    let waited = facts.under_way_behind_warmup() * ratio(in_flight as f64, cut as f64);
    let usual = healthy(facts, facts.rate_per_s(answered) * mean_s);
    let waiting = (usual - waited).clamp(0.0, in_flight as f64);
    (cut.saturating_sub(in_flight) as f64 + waiting).min(cut as f64)
}

/// Arrivals that met users without data, or that came when all had ended, were not the service's to serve.
fn dataless(facts: &Facts) -> u64 {
    match facts.run.of(RunSum::UsersOutOfData) {
        0 => 0,
        retired => retired.saturating_add(facts.run.of(RunSum::ArrivalsNotStarted)),
    }
}

/// Returns the number of planned arrivals in the measured part, and how many fewer are normal.
fn offered_rate(facts: &Facts) -> (Option<f64>, f64) {
    let mut sum = 0.0;
    let mut slack = 0.0;
    // Users whose data has run out take no arrival any more.
    if facts.run.of(RunSum::UsersOutOfData) > 0 {
        return (None, 0.0);
    }
    for machine in &facts.machines {
        // A command in the middle changed the load in a way that the plan does not know.
        if is_steered(machine) {
            return (None, 0.0);
        }
        for source in sources_of(machine) {
            let one = asked_of(machine, &source);
            sum += one;
            // Each worker rounds at both ends of the measured part.
            slack += 2.0 * f64::from(machine.plan().workers.max(1));
            slack += match source.arrivals {
                Arrivals::Constant => 0.0,
                // Four deviations: one run in 30,000 by chance.
                Arrivals::Poisson => 4.0 * one.sqrt(),
                // The profile knows how many there were in a second, not when.
                Arrivals::Recorded => source.rate_per_s.peak() / f64::from(machine.plan().share.of.max(1)),
            };
        }
    }
    (Some(sum), slack)
}

/// Arrivals of one load model.
struct Source<'a> {
    rate_per_s: &'a Profile,
    arrivals: Arrivals,
    /// Maximum over all machines.
    most: f64,
}

fn sources_of<'a>(machine: &Machine<'a>) -> Vec<Source<'a>> {
    let plan = machine.plan();
    let of = |load: &'a Load, most: f64| match load {
        Load::Open { rate_per_s, arrivals } => Some(Source { rate_per_s, arrivals: *arrivals, most }),
        Load::Closed { .. } => None,
    };
    if plan.workloads.is_empty() {
        let most = plan.stop.requests.map_or(f64::INFINITY, |n| n as f64 / plan.requests.len().max(1) as f64);
        return of(&plan.load, most).into_iter().collect();
    }
    // A number of requests says nothing about arrivals here; when it ends the run, it is over.
    let workloads = plan.workloads.iter();
    workloads
        .filter_map(|workload| of(&workload.load, workload.iterations.map_or(f64::INFINITY, |n| n as f64)))
        .collect()
}

/// Whether the load was changed manually during the run. Actions of plimsoll at the end do not count.
pub(super) fn is_steered(machine: &Machine) -> bool {
    let before_end = |note: &Note| note.at_ns.saturating_add(TICK_NS) < machine.elapsed_ns;
    let is_step = |note: &Note| match note.kind {
        NoteKind::Steered(_) => true,
        NoteKind::Control => before_end(note),
        NoteKind::Gap | NoteKind::Note => false,
    };
    machine.origin.notes.iter().any(is_step)
}

fn asked_of(machine: &Machine, source: &Source) -> f64 {
    let plan = machine.plan();
    // After the end of the duration, only requests in flight continue.
    let end_ns = plan.stop.duration_ns.map_or(machine.elapsed_ns, |ns| ns.min(machine.elapsed_ns));
    let until = |t_ns: u64| arrivals_until(source.rate_per_s, t_ns).min(source.most);
    let asked = until(end_ns) - until(plan.warmup_ns.min(end_ns));
    asked / f64::from(plan.share.of.max(1))
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

//! The cautions of a run, collected once for all thresholds.

use super::delay::{Course, Relief, Sends, TimeSpan, delays, with_stalls};
use super::queue::Queue;
use crate::caution::evidence::{LoadLoss, Shortage};
use crate::caution::{CautionLimits, Evidence};
use crate::cells::Cells;
use crate::dependence::Dependence;
use crate::facts::{Facts, ratio, sum_of};
use crate::gaps::RecordGap;
use crate::offered::{Demand, Edge};
use crate::reading::Reading;
use crate::summary::Client;
use plimsoll_plan::Fault;
use plimsoll_plan::load::{Arrivals, Load};
use plimsoll_plan::metric::{RunHist, RunPeak, RunSum, SeriesHist};
use plimsoll_plan::threshold::{Basis, Kind as Figure, Subject, Threshold};
use plimsoll_record::gauge::Gauge;
use plimsoll_stats::Hist;
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
pub(crate) struct Grounds {
    is_open: bool,
    /// Whether a timeout, not the end of the run, cut off some times.
    pub timed_out: bool,
    /// Requests that failed for a reason on this side, which are in no figure.
    unmade: Vec<Unmade>,
    /// The share of the run of which there is no record.
    missing: f64,
    /// Why the load was smaller than the one that was asked for.
    unsent: Option<Unsent>,
    not_sent: u64,
    edge: Option<Edge>,
    schedule_lag: Hist,
    service: Hist,
    measured_ns: u64,
    /// Share of the workers' time in stalls.
    stalled: f64,
    stalls: u64,
    /// Share of the workers' time in which they waited for a CPU, and what that may have added to times.
    queued: f64,
    queue: Queue,
    course: Course,
    dependence: Dependence,
}

/// What a threshold saw, and of which part of the run.
pub(crate) struct Look<'a> {
    pub threshold: &'a Threshold,
    pub reading: &'a Reading,
    pub gauge: &'a Gauge,
    pub grounds: &'a Grounds,
    /// It is of a window, so that what holds for the run as a whole is said of less.
    pub windowed: bool,
}

/// Samples of which nothing is known.
#[derive(Debug, Clone)]
pub(super) struct Unknown {
    pub number: u64,
    pub evidence: Evidence,
}

/// Attempts that failed on this side.
struct Unmade {
    shortage: Shortage,
    number: u64,
}

impl Unmade {
    fn evidence(&self) -> Evidence {
        Evidence::AttemptsLost { shortage: self.shortage, attempts_count: self.number }
    }
}

/// The part of the load that was not sent, for this reason.
#[derive(Clone, Copy)]
struct Unsent {
    loss: LoadLoss,
    share: f64,
}

impl Unsent {
    fn evidence(self) -> Evidence {
        Evidence::LoadReduced { loss: self.loss, unsent_ratio: self.share }
    }
}

/// Arrivals that were asked for and not sent, for reasons on this side.
pub(crate) struct Missed {
    pub number: u64,
    pub asked: f64,
    /// The busiest worker's share of busy time and waiting for a CPU, where that is too much.
    pub no_room: Option<f64>,
}

/// Two ways to miss: arrivals that the workers did not get to look at before the stop, and arrivals that waited for a
/// connection to the end while the workers had no CPU left. Only in the second case the connections are used
/// up too, but it is not the service that held them.
pub(crate) fn missed_arrivals(
    facts: &Facts,
    demand: &Demand,
    client: &Client,
    limits: &CautionLimits,
) -> Option<Missed> {
    let asked = demand.asked?;
    let unprocessed = facts.run.of(RunSum::ArrivalsUnprocessed);
    let waited = facts.run.of(RunSum::ArrivalsNotStarted).saturating_sub(unprocessed);
    let worker = client.workers.iter().map(|w| w.busy_ratio + w.cpu_wait_ratio).fold(0.0, f64::max);
    let no_room = worker > limits.worker_busy;
    let missed = demand.unsent.saturating_add(unprocessed).saturating_add(if no_room { waited } else { 0 });
    let is_many = asked > 0.0 && missed as f64 > asked * limits.offered_missed;
    is_many.then_some(Missed { number: missed, asked, no_room: no_room.then_some(worker) })
}

impl Grounds {
    pub fn new(
        facts: &Facts,
        demand: &Demand,
        client: &Client,
        holes: &[RecordGap],
        mut course: Course,
        dependence: Dependence,
        limits: &CautionLimits,
    ) -> Self {
        course.close();
        let wall_ns: f64 =
            facts.machines.iter().flat_map(|m| &m.origin.workers).map(|w| w.wall_ns as f64).sum();
        let queued_ns: f64 =
            facts.machines.iter().flat_map(|m| &m.origin.workers).map(|w| w.cpu_wait_ns as f64).sum();
        let unmade = unmade(facts);
        let number = sum_of(unmade.iter().map(|one| one.number));
        let made = facts.finished().saturating_add(number);
        let missed = missed_arrivals(facts, demand, client, limits);
        let not_sent = missed.as_ref().map_or(0, |missed| missed.number);
        let mut unsent = missed.map(|missed| Unsent {
            loss: LoadLoss::Arrivals,
            share: ratio(missed.number as f64, missed.asked),
        });
        if let Some(first) = unmade.first()
            && number as f64 > made as f64 * limits.offered_missed
        {
            let share = ratio(number as f64, made as f64);
            unsent = unsent.or(Some(Unsent { loss: LoadLoss::Attempts(first.shortage), share }));
        }
        Self {
            is_open: facts.is_open(),
            timed_out: facts.all.fault(Fault::Timeout) > 0 || facts.all.fault(Fault::ConnectTimeout) > 0,
            unmade,
            missing: missing(facts, holes),
            unsent,
            not_sent,
            edge: demand.edge.clone(),
            schedule_lag: facts.run.spread(RunHist::ScheduleLag).clone(),
            service: facts.all.hist(SeriesHist::Service).clone(),
            measured_ns: facts.measured_ns,
            stalled: ratio(facts.run.of(RunSum::StalledNs) as f64, wall_ns).min(1.0),
            stalls: facts.run.of(RunSum::Stalls),
            queued: ratio(queued_ns, wall_ns).min(1.0),
            queue: Queue {
                all_ns: queued_ns
                    * facts.run.peak(RunPeak::InFlight).max(facts.run.peak(RunPeak::Streams)).max(1) as f64,
                each_ns: longest_wait_ns(facts, &course),
            },
            course,
            dependence,
        }
    }

    /// How much responses on shared connections say.
    pub(super) fn dependence(&self) -> &Dependence {
        &self.dependence
    }

    /// The samples without what the load generator's delays may have added: first late sends, then stalls too. Each
    /// list has one histogram for each way to bound it.
    pub(super) fn eased(&self, look: &Look, all: &Hist) -> Vec<(Evidence, Vec<Hist>)> {
        let of = match look.threshold.subject.basis() {
            Basis::Response => Some(TimeSpan::Response),
            Basis::Service => Some(TimeSpan::Service),
            Basis::Achieved | Basis::Throughput | Basis::Outages(_) | Basis::Custom(_) | Basis::Totals => {
                None
            }
        };
        let of = of.filter(|_| !look.windowed && look.threshold.scope.is_none());
        let bounding = |reliefs: &[Relief]| -> Vec<Hist> {
            reliefs.iter().map(|relief| relief.bounding(look.threshold.statistic)).collect()
        };
        let (late, stalled) = match of.and_then(|id| self.course.eased(id, all.count())) {
            Some((late, stalled)) => (bounding(late), bounding(stalled)),
            None => {
                let (late, stalled) = self.eased_at_once(all);
                (bounding(&late), bounding(&stalled))
            }
        };
        let lag = Evidence::SendsDelayed {
            schedule_lag_p99_ns: self.schedule_lag.quantile(0.99).unwrap_or(0),
            schedule_lag_max_ns: self.schedule_lag.max().unwrap_or(0),
        };
        // Events come on streams that were opened long before.
        let is_sent = !matches!(
            look.threshold.subject,
            Subject::EventGap | Subject::EventAge | Subject::MessageGap | Subject::MessageAge
        );
        let mut steps = if is_sent { vec![(lag, late)] } else { Vec::new() };
        if self.stalls > 0 {
            steps.push((self.stalled(), stalled));
        }
        steps
    }

    /// What waiting for a CPU may have added.
    pub(super) fn queue(&self) -> Option<(Queue, Evidence)> {
        (self.queued > 0.0).then(|| (self.queue, self.queued()))
    }

    fn queued(&self) -> Evidence {
        Evidence::GeneratorQueued { cpu_wait_ratio: self.queued }
    }

    fn stalled(&self) -> Evidence {
        Evidence::GeneratorStalled { stalls_count: self.stalls, stalled_ratio: self.stalled }
    }

    /// Where the seconds are not known apart: any of the samples may have been those of a stalled one.
    fn eased_at_once(&self, all: &Hist) -> (Vec<Relief>, Vec<Relief>) {
        let sends = Sends::new(&self.schedule_lag, &self.service, &self.service);
        let eased = |stalled: bool| {
            let delays = delays(&[&sends], self.service.count(), self.measured_ns);
            let one = |delay| {
                let delay = match stalled {
                    true => with_stalls(delay, self.course.stalled_samples, self.course.longest_stall_ns),
                    false => delay,
                };
                Relief::of(all, delay)
            };
            delays.into_iter().map(one).collect()
        };
        (eased(false), eased(true))
    }

    /// Returns the expected samples that were never recorded.
    pub(super) fn unknown(&self, look: &Look) -> Vec<Unknown> {
        let is_time = look.threshold.subject.kind() == Figure::Times;
        let known = match is_time {
            true => look.gauge.exact.count().saturating_add(look.gauge.bounds.count()),
            false => look.gauge.part.max(look.gauge.whole),
        };
        let unmade = self.unmade.iter();
        let mut all: Vec<Unknown> =
            unmade.map(|one| Unknown { number: one.number, evidence: one.evidence() }).collect();
        if self.missing > 0.0 {
            // As many for each that is known as there is time missing for the time that is there.
            let number = (known as f64 * self.missing / (1.0 - self.missing).max(0.01)).ceil().max(1.0);
            let evidence = Evidence::PartMissing { missing_ratio: self.missing };
            all.push(Unknown { number: number as u64, evidence });
        }
        // Arrivals are only delayed by a stall; stalled users sent none in the meantime.
        if is_time && !self.is_open && self.stalled > 0.0 {
            let number = (known as f64 * self.stalled / (1.0 - self.stalled).max(0.01)).ceil();
            all.push(Unknown { number: number as u64, evidence: self.stalled() });
        }
        all
    }

    /// Why a figure under more load, the one that was asked for, may be worse by any amount.
    pub(super) fn unloaded(&self, _look: &Look) -> Option<Evidence> {
        self.unsent.map(Unsent::evidence)
    }

    /// Returns the number of timeouts that the load generator may have caused, because it stalled while they ran.
    pub(super) fn own_timeouts(&self, look: &Look) -> u64 {
        self.course.stalled_timeouts.min(look.gauge.part)
    }

    /// By which factor a rate or a number may be higher when the load generator had not been held back.
    pub(super) fn held_back(&self, look: &Look) -> Vec<(f64, Evidence)> {
        let mut all = Vec::new();
        // A number is what it is in this run, and may have been what ended it.
        let is_rate = look.threshold.subject.kind() == Figure::PerSecond && !self.is_open;
        if is_rate && self.stalled > 0.0 {
            all.push((1.0 / (1.0 - self.stalled).max(0.01), self.stalled()));
        }
        // Users who did not wait for the load generator would have come again sooner: n = c T / (c (T - W) / n).
        if is_rate && self.queued > 0.0 {
            all.push((1.0 / (1.0 - self.queued).max(0.01), self.queued()));
        }
        all.extend(self.unsent.map(|unsent| (f64::INFINITY, unsent.evidence())));
        all
    }

    pub(super) fn edge(&self) -> Option<&Edge> {
        self.edge.as_ref()
    }

    /// Returns the share of the arrivals that might have succeeded if the load generator had sent them all. A failed
    /// attempt delays its arrival, and many of them delay those after it, too.
    pub(super) fn with_unsent(&self, edge: &Edge) -> Vec<(f64, Evidence)> {
        let mut all = Vec::new();
        let number = sum_of(self.unmade.iter().map(|one| one.number));
        if let Some(first) = self.unmade.first() {
            let is_many = self.unsent.is_some_and(|unsent| unsent.loss == LoadLoss::Attempts(first.shortage));
            all.push((if is_many { 1.0 } else { edge.with_unsent(number) }, first.evidence()));
        }
        if edge.unsent > 0.0 || self.not_sent > 0 {
            let of_arrivals = self.unsent.filter(|unsent| unsent.loss == LoadLoss::Arrivals);
            let some = edge.unsent.max(self.not_sent as f64).round() as u64;
            let evidence =
                of_arrivals.map_or(Evidence::SomeArrivalsUnsent { unsent_count: some }, Unsent::evidence);
            all.push((edge.with_unsent(self.not_sent), evidence));
        }
        all
    }
}

/// The longest that one answer can have waited for the CPU of its worker. A clock that steps by more than 100 ms beyond
/// the sleep that was meant, which is 100 ms at most, is a stall and counted as one; after it comes one event-loop
/// iteration. Arrivals at an even rate see each wait that is longer than the time between two of them.
fn longest_wait_ns(facts: &Facts, course: &Course) -> f64 {
    let mut most_ns = course.most_queued_ns as f64;
    if facts.run.of(RunSum::Stalls) == 0 {
        let loop_ns = facts.run.peak(RunPeak::LoopTimeNs) as f64;
        most_ns = most_ns.min(UNSEEN_NS + loop_ns);
        let is_even = matches!(
            facts.plan.load,
            Load::Open { arrivals: Arrivals::Constant, ref rate_per_s } if rate_per_s.stages.is_empty()
        );
        let late_ns = facts.run.spread(RunHist::ScheduleLag).max();
        if let (true, true, Some(late_ns)) = (is_even, facts.plan.workloads.is_empty(), late_ns) {
            let workers: f64 = facts.machines.iter().map(|m| f64::from(m.plan().workers.max(1))).sum();
            let apart_ns = 1e9 * workers / facts.rate_per_s(|m| m.origin.totals.run.of(RunSum::Arrivals));
            most_ns = most_ns.min(late_ns as f64 + apart_ns + loop_ns);
        }
    }
    most_ns
}

/// The longest wait that does not count as a stall: a sleep, plus the allowed step of the clock after it.
const UNSEEN_NS: f64 = 200e6;

/// Each kind of failure on this side with its number.
fn unmade(facts: &Facts) -> Vec<Unmade> {
    const FAULTS: [(Fault, Shortage); 7] = [
        (Fault::FdLimit, Shortage::Descriptors),
        (Fault::PortsExhausted, Shortage::Ports),
        (Fault::ClientOutOfMemory, Shortage::Memory),
        (Fault::ClientLimit, Shortage::Limit),
        (Fault::ClientSendRefused, Shortage::Other),
        (Fault::OriginRefused, Shortage::Permission),
        (Fault::InvalidRequest, Shortage::Form),
    ];
    let all = FAULTS.into_iter().map(|(fault, shortage)| Unmade { shortage, number: facts.all.fault(fault) });
    all.filter(|one| one.number > 0).collect()
}

/// The share of the load of which there is no record: seconds that are in no totals, ends, machines, dead workers.
fn missing(facts: &Facts, holes: &[RecordGap]) -> f64 {
    let there: f64 = facts.machines.iter().map(|m| m.elapsed_ns as f64 / 1e9).sum();
    // For a run without a duration, the missing part has no ratio.
    let is_cut = holes.iter().any(|hole| !hole.in_totals);
    let holes: f64 =
        holes.iter().filter(|h| !h.in_totals).map(|h| (h.gap.to_s - h.gap.from_s).max(0.0)).sum();
    let mut known = if there + holes > 0.0 { there / (there + holes) } else { 1.0 };
    let lost: f64 = facts
        .machines
        .iter()
        .filter_map(|m| Some((m.origin.ending.as_ref()?.lost_workers.len(), m.plan().workers.max(1))))
        .map(|(lost, workers)| lost as f64 / f64::from(workers))
        .sum();
    known *= 1.0 - (lost / facts.machines.len().max(1) as f64).min(1.0);
    if facts.machines.len() > 1 {
        let parts = facts.machines.iter().map(|m| (m.plan().share.part, m.plan().share.of.max(1)));
        let parts: BTreeSet<(u32, u32)> = parts.collect();
        // Ten times a tenth is less than one.
        let mut counts = BTreeMap::<u32, u32>::new();
        parts.iter().for_each(|(_, of)| *counts.entry(*of).or_default() += 1);
        let covered: f64 = counts.iter().map(|(of, count)| f64::from(*count) / f64::from(*of)).sum();
        known *= covered.min(1.0);
    }
    (1.0 - known).max(if is_cut || lost > 0.0 { 1e-9 } else { 0.0 })
}

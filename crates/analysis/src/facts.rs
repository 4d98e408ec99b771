//! What all parts of the analysis look at: the machines of a run added up, once.

use super::cells::Cells;
use super::script_series::{Check, Group, checks, groups};
use plimsoll_plan::limit::Limits;
use plimsoll_plan::link::Link;
use plimsoll_plan::load::{Load, Profile, Share, Stop};
use plimsoll_plan::metric::{
    RunFloor, RunHist, RunSum, SeriesHist, SeriesSum, StreamHist, StreamSum, fault_id,
};
use plimsoll_plan::outline::{OUTLINE_VERSION, RequestOutline};
use plimsoll_plan::series::SeriesKey;
use plimsoll_plan::threshold::Scope;
use plimsoll_plan::{Fault, Outline, Side};
use plimsoll_record::event::{Opening, StoppedBy};
use plimsoll_record::record::{
    GeneratorRecord, RUN_LAYOUT, RunRecord, SERIES_LAYOUT, TickRow, requests_of, requests_total, total_of,
};
use plimsoll_stats::tally::Layout;
use plimsoll_stats::{Hist, Tally};
use std::collections::BTreeMap;

/// The merged run.
pub(super) struct Facts<'a> {
    pub machines: Vec<Machine<'a>>,
    /// The plan of the first machine; that of the others differs in their share at most, or there is a caution.
    pub plan: Outline,
    /// Run-wide numbers without warm-up; what counts connections, with it.
    pub run: Tally,
    /// All requests in one ([`requests_total`]), without warm-up; the faults of this side with it.
    pub all: Tally,
    pub series: Vec<Series>,
    pub checks: Vec<Check>,
    pub groups: Vec<Group>,
    /// The longest measured part of the machines, ns: they load at the same time.
    pub measured_ns: u64,
}

/// One origin.
pub(super) struct Machine<'a> {
    pub name: &'a str,
    pub origin: &'a GeneratorRecord,
    /// From the start to the stop, or to the end of the last tick that is there.
    pub elapsed_ns: u64,
    /// Without warm-up.
    pub measured_ns: u64,
    /// The time by which its counts become rates: the measured part of a load from agents, which begins and ends as
    /// one, and otherwise its own.
    pub rated_ns: u64,
    /// All requests without warm-up; the faults of this side with it.
    pub all: Tally,
    /// Time spent in requests, streams included, ns: times that were cut off or ended in a failure were spent all the
    /// same.
    pub spent_ns: f64,
}

/// One named request, over all machines.
pub(super) struct Series {
    pub request: RequestOutline,
    pub tally: Tally,
    /// The machines' rates added up.
    pub rate_per_s: f64,
}

impl<'a> Facts<'a> {
    pub fn new(record: &'a RunRecord) -> Self {
        let mut machines: Vec<Machine> =
            record.generators.iter().map(|(name, origin)| Machine::new(name, origin)).collect();
        let measured_ns = machines.iter().map(|m| m.measured_ns).max().unwrap_or(0);
        if is_one_load(&machines) {
            machines.iter_mut().for_each(|m| m.rated_ns = measured_ns);
        }
        let mut run = Tally::on_demand(RUN_LAYOUT);
        let mut all = Tally::on_demand(SERIES_LAYOUT);
        for machine in &machines {
            run.merge(&machine.origin.totals.run);
            all.merge(&machine.all);
            add_warmup(machine, &mut run);
        }
        Self {
            plan: machines.first().map_or_else(nothing_planned, |m| m.plan().clone()),
            measured_ns,
            series: series(&machines),
            checks: checks(&machines),
            groups: groups(&machines),
            machines,
            run,
            all,
        }
    }

    pub fn measured_s(&self) -> f64 {
        self.measured_ns as f64 / 1e9
    }

    /// The machines' rates added up: they load at the same time, and one may stop before the others.
    pub fn rate_per_s(&self, count: impl Fn(&Machine) -> u64) -> f64 {
        self.machines.iter().map(|m| ratio(count(m) as f64, m.rated_ns as f64 / 1e9)).sum()
    }

    /// Arrivals that had come and whose iterations had not ended when the measured part began.
    pub fn under_way_behind_warmup(&self) -> f64 {
        let one_request = !self.is_scripted() && self.plan.requests.len() <= 1;
        let left = |row: &TickRow| {
            let run = row.run();
            let ended = match (one_request, self.is_scripted()) {
                (true, _) => row.all().sum(SeriesSum::Finished),
                (false, true) => run.of(RunSum::ArrivalsCompleted),
                (false, false) => run.of(RunSum::Iterations),
            };
            run.of(RunSum::Arrivals) as f64 - ended as f64
        };
        self.machines.iter().flat_map(|m| warmup(m.origin)).map(left).sum::<f64>().max(0.0)
    }

    pub fn finished(&self) -> u64 {
        self.all.sum(SeriesSum::Finished)
    }

    pub fn is_open(&self) -> bool {
        self.plan.load.is_open()
    }

    /// No network lies between: the target's address belongs to the machine that loads it.
    pub fn is_same_machine(&self) -> bool {
        let is_here = |m: &Machine| {
            let environment = &m.opening().environment;
            let is_loopback = |a: &String| a.parse::<std::net::IpAddr>().is_ok_and(|a| a.is_loopback());
            environment.is_same_machine || environment.addresses.first().is_some_and(is_loopback)
        };
        !self.machines.is_empty() && self.machines.iter().all(is_here)
    }

    /// Users do more than send requests in their order: they think, loop, choose.
    pub fn is_scripted(&self) -> bool {
        !self.plan.workloads.is_empty()
    }

    pub fn has_streams(&self) -> bool {
        has_streams(&self.plan)
    }

    /// An arrival or an iteration is more than one request, so the two cannot be compared.
    pub fn counts_iterations(&self) -> bool {
        self.is_scripted() || self.plan.requests.len() > 1
    }

    /// Something was measured: a request finished, or a stream was opened.
    pub fn has_measured(&self) -> bool {
        self.finished() > 0 || self.all.sum(StreamSum::Streams) > 0
    }

    /// Failed requests as a share. A stream that is open at the end has not failed.
    pub fn error_ratio(&self) -> f64 {
        let standing = self.all.sum(StreamSum::OpenAtEnd);
        ratio(self.all.sum(SeriesSum::Failed) as f64, self.finished().saturating_add(standing) as f64)
    }

    /// The requests of a scope added up, and their rate.
    pub fn within(&self, scope: &Scope) -> (Tally, f64) {
        let covered = self.series.iter().filter(|one| scope.covers(&one.request));
        let rate_per_s = covered.clone().map(|one| one.rate_per_s).sum();
        (total_of(covered.map(|one| (&one.request, &one.tally)), true), rate_per_s)
    }

    /// Failures on this side, never among the errors.
    pub fn client_faults(&self) -> u64 {
        client_faults(&self.all)
    }

    /// A worker died: its numbers end before the others'.
    pub fn lost_workers(&self) -> bool {
        let mut endings = self.machines.iter().filter_map(|m| m.origin.ending.as_ref());
        endings.any(|ending| !ending.lost_workers.is_empty())
    }

    /// What ended the run: of several machines what is worst to miss, `None` when one was cut off.
    pub fn stopped_by(&self) -> Option<StoppedBy> {
        const ORDER: [StoppedBy; 7] = [
            StoppedBy::Threshold,
            StoppedBy::Interrupt,
            StoppedBy::InterruptAllowed,
            StoppedBy::Command,
            StoppedBy::Duration,
            StoppedBy::Retired,
            StoppedBy::Requests,
        ];
        let mut all = Vec::new();
        for machine in &self.machines {
            all.push(machine.origin.ending.as_ref()?.stopped_by);
        }
        ORDER.into_iter().find(|why| all.contains(why))
    }
}

impl<'a> Machine<'a> {
    fn new(name: &'a str, origin: &'a GeneratorRecord) -> Self {
        let plan = &origin.opening.outline;
        let last_ns = origin.ticks.keys().next_back().map_or(0, |tick| plan.tick_bounds_ns(*tick).1);
        let elapsed_ns = origin.ending.as_ref().map_or(last_ns, |e| e.elapsed_ns);
        let mut all = requests_total(plan, &origin.opened, &origin.totals);
        add_warmup_faults(origin, &mut all);
        let requests = requests_of(plan, &origin.opened, &origin.totals);
        let spent_ns = requests.map(|(request, tally)| spent_ns(request, tally)).sum();
        Self {
            name,
            origin,
            elapsed_ns,
            measured_ns: elapsed_ns.saturating_sub(plan.warmup_ns),
            rated_ns: elapsed_ns.saturating_sub(plan.warmup_ns),
            all,
            spent_ns,
        }
    }

    pub fn plan(&self) -> &'a Outline {
        &self.origin.opening.outline
    }

    pub fn opening(&self) -> &'a Opening {
        &self.origin.opening
    }

    /// Returns whether a scope covers this load generator. A scope with agents covers no others.
    pub fn is_within(&self, scope: Option<&Scope>) -> bool {
        let Some(scope) = scope.filter(|scope| scope.agents().is_some()) else { return true };
        let agent = self.opening().environment.agent.as_ref();
        agent.is_some_and(|agent| scope.covers_agent(&agent.name, &agent.labels))
    }
}

/// What this machine failed to do in the warm-up is a doubt about the rest.
fn add_warmup_faults(origin: &GeneratorRecord, all: &mut Tally) {
    for row in warmup(origin) {
        let tick = row.all();
        for fault in Fault::ALL.iter().filter(|f| f.side() == Side::Client) {
            all.add(fault_id(*fault), tick.fault(*fault));
        }
    }
}

fn warmup(origin: &GeneratorRecord) -> impl Iterator<Item = &TickRow> {
    let plan = &origin.opening.outline;
    origin.ticks.iter().filter(|(tick, _)| plan.is_warmup(**tick)).map(|(_, row)| row)
}

/// The ticks without warm-up.
pub(super) fn measured_rows(origin: &GeneratorRecord) -> impl Iterator<Item = &TickRow> {
    let plan = &origin.opening.outline;
    origin.ticks.iter().filter(|(tick, _)| !plan.is_warmup(**tick)).map(|(_, row)| row)
}

/// Connections are made once and used to the end, so they are counted from the start, warm-up included.
fn add_warmup(machine: &Machine, run: &mut Tally) {
    const SUMS: [RunSum; 12] = [
        RunSum::ConnAttempts,
        RunSum::ConnOpened,
        RunSum::ConnReusedRequests,
        RunSum::ClosedByServer,
        RunSum::ClosedByClient,
        RunSum::ClosedAfterError,
        RunSum::Retransmits,
        RunSum::IntervalsLate,
        RunSum::Handshakes,
        RunSum::HandshakesResumed,
        RunSum::SegmentsOutOfOrder,
        RunSum::DnsQueued,
    ];
    for row in warmup(machine.origin) {
        let tick_run = row.run();
        for id in SUMS {
            run.sums[id.id()] = run.of(id).saturating_add(tick_run.of(id));
        }
        if let Some(ns) = tick_run.floor(RunFloor::ConnectNs) {
            run.floor(RunFloor::ConnectNs.id(), ns);
        }
        for id in [RunHist::Connect, RunHist::ConnRequests, RunHist::Handshake, RunHist::Dns] {
            run.hists[id.id()].merge(tick_run.spread(id));
        }
    }
}

/// The sum of the times of a request. Number times mean is the sum; a stream lives from its head on, and when it is
/// still open at the stop only its own account knows.
fn spent_ns(request: &RequestOutline, tally: &Tally) -> f64 {
    let sum = |hist: &Hist| hist.sum() as f64;
    let [whole, cut, failed] = [SeriesHist::Service, SeriesHist::ServiceCensored, SeriesHist::FailedService]
        .map(|id| sum(tally.hist(id)));
    let request_ns = whole + cut + failed;
    if request.is_stream {
        let lives_ns = sum(tally.hist(StreamHist::StreamHead)) + sum(tally.hist(StreamHist::StreamLife));
        request_ns.max(lives_ns)
    } else {
        request_ns
    }
}

/// Whether all machines are agents of the same load. They begin at the same time, and if the work of one ends first,
/// the load continues, as with the users of one machine. Their names are that of the load with the numbers of their
/// parts.
pub(super) fn is_one_load(machines: &[Machine]) -> bool {
    let load = |m: &Machine| {
        let agent = m.opening().environment.agent.as_ref();
        agent.and_then(|_| m.opening().origin.rsplit_once('-')).map(|(load, _)| load.to_owned())
    };
    let first = machines.first().and_then(load);
    first.is_some() && machines.iter().all(|m| load(m) == first)
}

/// By name, so that machines with different plans do not mix; two requests with the same name remain two. Requests
/// outside of the load are excluded. Series that programs opened follow those of the plan, by name and labels.
fn series(machines: &[Machine]) -> Vec<Series> {
    let mut all: Vec<(usize, Series)> = Vec::new();
    for machine in machines {
        let requests = &machine.plan().requests;
        let tallies = requests.iter().zip(&machine.origin.totals.series).enumerate();
        for (i, (request, tally)) in tallies.filter(|(_, (request, _))| !request.is_outside_load) {
            let nth = requests[..i].iter().filter(|before| before.name == request.name).count();
            let rate_per_s = ratio(tally.sum(SeriesSum::Finished) as f64, machine.rated_ns as f64 / 1e9);
            match all.iter_mut().find(|(n, s)| *n == nth && s.request.name == request.name) {
                Some((_, known)) => {
                    known.tally.merge(tally);
                    known.rate_per_s += rate_per_s;
                }
                None => {
                    all.push((nth, Series { request: request.clone(), tally: tally.clone(), rate_per_s }))
                }
            }
        }
    }
    let mut opened: BTreeMap<&SeriesKey, Series> = BTreeMap::new();
    for machine in machines {
        let totals = &machine.origin.totals;
        for one in &machine.origin.opened {
            let (Some(request), Some(tally)) = (&one.request, totals.series.get(one.series as usize)) else {
                continue;
            };
            let empty = || Series {
                request: request.clone(),
                tally: Tally::on_demand(Layout::default()),
                rate_per_s: 0.0,
            };
            let sum = opened.entry(&one.key).or_insert_with(empty);
            sum.tally.merge(tally);
            sum.rate_per_s += ratio(tally.sum(SeriesSum::Finished) as f64, machine.rated_ns as f64 / 1e9);
        }
    }
    all.into_iter().map(|(_, series)| series).chain(opened.into_values()).collect()
}

/// Some requests of the load are streams of events.
pub(super) fn has_streams(plan: &Outline) -> bool {
    plan.requests.iter().any(|request| request.is_stream && !request.is_outside_load)
}

/// Failures of one tally that are on this side.
pub(super) fn client_faults(all: &Tally) -> u64 {
    sum_of(Fault::ALL.iter().filter(|f| f.side() == Side::Client).map(|f| all.fault(*f)))
}

/// Saturating, as every sum of numbers from a file, because the file may be forged.
pub(super) fn sum_of(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

/// Returns `a / b`, or 0 if that is not a number.
pub fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// The plan of a record without any machine: the summary of nothing is still a summary.
fn nothing_planned() -> Outline {
    Outline {
        origins: Vec::new(),
        version: OUTLINE_VERSION,
        name: String::new(),
        target: String::new(),
        host: String::new(),
        port: 0,
        requests: Vec::new(),
        load: Load::Closed { users: Profile::constant(0.0) },
        stop: Stop::default(),
        connections: 0,
        workers: 0,
        warmup_ns: 0,
        timeout_ns: 0,
        keep_alive: true,
        read_bodies: false,
        thresholds: Vec::new(),
        buckets_ns: Vec::new(),
        share: Share::default(),
        seed: 0,
        limits: Limits::default(),
        checks: Vec::new(),
        groups: Vec::new(),
        workloads: Vec::new(),
        link: Link::default(),
        graceful_stop_ns: 0,
        deliveries: Vec::new(),
        cell: None,
        monitors: Vec::new(),
        system_under_test: Vec::new(),
        question: None,
        scale: None,
    }
}

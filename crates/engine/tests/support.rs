//! One worker in a network made of numbers: takes a plan and returns every interval. Time is virtual, so a run of
//! minutes takes no time, and every count can be exact.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

pub mod actors;
pub mod finder;
pub mod frames;

pub use plimsoll_engine::driver::sim::{Answer, SimRequest};
use plimsoll_engine::driver::sim::{Calls, Network, Server, SimConditions};
use plimsoll_engine::link::tls::Setup;
use plimsoll_engine::origins::{FoundOrigin, Reached};
use plimsoll_engine::route::Route;
use plimsoll_engine::tally::blank;
use plimsoll_engine::{Command, Job, Place, Post, Scene, Stopped, WorkerNotes};
use plimsoll_plan::draft::{Draft, LoadDraft, WorkloadDraft};
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::link::{Http, Link};
use plimsoll_plan::load::{Profile, Stage};
use plimsoll_plan::metric::{
    HistCell, RunFloor, RunHist, RunPeak, RunSum, SeriesHist, SeriesSum, StreamSum, SumCell, fault_id,
    status_id,
};
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{OriginQuery, ProgramFactory};
use plimsoll_plan::script::{Ask, Entry, Scenario, Script};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::series::SeriesKey;
use plimsoll_plan::{Fault, Plan, Request, Target};
use plimsoll_stats::Tally;
use plimsoll_stats::hist::Hist;
use plimsoll_stats::interval::Interval;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000_000_000;

/// The size of a read, unless a test sets it.
const BUFFER_BYTES: u64 = 262_144;

/// The clock at the start of a run: not 0, which several fields interpret as "never".
pub const BEGIN_NS: u64 = 1_000 * S;

pub fn get(path: &str) -> Request {
    request("GET", path, None)
}

pub fn request(method: &str, path: &str, body: Option<Vec<u8>>) -> Request {
    Request { origin: 0, name: path.into(), method: method.into(), path: path.into(), headers: vec![], body }
}

/// Returns a draft of one GET by `users` for `seconds`.
pub fn closed(users: u32, seconds: f64) -> Draft {
    Draft {
        load: LoadDraft { users: Some(users), duration_ns: Some((seconds * 1e9) as u64), ..draft().load },
        ..draft()
    }
}

/// Returns a draft of one GET at a rate.
pub fn open(rate_per_s: f64, seconds: f64) -> Draft {
    Draft {
        load: LoadDraft {
            rate_per_s: Some(rate_per_s),
            duration_ns: Some((seconds * 1e9) as u64),
            ..draft().load
        },
        ..draft()
    }
}

pub fn draft() -> Draft {
    let mut draft = Draft {
        target: Some(Target { host: "127.0.0.1".into(), port: 8080, tls: false }),
        requests: vec![get("/")],
        workers: Some(1),
        ..Draft::default()
    };
    // The simulated clock moves in jumps, so there is nothing to busy-poll for.
    draft.limits.spin_ns = 0;
    draft
}

/// Stages as (seconds, level).
pub fn stages(open: bool, legs: &[(f64, f64)]) -> Option<(Profile, bool)> {
    Some((profile(0.0, legs), open))
}

pub fn profile(start: f64, legs: &[(f64, f64)]) -> Profile {
    let stages = legs.iter().map(|(s, to)| Stage { duration_ns: (s * 1e9) as u64, to: *to }).collect();
    Profile { start, stages }
}

pub fn plan(draft: Draft) -> Plan {
    let mut plan = seal(draft, Machine { cpus: 1, seed: 7 }).unwrap();
    if plan.outline.limits.read_buffer_bytes == 0 {
        // The same on every machine.
        plan.outline.limits.read_buffer_bytes = BUFFER_BYTES;
    }
    plan
}

/// Returns a draft with these load models and requests.
pub fn workloads(workloads: Vec<WorkloadDraft>, paths: &[&str]) -> Draft {
    let ask = |path: &&str| Ask {
        origin: 0,
        name: (*path).into(),
        scenario: Some(0),
        group: None,
        tags: vec![],
        method: "GET".into(),
        path: Default::default(),
        headers: vec![],
        body: None,
        timeout_ns: None,
        redirects: 0,
        expect: None,
        checks: vec![],
        extracts: vec![],
        go_on_after_failure: false,
        stream: None,
        websocket: None,
        grpc: None,
    };
    let scenario = Scenario { name: "one".into(), nodes: vec![], pace: None };
    let script =
        Script { asks: paths.iter().map(ask).collect(), scenarios: vec![scenario], ..Script::default() };
    // The requests as the program sends them, with the same numbers.
    let requests = paths.iter().map(|path| get(path)).collect();
    Draft { script: Some(script), requests, workloads, ..draft() }
}

/// Returns a load model without a duration.
pub fn workload(name: &str) -> WorkloadDraft {
    WorkloadDraft { name: name.into(), entry: Entry::Scenario(0), load: LoadDraft::default(), start_ns: 0 }
}

/// The settings of one run.
pub struct Lab {
    pub draft: Draft,
    pub nature: SimConditions,
    pub factory: Option<Arc<dyn ProgramFactory>>,
    /// (ns from the start, command)
    pub commands: Vec<(u64, Command)>,
    pub worker: u32,
    pub addresses: Vec<SocketAddr>,
    /// Empty: all are equal.
    pub weights: Vec<u32>,
    /// Of the other origins, one each.
    pub more_addresses: Vec<SocketAddr>,
    pub tls: Option<Setup>,
    /// How the target is reached, if not directly.
    pub route: Option<Route>,
    /// Origins that speak HTTP/2, as the probe before a load finds out.
    pub http2: Vec<OriginId>,
    /// Finds the origins that programs ask for.
    pub finder: Option<finder::SimFinder>,
}

impl Lab {
    pub fn new(draft: Draft) -> Lab {
        let addresses = vec!["127.0.0.1:8080".parse().unwrap()];
        Lab {
            draft,
            nature: SimConditions::default(),
            factory: None,
            commands: vec![],
            worker: 0,
            addresses,
            weights: vec![],
            more_addresses: vec![],
            tls: None,
            route: None,
            http2: vec![],
            finder: None,
        }
    }

    /// Runs a draft over HTTP/2, with this many users on each connection.
    pub fn http2(draft: Draft, streams: u32) -> Lab {
        let link = Link { http: Http::V2, streams, ..draft.link };
        Lab { http2: vec![0], ..Lab::new(Draft { link, ..draft }) }
    }

    pub fn latency(mut self, one_way_ns: u64) -> Lab {
        self.nature.latency_ns = one_way_ns;
        self
    }

    pub fn command(mut self, at_ns: u64, command: Command) -> Lab {
        self.commands.push((at_ns, command));
        self
    }

    pub fn factory(mut self, factory: impl ProgramFactory + 'static) -> Lab {
        self.factory = Some(Arc::new(factory));
        self
    }

    /// Runs it with `server` to its end.
    pub fn run(self, server: impl Server + 'static) -> Outcome {
        let mut plan = plan(self.draft);
        self.http2.iter().for_each(|origin| plan.outline.set_http2(*origin));
        let outline = &plan.outline;
        let mut places = vec![];
        if plan.outline.has_target() {
            places.push(Place {
                route: self.route.map(Arc::new),
                weights: self.weights,
                ..Place::new(self.addresses, self.tls)
            });
        }
        let more = self.more_addresses.into_iter();
        places.extend(more.map(|address| Place::new(vec![address], None)));
        let scene = Scene { places, factory: self.factory, finder: None, gate: None };
        let network = Network::new(BEGIN_NS, self.nature, server);
        for (at_ns, _) in &self.commands {
            network.wake_at(BEGIN_NS + at_ns);
        }
        let handed = Rc::new(RefCell::new(Vec::new()));
        let samples = Rc::new(RefCell::new(Vec::new()));
        let opened = Rc::new(RefCell::new(Vec::new()));
        let post = Collector {
            network: network.clone(),
            handed: Rc::clone(&handed),
            samples: Rc::clone(&samples),
            opened: Rc::clone(&opened),
            commands: self.commands.into_iter().map(|(at, c)| (BEGIN_NS + at, c)).collect(),
            looked: (0, 0),
            finder: self.finder,
        };
        let seating = Job::new(&plan, scene, 0).seating(self.worker);
        let (stopped, elapsed_ns) = seating.run(BEGIN_NS, network.door(), post);
        let ticks = handed.take();
        let mut all = blank(outline, 0);
        ticks.iter().for_each(|(interval, _)| all.merge(interval));
        // Addresses follow the plan's series, and opened series follow those; no test has both.
        let (named, behind) = (opened.take(), all.series.split_off(outline.series_count()));
        let (addresses, opened_series) = if named.is_empty() { (behind, vec![]) } else { (vec![], behind) };
        Outcome {
            addresses,
            stopped,
            elapsed_ns,
            ticks,
            all,
            samples: samples.take(),
            named,
            opened_series,
            calls: network.calls(),
            opened: network.opened(),
        }
    }
}

/// Runs a draft with a server that responds after a fixed time, without latency.
pub fn run_fixed(draft: Draft, service_ns: u64) -> Outcome {
    Lab::new(draft).run(move |_: &SimRequest<'_>| Answer::ok(service_ns))
}

/// The post that keeps everything and delivers commands at their virtual times.
pub struct Collector {
    pub network: Network,
    pub handed: Rc<RefCell<Vec<(Interval, bool)>>>,
    pub samples: Rc<RefCell<Vec<FailureExample>>>,
    pub opened: Rc<RefCell<Vec<Arc<SeriesKey>>>>,
    pub commands: VecDeque<(u64, Command)>,
    /// The time at the last event-loop iteration, and the iterations since it last advanced.
    pub looked: (u64, u64),
    pub finder: Option<finder::SimFinder>,
}

/// More event-loop iterations at one time than any run needs: the worker does not sleep, and virtual time does not
/// advance.
const TURNS_MAX: u64 = 1_000_000;

impl Post for Collector {
    fn hand_over(&mut self, full: Box<Interval>, told: WorkerNotes, last: bool) {
        self.samples.borrow_mut().extend(told.samples);
        self.opened.borrow_mut().extend(told.opened);
        self.handed.borrow_mut().push((*full, last));
    }

    fn spare(&mut self) -> Option<Box<Interval>> {
        None
    }

    fn commands(&mut self, into: &mut Vec<Command>) {
        let now_ns = self.network.now_ns();
        self.looked = if self.looked.0 == now_ns { (now_ns, self.looked.1 + 1) } else { (now_ns, 0) };
        assert!(
            self.looked.1 < TURNS_MAX,
            "the worker loops without progress at {} ms",
            (now_ns - BEGIN_NS) / MS
        );
        while self.commands.front().is_some_and(|(at_ns, _)| *at_ns <= self.network.now_ns()) {
            into.extend(self.commands.pop_front().map(|(_, command)| command));
        }
    }

    fn reach(&mut self, query: &OriginQuery) -> bool {
        let network = &self.network;
        self.finder.as_mut().is_some_and(|finder| finder.reach(query, network))
    }

    fn reached(&mut self, into: &mut Vec<Reached>) {
        let now_ns = self.network.now_ns();
        into.extend(self.finder.iter_mut().flat_map(|finder| finder.answers(now_ns)));
    }

    fn found(&mut self, from: usize) -> Vec<Arc<FoundOrigin>> {
        self.finder.iter().flat_map(|finder| finder.found(from)).collect()
    }
}

/// The results of a run.
pub struct Outcome {
    pub stopped: Stopped,
    pub elapsed_ns: u64,
    pub ticks: Vec<(Interval, bool)>,
    /// All ticks merged; the series of several addresses are separate.
    pub all: Interval,
    pub addresses: Vec<Tally>,
    pub samples: Vec<FailureExample>,
    /// Series that programs opened.
    pub named: Vec<Arc<SeriesKey>>,
    /// Their numbers.
    pub opened_series: Vec<Tally>,
    pub calls: Calls,
    /// The target and the source of every connection attempt.
    pub opened: Vec<(SocketAddr, Option<IpAddr>)>,
}

impl Outcome {
    pub fn sum(&self, id: RunSum) -> u64 {
        self.all.run.sums[id.id()]
    }

    pub fn peak(&self, id: RunPeak) -> u64 {
        self.all.run.peaks[id.id()]
    }

    pub fn floor(&self, id: RunFloor) -> u64 {
        self.all.run.floors[id.id()]
    }

    pub fn hist(&self, id: RunHist) -> &Hist {
        &self.all.run.hists[id.id()]
    }

    pub fn count(&self, id: impl SumCell) -> u64 {
        self.all.series.iter().map(|s| s.sums.get(id.cell()).copied().unwrap_or(0)).sum()
    }

    pub fn fault(&self, fault: Fault) -> u64 {
        self.all.series.iter().filter_map(|s| s.sums.get(fault_id(fault))).sum()
    }

    pub fn status(&self, status: u16) -> u64 {
        self.all.series.iter().filter_map(|s| s.sums.get(status_id(status))).sum()
    }

    /// Returns a histogram of the first request.
    pub fn series_hist(&self, id: impl HistCell) -> &Hist {
        &self.all.series[0].hists[id.cell()]
    }

    /// Returns all faults that were counted.
    pub fn faults(&self) -> Vec<(Fault, u64)> {
        Fault::ALL.iter().map(|fault| (*fault, self.fault(*fault))).filter(|(_, n)| *n > 0).collect()
    }

    /// Returns the longest time in a histogram of the first request; 0: it is empty.
    pub fn longest(&self, id: impl HistCell) -> u64 {
        self.series_hist(id).max().unwrap_or(0)
    }

    /// Returns the shortest time in a histogram of the first request; 0: it is empty.
    pub fn shortest(&self, id: impl HistCell) -> u64 {
        self.series_hist(id).min().unwrap_or(0)
    }

    /// Returns how many times of the first request are above `from_ns` and not above `to_ns`.
    pub fn between(&self, id: impl HistCell, from_ns: u64, to_ns: u64) -> u64 {
        let hist = self.series_hist(id);
        hist.count_at_most(to_ns) - hist.count_at_most(from_ns)
    }

    /// Returns the number of faults on the client's side.
    pub fn client_faults(&self) -> u64 {
        use plimsoll_plan::Side;
        Fault::ALL.iter().filter(|f| f.side() == Side::Client).map(|f| self.fault(*f)).sum()
    }

    /// Returns the number of requests that failed for lack of a connection. A handshake may end in a fault that sent
    /// requests have too; those have a time since their send.
    fn unsent(&self) -> u64 {
        let all = [
            Fault::ConnectionRefused,
            Fault::ConnectTimeout,
            Fault::HostUnreachable,
            Fault::TlsTimeout,
            Fault::CertificateRejected,
            Fault::ProxyRefused,
            Fault::ProxyCredentials,
            Fault::ProxyFailed,
            Fault::ProxyTimeout,
            Fault::AcceptQueueFull,
        ];
        let tls = self.fault(Fault::Tls) + self.fault(Fault::ConnectionReset);
        let sent: u64 = self
            .all
            .series
            .iter()
            .filter_map(|s| s.hists.get(SeriesHist::FailedService.id()))
            .map(Hist::count)
            .sum();
        let others = [Fault::StaleConnection, Fault::ClosedBeforeResponse, Fault::ClosedMidResponse];
        let others =
            others.iter().chain(&[Fault::MalformedResponse, Fault::UnsafeResponse]).map(|f| self.fault(*f));
        let late = self.failed_afterwards();
        all.iter().map(|f| self.fault(*f)).sum::<u64>()
            + (tls + others.sum::<u64>()).saturating_sub(sent + late)
    }

    /// Returns the number of counted responses that a second one turned into failures.
    fn failed_afterwards(&self) -> u64 {
        let ends = |f: &&Fault| f.side() != plimsoll_plan::Side::Client && f.is_below_http();
        let faults: u64 = Fault::ALL.iter().filter(ends).map(|f| self.fault(*f)).sum();
        let idle = self.fault(Fault::StreamIdleTimeout);
        let answers: u64 = (100..1_000).map(|status| self.status(status)).sum();
        (faults + idle + answers).saturating_sub(self.count(SeriesSum::Finished))
    }

    /// Checks the invariants of every run.
    pub fn check(&self) {
        let lasts = self.ticks.iter().filter(|(_, last)| *last).count();
        assert_eq!((lasts, self.ticks.last().map(|t| t.1)), (1, Some(true)), "one last tick, at the end");
        for (i, (interval, _)) in self.ticks.iter().enumerate() {
            assert_eq!(interval.tick as usize, i, "ticks are handed over in order");
        }
        let (sent, finished) = (self.count(SeriesSum::Sent), self.count(SeriesSum::Finished));
        let in_flight = self.sum(RunSum::InFlightAtEnd);
        // A request ends once: finished, or at the stop still in flight or a stream. Those that failed before their
        // send (no connection) are finished without being sent.
        let unsent = self.unsent();
        let streams = self.count(StreamSum::OpenAtEnd);
        assert_eq!(
            sent + unsent,
            finished + in_flight + streams + self.fault(Fault::ClientLimit),
            "sent {sent}, unsent {unsent}, finished {finished}"
        );
        let waiting = sent - self.count(SeriesSum::Ended);
        assert_eq!(waiting, in_flight + streams, "unfinished sent requests are in flight at the stop");
        let opened = self.sum(RunSum::ConnOpened);
        assert!(opened <= self.sum(RunSum::ConnAttempts));
        assert_eq!(self.calls.open_now, 0, "every socket was closed");
        assert_eq!(self.sum(RunSum::WallNs), self.elapsed_ns, "the ticks cover the run without a gap");
    }

    /// Checks the counts of the open model: every arrival is accounted for exactly once.
    pub fn check_arrivals(&self) {
        self.check();
        assert_eq!(
            self.sum(RunSum::Arrivals),
            self.count(SeriesSum::Sent) + self.sum(RunSum::ArrivalsNotStarted) + self.unsent(),
            "arrivals = sent + never started + failed before the send"
        );
    }
}

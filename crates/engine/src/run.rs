//! Starts the workers, receives their reports, and controls them.

use crate::command::Command;
use crate::driver::epoll::EpollDoor;
use crate::job::Job;
use crate::link::tls::Setup;
use crate::mailbox::Mailbox;
use crate::names::{AnswerTo, LookedUp, Resolver, Ticket};
use crate::origins::{FoundOrigin, OriginAnswer, OriginFinder, Reached};
use crate::route::Route;
use crate::sys::epoll::Waker;
use crate::worker::{Post, WorkerNotes};
use crate::{Error, clock, memory};
use plimsoll_plan::Plan;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::OriginQuery;
use plimsoll_plan::program::ProgramFactory;
use plimsoll_stats::interval::Interval;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// One worker's numbers for one tick.
#[derive(Debug)]
pub struct Report {
    pub worker: u32,
    pub interval: Box<Interval>,
    /// Failure examples, and series that were opened.
    pub told: WorkerNotes,
    /// This is the worker's last report.
    pub last: bool,
}

/// The result of [`Running::next`].
#[derive(Debug)]
pub enum Next {
    Report(Report),
    /// No report within the given time.
    Quiet,
    /// All workers have ended.
    Ended,
}

/// The reason why the workers ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    Duration,
    /// The number of requests, or of iterations, was reached.
    Requests,
    Command,
    /// All users have ended: their data ran out, or they completed their iterations.
    Retired,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    pub stopped: Stopped,
    /// From the common start to the stop, ns.
    pub elapsed_ns: u64,
    /// Workers that ended abnormally, with the reason.
    pub lost_workers: Vec<String>,
}

/// Sends commands to all workers; can be cloned and passed on.
#[derive(Clone)]
pub struct Commander {
    boxes: Arc<[Mailbox]>,
}

impl Commander {
    pub fn send(&self, command: Command) {
        for mailbox in self.boxes.iter() {
            mailbox.queue.lock().unwrap_or_else(PoisonError::into_inner).push(command);
            mailbox.pending.store(true, Ordering::Release);
            mailbox.waker.wake();
        }
    }
}

/// The production [`Post`]: channels to the gathering thread, a mailbox from the control plane.
struct Channels {
    worker: u32,
    reports: Sender<Report>,
    empties: Receiver<Box<Interval>>,
    boxes: Arc<[Mailbox]>,
    /// By origin.
    resolvers: Vec<Option<Arc<dyn Resolver>>>,
    finder: Option<Arc<dyn OriginFinder>>,
}

impl Post for Channels {
    fn hand_over(&mut self, interval: Box<Interval>, told: WorkerNotes, last: bool) {
        // The receiver is gone only while the process is ending.
        let _ = self.reports.send(Report { worker: self.worker, interval, told, last });
    }

    fn spare(&mut self) -> Option<Box<Interval>> {
        self.empties.try_recv().ok()
    }

    #[inline]
    fn commands(&mut self, into: &mut Vec<Command>) {
        let mailbox = &self.boxes[self.worker as usize];
        if mailbox.pending.load(Ordering::Acquire) {
            mailbox.pending.store(false, Ordering::Release);
            into.append(&mut mailbox.queue.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn look_up(&mut self, origin: OriginId, ticket: Ticket) {
        if let Some(Some(resolver)) = self.resolvers.get(usize::from(origin)) {
            resolver.look_up(AnswerTo { boxes: Arc::clone(&self.boxes), worker: self.worker, ticket });
        }
    }

    fn answers(&mut self, into: &mut Vec<(Ticket, LookedUp)>) {
        let mailbox = &self.boxes[self.worker as usize];
        if mailbox.has_answers.swap(false, Ordering::AcqRel) {
            into.append(&mut mailbox.answers.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn reach(&mut self, query: &OriginQuery) -> bool {
        let Some(finder) = &self.finder else { return false };
        let boxes = Arc::clone(&self.boxes);
        finder.find(query, OriginAnswer { boxes, worker: self.worker, query: query.clone() });
        true
    }

    fn reached(&mut self, into: &mut Vec<Reached>) {
        let mailbox = &self.boxes[self.worker as usize];
        if mailbox.has_reached.swap(false, Ordering::AcqRel) {
            into.append(&mut mailbox.reached.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn found(&mut self, from: usize) -> Vec<Arc<FoundOrigin>> {
        let found = self.finder.as_ref().map(|finder| finder.found(from)).unwrap_or_default();
        self.resolvers.truncate(from);
        self.resolvers.extend(found.iter().map(|one| one.place.resolver.clone()));
        found
    }
}

/// How a worker's thread ended: why and when, and whether memory had run out by then; or why it never started.
type Ended = Result<((Stopped, u64), bool), String>;

/// A run in progress.
pub struct Running {
    reports: Receiver<Report>,
    empties: Vec<Sender<Box<Interval>>>,
    threads: Vec<JoinHandle<Ended>>,
    commander: Commander,
    begin: Arc<AtomicU64>,
}

/// The environment in which a plan runs.
#[derive(Clone)]
pub struct Scene {
    /// By origin, as many as the plan has.
    pub places: Vec<Place>,
    /// Programs for the users; `None` only for a plan without a script.
    pub factory: Option<Arc<dyn ProgramFactory>>,
    /// Finds the origins that programs ask for; without it, they are refused.
    pub finder: Option<Arc<dyn OriginFinder>>,
    /// Decides when the load begins; without it, it begins as soon as all workers are ready.
    pub gate: Option<Arc<dyn Gate>>,
}

/// Decides when a load begins, if it must begin together with those of other load generators.
pub trait Gate: Send + Sync {
    /// Blocks until the common start time is known, and returns it on the clock of [`clock::now_ns`]. `None` means
    /// that there will be none; the load then begins at once, usually to end by a command that came before.
    ///
    /// One worker calls this when all users are made, while the others wait for it.
    fn begin_ns(&self) -> Option<u64>;
}

/// The addresses and TLS setup of an origin.
#[derive(Clone)]
pub struct Place {
    /// At least one; connections rotate over them.
    pub addresses: Vec<SocketAddr>,
    /// Connections to each of them in a cycle; empty: the same for all.
    pub weights: Vec<u32>,
    /// Present if it uses TLS.
    pub tls: Option<Setup>,
    /// Present if connections do not simply go to the address.
    pub route: Option<Arc<Route>>,
    /// Present if each connection looks up the host; the addresses are then those of before the load.
    pub resolver: Option<Arc<dyn Resolver>>,
}

impl Place {
    /// Creates a place that is reached directly.
    pub fn new(addresses: Vec<SocketAddr>, tls: Option<Setup>) -> Place {
        Place { addresses, weights: Vec::new(), tls, route: None, resolver: None }
    }

    /// Returns the place as one worker uses it: resumable TLS sessions are not shared.
    pub(crate) fn for_worker(&self) -> Place {
        Place {
            addresses: self.addresses.clone(),
            weights: self.weights.clone(),
            tls: self.tls.as_ref().map(|setup| setup.for_worker()),
            route: self.route.clone(),
            resolver: self.resolver.clone(),
        }
    }
}

impl Scene {
    /// Creates a scene with one address of one origin, without programs and TLS.
    pub fn at(address: SocketAddr) -> Scene {
        Scene { places: vec![Place::new(vec![address], None)], factory: None, finder: None, gate: None }
    }
}

/// Starts a plan's workers; they begin together once all are ready.
///
/// # Errors
/// Returns an error if the kernel refuses a thread or an epoll instance.
pub fn start(plan: Arc<Plan>, scene: Scene) -> Result<Running, Error> {
    memory::keep_reserve();
    let job = Arc::new(Job::new(&plan, scene, clock::unix_offset_ns()));
    let workers = job.outline.workers;
    let mut boxes = Vec::new();
    for _ in 0..workers {
        let waker = Arc::new(Waker::new().map_err(Error::kernel("a wake-up file descriptor"))?);
        boxes.push(Mailbox::new(waker));
    }
    let boxes: Arc<[Mailbox]> = boxes.into();
    let (report_tx, reports) = channel();
    let ready = Arc::new(Barrier::new(workers as usize));
    // Users and connections are created after the start time is set; without a head start, the first arrivals would be
    // late by that time.
    let gate = job.gate();
    let head_start_ns = 1_000_000 + 500 * u64::from(job.outline.connections);
    let begin = Arc::new(AtomicU64::new(0));
    let mut threads = Vec::new();
    let mut empties = Vec::new();
    for worker in 0..workers {
        let (empty_tx, empty_rx) = channel();
        empties.push(empty_tx);
        let post = Channels {
            worker,
            reports: report_tx.clone(),
            empties: empty_rx,
            boxes: Arc::clone(&boxes),
            resolvers: job.resolvers(),
            finder: job.finder(),
        };
        let (ready, begin, boxes) = (Arc::clone(&ready), Arc::clone(&begin), Arc::clone(&boxes));
        let (job, gate) = (Arc::clone(&job), gate.clone());
        let body = move || {
            let door = EpollDoor::new(Arc::clone(&boxes[worker as usize].waker), worker == 0);
            // Slow work must be done before the start time is set; a panic in it must not block the other workers.
            let made = catch_unwind(AssertUnwindSafe(|| job.seating(worker)));
            // The last worker to arrive sets the common start time.
            if ready.wait().is_leader() {
                let common_ns = gate.and_then(|gate| gate.begin_ns()).unwrap_or_default();
                // A common start that has passed is missed by as little as possible.
                begin.store(common_ns.max(clock::now_ns() + head_start_ns), Ordering::Release);
            }
            ready.wait();
            let begin_ns = begin.load(Ordering::Acquire);
            let seating = match made {
                Ok(seating) => seating,
                Err(bug) => {
                    Commander { boxes }.send(Command::Stop);
                    resume_unwind(bug)
                }
            };
            let door = door.map_err(|e| format!("worker {worker}: no epoll instance: {}", e.sentence()))?;
            let worker = AssertUnwindSafe(|| seating.run(begin_ns, door, post));
            match catch_unwind(worker) {
                Ok(ended) => Ok((ended, memory::is_used_up())),
                Err(bug) => {
                    // Without its users no second is complete, so the other workers stop.
                    Commander { boxes }.send(Command::Stop);
                    resume_unwind(bug)
                }
            }
        };
        let thread = std::thread::Builder::new().name(format!("worker-{worker}")).spawn(body);
        threads.push(thread.map_err(|e| Error::Kernel { what: "a worker thread", why: e.to_string() })?);
    }
    Ok(Running { reports, empties, threads, commander: Commander { boxes }, begin })
}

impl Running {
    pub fn commander(&self) -> Commander {
        self.commander.clone()
    }

    /// Returns the common start time of all workers on the clock of [`clock::now_ns`]; `None` while they are getting
    /// ready.
    pub fn begin_ns(&self) -> Option<u64> {
        Some(self.begin.load(Ordering::Acquire)).filter(|begin| *begin > 0)
    }

    /// Returns the next report of any worker.
    pub fn next(&mut self, wait: Duration) -> Next {
        match self.reports.recv_timeout(wait) {
            Ok(report) => Next::Report(report),
            Err(RecvTimeoutError::Timeout) => Next::Quiet,
            Err(RecvTimeoutError::Disconnected) => Next::Ended,
        }
    }

    /// Returns an interval to a worker, which then need not allocate another.
    pub fn give_back(&mut self, worker: u32, interval: Box<Interval>) {
        if let Some(sender) = self.empties.get(worker as usize) {
            // The worker may have ended already.
            let _ = sender.send(interval);
        }
    }

    /// Waits for the workers and returns how the run ended.
    pub fn finish(self) -> Finish {
        let mut finish = Finish { stopped: Stopped::Requests, elapsed_ns: 0, lost_workers: Vec::new() };
        let mut reasons = Vec::new();
        for (i, thread) in self.threads.into_iter().enumerate() {
            match thread.join() {
                Ok(Ok(((why, elapsed_ns), out_of_memory))) => {
                    if out_of_memory {
                        finish.lost_workers.push(format!("worker {i} ran {}", memory::SENTENCE));
                    }
                    reasons.push(why);
                    finish.elapsed_ns = finish.elapsed_ns.max(elapsed_ns);
                }
                Ok(Err(sentence)) => finish.lost_workers.push(sentence),
                Err(_) => finish
                    .lost_workers
                    .push(format!("worker {i} panicked because of a bug in the load generator")),
            }
        }
        // A worker that used up its requests early waited for the others: their reason stopped the run.
        for why in [Stopped::Command, Stopped::Duration, Stopped::Retired] {
            if reasons.contains(&why) {
                finish.stopped = why;
                break;
            }
        }
        finish
    }
}

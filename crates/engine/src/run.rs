//! Starting the workers, hearing from them, steering them.

use crate::command::Command;
use crate::driver::epoll::EpollDoor;
use crate::job::Job;
use crate::link::tls::Setup;
use crate::sys::epoll::Waker;
use crate::worker::{Post, WorkerNotes};
use crate::{Error, clock, memory};
use plimsoll_plan::Plan;
use plimsoll_plan::program::ProgramFactory;
use plimsoll_stats::interval::Interval;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// One worker's numbers of one tick.
#[derive(Debug)]
pub struct Report {
    pub worker: u32,
    pub interval: Box<Interval>,
    /// Examples of failures, and series that were opened.
    pub told: WorkerNotes,
    /// The worker's last.
    pub last: bool,
}

/// What [`Running::next`] found.
#[derive(Debug)]
pub enum Next {
    Report(Report),
    /// Nothing within the time given.
    Quiet,
    /// All workers have ended.
    Ended,
}

/// Why the workers ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    Duration,
    /// Of requests, or of iterations.
    Requests,
    Command,
    /// All users have ended: their data ran out, or their loops are done.
    Retired,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    pub stopped: Stopped,
    /// From the common start to the stop, ns.
    pub elapsed_ns: u64,
    /// Workers that did not end as they should, with the reason.
    pub lost_workers: Vec<String>,
}

/// Commands on their way to one worker.
struct Mailbox {
    pending: AtomicBool,
    queue: Mutex<Vec<Command>>,
    waker: Arc<Waker>,
}

/// Sends commands to all workers; may be cloned and given away.
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

/// The real post: channels to the gathering thread, a mailbox from the control plane.
struct Channels {
    worker: u32,
    reports: Sender<Report>,
    empties: Receiver<Box<Interval>>,
    boxes: Arc<[Mailbox]>,
}

impl Post for Channels {
    fn hand_over(&mut self, interval: Box<Interval>, told: WorkerNotes, last: bool) {
        // Nobody listens any more only when the process is going down.
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
}

/// How a worker's thread ended: why and when, and whether memory had ended by then; or why it never began.
type Ended = Result<((Stopped, u64), bool), String>;

/// A run under way.
pub struct Running {
    reports: Receiver<Report>,
    empties: Vec<Sender<Box<Interval>>>,
    threads: Vec<JoinHandle<Ended>>,
    commander: Commander,
    begin: Arc<AtomicU64>,
}

/// Where and as whom a plan is run.
#[derive(Clone)]
pub struct Scene {
    /// By origin, as many as the plan has.
    pub places: Vec<Place>,
    /// Programs for the users; `None` only for a plan without a script.
    pub factory: Option<Arc<dyn ProgramFactory>>,
}

/// Where an origin is.
#[derive(Clone)]
pub struct Place {
    /// At least one; connections take turns.
    pub addresses: Vec<SocketAddr>,
    /// When it speaks TLS.
    pub tls: Option<Setup>,
}

impl Scene {
    /// One address of one origin, no programs, no TLS.
    pub fn at(address: SocketAddr) -> Scene {
        Scene { places: vec![Place { addresses: vec![address], tls: None }], factory: None }
    }
}

/// Starts a plan's workers; they begin together once all are ready.
///
/// # Errors
/// When the kernel refuses a thread or an epoll instance.
pub fn start(plan: Arc<Plan>, scene: Scene) -> Result<Running, Error> {
    memory::keep_reserve();
    let job = Arc::new(Job::new(&plan, scene, clock::unix_offset_ns()));
    let workers = job.outline.workers;
    let mut boxes = Vec::new();
    for _ in 0..workers {
        let waker = Arc::new(Waker::new().map_err(Error::kernel("a wake-up descriptor"))?);
        boxes.push(Mailbox { pending: AtomicBool::new(false), queue: Mutex::default(), waker });
    }
    let boxes: Arc<[Mailbox]> = boxes.into();
    let (report_tx, reports) = channel();
    let ready = Arc::new(Barrier::new(workers as usize));
    // Users and connections are made after the instant is named; without a head start the first arrivals would be late
    // by that.
    let head_start_ns = 1_000_000 + 500 * u64::from(job.outline.connections);
    let begin = Arc::new(AtomicU64::new(0));
    let mut threads = Vec::new();
    let mut empties = Vec::new();
    for worker in 0..workers {
        let (empty_tx, empty_rx) = channel();
        empties.push(empty_tx);
        let post =
            Channels { worker, reports: report_tx.clone(), empties: empty_rx, boxes: Arc::clone(&boxes) };
        let (ready, begin, boxes) = (Arc::clone(&ready), Arc::clone(&begin), Arc::clone(&boxes));
        let job = Arc::clone(&job);
        let body = move || {
            let door = EpollDoor::new(Arc::clone(&boxes[worker as usize].waker), worker == 0);
            // What takes its time must be over when the instant is named; a bug in it must not keep the others waiting.
            let made = catch_unwind(AssertUnwindSafe(|| job.seating(worker)));
            // The last one to arrive names the instant at which all begin.
            if ready.wait().is_leader() {
                begin.store(clock::now_ns() + head_start_ns, Ordering::Release);
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
                    // Its users are gone, and no second is whole without them: the others need not go on.
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

    /// The instant at which all workers begin, on the clock of [`clock::now_ns`]; `None` while they get ready.
    pub fn begin_ns(&self) -> Option<u64> {
        Some(self.begin.load(Ordering::Acquire)).filter(|begin| *begin > 0)
    }

    /// The next report of any worker.
    pub fn next(&mut self, wait: Duration) -> Next {
        match self.reports.recv_timeout(wait) {
            Ok(report) => Next::Report(report),
            Err(RecvTimeoutError::Timeout) => Next::Quiet,
            Err(RecvTimeoutError::Disconnected) => Next::Ended,
        }
    }

    /// Gives an interval back, so that the worker need not allocate another.
    pub fn give_back(&mut self, worker: u32, interval: Box<Interval>) {
        if let Some(sender) = self.empties.get(worker as usize) {
            // The worker may have ended already.
            let _ = sender.send(interval);
        }
    }

    /// Waits for the workers and says how it ended.
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
                Err(_) => finish.lost_workers.push(format!("worker {i} died of a bug in the load generator")),
            }
        }
        // A worker that ran out of requests early waited for the others: what stopped them stopped the run.
        for why in [Stopped::Command, Stopped::Duration, Stopped::Retired] {
            if reasons.contains(&why) {
                finish.stopped = why;
                break;
            }
        }
        finish
    }
}

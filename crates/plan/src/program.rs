//! The vocabulary between a virtual user and the engine: Steps out, Replies in.
//!
//! A program is resumed with a [`Wake`] and says into its [`Outbox`] what it wants: requests, sleeps, streams, each
//! under an id of its own choosing; several may be outstanding at once. When nothing is outstanding the iteration is
//! over. Plain sequences from the command line are interpreted by the engine itself without a call through this trait;
//! whatever does more (scenario files, scripts, tests) implements it. Nothing here knows what a program was written in.

use crate::Problem;
use crate::failure_example::FailureExample;
use crate::fault::Fault;
use crate::head::Head;
use crate::metric::{HistCell, RunSum, SumCell};
use crate::origin::OriginId;
use crate::series::Family;
use crate::series::book::SeriesBook;
use std::sync::Arc;

/// Index of a series: first the requests of the plan, behind them its checks, behind those its groups; those that
/// programs open ([`Outbox::open`]) follow behind all others.
pub type RequestId = u32;

/// The program's own name for one outstanding step.
pub type StepId = u32;

/// What becomes of the body of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BodyUse {
    /// Nobody looks at it: the kernel may throw it away.
    #[default]
    Discard,
    /// It is handed over with the reply, and the head with it.
    Keep,
    /// The program is woken with [`Wake::Head`] and says then ([`Outbox::decide`]); until it does: discard.
    Decide,
    /// Only the head is handed over with the reply.
    HeadOnly,
    /// The body is server-sent events: [`Wake::Head`], then [`Wake::Event`] for each, at last [`Wake::Reply`].
    Stream,
}

/// What is sent for a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Payload {
    /// The plan's own request of this number, rendered before the load.
    #[default]
    Prepared,
    /// Bytes of the outbox, see [`Outbox::push_rendered`].
    Rendered { begin: u32, end: u32 },
}

/// Something a program wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Step {
    pub id: StepId,
    /// The series that is counted.
    pub request: RequestId,
    /// Where it is sent.
    pub origin: OriginId,
    pub body: BodyUse,
    pub payload: Payload,
    /// The method is HEAD.
    pub head_only: bool,
    /// The request says `Connection: close` by its own header.
    pub close: bool,
    /// From the send, ns; 0: the plan's. Of a stream: until its head.
    pub timeout_ns: u64,
    /// The program says by [`Outbox::fail`] whether the answer is a failure; else a status outside 200-399 is one.
    pub judged: bool,
}

/// Who ended a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Server,
    /// By [`Outbox::cancel`].
    Client,
    /// The run is over: only what the program counts about the stream is still taken.
    Stop,
}

/// Where the time of one request went, ns. The last two are 0 for one that was never sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phases {
    /// From the instant at which it was due to its send: schedule lag, waiting for a connection, and making one.
    pub wait_ns: u64,
    /// Of that, the making of its connection; 0 for one that was there already.
    pub connect_ns: u64,
    /// Of that, the TLS handshake behind it.
    pub tls_ns: u64,
    /// From the send to the first byte of the answer.
    pub first_byte_ns: u64,
    /// From there to the end.
    pub body_ns: u64,
}

impl Phases {
    /// From the send to the end; 0 for a request that was never sent.
    pub fn service_ns(&self) -> u64 {
        self.first_byte_ns.saturating_add(self.body_ns)
    }
}

/// How a step ended.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    pub id: StepId,
    /// 0 when no answer came.
    pub status: u16,
    /// Why it failed, if it did.
    pub fault: Option<Fault>,
    /// When the step asked for it.
    pub head: Head<'a>,
    /// The body when the step asked to keep it; content codings are not undone.
    pub body: &'a [u8],
    /// Bytes of the whole body; more than `body` holds when the limit `kept_body_bytes` was met.
    pub body_bytes: u64,
    pub phases: Phases,
    /// Of a stream that had begun, and that did not end in a fault.
    pub ended: Option<Ended>,
}

/// One server-sent event.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    pub id: StepId,
    /// Empty: `message`.
    pub name: &'a [u8],
    pub data: &'a [u8],
    pub event_id: Option<&'a [u8]>,
}

/// Why a program is resumed.
#[derive(Debug, Clone, Copy)]
pub enum Wake<'a> {
    /// A new iteration of this user.
    Begin {
        user: u32,
        iteration: u64,
    },
    Reply(Reply<'a>),
    /// The head of a stream, or of an answer whose body is still to be decided on.
    Head {
        id: StepId,
        status: u16,
        head: Head<'a>,
    },
    Event(Event<'a>),
    /// A sleep is over.
    Slept {
        id: StepId,
    },
}

/// The clocks at the moment of a wake, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct At {
    /// From the start of the run, monotonic.
    pub run_ns: u64,
    /// Since 1970, for values that show the time.
    pub unix_ns: u64,
}

/// A count that a program keeps about itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Count {
    /// A cell of the series' family, see [`Count::sum`].
    Sum(RequestId, usize, u64),
    /// As well, see [`Count::hist`].
    Hist(RequestId, usize, u64),
    Run(RunSum, u64),
    /// A value of a user-defined metric, see [`Outbox::add`].
    Value(RequestId, f64),
}

impl Count {
    /// `id` must be of a table that the family of the series has.
    pub fn sum(series: RequestId, id: impl SumCell, n: u64) -> Count {
        Count::Sum(series, id.cell(), n)
    }

    /// As [`Count::sum`].
    pub fn hist(series: RequestId, id: impl HistCell, value: u64) -> Count {
        Count::Hist(series, id.cell(), value)
    }
}

/// What a program says in one wake; kept by the engine and reused, so that it does not allocate in the long run.
#[derive(Debug, Default)]
pub struct Outbox {
    pub steps: Vec<Step>,
    /// Bytes of rendered steps.
    pub arena: Vec<u8>,
    /// (id, length in ns)
    pub sleeps: Vec<(StepId, u64)>,
    pub cancels: Vec<StepId>,
    pub counts: Vec<Count>,
    pub samples: Vec<FailureExample>,
    pub decision: Option<BodyUse>,
    pub failure: Option<Fault>,
    pub retired: bool,
    pub lane_over: bool,
    /// See [`Outbox::rest`].
    pub rest_ns: u64,
    /// What the programs of this worker have opened.
    pub book: Box<SeriesBook>,
}

impl Outbox {
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// A request whose bytes are made now: head and body as they go over the wire.
    pub fn push_rendered(&mut self, step: Step, render: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.arena.len() as u32;
        render(&mut self.arena);
        self.steps.push(Step { payload: Payload::Rendered { begin, end: self.arena.len() as u32 }, ..step });
    }

    /// Wakes this program with [`Wake::Slept`] after `ns`.
    pub fn sleep(&mut self, id: StepId, ns: u64) {
        self.sleeps.push((id, ns));
    }

    /// Gives up an outstanding step: a stream is closed and ends with a [`Wake::Reply`] of [`Ended::Client`] (not from
    /// within this call); a sleep ends without a wake; a request on its way is left to end by itself.
    pub fn cancel(&mut self, id: StepId) {
        self.cancels.push(id);
    }

    /// The answer to [`Wake::Head`] of a step with [`BodyUse::Decide`]: discard or keep.
    pub fn decide(&mut self, body: BodyUse) {
        self.decision = Some(body);
    }

    /// The answer to [`Wake::Reply`] of a judged step: it has failed, by its status or by a check.
    pub fn fail(&mut self, fault: Fault) {
        self.failure = Some(fault);
    }

    pub fn count(&mut self, count: Count) {
        self.counts.push(count);
    }

    /// The series of this family, name and labels, opened when it is new: found on this worker alone, without
    /// a lock, and without memory unless it is new. A program that keeps the number saves the look-up.
    /// `None`: there are too many, which is counted (`series_rejected`); before that the values go to the
    /// series of this name without labels.
    pub fn open(&mut self, family: Family, name: &str, labels: &[(&str, &str)]) -> Option<RequestId> {
        self.book.find(family, name, labels)
    }

    /// Adds a value to a user-defined metric, by its series: to a counter what it grows by, to a rate 0 (false) or
    /// anything else (true), to a gauge and a trend the value. A value without meaning there is counted as such
    /// (`values_rejected`).
    pub fn add(&mut self, metric: RequestId, value: f64) {
        self.counts.push(Count::Value(metric, value));
    }

    pub fn sample(&mut self, sample: FailureExample) {
        self.samples.push(sample);
    }

    /// This user will do nothing more (its data has run out). The run ends when all users have said so.
    pub fn retire(&mut self) {
        self.retired = true;
    }

    /// No user of its workload will find anything to do any more: arrivals of the workload end here.
    pub fn end_workload(&mut self) {
        self.lane_over = true;
    }

    /// With the last word of an iteration: the next one of this user begins no sooner than after `ns`. The iteration
    /// itself is over at once. In the open model arrivals say when the next one begins, and this nothing.
    pub fn rest(&mut self, ns: u64) {
        self.rest_ns = ns;
    }

    pub fn clear(&mut self) {
        self.steps.clear();
        self.arena.clear();
        self.sleeps.clear();
        self.cancels.clear();
        self.counts.clear();
        self.samples.clear();
        self.decision = None;
        self.failure = None;
        self.retired = false;
        self.lane_over = false;
        self.rest_ns = 0;
    }
}

/// A virtual user whose behaviour is code. It lives and dies on the thread of its worker.
pub trait Program {
    fn resume(&mut self, at: At, wake: Wake<'_>, out: &mut Outbox);
}

/// Who a program is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserSlot {
    /// Number of the load model it belongs to.
    pub workload: u16,
    /// Number of the user in its workload over all machines, from 0.
    pub user: u32,
    /// Most users of the workload, over all machines.
    pub users: u32,
}

/// Makes one program per virtual user of one worker.
pub trait Programs {
    fn make(&mut self, slot: UserSlot) -> Box<dyn Program>;
}

/// Whatever has programs to run.
pub trait ProgramFactory: Send + Sync {
    /// Called once by each worker, on its thread, before the instant is named at which all begin: what all programs of
    /// the worker share (the machine of a script) begins here and is handed to each of them.
    fn programs(&self) -> Box<dyn Programs>;
}

/// What the users of a run are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// One user, one iteration, before the load. Any failure ends it, see [`Behaviour::trouble`].
    Setup,
    Load,
    /// One user, one iteration, behind the load; as the set-up.
    Teardown,
}

/// Why a behaviour is not ready for a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unready {
    /// What stands in a file that feeds the users is wrong: the user's text.
    Data(Problem),
    /// A file cannot be read or written: the machine's trouble.
    File(Problem),
}

impl Unready {
    pub fn problem(&self) -> &Problem {
        match self {
            Unready::Data(problem) | Unready::File(problem) => problem,
        }
    }
}

impl std::fmt::Display for Unready {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.problem().fmt(f)
    }
}

/// How the users of a plan behave: whatever makes programs of what somebody wrote, a table of scenarios or a script.
pub trait Behaviour: Send + Sync {
    /// Whether there is anything to do in a phase.
    fn has(&self, phase: Phase) -> bool;

    /// Reads every row of every file that is there already.
    ///
    /// # Errors
    /// When a row cannot be used; the message names its file and line.
    fn check_data(&self) -> Result<(), Unready>;

    /// What makes the users of a phase. Call it in front of each phase and not before: the set-up may write the files
    /// that feed the load, which are opened here.
    ///
    /// # Errors
    /// When a file cannot be read or written; the message names it.
    fn factory(self: Arc<Self>, phase: Phase) -> Result<Arc<dyn ProgramFactory>, Unready>;

    /// Why the set-up, or the tear-down when that was made last, failed; `None` when it did not (yet).
    fn trouble(&self) -> Option<String>;

    /// Whether the set-up (or the tear-down) has come to its end. A limit of the run may deny it a request, of which it
    /// never hears.
    fn is_through(&self) -> bool;

    /// Names of the values that the set-up should have set and has not.
    fn missing_globals(&self) -> Vec<String>;

    /// Hands what was written on the side to the kernel.
    ///
    /// # Errors
    /// On the first refusal, now or earlier; the message names the file.
    fn close(&self) -> Result<(), Problem>;
}

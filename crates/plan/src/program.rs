//! The interface between a virtual user and the engine: Steps out, Replies in.
//!
//! The engine resumes a program with a [`Wake`]. The program puts what it wants into its [`Outbox`]: requests, sleeps,
//! streams, and origins that the plan does not name, each with an ID that it chooses. Several may be outstanding at
//! once, and the iteration ends when nothing is outstanding. The engine runs fixed sequences itself, without calls
//! through this trait. Everything else (scenario files, scripts, tests) implements it. The interface does not depend on
//! the language of a program.

use crate::Problem;
use crate::failure_example::FailureExample;
use crate::fault::Fault;
use crate::head::Head;
use crate::link::TlsFiles;
use crate::metric::{HistCell, RunSum, SumCell};
use crate::origin::OriginId;
use crate::redis::{RedisCommand, RedisQuery};
use crate::request::Target;
use crate::series::Family;
use crate::series::book::SeriesBook;
use std::sync::Arc;

/// Index of a series: first the requests of the plan, then its checks, then its groups, and finally those that programs
/// open ([`Outbox::open`]).
pub type RequestId = u32;

/// The program's ID for one outstanding step.
pub type StepId = u32;

/// How the body of a response is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BodyUse {
    /// It is not used, so the kernel may discard it.
    #[default]
    Discard,
    /// The reply contains the body and the head.
    Keep,
    /// The program gets a [`Wake::Head`] and decides then ([`Outbox::decide`]). The default is to discard.
    Decide,
    /// The reply contains only the head.
    HeadOnly,
    /// The body consists of server-sent events, or of gRPC messages if its content type says so: [`Wake::Head`], a
    /// [`Wake::Event`] for each, and finally [`Wake::Reply`].
    Stream,
    /// As [`BodyUse::Stream`], and the request stays open, over HTTP/2: its body is what the program sends with
    /// [`Outbox::send`], until [`MessageKind::Close`] completes it. If the step has no timeout, that of the plan
    /// begins then.
    Duplex,
    /// The response opens a WebSocket: [`Wake::Head`], a [`Wake::Message`] for each message and control frame, and
    /// finally [`Wake::Reply`]. The program sends with [`Outbox::send`].
    WebSocket,
}

impl BodyUse {
    /// Returns whether the body is read as a stream of events or messages.
    pub const fn is_stream(self) -> bool {
        matches!(self, BodyUse::Stream | BodyUse::Duplex)
    }
}

/// The bytes to send for a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Payload {
    /// The request of the plan with this number, rendered before the load.
    #[default]
    Prepared,
    /// Bytes of the outbox; see [`Outbox::push_rendered`].
    Rendered { begin: u32, end: u32 },
}

/// A request of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Step {
    pub id: StepId,
    /// The series that counts it.
    pub request: RequestId,
    /// The origin that it is sent to.
    pub origin: OriginId,
    pub body: BodyUse,
    pub payload: Payload,
    /// Whether the method is HEAD.
    pub head_only: bool,
    /// Whether the request has the header `Connection: close`.
    pub close: bool,
    /// The timeout, measured from the send, ns; 0 means that of the plan. For a stream, it ends at the head.
    pub timeout_ns: u64,
    /// Whether the program decides with [`Outbox::fail`] if the response is a failure; otherwise a status outside
    /// 200–399 is one.
    pub judged: bool,
}

/// The side that ended a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Server,
    /// The client, with [`Outbox::cancel`].
    Client,
    /// The end of the run: the engine still accepts counts about the stream, but nothing else.
    Stop,
}

/// The latency breakdown of one request, ns. The last two are 0 for a request that was never sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phases {
    /// From the intended start time to the send: schedule lag, wait for a connection, and connect.
    pub wait_ns: u64,
    /// The part of it for opening the connection; 0 for a reused connection.
    pub connect_ns: u64,
    /// The part of it for the TLS handshake.
    pub tls_ns: u64,
    /// From the send to the first byte of the response.
    pub first_byte_ns: u64,
    /// From the first byte to the end.
    pub body_ns: u64,
}

impl Phases {
    /// Returns the time from the send to the end; 0 for a request that was never sent.
    pub fn service_ns(&self) -> u64 {
        self.first_byte_ns.saturating_add(self.body_ns)
    }
}

/// The end of a step.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    pub id: StepId,
    /// The status code; 0 without a response.
    pub status: u16,
    /// Why it failed, if it did.
    pub fault: Option<Fault>,
    /// The head, if the step requested it.
    pub head: Head<'a>,
    /// The body, if the step requested it; not decoded.
    pub body: &'a [u8],
    /// Size of the whole body; larger than `body` if the body exceeded the limit `kept_body_bytes`.
    pub body_bytes: u64,
    /// The fields after the body, over HTTP/2, if the step requested the head or the events.
    pub trailers: Head<'a>,
    pub phases: Phases,
    /// The side that ended a stream that had started and had no fault.
    pub ended: Option<Ended>,
}

/// One server-sent event, or one gRPC message as `data`.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    pub id: StepId,
    /// The event type; empty means `message`. Of a gRPC message, [`COMPRESSED`] or nothing.
    pub name: &'a [u8],
    pub data: &'a [u8],
    pub event_id: Option<&'a [u8]>,
}

/// The name of a gRPC message that is compressed.
pub const COMPRESSED: &[u8] = b"compressed";

/// A message or a control frame of a WebSocket.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    pub id: StepId,
    pub kind: MessageKind,
    /// The payload; of a close frame, its reason.
    pub data: &'a [u8],
}

/// The kind of a message or a control frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// UTF-8.
    Text,
    Binary,
    Ping,
    Pong,
    /// A close frame with its code. The engine answers it, and the socket ends.
    Close(u16),
}

/// A message of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending {
    /// The step that has opened the socket.
    pub id: StepId,
    pub kind: MessageKind,
    /// Its payload in the arena of the outbox.
    pub begin: u32,
    pub end: u32,
}

/// The reason to resume a program.
#[derive(Debug, Clone, Copy)]
pub enum Wake<'a> {
    /// A new iteration of a user.
    Begin {
        user: u32,
        iteration: u64,
        /// Number of the iteration in its workload over all users, workers, and machines, in the order of their starts;
        /// `None` if the workload does not count them ([`crate::load::Rules`]).
        number: Option<u64>,
    },
    Reply(Reply<'a>),
    /// The head of a stream or a WebSocket, or of a response with [`BodyUse::Decide`].
    Head {
        id: StepId,
        status: u16,
        head: Head<'a>,
    },
    Event(Event<'a>),
    Message(Message<'a>),
    /// The end of a sleep.
    Slept {
        id: StepId,
    },
    /// The answer to [`Outbox::reach`]: the number of the origin for [`Step::origin`], or why it cannot be used.
    Reached {
        id: StepId,
        result: Result<OriginId, &'a Unreachable>,
    },
    /// The iteration is interrupted, because its time after the end of its workload is over: its steps and sleeps have
    /// ended without a reply. Only counts in the outbox have an effect. A later [`Wake::Begin`] may follow.
    Interrupted,
}

/// Why an origin that a program asked for cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable {
    /// The row of the table of failures that counts it.
    pub fault: Fault,
    /// The reason, a lower-case sentence without a period.
    pub sentence: Arc<str>,
}

/// The clocks at a wake, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct At {
    /// Time since the start of the run, monotonic.
    pub run_ns: u64,
    /// Time since 1970, for values that show the time.
    pub unix_ns: u64,
}

/// A count that a program reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Count {
    /// A cell in the family of the series; see [`Count::sum`].
    Sum(RequestId, usize, u64),
    /// A cell in the family of the series; see [`Count::hist`].
    Hist(RequestId, usize, u64),
    Run(RunSum, u64),
    /// A value of a user-defined metric; see [`Outbox::add`].
    Value(RequestId, f64),
}

impl Count {
    /// Returns a count for a sum. `id` must be in a table of the series' family.
    pub fn sum(series: RequestId, id: impl SumCell, n: u64) -> Count {
        Count::Sum(series, id.cell(), n)
    }

    /// Returns a count for a histogram. `id` must be in a table of the series' family.
    pub fn hist(series: RequestId, id: impl HistCell, value: u64) -> Count {
        Count::Hist(series, id.cell(), value)
    }
}

/// An origin that a program asks for. Queries that differ are different origins, each with its own connections.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OriginQuery {
    pub target: Target,
    /// Whether its connections must speak HTTP/2: over TLS by ALPN, over plain text by prior knowledge. Otherwise, the
    /// plan decides.
    pub requires_http2: bool,
    /// Certificates and keys instead of those of the plan.
    pub tls_files: Option<Arc<TlsFiles>>,
    /// A command for a Redis server at the target. If the target is permitted, the command is sent; the answer comes
    /// when its reply is set, and its number means nothing.
    pub redis: Option<RedisQuery>,
}

impl From<Target> for OriginQuery {
    fn from(target: Target) -> OriginQuery {
        OriginQuery { target, requires_http2: false, tls_files: None, redis: None }
    }
}

impl From<Arc<RedisCommand>> for OriginQuery {
    fn from(command: Arc<RedisCommand>) -> OriginQuery {
        let (target, tls_files) = (command.target.clone(), command.client.tls_files.clone());
        OriginQuery { tls_files, redis: Some(RedisQuery(command)), ..OriginQuery::from(target) }
    }
}

/// The output of a program in one wake. The engine reuses it, so that it stops allocating after a while.
#[derive(Debug, Default)]
pub struct Outbox {
    pub steps: Vec<Step>,
    /// Messages, in the order in which they are sent: before the steps, or with the step that they belong to.
    pub messages: Vec<Sending>,
    /// Bytes of rendered steps and messages.
    pub arena: Vec<u8>,
    /// (ID, duration in ns)
    pub sleeps: Vec<(StepId, u64)>,
    /// Origins that the program asks for; see [`Outbox::reach`].
    pub reaches: Vec<(StepId, OriginQuery)>,
    /// Origins to which the user closes its connections; see [`Outbox::close_connections`].
    pub closes: Vec<OriginId>,
    pub cancels: Vec<StepId>,
    pub counts: Vec<Count>,
    pub samples: Vec<FailureExample>,
    pub decision: Option<BodyUse>,
    pub failure: Option<Fault>,
    pub retired: bool,
    pub lane_over: bool,
    /// Set by [`Outbox::rest`].
    pub rest_ns: u64,
    /// The series that the programs of this worker have opened.
    pub book: Box<SeriesBook>,
    /// Reads the monotonic clock, ns, for programs that compute for long: the time of a wake is that of its event. Only
    /// differences mean something; `None` in simulated time.
    pub clock: Option<fn() -> u64>,
}

impl Outbox {
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Adds a request whose bytes are rendered now: head and body as sent.
    pub fn push_rendered(&mut self, step: Step, render: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.arena.len() as u32;
        render(&mut self.arena);
        self.steps.push(Step { payload: Payload::Rendered { begin, end: self.arena.len() as u32 }, ..step });
    }

    /// Sends a message over an open WebSocket. [`MessageKind::Close`] begins its end; the reply comes when the server
    /// has answered it, or has not in time. Of a step with [`BodyUse::Duplex`], which may be of the same wake, the
    /// payloads are the body as sent, and [`MessageKind::Close`] is its end.
    pub fn send(&mut self, id: StepId, kind: MessageKind, payload: &[u8]) {
        let begin = self.arena.len() as u32;
        self.arena.extend_from_slice(payload);
        self.messages.push(Sending { id, kind, begin, end: self.arena.len() as u32 });
    }

    /// Requests a [`Wake::Slept`] after `ns`.
    pub fn sleep(&mut self, id: StepId, ns: u64) {
        self.sleeps.push((id, ns));
    }

    /// Asks for an origin that the plan may not name, and requests a [`Wake::Reached`]. A new origin is subject to the
    /// target policy; it is resolved, tried, and agreed with on the version of HTTP, as those of the plan are before
    /// the load, and all programs of the run can then use its number. A known one is answered in the worker's next
    /// event-loop iteration. Letter case of the host does not matter.
    ///
    /// The name of a new origin in reports is [`found_name`](crate::origin::found_name); series of its requests carry
    /// it as the label [`ORIGIN_TAG`](crate::origin::ORIGIN_TAG). Those of the plan have their own names.
    pub fn reach(&mut self, id: StepId, query: impl Into<OriginQuery>) {
        self.reaches.push((id, query.into()));
    }

    /// Closes the idle connections of this user to an origin, before the steps of this wake. Those that other users
    /// share stay open.
    pub fn close_connections(&mut self, origin: OriginId) {
        self.closes.push(origin);
    }

    /// Cancels an outstanding step. A stream or a WebSocket is closed and later ends with a [`Wake::Reply`] of
    /// [`Ended::Client`]. A sleep or a wait for an origin ends without a wake. A request in flight continues until it
    /// ends. A sleep or a wait that this outbox would begin does not begin.
    pub fn cancel(&mut self, id: StepId) {
        let begun = self.sleeps.len() + self.reaches.len();
        self.sleeps.retain(|(step, _)| *step != id);
        self.reaches.retain(|(step, _)| *step != id);
        if self.sleeps.len() + self.reaches.len() == begun {
            self.cancels.push(id);
        }
    }

    /// Answers the [`Wake::Head`] of a step with [`BodyUse::Decide`]: discard or keep.
    pub fn decide(&mut self, body: BodyUse) {
        self.decision = Some(body);
    }

    /// Answers the [`Wake::Reply`] of a judged step: it has failed by its status or by a check.
    pub fn fail(&mut self, fault: Fault) {
        self.failure = Some(fault);
    }

    pub fn count(&mut self, count: Count) {
        self.counts.push(count);
    }

    /// Returns the series with this family, name, and labels, and opens it if it is new. The lookup is local to the
    /// worker, takes no lock, and allocates only for a new series. A program can store the number to avoid lookups. If
    /// there are too many series, it returns that of the same name without labels, or `None`; both are counted
    /// (`series_rejected`).
    pub fn open(&mut self, family: Family, name: &str, labels: &[(&str, &str)]) -> Option<RequestId> {
        self.book.find(family, name, labels)
    }

    /// Adds a value to the series of a user-defined metric: the increase of a counter, 0 (false) or anything else
    /// (true) for a rate, and the value of a gauge or a trend. An invalid value is counted (`values_rejected`).
    pub fn add(&mut self, metric: RequestId, value: f64) {
        self.counts.push(Count::Value(metric, value));
    }

    pub fn sample(&mut self, sample: FailureExample) {
        self.samples.push(sample);
    }

    /// Reports that this user has ended, because its data ran out. The run ends when all users have ended.
    pub fn retire(&mut self) {
        self.retired = true;
    }

    /// Reports that no user of the workload has anything left to do, so that its arrivals end.
    pub fn end_workload(&mut self) {
        self.lane_over = true;
    }

    /// Delays the next iteration of this user by at least `ns`, at the end of an iteration. The current iteration ends
    /// immediately. This has no effect in the open model, where arrivals start iterations.
    pub fn rest(&mut self, ns: u64) {
        self.rest_ns = ns;
    }

    pub fn clear(&mut self) {
        self.steps.clear();
        self.messages.clear();
        self.arena.clear();
        self.sleeps.clear();
        self.reaches.clear();
        self.closes.clear();
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

/// A virtual user as code. It stays on the thread of its worker.
pub trait Program {
    fn resume(&mut self, at: At, wake: Wake<'_>, out: &mut Outbox);
}

/// The user that a program is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserSlot {
    /// Number of its load model.
    pub workload: u16,
    /// Number of the user in its workload over all machines, starting at 0.
    pub user: u32,
    /// Number of the user over all workloads and machines, starting at 0.
    pub id: u32,
    /// Maximum number of users of the workload over all machines.
    pub users: u32,
}

/// A maker of the programs of one worker, one per virtual user.
pub trait Programs {
    fn make(&mut self, slot: UserSlot) -> Box<dyn Program>;
}

/// A source of programs.
pub trait ProgramFactory: Send + Sync {
    /// Returns the maker of programs for a worker. Each worker calls this once, on its thread, before the common start
    /// time is set. State that the programs of a worker share (such as a script's virtual machine) is created here.
    fn programs(&self) -> Box<dyn Programs>;
}

/// A phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// One user, one iteration, before the load. Any failure ends it; see [`Behavior::trouble`].
    Setup,
    Load,
    /// One user, one iteration, after the load, otherwise like setup.
    Teardown,
}

/// Why a script is not ready for a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unready {
    /// The content of a data file is invalid, which is a mistake of the user.
    Data(Problem),
    /// A file cannot be read or written, which is a failure of the system.
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

/// The script of a plan, which makes programs from a table of scenarios or from code.
pub trait Behavior: Send + Sync {
    /// Returns whether a phase has any steps.
    fn has(&self, phase: Phase) -> bool;

    /// Reads all rows of all existing data files.
    ///
    /// # Errors
    /// Returns an error with file and line if a row is invalid.
    fn check_data(&self) -> Result<(), Unready>;

    /// Returns the source of programs for a phase. Call it directly before the phase, because it opens data files,
    /// which setup may write.
    ///
    /// # Errors
    /// Returns an error with the name of the file if a file cannot be read or written.
    fn factory(self: Arc<Self>, phase: Phase) -> Result<Arc<dyn ProgramFactory>, Unready>;

    /// Returns why the last phase, setup or teardown, failed; `None` if it did not fail, or has not ended.
    fn trouble(&self) -> Option<String>;

    /// Returns whether the last phase, setup or teardown, has reached its end. If a limit of the run rejects a request,
    /// it never does.
    fn is_through(&self) -> bool;

    /// Returns the names of the values that setup should have set, but did not.
    fn missing_globals(&self) -> Vec<String>;

    /// Returns whether one load generator can run setup and teardown for several; otherwise each runs its own.
    fn shares_setup(&self) -> bool {
        false
    }

    /// Returns the values that setup has set, for load generators that do not run it.
    fn setup_values(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes the values of a setup that ran elsewhere with the same version of this program.
    ///
    /// # Errors
    /// Returns an error if they do not fit the script.
    fn adopt_setup(&self, values: &[u8]) -> Result<(), Problem> {
        match values.is_empty() {
            true => Ok(()),
            false => Err(Problem::plain("the script takes no values of a setup that ran elsewhere")),
        }
    }

    /// Flushes the files that the script writes.
    ///
    /// # Errors
    /// Returns the first error of a write, now or earlier, with the name of the file.
    fn close(&self) -> Result<(), Problem>;
}

//! One core's work: users, connections, timers and numbers of one thread, sharing nothing with the others.
//!
//! [`turn`] is the loop; [`link`] opens and closes connections, [`exchange`] sends a request over one ([`secure`] over
//! TLS), [`read`] takes what comes ([`stream`] when the answer is events without end, [`keep`] what is kept of it) to
//! one of the [`ends`], in [`shares`] of a turn; [`arrivals`] and [`next`] decide who sends what next, [`attempts`]
//! what follows a connection that did not come about, [`unasked`] what came without a request; [`resume`] speaks with
//! programs. A link and an exchange are known by their numbers, and so is a user; none of these is any of the others.
//! The worker is generic over its [`Door`], so that tests run it in a network made of numbers.

mod arrivals;
mod attempts;
mod config;
mod ends;
mod exchange;
mod keep;
mod link;
mod next;
mod post;
mod read;
mod redirect;
mod resume;
mod secure;
mod shares;
mod stream;
mod turn;
mod unasked;

pub use post::{Post, WorkerNotes};

use crate::compile::Compiled;
use crate::driver::{CpuReading, Door, Flags};
use crate::exchange::Exchange;
use crate::lease::Lease;
use crate::link::Link;
use crate::link::tls::Setup;
use crate::pace::{Arrivals, Users, WorkerSlot};
use crate::tally::Tally;
use crate::wheel::Wheel;
use crate::{Command, Stopped};
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::outline::Outline;
use plimsoll_plan::program::{Outbox, Program, StepId};
use plimsoll_plan::series::book::SeriesBook;
use plimsoll_wire::h1::Shared;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

pub use config::WorkerConfig;
pub(crate) use config::most_requests;

/// Empty buffers kept at most, and their size. In the steady state one goes and one comes; what a burst needed (ten
/// thousand streams that wait for their connections) must not be held for the rest of a run.
const BUFFERS_MAX: usize = 256;
const BUFFER_KEPT_BYTES: usize = 1_048_576;
/// All of them together.
const POOL_BYTES: usize = 67_108_864;

/// One virtual user.
#[derive(Debug, Clone, Default)]
struct User {
    /// Position in the table program.
    at: u32,
    /// Steps that have not ended.
    outstanding: u32,
    iteration: u64,
    /// A step of this iteration was denied, because the count over all workers is used up: it will never be whole.
    cut: bool,
    /// In an iteration, or between two of them without a pause.
    busy: bool,
    /// Will not start an iteration any more: its data has run out, or its loops are done.
    retired: bool,
    /// Has started an iteration.
    begun: bool,
    /// A request of it has succeeded.
    served: bool,
    workload: u16,
    /// A request that could not be sent for this machine's fault keeps its stamp and its lease; 0: none.
    owed_ns: u64,
    /// Its own link to the target; `NONE` when links are pooled.
    link: u32,
    /// First of the exchanges of its program, linked by [`Exchange::next`].
    first_exchange: u32,
    /// First of the sleeps of its program, linked by [`SleepTimer::next`].
    first_nap: u32,
    /// First of the links beyond its own that stay with it, linked by [`Link::next`].
    first_held: u32,
}

/// Where an origin is.
struct Here {
    /// Connections take turns over these; at least one.
    addresses: Box<[SocketAddr]>,
    /// Number of the first of them over all origins.
    first: u32,
    tls: Option<Setup>,
}

/// A program sleeps.
#[derive(Debug, Clone, Copy)]
struct SleepTimer {
    /// Nobody: free.
    user: u32,
    step: StepId,
    due_ns: u64,
    next: u32,
}

/// One load model and its users.
struct Workload {
    source: Source,
    /// Its users are `first..first + count`.
    first: u32,
    count: u32,
    /// Iterations of each user.
    loops: Option<u64>,
    /// Iterations over all workers; without a limit for the open model, whose arrivals are numbered.
    iterations: Lease,
    /// Users that will not start any more.
    retired: u32,
}

/// Who starts iterations. One per worker: its size does not matter.
#[allow(clippy::large_enum_variant)]
enum Source {
    Closed {
        users: Users,
        active: u32,
        next_change_ns: Option<u64>,
    },
    Open {
        arrivals: Arrivals,
        /// Users without an iteration, and since when; the last one freed goes first, its connection is the warmest.
        free: Vec<(u32, u64)>,
        /// Stamps of arrivals that were started and sent back, or set aside when the sequence changed; ascending.
        returned: VecDeque<u64>,
        /// Set while arrivals wait: a second reader of the same sequence, which counts what came due.
        waiting: Option<Arrivals>,
        /// Arrivals counted as due, and started.
        due: u64,
        started: u64,
    },
}

/// See the module.
struct Worker<D: Door, P: Post> {
    door: D,
    post: P,
    outline: Arc<Outline>,
    compiled: Arc<Compiled>,
    /// By origin.
    places: Box<[Here]>,
    /// How many series there are.
    series: usize,
    sources: Arc<[IpAddr]>,
    /// Whose turn it is.
    turn: usize,
    /// The series of the first of several addresses; with one there is nothing to tell apart.
    address_series: Option<u32>,
    /// What programs have opened; in the hands of the one that is awake.
    book: Box<SeriesBook>,
    /// Of the series in the book, those that were told.
    told_series: usize,
    seat: WorkerSlot,
    /// All times are on the door's clock.
    begin_ns: u64,
    /// When nothing more is begun.
    end_ns: u64,
    /// When what is under way is cut off; the end itself unless the plan grants grace.
    cut_ns: u64,
    now_ns: u64,
    /// What is added to the door's clock for the time since 1970.
    unix_offset_ns: i128,

    links: Vec<Link>,
    /// By origin: links beyond the users' own, for programs with several steps outstanding, that are not in use; when
    /// they are pooled all that are not in use.
    spare: Box<[Vec<u32>]>,
    link_wheel: Wheel,
    exchanges: Vec<Exchange>,
    /// The last one freed goes first, it is the warmest.
    free_exchanges: Vec<u32>,
    exchange_wheel: Wheel,
    naps: Vec<SleepTimer>,
    free_naps: Vec<u32>,
    nap_wheel: Wheel,
    napping: u64,
    /// Of those, users between two iterations.
    resting: u64,
    due_timers: Vec<u32>,
    shared: Shared,
    buffer: Box<[u8]>,
    /// Empty buffers for bodies that somebody reads and for requests that wait for a connection; a few.
    #[allow(clippy::vec_box, clippy::box_collection)]
    bodies: Vec<Box<Vec<u8>>>,
    lent: keep::Lent,
    /// Events of this turn that the next one takes first, because the turn was over before them; since when they wait.
    late: VecDeque<(u64, Flags)>,
    late_since_ns: u64,
    /// Sockets by their tokens whose share was used up before all was read; the one that waits longest goes first.
    unread: VecDeque<u64>,
    /// This turn began with events of the one before: each socket reads little.
    is_brief: bool,
    /// What TLS opened and sealed last.
    opened: Vec<u8>,
    sealed: Vec<u8>,
    /// Payload of a stream between the session and the parser of events; its heads; spare buffers of the parsers.
    payload: Vec<u8>,
    event_spares: plimsoll_wire::sse::Spares,
    streams: u64,
    /// By request: its last answer had a large body.
    large: Box<[bool]>,

    users: Vec<User>,
    /// Foreign programs by user; empty for table programs.
    programs: Vec<Option<Box<dyn Program>>>,
    /// Taken out while it is read, so that a program resumed meanwhile gets another.
    outbox: Option<Box<Outbox>>,
    samples: Vec<FailureExample>,
    /// Samples of failures that no program sees.
    own_samples: u32,
    /// Where a redirect led was kept once.
    redirect_noted: bool,
    workloads: Vec<Workload>,
    lease: Lease,
    /// Iterations begun and not over.
    under_way: u64,
    pooled: bool,
    /// Each iteration begins without a connection.
    anew: bool,
    requests_per_connection: Option<u32>,
    /// Exchanges whose streams are to be ended before the next sleep.
    to_end: Vec<u32>,
    /// Exchanges begun and not ended, those waiting for a connection included.
    outstanding: u64,
    /// Users that owe a request (see [`User::owed_ns`]).
    owing: u32,
    paused: bool,
    /// Since when; `u64::MAX` while not paused.
    paused_ns: u64,
    /// End of the last pause: nothing that was due in it could have been sent before.
    resumed_ns: u64,
    stop: Option<Stopped>,
    commands: Vec<Command>,

    tally: Tally,
    tick: u32,
    tick_end_ns: u64,
    /// Round robin over links whose TCP account is read at a tick.
    sampled: usize,
    /// Sockets in use, those on their way included.
    open_sockets: u64,
    spin_ns: u64,
    users_changed_ns: u64,
    cpu: CpuReading,
    tick_begin_ns: u64,
    /// When the last exchange ended.
    ended_ns: u64,
}

//! One core's work: users, connections, timers, and numbers of one thread, which shares nothing with the others.
//!
//! [`turn`] is the event loop. [`link`] opens and closes connections, [`exchange`] sends a request over one ([`secure`]
//! over TLS, [`multiplex`] and [`flush`] over HTTP/2, whose [`frames`] it reads, and whose links may be [`lost`];
//! [`delivery`] in pieces). [`tunnel`] begins connections through a proxy. [`read`] passes received bytes ([`stream`]
//! for endless streams of events, [`socket`] for WebSockets, [`duplex`] for requests that stay open, [`keep`] for kept
//! parts of a response) to one of the [`ends`], in [`shares`] of an event-loop iteration. [`arrivals`] and [`next`]
//! decide which user sends next, [`names`] looks up hosts, [`reach`] finds origins that programs ask for,
//! [`attempts`] handles failed connections, and [`unasked`] handles bytes received without a request. [`resume`] runs
//! programs, and [`interrupt`] ends iterations whose time is over. Links, exchanges, and users have separate numbers.
//! The worker is generic over its [`Door`], so tests run it in a network made of numbers.

mod arrivals;
mod attempts;
mod config;
mod delivery;
mod duplex;
mod ends;
mod exchange;
mod flush;
mod frames;
mod interrupt;
mod keep;
mod link;
mod lost;
mod multiplex;
mod names;
mod next;
mod pipe;
mod post;
mod reach;
mod read;
mod redirect;
mod resume;
mod secure;
mod shares;
mod socket;
mod socket_stream;
mod stream;
mod tunnel;
mod turn;
mod unasked;

pub use post::{Post, WorkerNotes};

use crate::compile::Compiled;
use crate::delivery::Courier;
use crate::driver::{CpuReading, Door, Flags};
use crate::exchange::Exchange;
use crate::lease::Lease;
use crate::link::tls::Setup;
use crate::link::{Link, Openings, Outgoing};
use crate::names::{LookedUp, Ticket};
use crate::route::Route;
use crate::tally::Tally;
use crate::wheel::Wheel;
use crate::{Command, Stopped};
use plimsoll_pace::{Arrivals, Users, WorkerSlot};
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::outline::Outline;
use plimsoll_plan::program::{Outbox, Program, StepId};
use plimsoll_plan::series::book::SeriesBook;
use plimsoll_stats::random::SplitMix64;
use plimsoll_wire::h1::Shared;
use plimsoll_wire::{h2, ws};
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub use config::WorkerConfig;
pub(crate) use config::most_requests;

/// Most empty buffers kept, and their largest size. In the steady state, one is taken as one is returned; buffers for a
/// burst (ten thousand streams that wait for their connections) must not be held for the rest of a run.
const BUFFERS_MAX: usize = 256;
const BUFFER_KEPT_BYTES: usize = 1_048_576;
/// The most memory of all of them together.
const POOL_BYTES: usize = 67_108_864;

/// One virtual user.
#[derive(Debug, Clone, Default)]
struct User {
    /// Position in the table program.
    at: u32,
    /// Steps that have not ended.
    outstanding: u32,
    iteration: u64,
    /// A step of this iteration was denied because the count over all workers is used up: the iteration will never be
    /// complete.
    cut: bool,
    /// In an iteration, or between two of them without a pause.
    busy: bool,
    /// Starts no more iterations: its data has run out, or it has completed its iterations.
    retired: bool,
    /// Has started an iteration.
    begun: bool,
    /// One of its requests has succeeded.
    served: bool,
    workload: u16,
    /// Entries in [`Stops::stopped`].
    stops: u8,
    /// Its own link to the target; `NONE` if links are pooled.
    link: u32,
    /// First of the exchanges of its program, linked by [`Exchange::next`].
    first_exchange: u32,
    /// First of the sleeps of its program, linked by [`SleepTimer::next`].
    first_nap: u32,
    /// First of the other links that it holds, linked by [`Link::next`].
    first_held: u32,
}

/// The addresses and TLS setup of an origin.
struct Here {
    /// Connections rotate over these; at least one.
    addresses: Box<[SocketAddr]>,
    /// The addresses of one cycle of connections; empty if each has one connection in it.
    cycle: Box<[u16]>,
    /// Counter that rotates connections over addresses and sources.
    turn: usize,
    /// Number of the first of them over all origins of the plan; `NONE` for one that was found during the load, whose
    /// addresses have no series.
    first: u32,
    tls: Option<Setup>,
    route: Option<Arc<Route>>,
    is_http2: bool,
    /// Each connection looks up the host.
    resolves: bool,
    /// Counter that rotates connections over client certificates, unless they are those of users.
    client: usize,
    /// Several users may share a connection.
    is_shared: bool,
}

/// A program's sleep.
#[derive(Debug, Clone, Copy)]
struct SleepTimer {
    /// No user: the entry is free.
    user: u32,
    step: StepId,
    due_ns: u64,
    next: u32,
}

/// The iterations of a workload that end before they are complete.
#[derive(Default)]
struct Stops {
    /// When all iterations in progress are interrupted; `u64::MAX`: at the end of the run.
    cut_ns: u64,
    /// How long a user that the level stops may continue; `None`: to the end of its iteration.
    ramp_down_ns: Option<u64>,
    /// Users that the level has stopped in an iteration, in the order of their deadlines.
    stopped: VecDeque<(u64, u32)>,
}

/// One load model and its users.
struct Workload {
    source: Source,
    /// Its users are `first..first + count`.
    first: u32,
    count: u32,
    /// Iterations of each user.
    loops: Option<u64>,
    /// Iterations over all workers; unlimited for the open model, whose arrivals are numbered.
    iterations: Lease,
    /// Users that start no more iterations.
    retired: u32,
    /// Nothing is begun after this time; `u64::MAX`: that of the run.
    end_ns: u64,
    stops: Stops,
    /// Numbers the iterations of all workers of this machine; `None`: they have no numbers.
    counter: Option<Arc<AtomicU64>>,
}

/// The source of iterations. There is one per worker, so its size does not matter.
#[allow(clippy::large_enum_variant)]
enum Source {
    Closed {
        users: Users,
        active: u32,
        next_change_ns: Option<u64>,
    },
    Open {
        arrivals: Arrivals,
        /// Users without an iteration, and since when; the last one freed goes first because its connection is the
        /// warmest.
        free: Vec<(u32, u64)>,
        /// Intended start times of arrivals that were started and sent back, or set aside when the sequence changed;
        /// ascending.
        returned: VecDeque<u64>,
        /// Present while arrivals wait: a second reader of the same sequence, which counts the arrivals that became
        /// due.
        waiting: Option<Arrivals>,
        /// Arrivals counted as due, and started.
        due: u64,
        started: u64,
        /// An arrival that finds no free user is dropped, and adds the next of these users; `None`: it waits.
        drops: Option<Range<u32>>,
    },
}

/// One worker.
struct Worker<D: Door, P: Post> {
    door: D,
    post: P,
    outline: Arc<Outline>,
    compiled: Arc<Compiled>,
    /// By origin; those that were found during the load follow those of the plan.
    places: Vec<Here>,
    /// The plan has a target: the first origin, to which users have their own links unless these are pooled.
    has_target: bool,
    /// The number of series.
    series: usize,
    sources: Arc<[IpAddr]>,
    /// The series of the first of several addresses; a single address has none.
    address_series: Option<u32>,
    /// Series that programs have opened; passed to the running program.
    book: Box<SeriesBook>,
    /// Number of series in the book that were reported.
    told_series: usize,
    seat: WorkerSlot,
    /// All times are on the door's clock.
    begin_ns: u64,
    /// Nothing more is begun after this time.
    end_ns: u64,
    /// Requests still in progress are cut off at this time; it is the end itself unless the plan has a graceful stop.
    cut_ns: u64,
    now_ns: u64,
    /// Offset from the door's clock to the time since 1970.
    unix_offset_ns: i128,

    links: Vec<Link>,
    /// By origin: unused links beyond the users' own, for programs with several outstanding steps; if links are pooled,
    /// all unused ones.
    spare: Vec<Vec<u32>>,
    openings: Openings,
    tunnels: tunnel::Tunnels,
    /// Whether a proxy forwards requests to some origin, and a request in the form for it.
    is_forwarded: bool,
    forwarded: Vec<u8>,
    /// Lookups in progress, and answers taken at once.
    looking_up: u64,
    answers: Vec<(Ticket, LookedUp)>,
    /// Steps of programs that wait for an origin.
    reaching: u64,
    reaches: reach::Reaches,
    exchanges: Vec<Exchange>,
    /// The last one freed goes first because it is the warmest.
    free_exchanges: Vec<u32>,
    exchange_wheel: Wheel,
    naps: Vec<SleepTimer>,
    free_naps: Vec<u32>,
    nap_wheel: Wheel,
    napping: u64,
    /// Of those, users between two iterations.
    resting: u64,
    due_timers: Vec<u32>,
    /// For requests that are sent, or whose responses are read, in pieces.
    courier: Option<Box<Courier>>,
    shared: Shared,
    /// The same for HTTP/2.
    frames: h2::Shared,
    /// The header block of a rendered request.
    block: Vec<u8>,
    /// Links with frames to send, and empty buffers for these.
    dirty: Vec<u32>,
    #[allow(clippy::vec_box)]
    outs: Vec<Box<Outgoing>>,
    /// Frames in the buffer are being handled, so it must not be read into.
    is_feeding: bool,
    buffer: Box<[u8]>,
    /// Some empty buffers for bodies that programs read and for requests that wait for a connection.
    #[allow(clippy::vec_box, clippy::box_collection)]
    bodies: Vec<Box<Vec<u8>>>,
    lent: keep::Lent,
    /// Events that the last event-loop iteration had no time for, which the next one takes first; and the time since
    /// which they wait.
    late: VecDeque<(u64, Flags)>,
    late_since_ns: u64,
    /// Tokens of sockets whose share was used up before all was read; the one that has waited longest goes first.
    unread: VecDeque<u64>,
    /// This event-loop iteration began with events of the previous one: each socket reads only a little.
    is_brief: bool,
    /// The bytes last opened and sealed by TLS.
    opened: Vec<u8>,
    sealed: Vec<u8>,
    /// Payload of a stream between the session and the event parser; its heads; spare buffers of the parsers.
    payload: Vec<u8>,
    event_spares: plimsoll_wire::sse::Spares,
    streams: u64,
    /// The same for WebSockets: what their readers share, what their writers share, the frame last written, and the
    /// masks of frames.
    sockets: ws::Shared,
    packing: ws::SharedWriter,
    frame: Vec<u8>,
    masks: SplitMix64,
    /// By request: whether its last response had a large body.
    large: Box<[bool]>,

    users: Vec<User>,
    /// Programs by user; empty for table programs.
    programs: Vec<Option<Box<dyn Program>>>,
    /// Taken out while it is read, so that a program resumed in the meantime gets another.
    outbox: Option<Box<Outbox>>,
    samples: Vec<FailureExample>,
    /// Failure examples that no program sees.
    own_samples: u32,
    /// The target of a redirect was kept already.
    redirect_noted: bool,
    /// The next head of a redirect over HTTP/2 is read, for its target; and that head.
    seeks_location: bool,
    location: Vec<u8>,
    /// The trailers of the last exchange that had any, and its number until its program has seen them.
    trailers: Vec<u8>,
    trailers_of: u32,
    workloads: Vec<Workload>,
    lease: Lease,
    /// Iterations begun and not ended.
    under_way: u64,
    pooled: bool,
    /// Each iteration begins without a connection.
    anew: bool,
    /// There are several client certificates, and each user has one of them.
    has_own_clients: bool,
    requests_per_connection: Option<u32>,
    /// Exchanges whose streams must be ended before the next sleep.
    to_end: Vec<u32>,
    /// Exchanges begun and not ended, including those waiting for a connection.
    outstanding: u64,
    /// Requests that are owed (see [`Phase::Owed`](crate::exchange::Phase)).
    owing: u32,
    paused: bool,
    /// Start of the pause; `u64::MAX` while not paused.
    paused_ns: u64,
    /// End of the last pause: requests due during it could not be sent earlier.
    resumed_ns: u64,
    stop: Option<Stopped>,
    commands: Vec<Command>,

    tally: Tally,
    tick: u32,
    tick_end_ns: u64,
    /// Rotates over links whose TCP counters are read at a tick.
    sampled: usize,
    /// Sockets in use, including those that are connecting.
    open_sockets: u64,
    spin_ns: u64,
    users_changed_ns: u64,
    cpu: CpuReading,
    tick_begin_ns: u64,
    /// When the last exchange ended.
    ended_ns: u64,
    /// When the next iteration is interrupted; `u64::MAX`: none is.
    next_stop_ns: u64,
}

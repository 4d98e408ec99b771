//! One core's work: users, connections, timers and numbers of one thread, sharing nothing with the others.
//!
//! [`turn`] is the loop; [`exchange`] takes a request over a connection ([`secure`] over TLS, [`stream`] when its
//! answer is events without end, [`keep`] what is read of it) to one of its [`ends`], in [`shares`] of a turn;
//! [`arrivals`] and [`next`] decide who sends what next, [`attempts`] what follows a connection that did not come
//! about, [`unasked`] what came without a request; [`resume`] speaks with programs. The worker is generic over its
//! [`Door`], so that tests run it in a network made of numbers.

mod arrivals;
mod attempts;
mod ends;
mod exchange;
mod keep;
mod next;
mod redirect;
mod resume;
mod secure;
mod shares;
mod stream;
mod turn;
mod unasked;

use crate::compile::Compiled;
use crate::conn::Conn;
use crate::driver::{CpuReading, Door, Flags};
use crate::lease::Lease;
use crate::link::tls::Setup;
use crate::pace::{Arrivals, Seat, Users};
use crate::tally::{Tally, by_address};
use crate::wheel::Wheel;
use crate::{Command, Stopped};
use plimsoll_plan::link::Reuse;
use plimsoll_plan::load::{Lane as LanePlan, Load, Profile};
use plimsoll_plan::outline::Outline;
use plimsoll_plan::program::{Chair, Outbox, Program, Programs, StepId};
use plimsoll_plan::sample::Sample;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::random::SplitMix64;
use plimsoll_wire::h1::Shared;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// One buffer for all connections, where the limit does not say how large; pages that no answer reaches are never
/// touched.
const BUFFER_BYTES: usize = 262_144;

/// Empty buffers kept at most, and their size. In the steady state one goes and one comes; what a burst needed (ten
/// thousand streams that wait for their connections) must not be held for the rest of a run.
const BUFFERS_MAX: usize = 256;
const BUFFER_KEPT_BYTES: usize = 1_048_576;
/// All of them together.
const POOL_BYTES: usize = 67_108_864;

/// Room in the lists of what waits for its share, made at the start.
const LISTS: usize = 256;

/// Where a worker's intervals go and its commands come from; the real one is a pair of channels.
pub trait Post {
    /// Hands over a full interval, and what was worth keeping as an example.
    fn hand_over(&mut self, full: Box<Interval>, samples: Vec<Sample>, last: bool);
    /// An interval that came back and may be used again.
    fn spare(&mut self) -> Option<Box<Interval>>;
    /// Commands that came since the last call; cheap when there are none.
    fn commands(&mut self, into: &mut Vec<Command>);
}

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
    lane: u16,
    /// A request that could not be sent for this machine's fault keeps its stamp and its lease; 0: none.
    owed_ns: u64,
    /// First of the connections that its program uses, linked by [`Conn::next`].
    first_conn: u32,
    /// First of the sleeps of its program, linked by [`Nap::next`].
    first_nap: u32,
    /// First of the connections beyond its own that stay with its iteration, linked by [`Conn::next`].
    first_held: u32,
}

/// A program sleeps.
#[derive(Debug, Clone, Copy)]
struct Nap {
    /// Nobody: free.
    user: u32,
    step: StepId,
    due_ns: u64,
    next: u32,
}

/// No connection, no sleep: the end of a list.
const NONE: u32 = u32::MAX;

/// One load model and its users.
struct Lane {
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
        /// Users without an iteration; the last one freed goes first, its connection is the warmest.
        free: Vec<u32>,
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
pub struct Worker<D: Door, P: Post> {
    door: D,
    post: P,
    outline: Arc<Outline>,
    compiled: Arc<Compiled>,
    /// Connections take turns over these.
    addresses: Arc<[SocketAddr]>,
    sources: Arc<[IpAddr]>,
    /// Whose turn it is.
    turn: usize,
    /// The series of the first of several addresses; with one there is nothing to tell apart.
    address_series: Option<u32>,
    tls: Option<Setup>,
    seat: Seat,
    /// All times are on the door's clock.
    begin_ns: u64,
    /// When nothing more is begun.
    end_ns: u64,
    /// When what is under way is cut off; the end itself unless the plan grants grace.
    cut_ns: u64,
    now_ns: u64,
    /// What is added to the door's clock for the time since 1970.
    unix_offset_ns: i128,

    conns: Vec<Conn>,
    /// Connections beyond the users' own, for programs with several steps outstanding, that are not in use; all
    /// connections when they are pooled.
    spare: Vec<u32>,
    naps: Vec<Nap>,
    free_naps: Vec<u32>,
    nap_wheel: Wheel,
    napping: u64,
    /// Of those, users between two iterations.
    resting: u64,
    wheel: Wheel,
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
    /// What a TLS link opened and sealed last.
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
    samples: Vec<Sample>,
    /// Samples of failures that no program sees.
    own_samples: u32,
    /// Where a redirect led was kept once.
    redirect_noted: bool,
    lanes: Vec<Lane>,
    lease: Lease,
    /// Iterations begun and not over.
    under_way: u64,
    pooled: bool,
    /// Each iteration begins without a connection.
    anew: bool,
    requests_per_connection: Option<u32>,
    /// Streams to be ended before the next sleep: (connection, its generation).
    to_end: Vec<(u32, u32)>,
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
    /// Round robin over connections whose TCP account is read at a tick.
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

/// What a worker is given besides its door and its post.
pub struct Seating {
    pub outline: Arc<Outline>,
    pub compiled: Arc<Compiled>,
    /// At least one.
    pub addresses: Arc<[SocketAddr]>,
    /// Local addresses to connect from; empty: the kernel chooses.
    pub sources: Arc<[IpAddr]>,
    pub tls: Option<Setup>,
    pub seat: Seat,
    pub begin_ns: u64,
    /// What is added to the door's clock for the time since 1970, ns.
    pub unix_offset_ns: i128,
    pub lease: Lease,
    /// Iterations by lane.
    pub iterations: Vec<Lease>,
    /// Instants of recorded arrivals by lane, ns from the start.
    pub recorded: Vec<Option<Arc<[u64]>>>,
    pub programs: Option<Box<dyn Programs>>,
}

impl<D: Door, P: Post> Worker<D, P> {
    pub fn new(mut door: D, post: P, seating: Seating) -> Self {
        let Seating { outline, compiled, addresses, sources, tls, seat, begin_ns, lease, .. } = seating;
        let mut made = seating.programs;
        // The hard caps hold whatever the plan says.
        let cap_ns = outline.limits.duration_ns;
        let end_ns = begin_ns.saturating_add(outline.stop.duration_ns.map_or(cap_ns, |d| d.min(cap_ns)));
        let cut_ns = end_ns.saturating_add(outline.graceful_stop_ns);
        // The table program of one request: the arrivals themselves are counted.
        let single = made.is_none() && compiled.sequence.len() == 1;
        let mut lanes = Vec::new();
        let (mut user_count, mut users, mut programs) = (0u32, Vec::new(), Vec::new());
        let mut iterations = seating.iterations.into_iter();
        let mut recorded = seating.recorded.into_iter();
        for (number, plan) in lane_plans(&outline).into_iter().enumerate() {
            let most = if single { most_requests(&outline) } else { plan.iterations.unwrap_or(u64::MAX) };
            let recorded = recorded.next().flatten();
            let lane_seat = seat_in(&plan, &outline, seat);
            let most = if lane_seat.is_some() { most } else { 0 };
            let seed = seed_of(outline.seed, number as u64);
            let lane_seat = lane_seat.unwrap_or(seat);
            let (source, count) =
                source(&plan, &outline, lane_seat, (begin_ns, end_ns), user_count, (most, seed), recorded);
            users.extend((0..count).map(|_| User {
                lane: number as u16,
                first_conn: NONE,
                first_nap: NONE,
                first_held: NONE,
                ..User::default()
            }));
            if let Some(made) = &mut made {
                // A program belongs to a user as numbered over all workers, so that it can tell which one it is.
                let chair = |i: u32| Chair {
                    lane: number as u16,
                    user: (lane_seat.offset + u64::from(i) * lane_seat.stride) as u32,
                    users: users_of(&plan, &outline),
                };
                programs.extend((0..count).map(|i| Some(made.make(chair(i)))));
            }
            lanes.push(Lane {
                source,
                first: user_count,
                count,
                loops: plan.loops,
                iterations: iterations.next().unwrap_or_else(|| Lease::new(None)),
                retired: 0,
            });
            user_count += count;
        }
        let read_buffer_bytes = match outline.limits.read_buffer_bytes as usize {
            0 => BUFFER_BYTES,
            bytes => bytes,
        };
        let mut wheel = Wheel::new(begin_ns);
        wheel.grow(user_count as usize);
        let shared = Shared::new(compiled.wire_limits);
        let series = outline.series_count() + by_address(addresses.len());
        let address_series = (addresses.len() > 1).then(|| outline.series_count() as u32);
        let cpu = door.cpu();
        let tick_end_ns = begin_ns + outline.tick_bounds_ns(0).1;
        Worker {
            door,
            post,
            turn: seat.offset as usize,
            address_series,
            addresses,
            sources,
            tls,
            seat,
            begin_ns,
            end_ns,
            cut_ns,
            now_ns: begin_ns,
            unix_offset_ns: seating.unix_offset_ns,
            conns: (0..user_count).map(|_| Conn::new()).collect(),
            spare: Vec::new(),
            naps: Vec::new(),
            free_naps: Vec::new(),
            nap_wheel: Wheel::new(begin_ns),
            napping: 0,
            resting: 0,
            wheel,
            due_timers: Vec::new(),
            shared,
            buffer: vec![0; read_buffer_bytes].into(),
            bodies: Vec::new(),
            lent: keep::Lent::new(kept_most(&outline)),
            late: VecDeque::with_capacity(LISTS),
            late_since_ns: 0,
            unread: VecDeque::with_capacity(LISTS),
            is_brief: false,
            opened: Vec::new(),
            sealed: Vec::new(),
            payload: Vec::new(),
            event_spares: plimsoll_wire::sse::Spares::default(),
            streams: 0,
            large: vec![false; series].into(),
            users,
            programs,
            outbox: None,
            samples: Vec::new(),
            own_samples: 0,
            redirect_noted: false,
            lanes,
            lease,
            under_way: 0,
            requests_per_connection: outline.link.requests_per_connection,
            to_end: Vec::new(),
            pooled: outline.link.reuse == Reuse::Pool,
            anew: outline.link.reuse == Reuse::Iteration,
            outstanding: 0,
            owing: 0,
            paused: false,
            paused_ns: u64::MAX,
            resumed_ns: 0,
            stop: None,
            commands: Vec::new(),
            tally: Tally::new(series, begin_ns),
            tick: 0,
            tick_end_ns,
            sampled: 0,
            open_sockets: 0,
            spin_ns: 0,
            users_changed_ns: begin_ns,
            cpu,
            tick_begin_ns: begin_ns,
            ended_ns: begin_ns,
            outline,
            compiled,
        }
    }
}

/// The load models; a plain sequence has one, which is the plan's own.
fn lane_plans(outline: &Outline) -> Vec<LanePlan> {
    if !outline.lanes.is_empty() {
        return outline.lanes.clone();
    }
    let load = outline.load.clone();
    vec![LanePlan {
        name: String::new(),
        load,
        connections: outline.connections,
        iterations: None,
        loops: None,
    }]
}

/// Most users of a lane over all machines.
fn users_of(plan: &LanePlan, outline: &Outline) -> u32 {
    match plan.load.is_open() {
        // The cap is each machine's own.
        true => plan.connections.saturating_mul(outline.share.of),
        false => plan.connections,
    }
}

/// Who starts the iterations of a lane, and how many users it has; `most` is the number of its arrivals at most.
fn source(
    plan: &LanePlan,
    outline: &Outline,
    seat: Seat,
    (begin_ns, end_ns): (u64, u64),
    first: u32,
    (most, seed): (u64, u64),
    recorded: Option<Arc<[u64]>>,
) -> (Source, u32) {
    match &plan.load {
        Load::Closed { users } => {
            let users = Users::new(users.clone(), seat, begin_ns);
            let peak = users.peak();
            (Source::Closed { users, active: 0, next_change_ns: Some(begin_ns) }, peak)
        }
        Load::Open { rate_per_s, arrivals } => {
            let count = if most == 0 { 0 } else { seat_share(plan.connections, outline, seat) };
            let arrivals = match recorded {
                Some(instants_ns) => Arrivals::recorded(instants_ns, seat, begin_ns, end_ns, most),
                None => Arrivals::new(rate_per_s, *arrivals, seed, seat, begin_ns, end_ns, most),
            };
            let source = Source::Open {
                arrivals,
                free: (first..first + count).rev().collect(),
                returned: VecDeque::new(),
                waiting: None,
                due: 0,
                started: 0,
            };
            (source, count)
        }
    }
}

/// Requests over all machines: what was asked for, or the hard cap.
pub fn most_requests(outline: &Outline) -> u64 {
    outline.stop.requests.unwrap_or(u64::MAX).min(outline.limits.requests)
}

/// My part of the memory for what is kept of answers.
fn kept_most(outline: &Outline) -> usize {
    match outline.limits.kept_total_bytes {
        0 => usize::MAX,
        bytes => usize::try_from(bytes / u64::from(outline.workers.max(1))).unwrap_or(usize::MAX),
    }
}

/// My part of the most connections of this machine.
fn seat_share(connections: u32, outline: &Outline, seat: Seat) -> u32 {
    let machines = u64::from(outline.share.of);
    let here = Seat { offset: seat.offset / machines, stride: seat.stride / machines };
    here.count_of(u64::from(connections)) as u32
}

/// My place in a lane. Arrivals of one that has fewer connections than there are workers go to the first workers alone:
/// anybody else would have to break the cap. `None`: there is none for me.
fn seat_in(plan: &LanePlan, outline: &Outline, seat: Seat) -> Option<Seat> {
    let machines = u64::from(outline.share.of);
    if !plan.load.is_open() || plan.connections >= outline.workers {
        return Some(seat);
    }
    let workers = u64::from(plan.connections.max(1));
    (seat.offset / machines < workers).then_some(Seat { offset: seat.offset, stride: machines * workers })
}

/// Lanes with one seed would begin at the same instants: their bursts would add up, as independent ones do not.
fn seed_of(seed: u64, lane: u64) -> u64 {
    // Seeds next to each other would be one sequence, shifted.
    if lane == 0 { seed } else { SplitMix64::new(SplitMix64::new(seed).next_u64() ^ lane).next_u64() }
}

/// A constant level, for [`Command::SetLevel`].
fn level(to: f64) -> Profile {
    Profile::constant(to)
}

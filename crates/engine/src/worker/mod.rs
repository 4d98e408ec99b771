//! One core's work: users, connections, timers and numbers of one thread, sharing nothing with the others.
//!
//! [`turn`] is the loop; [`exchange`] takes a request over a connection; [`next`] decides who sends what next.
//! The worker is generic over its [`Door`], so that tests run it in a network made of numbers.

mod exchange;
mod next;
mod turn;

use crate::compile::Compiled;
use crate::conn::Conn;
use crate::driver::{CpuReading, Door};
use crate::lease::Lease;
use crate::pace::{Arrivals, Seat, Users};
use crate::tally::Tally;
use crate::wheel::Wheel;
use crate::{Command, Stopped};
use plimsoll_plan::load::{Load, Profile};
use plimsoll_plan::outline::Outline;
use plimsoll_plan::program::{Maker, Outbox, Program, Step};
use plimsoll_stats::interval::Interval;
use plimsoll_wire::h1::Shared;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

/// One buffer for all connections. Where every byte of a large body is copied, 256 KiB with a low-water mark took
/// 1.95 x wrk, 64 KiB 1.75 x, 1 MiB 1.95 x (`docs/design/0004`); pages that no answer reaches are never touched.
const BUFFER_BYTES: usize = 262144;

/// Where a worker's intervals go and its commands come from; the real one is a pair of channels.
pub trait Post {
    /// Hands over a full interval.
    fn hand_over(&mut self, full: Box<Interval>, last: bool);
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
    /// A request that could not be sent for this machine's fault keeps its stamp and its lease; 0: none.
    owed_ns: u64,
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
    address: SocketAddr,
    seat: Seat,
    /// All times are on the door's clock.
    begin_ns: u64,
    /// When to stop.
    end_ns: u64,
    now_ns: u64,

    conns: Vec<Conn>,
    /// Connections beyond the users' own, for programs with several steps outstanding, that are not in use.
    spare: Vec<u32>,
    wheel: Wheel,
    due_timers: Vec<u32>,
    shared: Shared,
    buffer: Box<[u8]>,
    /// Empty buffers for bodies that somebody reads; as many as were ever needed at once.
    #[allow(clippy::vec_box, clippy::box_collection)]
    bodies: Vec<Box<Vec<u8>>>,
    /// By request: its last answer had a large body.
    large: Box<[bool]>,

    users: Vec<User>,
    /// Foreign programs by user; empty for table programs.
    programs: Vec<Option<Box<dyn Program>>>,
    outbox: Outbox,
    steps: Vec<Step>,
    source: Source,
    lease: Lease,
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
    pub address: SocketAddr,
    pub seat: Seat,
    pub begin_ns: u64,
    pub lease: Lease,
    pub maker: Option<Arc<dyn Maker>>,
}

impl<D: Door, P: Post> Worker<D, P> {
    pub fn new(mut door: D, post: P, seating: Seating) -> Self {
        let Seating { outline, compiled, address, seat, begin_ns, lease, maker } = seating;
        // The hard caps hold whatever the plan says.
        let cap_ns = outline.limits.duration_ns;
        let end_ns = begin_ns.saturating_add(outline.stop.duration_ns.map_or(cap_ns, |d| d.min(cap_ns)));
        let (source, user_count) = source(
            &outline,
            seat,
            begin_ns,
            end_ns,
            if maker.is_some() { 0 } else { compiled.sequence.len() },
        );
        let programs = match &maker {
            // A program belongs to a user as numbered over all workers, so that it can tell which one it is.
            Some(m) => (0..user_count)
                .map(|i| Some(m.make((seat.offset + u64::from(i) * seat.stride) as u32)))
                .collect(),
            None => Vec::new(),
        };
        let mut wheel = Wheel::new(begin_ns);
        wheel.grow(user_count as usize);
        let shared = Shared::new(compiled.wire_limits);
        let series = compiled.requests.len();
        let cpu = door.cpu();
        let tick_end_ns = begin_ns + outline.tick_bounds_ns(0).1;
        Worker {
            door,
            post,
            address,
            seat,
            begin_ns,
            end_ns,
            now_ns: begin_ns,
            conns: (0..user_count).map(|_| Conn::new()).collect(),
            spare: Vec::new(),
            wheel,
            due_timers: Vec::new(),
            shared,
            buffer: vec![0; BUFFER_BYTES].into(),
            bodies: Vec::new(),
            large: vec![false; series].into(),
            users: vec![User::default(); user_count as usize],
            programs,
            outbox: Outbox::default(),
            steps: Vec::new(),
            source,
            lease,
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

fn source(outline: &Outline, seat: Seat, begin_ns: u64, end_ns: u64, steps: usize) -> (Source, u32) {
    match &outline.load {
        Load::Closed { users } => {
            let users = Users::new(users.clone(), seat, begin_ns);
            let peak = users.peak();
            (Source::Closed { users, active: 0, next_change_ns: Some(begin_ns) }, peak)
        }
        Load::Open { rate_per_s, arrivals } => {
            let most = seat_share(outline, seat);
            // One request per arrival: the number of requests is the number of arrivals, and each worker knows its
            // own without a lease.
            let limit = if steps == 1 { most_requests(outline) } else { u64::MAX };
            let arrivals = Arrivals::new(rate_per_s, *arrivals, outline.seed, seat, begin_ns, end_ns, limit);
            let source = Source::Open {
                arrivals,
                free: (0..most).rev().collect(),
                returned: VecDeque::new(),
                waiting: None,
                due: 0,
                started: 0,
            };
            (source, most)
        }
    }
}

/// Requests over all machines: what was asked for, or the hard cap.
pub fn most_requests(outline: &Outline) -> u64 {
    outline.stop.requests.unwrap_or(u64::MAX).min(outline.limits.requests)
}

/// My part of the most connections of this machine, at least one.
fn seat_share(outline: &Outline, seat: Seat) -> u32 {
    let workers = u64::from(outline.workers);
    let worker = seat.offset / u64::from(outline.share.of);
    (Seat { offset: worker, stride: workers }.count_of(u64::from(outline.connections)) as u32).max(1)
}

/// A constant level, for [`Command::SetLevel`].
fn level(to: f64) -> Profile {
    Profile::constant(to)
}

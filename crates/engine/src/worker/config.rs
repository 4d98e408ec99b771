//! Creates a worker from a plan: its workloads, its part of them, its users, and their links.

use super::multiplex::new_session;
use super::reach::Reaches;
use super::tunnel::Tunnels;
use super::{Here, Post, Source, Stops, User, Worker, Workload, keep};
use crate::Stopped;
use crate::compile::Compiled;
use crate::delivery::Courier;
use crate::driver::Door;
use crate::lease::Lease;
use crate::link::{Link, NONE, Openings};
use crate::run::Place;
use crate::spread::cycle;
use crate::tally::{Tally, blank, by_address};
use crate::wheel::Wheel;
use plimsoll_pace::{Arrivals, Users, WorkerSlot};
use plimsoll_plan::link::Reuse;
use plimsoll_plan::load::{FirstArrival, Load, OnBusy, Profile, Workload as WorkloadPlan};
use plimsoll_plan::origin::FIRST;
use plimsoll_plan::outline::Outline;
use plimsoll_plan::program::{Programs, UserSlot};
use plimsoll_plan::series::book::SeriesBook;
use plimsoll_stats::random::SplitMix64;
use plimsoll_wire::h1::Shared;
use plimsoll_wire::{h2, ws};
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Capacity reserved at the start for the lists of sockets and events that wait for their share.
const LISTS: usize = 256;

/// One worker's part of a [`Job`](crate::Job): everything that a worker needs except its door and its post.
pub struct WorkerConfig {
    pub(crate) outline: Arc<Outline>,
    pub(crate) compiled: Arc<Compiled>,
    /// By origin.
    pub(crate) places: Vec<Place>,
    /// Local addresses to connect from; empty: the kernel chooses.
    pub(crate) sources: Arc<[IpAddr]>,
    pub(crate) seat: WorkerSlot,
    /// Offset from the door's clock to the time since 1970, ns.
    pub(crate) unix_offset_ns: i128,
    pub(crate) lease: Lease,
    /// Iterations by workload.
    pub(crate) iterations: Vec<Lease>,
    /// Counters of iterations by workload.
    pub(crate) counters: Vec<Option<Arc<AtomicU64>>>,
    /// Recorded arrival times by workload, ns from the start.
    pub(crate) recorded: Vec<Option<Arc<[u64]>>>,
    pub(crate) programs: Option<Box<dyn Programs>>,
}

impl WorkerConfig {
    /// Runs to the end, starting at `begin_ns` of the door's clock; returns the reason for the end and its time, ns
    /// from the start.
    pub fn run<D: Door, P: Post>(self, begin_ns: u64, door: D, post: P) -> (Stopped, u64) {
        Worker::new(door, post, self, begin_ns).run()
    }
}

impl<D: Door, P: Post> Worker<D, P> {
    fn new(mut door: D, post: P, seating: WorkerConfig, begin_ns: u64) -> Self {
        let WorkerConfig { outline, compiled, places, sources, seat, lease, .. } = seating;
        let mut made = seating.programs;
        // The hard limits apply to every plan.
        let cap_ns = outline.limits.duration_ns;
        let end_ns = begin_ns.saturating_add(outline.stop.duration_ns.map_or(cap_ns, |d| d.min(cap_ns)));
        let cut_ns = end_ns.saturating_add(outline.graceful_stop_ns);
        // The table program of one request: the arrivals themselves are counted.
        let single = made.is_none() && compiled.sequence.len() == 1;
        let mut workloads = Vec::new();
        let (mut user_count, mut users, mut programs) = (0u32, Vec::new(), Vec::new());
        let mut iterations = seating.iterations.into_iter();
        let mut counters = seating.counters.into_iter();
        let mut first_id = 0u32;
        let mut recorded = seating.recorded.into_iter();
        for (number, plan) in lane_plans(&outline).into_iter().enumerate() {
            let most = if single { most_requests(&outline) } else { plan.iterations.unwrap_or(u64::MAX) };
            let recorded = recorded.next().flatten();
            let lane_seat = seat_in(&plan, &outline, seat);
            let most = if lane_seat.is_some() { most } else { 0 };
            let seed = seed_of(outline.seed, number as u64);
            let lane_seat = lane_seat.unwrap_or(seat);
            let own_end_ns = plan.rules.end_ns.map_or(u64::MAX, |end_ns| begin_ns.saturating_add(end_ns));
            let times_ns = (begin_ns, end_ns.min(own_end_ns));
            let (source, count) =
                source(&plan, &outline, lane_seat, times_ns, user_count, (most, seed), recorded);
            users.extend((0..count).map(|_| User {
                workload: number as u16,
                link: NONE,
                first_exchange: NONE,
                first_nap: NONE,
                first_held: NONE,
                ..User::default()
            }));
            if let Some(made) = &mut made {
                // Programs belong to users numbered over all workers, so that each program can identify its user.
                let slot = |i: u32| {
                    let user = (lane_seat.offset + u64::from(i) * lane_seat.stride) as u32;
                    let (workload, users) = (number as u16, users_of(&plan, &outline));
                    UserSlot { workload, user, id: first_id.saturating_add(user), users }
                };
                programs.extend((0..count).map(|i| Some(made.make(slot(i)))));
            }
            first_id = first_id.saturating_add(users_of(&plan, &outline));
            workloads.push(Workload {
                source,
                first: user_count,
                count,
                loops: plan.loops,
                iterations: iterations.next().unwrap_or_else(|| Lease::new(None)),
                retired: 0,
                end_ns: own_end_ns,
                stops: Stops {
                    cut_ns: plan.rules.cut_ns().map_or(u64::MAX, |ns| begin_ns.saturating_add(ns)),
                    ramp_down_ns: plan.rules.graceful_ramp_down_ns,
                    stopped: VecDeque::new(),
                },
                counter: counters.next().flatten(),
            });
            user_count += count;
        }
        let next_stop_ns = workloads.iter().map(|workload| workload.stops.cut_ns).min().unwrap_or(u64::MAX);
        let pooled = outline.link.reuse == Reuse::Pool;
        let by_address = by_address(&places);
        let mut places = here(places, &outline, seat);
        let is_forwarded = places.iter().any(Here::is_forwarded);
        let has_own_clients = may_own_clients(&outline) && places.iter().any(Here::has_clients);
        let mut own = 0;
        if !pooled {
            // Without a target, no link belongs to a user.
            if let Some(target) = places.first_mut() {
                own = own_links(&mut users, target, outline.link.streams);
                if target.addresses.len() > 1 {
                    target.turn = own_before(&outline, seat, target);
                }
            }
        }
        // Exact capacity: the allocator keeps the memory that growth frees, some 60 bytes per connection.
        let mut links: Vec<Link> = Vec::with_capacity(own);
        if let Some(target) = places.first() {
            links.resize_with(own, || Link::new(FIRST, new_session(&outline, target)));
        }
        let mut exchange_wheel = Wheel::new(begin_ns);
        exchange_wheel.reserve(user_count as usize);
        let shared = Shared::new(compiled.wire_limits);
        let frames = h2::Shared::new(compiled.h2_limits);
        let blank = blank(&outline, by_address);
        let address_series = (by_address > 0).then(|| outline.series_count() as u32);
        let cpu = door.cpu();
        let tick_end_ns = begin_ns + outline.tick_bounds_ns(0).1;
        Worker {
            door,
            post,
            address_series,
            spare: places.iter().map(|_| Vec::new()).collect(),
            has_target: !places.is_empty(),
            places,
            series: blank.series.len(),
            sources,
            seat,
            begin_ns,
            end_ns,
            cut_ns,
            now_ns: begin_ns,
            unix_offset_ns: seating.unix_offset_ns,
            links,
            openings: Openings::new(own),
            tunnels: Tunnels::new(seat),
            is_forwarded,
            forwarded: Vec::new(),
            looking_up: 0,
            answers: Vec::new(),
            reaching: 0,
            reaches: Reaches::default(),
            // Never moved while no user has two requests in progress; unused memory is never touched.
            exchanges: Vec::with_capacity(user_count as usize),
            free_exchanges: Vec::with_capacity(user_count as usize),
            exchange_wheel,
            naps: Vec::new(),
            free_naps: Vec::new(),
            nap_wheel: Wheel::new(begin_ns),
            napping: 0,
            resting: 0,
            due_timers: Vec::new(),
            courier: Courier::new(&outline, begin_ns),
            shared,
            frames,
            block: Vec::new(),
            dirty: Vec::with_capacity(LISTS),
            outs: Vec::new(),
            is_feeding: false,
            seeks_location: false,
            location: Vec::new(),
            trailers: Vec::new(),
            trailers_of: NONE,
            // One for all connections; pages that no response reaches are never touched.
            buffer: vec![0; outline.limits.read_buffer_bytes as usize].into(),
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
            sockets: ws::Shared::new(outline.limits.message_bytes as usize),
            packing: ws::SharedWriter::default(),
            frame: Vec::new(),
            masks: SplitMix64::new(unpredictable()),
            large: vec![false; blank.series.len()].into(),
            book: Box::new(SeriesBook::new(blank.series.len(), outline.limits.open_series)),
            told_series: 0,
            users,
            programs,
            outbox: None,
            samples: Vec::new(),
            own_samples: 0,
            redirect_noted: false,
            workloads,
            lease,
            under_way: 0,
            requests_per_connection: match outline.keep_alive {
                true => outline.link.requests_per_connection,
                false => Some(1),
            },
            to_end: Vec::new(),
            pooled,
            anew: outline.link.reuse == Reuse::Iteration,
            has_own_clients,
            outstanding: 0,
            owing: 0,
            paused: false,
            paused_ns: u64::MAX,
            resumed_ns: 0,
            stop: None,
            commands: Vec::new(),
            tally: Tally::new(blank, begin_ns),
            tick: 0,
            tick_end_ns,
            sampled: 0,
            open_sockets: 0,
            spin_ns: 0,
            users_changed_ns: begin_ns,
            cpu,
            tick_begin_ns: begin_ns,
            ended_ns: begin_ns,
            next_stop_ns,
            outline,
            compiled,
        }
    }
}

/// Returns the load models; a plain sequence has one, the plan's own.
fn lane_plans(outline: &Outline) -> Vec<WorkloadPlan> {
    if !outline.workloads.is_empty() {
        return outline.workloads.clone();
    }
    let load = outline.load.clone();
    vec![WorkloadPlan {
        name: String::new(),
        load,
        connections: outline.connections,
        iterations: None,
        loops: None,
        rules: Default::default(),
    }]
}

/// Returns the largest number of users of a workload over all machines.
fn users_of(plan: &WorkloadPlan, outline: &Outline) -> u32 {
    match plan.load.is_open() {
        // The limit applies to each machine.
        true => plan.connections.saturating_mul(outline.share.of),
        false => plan.connections,
    }
}

/// Returns the source of a workload's iterations and its number of users; `most` is the largest number of its arrivals.
fn source(
    plan: &WorkloadPlan,
    outline: &Outline,
    seat: WorkerSlot,
    (begin_ns, end_ns): (u64, u64),
    first: u32,
    (most, seed): (u64, u64),
    recorded: Option<Arc<[u64]>>,
) -> (Source, u32) {
    match &plan.load {
        Load::Closed { users } => {
            let users = Users::new(users.clone(), seat, begin_ns).steps(plan.rules.user_steps);
            let capacity = plan.rules.capacity.map_or(0, |users| seat.count_of(users.into()) as u32);
            let peak = users.peak().max(capacity);
            (Source::Closed { users, active: 0, next_change_ns: Some(begin_ns) }, peak)
        }
        Load::Open { rate_per_s, arrivals } => {
            let count = if most == 0 { 0 } else { seat_share(plan.connections, outline, seat) };
            let arrivals = match recorded {
                Some(instants_ns) => Arrivals::recorded(instants_ns, seat, begin_ns, end_ns, most),
                None => Arrivals::new(rate_per_s, *arrivals, seed, seat, begin_ns, end_ns, most),
            };
            let arrivals = match plan.rules.first_arrival {
                FirstArrival::AtStart => arrivals,
                FirstArrival::WhenDue => arrivals.when_due(),
            };
            let initial =
                plan.rules.initial_users.map_or(count, |users| seat_share(users, outline, seat).min(count));
            let source = Source::Open {
                arrivals,
                free: (first..first + initial).rev().map(|user| (user, 0)).collect(),
                returned: VecDeque::new(),
                waiting: None,
                due: 0,
                started: 0,
                drops: (plan.rules.on_busy == OnBusy::Drop).then_some(first + initial..first + count),
            };
            (source, count)
        }
    }
}

/// Returns the number of requests over all machines: the requested one, or the hard limit.
pub(crate) fn most_requests(outline: &Outline) -> u64 {
    outline.stop.requests.unwrap_or(u64::MAX).min(outline.limits.requests)
}

/// Returns this worker's part of the memory for kept responses.
fn kept_most(outline: &Outline) -> usize {
    match outline.limits.kept_total_bytes {
        0 => usize::MAX,
        bytes => usize::try_from(bytes / u64::from(outline.workers.max(1))).unwrap_or(usize::MAX),
    }
}

/// Returns this worker's part of the machine's connection limit.
fn seat_share(connections: u32, outline: &Outline, seat: WorkerSlot) -> u32 {
    let machines = u64::from(outline.share.of);
    let here = WorkerSlot { offset: seat.offset / machines, stride: seat.stride / machines };
    here.count_of(u64::from(connections)) as u32
}

/// Fewest users of a worker with arrivals that are dropped: they do not see the free users of other workers, and with
/// only a few users, a worker would drop arrivals that another could start.
const DROPPING_USERS: u32 = 16;

/// Returns this worker's slot in a workload. If a workload has fewer connections than there are workers, its arrivals
/// go only to the first workers: any other worker would exceed the limit. `None`: this worker has no slot.
fn seat_in(plan: &WorkloadPlan, outline: &Outline, seat: WorkerSlot) -> Option<WorkerSlot> {
    let machines = u64::from(outline.share.of);
    let workers = match plan.rules.on_busy {
        OnBusy::Queue => plan.connections,
        OnBusy::Drop => plan.connections / DROPPING_USERS,
    };
    if !plan.load.is_open() || workers >= outline.workers {
        return Some(seat);
    }
    let workers = u64::from(workers.max(1));
    (seat.offset / machines < workers)
        .then_some(WorkerSlot { offset: seat.offset, stride: machines * workers })
}

/// Workloads with one seed would begin at the same times: their bursts would add up, unlike independent ones.
fn seed_of(seed: u64, workload: u64) -> u64 {
    // Adjacent seeds would give one sequence, shifted.
    if workload == 0 { seed } else { SplitMix64::new(SplitMix64::new(seed).next_u64() ^ workload).next_u64() }
}

/// Returns a constant level that ends after `left_ns`, for [`Command::SetLevel`]; `u64::MAX` and more: it does not end.
pub(super) fn level(to: f64, left_ns: u64) -> Profile {
    const LONGEST_NS: u64 = u64::MAX / 2;
    let end = Profile::constant(to).between(0, Some(left_ns));
    if left_ns < LONGEST_NS { end } else { Profile::constant(to) }
}

/// Returns whether users may have their own client certificates: arrivals are different people, and pooled connections
/// belong to no user.
pub(super) fn may_own_clients(outline: &Outline) -> bool {
    outline.link.reuse != Reuse::Pool && lane_plans(outline).iter().all(|plan| !plan.load.is_open())
}

/// Numbers the addresses of all origins consecutively.
fn here(places: Vec<Place>, outline: &Outline, seat: WorkerSlot) -> Vec<Here> {
    let mut first = 0;
    let origins = outline.all_origins();
    let mut numbered = |(place, number): (Place, usize)| {
        let is_http2 = origins.get(number).is_some_and(|origin| origin.is_http2);
        let here = Here::new(place, is_http2, outline, (seat, first));
        first += here.addresses.len() as u32;
        here
    };
    places.into_iter().zip(0..).map(&mut numbered).collect()
}

impl Here {
    /// Creates the place of one worker; `first` is the number of its first address.
    pub(super) fn new(
        place: Place,
        is_http2: bool,
        outline: &Outline,
        (seat, first): (WorkerSlot, u32),
    ) -> Here {
        let Place { addresses, weights, tls, route, resolver } = place;
        let is_shared = is_http2 || outline.link.is_pipelined;
        let (cycle, turn) = (cycle(&weights), seat.offset as usize);
        let (addresses, resolves) = (addresses.into(), resolver.is_some());
        Here { first, addresses, cycle, turn, tls, route, is_http2, is_shared, resolves, client: turn }
    }

    /// Returns whether a proxy forwards its requests.
    pub(super) fn is_forwarded(&self) -> bool {
        self.route.as_ref().is_some_and(|route| route.forward.is_some())
    }

    /// Returns whether its connections are Unix domain sockets.
    pub(super) fn has_unix_socket(&self) -> bool {
        self.route.as_ref().is_some_and(|route| route.unix_socket.is_some())
    }

    /// Returns whether TLS with a proxy carries its connections.
    pub(super) fn is_enclosed(&self) -> bool {
        self.route.as_ref().is_some_and(|route| route.outer.is_some())
    }

    /// Returns whether the kernel can discard received bytes of its connections.
    pub(super) fn may_discard(&self) -> bool {
        self.route.as_ref().is_none_or(|route| route.may_discard())
    }

    /// Returns whether there are several client certificates for it.
    pub(super) fn has_clients(&self) -> bool {
        self.tls.as_ref().is_some_and(|setup| setup.clients() > 1)
    }
}

/// Returns how many links to the target the users of the workers before this one have, so that all workers together
/// begin with one cycle after the other. Where arrivals open connections, the workers begin in order.
fn own_before(outline: &Outline, seat: WorkerSlot, target: &Here) -> usize {
    let plans = lane_plans(outline);
    if plans.iter().any(|plan| plan.load.is_open()) {
        return seat.offset as usize;
    }
    let shared_by = if target.is_shared { outline.link.streams.max(1) } else { 1 };
    let users: Vec<u64> = plans.iter().map(|plan| users_of(plan, outline).into()).collect();
    let links_of = |offset: u64| {
        let slot = WorkerSlot { offset, ..seat };
        users.iter().map(|users| slot.count_of(*users)).sum::<u64>().div_ceil(shared_by.into())
    };
    (0..seat.offset).map(links_of).sum::<u64>() as usize
}

/// Gives each user its link to the target, which over HTTP/2, or with pipelining, several users may share; returns the
/// number of links. Adjacent users get different links, so that a part of the users uses all of them.
fn own_links(users: &mut [User], target: &Here, streams: u32) -> usize {
    let shared_by = if target.is_shared { streams.max(1) } else { 1 };
    let links = (users.len() as u32).div_ceil(shared_by);
    users.iter_mut().zip(0..).for_each(|(user, number): (_, u32)| user.link = number % links);
    links as usize
}

/// Returns a number that a server cannot predict, for the masks of WebSocket frames (RFC 6455 section 10.3).
fn unpredictable() -> u64 {
    // The keys of a hash map come from the operating system.
    RandomState::new().build_hasher().finish()
}

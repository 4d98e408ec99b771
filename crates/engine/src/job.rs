//! A plan prepared for the workers of this machine: their shared data, and the part of each.

use crate::compile::{Compiled, compile};
use crate::lease::{Lease, RequestBudget};
use crate::names::Resolver;
use crate::origins::OriginFinder;
use crate::run::{Gate, Place, Scene};
use crate::sequence::Sequence;
use crate::worker::{WorkerConfig, most_requests};
use crate::{cache, machine};
use plimsoll_pace::WorkerSlot;
use plimsoll_plan::Plan;
use plimsoll_plan::link::Reuse;
use plimsoll_plan::load::{Load, Share};
use plimsoll_plan::outline::Outline;
use plimsoll_plan::route::ProxyKind;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A prepared plan. [`start`](crate::start) gives each part of it to a thread with a door to the kernel; a single part
/// can run over any other door.
pub struct Job {
    pub(crate) outline: Arc<Outline>,
    compiled: Arc<Compiled>,
    scene: Scene,
    recorded: Vec<Option<Arc<[u64]>>>,
    pot: Option<Arc<RequestBudget>>,
    lane_pots: Vec<Option<Arc<RequestBudget>>>,
    /// Iterations begun, by workload, if they are numbered.
    counters: Vec<Option<Arc<AtomicU64>>>,
    unix_offset_ns: i128,
}

impl Job {
    /// Creates a job. Programs add `unix_offset_ns` to their door's clock to get the time since 1970.
    pub fn new(plan: &Plan, mut scene: Scene, unix_offset_ns: i128) -> Job {
        let workers = plan.outline.workers;
        if scene.factory.is_none() && (plan.outline.link.reuse == Reuse::Pool || scene.places.len() > 1) {
            // The table program requires that each user owns one connection.
            scene.factory = Some(Arc::new(Sequence::of(&plan.requests)));
        }
        let mut compiled = compile(plan);
        for (request, prepared) in plan.requests.iter().zip(&mut compiled.requests) {
            let place = scene.places.get(usize::from(request.origin));
            let route = place.and_then(|place| place.route.as_ref());
            if let Some(forward) = route.and_then(|route| route.forward.as_ref()) {
                let mut bytes = Vec::new();
                forward.put(&prepared.bytes, &mut bytes);
                prepared.bytes = bytes.into();
            }
        }
        let compiled = Arc::new(compiled);
        let mut outline = plan.outline.clone();
        if outline.limits.kept_total_bytes == 0 {
            // The other half is for data derived from the bodies: decoded texts, trees, values.
            outline.limits.kept_total_bytes = (machine::memory_left_bytes() / 2).max(1);
        }
        if outline.limits.read_buffer_bytes == 0 {
            outline.limits.read_buffer_bytes = cache::read_buffer_bytes() as u64;
        }
        let of_place = |place: &Place| place.route.as_ref().is_some_and(|route| !route.may_discard());
        let is_enclosed = outline.link.route.proxy.as_ref().is_some_and(|one| one.kind == ProxyKind::Https);
        if outline.link.route.unix_socket.is_some() || is_enclosed || scene.places.iter().any(of_place) {
            // Only TCP can discard received bytes in the kernel, and only if they are not sealed.
            outline.read_bodies = true;
        }
        let single = compiled.sequence.len() == 1 && scene.factory.is_none();
        let total = total_of_share(most_requests(&outline), outline.share);
        // Arrivals of the open model are numbered and need no request budget.
        let users = outline.workloads.iter().map(|workload| users_of(&workload.load)).sum::<u64>();
        let users = users.max(users_of(&outline.load));
        let pot = (!(single && outline.load.is_open())).then(|| RequestBudget::new(total, workers, users));
        let lane_pots = outline
            .workloads
            .iter()
            .map(|workload| {
                let total = workload.iterations.filter(|_| !workload.load.is_open())?;
                let total = total_of_share(total, outline.share);
                Some(RequestBudget::new(total, workers, users_of(&workload.load)))
            })
            .collect();
        let numbered = outline.workloads.iter().map(|workload| workload.rules.counts_iterations);
        let counters = numbered.map(|is_numbered| is_numbered.then(Arc::default)).collect();
        Job {
            outline: Arc::new(outline),
            compiled,
            scene,
            recorded: plan.recorded.clone(),
            pot,
            lane_pots,
            counters,
            unix_offset_ns,
        }
    }

    /// Returns the resolvers of origins whose connections look up their host.
    pub(crate) fn resolvers(&self) -> Vec<Option<Arc<dyn Resolver>>> {
        self.scene.places.iter().map(|place| place.resolver.clone()).collect()
    }

    /// Returns what decides when the load begins.
    pub(crate) fn gate(&self) -> Option<Arc<dyn Gate>> {
        self.scene.gate.clone()
    }

    /// Returns the finder of origins that programs ask for.
    pub(crate) fn finder(&self) -> Option<Arc<dyn OriginFinder>> {
        self.scene.finder.clone()
    }

    /// Returns the part of one worker, below the plan's number of workers. Call it on the thread that runs the part,
    /// because its programs and its resumable TLS sessions are not shared.
    pub fn seating(&self, worker: u32) -> WorkerConfig {
        WorkerConfig {
            outline: Arc::clone(&self.outline),
            compiled: Arc::clone(&self.compiled),
            places: self.scene.places.iter().map(Place::for_worker).collect(),
            sources: self.outline.link.source_addresses.as_slice().into(),
            seat: WorkerSlot::new(self.outline.share, worker, self.outline.workers),
            unix_offset_ns: self.unix_offset_ns,
            lease: Lease::new(self.pot.clone()),
            iterations: self.lane_pots.iter().map(|pot| Lease::new(pot.clone())).collect(),
            counters: self.counters.clone(),
            recorded: self.recorded.clone(),
            programs: self.scene.factory.as_ref().map(|factory| factory.programs()),
        }
    }
}

/// `-n` counts requests of all machines: each takes its part, and the first ones take the remainder.
fn total_of_share(total: u64, share: Share) -> u64 {
    WorkerSlot { offset: u64::from(share.part - 1), stride: u64::from(share.of) }.count_of(total)
}

/// Returns the largest number of users of a load; 0 for arrivals.
fn users_of(load: &Load) -> u64 {
    if load.is_open() { 0 } else { load.profile().peak().ceil() as u64 }
}

//! Origins that programs ask for: known ones are answered in the next event-loop iteration, others when the finder has
//! found them. All programs of this worker that wait for one origin share one request to the finder.

use super::config::may_own_clients;
use super::{Here, Post, Worker};
use crate::driver::Door;
use crate::link::NONE;
use crate::origins::Reached;
use plimsoll_plan::Fault;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{OriginQuery, StepId, Unreachable, Wake};
use std::collections::{HashMap, VecDeque};

/// What a run without a finder answers.
const NO_FINDER: &str = "this run loads only the origins of its plan";

/// A step that waits for an origin.
type Waiting = (u32, StepId);

/// What a worker knows about origins, and the programs that wait for some.
#[derive(Default)]
pub(super) struct Reaches {
    /// Built when a program first asks.
    known: HashMap<OriginQuery, OriginId>,
    waiting: HashMap<OriginQuery, Vec<Waiting>>,
    /// Answers that their programs get in the next event-loop iteration.
    ready: VecDeque<(Waiting, Result<OriginId, Unreachable>)>,
    answers: Vec<Reached>,
}

impl Reaches {
    /// Returns whether answers wait that no event will report.
    #[inline]
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Removes a step of a user; returns whether it waited.
    fn forget(&mut self, step: Waiting) -> bool {
        let before = self.ready.len();
        self.ready.retain(|(waiting, _)| *waiting != step);
        let mut is_found = self.ready.len() < before;
        for waiting in self.waiting.values_mut() {
            let before = waiting.len();
            waiting.retain(|one| *one != step);
            is_found |= waiting.len() < before;
        }
        is_found
    }
}

impl<D: Door, P: Post> Worker<D, P> {
    /// Asks for an origin for a program.
    #[cold]
    pub(super) fn reach(&mut self, user: u32, step: StepId, mut query: OriginQuery) {
        query.target.host.make_ascii_lowercase();
        self.users[user as usize].outstanding += 1;
        self.reaching += 1;
        let step = (user, step);
        if let Some(number) = self.known(&query) {
            return self.reaches.ready.push_back((step, Ok(number)));
        }
        if let Some(waiting) = self.reaches.waiting.get_mut(&query) {
            return waiting.push(step);
        }
        if self.post.reach(&query) {
            self.reaches.waiting.insert(query, vec![step]);
        } else {
            let refused = Unreachable { fault: Fault::OriginRefused, sentence: NO_FINDER.into() };
            self.reaches.ready.push_back((step, Err(refused)));
        }
    }

    /// Returns the number of an origin that this worker knows.
    fn known(&mut self, query: &OriginQuery) -> Option<OriginId> {
        self.know_plan();
        self.reaches.known.get(query).copied()
    }

    /// Notes the origins of the plan, once.
    fn know_plan(&mut self) {
        if !self.reaches.known.is_empty() {
            return;
        }
        let origins = self.outline.all_origins();
        for (number, origin) in (0..).zip(origins.iter()).take(self.places.len()) {
            let mut target = origin.target();
            target.host.make_ascii_lowercase();
            let query = OriginQuery::from(target);
            if origin.is_http2 {
                let same = OriginQuery { requires_http2: true, ..query.clone() };
                self.reaches.known.entry(same).or_insert(number);
            }
            self.reaches.known.entry(query).or_insert(number);
        }
    }

    /// Makes the origins usable that were found since the last call, by this worker or another.
    #[cold]
    pub(super) fn take_found(&mut self) {
        for found in self.post.found(self.places.len()) {
            if usize::from(found.number) != self.places.len() {
                continue;
            }
            let of = (self.seat, NONE);
            let here = Here::new(found.place.for_worker(), found.origin.is_http2, &self.outline, of);
            self.is_forwarded |= here.is_forwarded();
            self.has_own_clients |= here.has_clients() && may_own_clients(&self.outline);
            self.places.push(here);
            self.spare.push(Vec::new());
            self.know_plan();
            self.reaches.known.entry(found.query.clone()).or_insert(found.number);
        }
    }

    /// Wakes the programs whose origins were found, or cannot be used.
    pub(super) fn take_reached(&mut self) {
        let mut answers = std::mem::take(&mut self.reaches.answers);
        self.post.reached(&mut answers);
        for Reached { query, result } in answers.drain(..) {
            if result.as_ref().is_ok_and(|number| usize::from(*number) >= self.places.len()) {
                self.take_found();
            }
            let waiting = self.reaches.waiting.remove(&query).unwrap_or_default();
            self.reaches.ready.extend(waiting.into_iter().map(|step| (step, result.clone())));
        }
        self.reaches.answers = answers;
        // Programs may ask for more in the meantime, which they get in the next event-loop iteration.
        for _ in 0..self.reaches.ready.len() {
            let Some(((user, id), result)) = self.reaches.ready.pop_front() else { break };
            self.users[user as usize].outstanding -= 1;
            self.reaching -= 1;
            self.tell_time();
            let result = result.as_ref().copied();
            self.resume_program(user, Wake::Reached { id, result }, self.now_ns);
        }
    }

    /// Ends the wait of a program for an origin without waking it.
    pub(super) fn forget_reach(&mut self, user: u32, step: StepId) {
        if self.reaching > 0 && self.reaches.forget((user, step)) {
            self.users[user as usize].outstanding -= 1;
            self.reaching -= 1;
        }
    }
}

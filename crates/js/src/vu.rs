//! The state of one virtual user that native functions reach while it runs.

use crate::channel::Channel;
use crate::grpc::stream::Stream;
use crate::grpc::{Called, PendingCall};
use crate::http::send::Flow;
use crate::http::{Expected, Pending};
use crate::jar::Jar;
use crate::samples::SampleGroup;
use plimsoll_plan::Fault;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::StepId;
use plimsoll_plan::redis::RedisCommand;
use plimsoll_quickjs::{Jobs, Realm, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// A virtual user.
pub struct Vu {
    /// Number over all scenarios, from 1; 0 in setup and teardown.
    pub number: u64,
    /// Index of the scenario.
    pub scenario: usize,
    pub realm: Realm,
    /// Iterations that this user has begun.
    pub iterations: Cell<u64>,
    /// Number of the current iteration in its scenario, over all users.
    pub iteration_in_test: Cell<u64>,
    /// `__ENV`, made at the first use.
    pub env: RefCell<Option<Value>>,
    /// Names of the open groups, outermost first.
    pub groups: RefCell<Vec<String>>,
    /// Tags set by the script, `exec.vu.metrics.tags`.
    pub tags: RefCell<Vec<(String, String)>>,
    /// Metadata set by the script, `exec.vu.metrics.metadata`, made at the first use.
    pub metadata: RefCell<Option<Value>>,
    /// Number of its scenario, groups, and tags; `None` after a change ([`crate::host::Host::scope`]).
    pub scope: Cell<Option<u32>>,
    /// Part of the test that its samples belong to.
    pub sample_group: Cell<SampleGroup>,
    pub jar: RefCell<Rc<RefCell<Jar>>>,
    /// State of `Math.random`.
    pub random: Cell<u64>,
    /// `http.setResponseCallback`: the statuses that are not failures; `None` means that every status is accepted.
    pub expected: RefCell<Expected>,
    next_step: Cell<StepId>,
    /// Requests in flight.
    pub pending: RefCell<Vec<(StepId, Pending)>>,
    /// gRPC calls in flight.
    pub calls: RefCell<Vec<(StepId, PendingCall)>>,
    /// Results that came since the fiber was resumed.
    pub arrived: RefCell<Vec<(StepId, Arrived)>>,
    /// Steps that the fiber waits for.
    awaited: RefCell<Vec<StepId>>,
    /// The fiber waits for any result.
    pub awaits_any: Cell<bool>,
    /// Promises of steps: what to do with the result.
    pub promises: RefCell<Vec<Promised>>,
    pub timers: RefCell<Vec<Timer>>,
    /// Callbacks of promises that an iteration has left.
    pub jobs: RefCell<Option<Jobs>>,
    last_timer: Cell<u32>,
    /// WebSockets and streams that are open, or whose end the script has not seen.
    pub channels: RefCell<Vec<Channel>>,
    /// gRPC calls with streams that are open, or whose end the script has not seen.
    pub streams: RefCell<Vec<Stream>>,
    /// The channel whose news the fiber waits for.
    pub awaited_channel: Cell<Option<u32>>,
    last_channel: Cell<u32>,
}

/// A promise of a response.
pub struct Promised {
    pub step: StepId,
    pub resolve: Value,
    pub reject: Value,
    pub awaited: Awaited,
}

/// What a promise is of.
pub enum Awaited {
    Request(Box<Flow>),
    Call,
    Redis(Arc<RedisCommand>),
}

/// A timer that has not expired.
pub struct Timer {
    /// As `setTimeout` returns it.
    pub number: u32,
    pub step: StepId,
    pub callback: Value,
    pub arguments: Vec<Value>,
    /// Of an interval, ns.
    pub every_ns: Option<u64>,
}

/// The result of a step.
pub enum Arrived {
    Slept,
    Response(Box<crate::http::Response>),
    /// The end of a gRPC call.
    Called(Box<Called>),
    /// The number of an origin, or why it cannot be used.
    Reached(Result<OriginId, (Fault, String)>),
    /// Something on the channel or the gRPC stream with this number, which keeps it.
    News(u32),
}

impl Vu {
    pub fn new(number: u64, scenario: usize, realm: Realm, seed: u64) -> Vu {
        Vu {
            number,
            scenario,
            realm,
            iterations: Cell::new(0),
            iteration_in_test: Cell::new(0),
            env: RefCell::new(None),
            groups: RefCell::default(),
            metadata: RefCell::new(None),
            tags: RefCell::default(),
            scope: Cell::new(None),
            sample_group: Cell::default(),
            jar: RefCell::default(),
            random: Cell::new(seed),
            expected: RefCell::new(Some(Rc::new(vec![(200, 399)]))),
            next_step: Cell::new(0),
            pending: RefCell::default(),
            calls: RefCell::default(),
            arrived: RefCell::default(),
            awaited: RefCell::default(),
            awaits_any: Cell::new(false),
            promises: RefCell::default(),
            timers: RefCell::default(),
            jobs: RefCell::default(),
            last_timer: Cell::new(0),
            channels: RefCell::default(),
            streams: RefCell::default(),
            awaited_channel: Cell::new(None),
            last_channel: Cell::new(0),
        }
    }

    /// Returns an unused number for a step.
    pub fn step(&self) -> StepId {
        let id = self.next_step.get();
        // `StepId::MAX` is the engine's own.
        self.next_step.set(if id >= StepId::MAX - 1 { 0 } else { id + 1 });
        id
    }

    /// Makes the fiber wait for a step.
    pub fn await_step(&self, id: StepId) {
        self.awaited.borrow_mut().push(id);
    }

    pub fn stop_waiting(&self) {
        self.awaited.borrow_mut().clear();
        self.awaits_any.set(false);
        self.awaited_channel.set(None);
    }

    /// Keeps the result of a step; returns whether the fiber can continue.
    pub fn arrive(&self, id: StepId, result: Arrived) -> bool {
        self.arrived.borrow_mut().push((id, result));
        let mut awaited = self.awaited.borrow_mut();
        match awaited.iter().position(|one| *one == id) {
            Some(at) => {
                awaited.swap_remove(at);
                awaited.is_empty()
            }
            None => self.awaits_any.get(),
        }
    }

    /// Takes the result of a step.
    pub fn take(&self, id: StepId) -> Option<Arrived> {
        let mut arrived = self.arrived.borrow_mut();
        let at = arrived.iter().position(|(one, _)| *one == id)?;
        Some(arrived.swap_remove(at).1)
    }

    /// Takes what is known of a request in flight; `None` if the step is none.
    pub fn take_pending(&self, step: StepId) -> Option<Pending> {
        let mut pending = self.pending.borrow_mut();
        let at = pending.iter().position(|(id, _)| *id == step)?;
        Some(pending.swap_remove(at).1)
    }

    /// Takes what is known of a call in flight; `None` if the step is none.
    pub fn take_call(&self, step: StepId) -> Option<PendingCall> {
        let mut calls = self.calls.borrow_mut();
        let at = calls.iter().position(|(id, _)| *id == step)?;
        Some(calls.swap_remove(at).1)
    }

    pub fn promise(&self, step: StepId, resolve: Value, reject: Value, awaited: Awaited) {
        self.promises.borrow_mut().push(Promised { step, resolve, reject, awaited });
    }

    pub fn take_promise(&self, step: StepId) -> Option<Promised> {
        let mut promises = self.promises.borrow_mut();
        let at = promises.iter().position(|one| one.step == step)?;
        Some(promises.swap_remove(at))
    }

    pub fn take_timer(&self, step: StepId) -> Option<Timer> {
        let mut timers = self.timers.borrow_mut();
        let at = timers.iter().position(|one| one.step == step)?;
        Some(timers.remove(at))
    }

    /// Returns an unused number for a timer.
    pub fn timer_number(&self) -> u32 {
        self.last_timer.set(self.last_timer.get().wrapping_add(1));
        self.last_timer.get()
    }

    /// Returns an unused number for a channel.
    pub fn channel_number(&self) -> u32 {
        self.last_channel.set(self.last_channel.get().wrapping_add(1));
        self.last_channel.get()
    }

    /// Returns whether a timer, a promise, or a channel of the event loop is outstanding.
    pub fn has_asynchronous(&self) -> bool {
        let has_channel = || self.channels.borrow().iter().any(|channel| channel.sink.is_some());
        !self.timers.borrow().is_empty()
            || !self.promises.borrow().is_empty()
            || has_channel()
            || self.has_streams()
    }

    /// Returns the steps that the fiber waits for, and those of timers and promises.
    pub fn outstanding(&self) -> Vec<StepId> {
        let mut all = self.awaited.borrow().clone();
        all.extend(self.timers.borrow().iter().map(|timer| timer.step));
        all.extend(self.promises.borrow().iter().map(|promise| promise.step));
        all
    }

    /// Discards what remains of an iteration.
    pub fn end_iteration(&self) {
        self.pending.borrow_mut().clear();
        self.calls.borrow_mut().clear();
        self.arrived.borrow_mut().clear();
        self.promises.borrow_mut().clear();
        self.timers.borrow_mut().clear();
        if !self.groups.borrow().is_empty() {
            self.groups.borrow_mut().clear();
            self.scope.set(None);
        }
        self.channels.borrow_mut().clear();
        self.streams.borrow_mut().clear();
        self.stop_waiting();
    }

    /// Returns the open groups as k6 writes them: `::outer::inner`, or nothing.
    pub fn group(&self) -> String {
        let mut text = String::new();
        for name in self.groups.borrow().iter() {
            text.push_str("::");
            text.push_str(name);
        }
        text
    }

    /// Returns a random number below 1.
    pub fn random(&self) -> f64 {
        let (state, number) = next_random(self.random.get());
        self.random.set(state);
        number
    }
}

/// Returns the next state and a number below 1 (SplitMix64, Steele et al. 2014).
pub fn next_random(state: u64) -> (u64, f64) {
    let state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut bits = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^= bits >> 31;
    (state, (bits >> 11) as f64 / (1u64 << 53) as f64)
}

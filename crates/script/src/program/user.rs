//! One virtual user: its state between two wakes, and the dispatch of wakes.
//!
//! Tens of thousands of users wait at the same time, most of them for one response. State that few users need
//! (branches, cookies, an open stream) is therefore in a separate allocation, and buffers for a wake belong to the
//! thread.

use super::call::StatusSeries;
use super::code::{Pc, StrandId};
use super::socket::Socket;
use super::stage::Stage;
use super::stream::Live;
use super::{draw, tell};
use crate::answer::{Findings, Scratch};
use crate::ask::CookieJar;
use crate::auth::digest::Challenge;
use crate::call::{Gzip, Reader, Web};
use crate::feed::{Feeds, Rows};
use crate::value::{RequestParts, Scope, Vars};
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{At, Outbox, Program, StepId, UserSlot, Wake};
use plimsoll_plan::script::AskId;
use plimsoll_stats::random::SplitMix64;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// The code that a user runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Setup,
    Teardown,
    Workload(u16),
}

/// The state of a user's iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IterationState {
    Going,
    /// The iteration ends: outstanding steps may finish, but no new ones start.
    Leaving,
    /// The data has run out: like `Leaving`, and no further iteration starts.
    Retiring,
}

/// What a strand waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Wait {
    /// Nothing: it has not started, or has ended.
    #[default]
    Idle,
    Answer,
    Sleep,
    Stream,
    /// A WebSocket that it opens, or that it awaits.
    Socket,
    /// A message of a WebSocket.
    Message,
    /// The end of a WebSocket.
    Closed,
    /// The strands that it has started.
    Strands,
}

/// The purpose of a request in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Exchange {
    /// The request of the step itself.
    #[default]
    Own,
    /// The same, sent once more for a reason that may not occur twice.
    Repeated,
    /// The same without its body, to get a challenge.
    Challenge,
    /// Another request, for a token.
    Token,
}

/// One thread of a scenario.
#[derive(Default)]
pub(super) struct Branch {
    /// The operation that it waits in.
    pub pc: Pc,
    pub wait: Wait,
    /// Number of redirects that may still be followed.
    pub redirects: u8,
    /// What the request in flight is for.
    pub exchange: Exchange,
    pub trail: Option<Box<Trail>>,
    pub live: Option<Box<Live>>,
}

/// The sent bytes of a request whose response may cause another request.
#[derive(Default)]
pub(super) struct Trail {
    pub sent: Vec<u8>,
    /// The origin that it was sent to.
    pub to: OriginId,
    /// Head of a redirect instead of a stream, whose reply comes later.
    pub head: Vec<u8>,
    /// The newest challenges of digest authentication, by the request that counts them.
    pub challenges: Vec<(AskId, Challenge)>,
}

/// The kind of a step, which its ID contains in addition to the strand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Request = 0,
    Sleep = 1,
    /// The timer for the duration of a stream.
    StreamFor = 2,
    /// The idle timer of a stream.
    StreamIdle = 3,
    /// A WebSocket, by its number instead of the strand, its duration, and its idle timer.
    Socket = 4,
    SocketFor = 5,
    SocketIdle = 6,
}

pub(super) fn step_id(strand: StrandId, kind: Kind) -> StepId {
    u32::from(strand) << 3 | kind as u32
}

fn parts_of(id: StepId) -> (StrandId, Kind) {
    let kind = match id & 7 {
        0 => Kind::Request,
        1 => Kind::Sleep,
        2 => Kind::StreamFor,
        3 => Kind::StreamIdle,
        4 => Kind::Socket,
        5 => Kind::SocketFor,
        _ => Kind::SocketIdle,
    };
    ((id >> 3) as StrandId, kind)
}

/// The state of a user, without shared state.
pub(super) struct State {
    pub vars: Vars,
    pub rows: Rows,
    pub random: SplitMix64,
    pub jar: Option<Box<CookieJar>>,
    /// Remaining iterations of loops, start times of groups, and outstanding strands, as the compiler assigned them,
    /// then the timings of requests.
    pub slots: Box<[u64]>,
    first: Branch,
    /// The other strands, created when the first of them is needed.
    others: Vec<Branch>,
    /// By number, created when the first of them is needed.
    pub sockets: Vec<Socket>,
    pub iteration: u64,
    /// Completed `once_per_user` steps, as bits.
    pub onces: u64,
    begin_ns: u64,
    /// Number of the user over all workloads and machines, starting at 1.
    pub user: u32,
    scenario: u16,
    pub part: Part,
    pub mood: IterationState,
    /// Whether the data has run out for all users of the workload.
    pub lane_over: bool,
}

impl State {
    /// Returns the current values for filling in texts.
    pub fn scope<'a>(&'a mut self, stage: &'a Stage, unix_ns: u64) -> (Scope<'a>, Option<&'a CookieJar>) {
        let scope = Scope {
            vars: &mut self.vars,
            globals: &stage.globals,
            rows: &mut self.rows,
            random: &mut self.random,
            counters: &stage.counters,
            unix_ns,
            user: self.user,
            iteration: self.iteration,
            // The timings follow the numbers of loops and groups.
            timings: self.slots.get(usize::from(stage.code.slots)..).unwrap_or_default(),
            request: RequestParts::default(),
        };
        (scope, self.jar.as_deref())
    }

    pub fn strand(&mut self, id: StrandId) -> &mut Branch {
        let Some(at) = usize::from(id).checked_sub(1) else { return &mut self.first };
        if at >= self.others.len() {
            self.others.resize_with(at + 1, Branch::default);
        }
        &mut self.others[at]
    }

    pub fn strand_count(&self) -> StrandId {
        self.others.len() as StrandId + 1
    }

    fn is_quiet(&self) -> bool {
        self.first.wait == Wait::Idle && self.others.iter().all(|strand| strand.wait == Wait::Idle)
    }
}

/// A virtual user of a script.
pub(super) struct User {
    stage: Arc<Stage>,
    series: Rc<StatusSeries>,
    state: State,
}

impl User {
    pub fn new(
        stage: Arc<Stage>,
        series: Rc<StatusSeries>,
        feeds: &Arc<Feeds>,
        part: Part,
        slot: UserSlot,
        seed: u64,
    ) -> User {
        let (number, before) = match part {
            // Setup and teardown have seeds that no user of the load has.
            Part::Setup => (u64::MAX, 0),
            Part::Teardown => (u64::MAX - 1, 0),
            Part::Workload(workload) => (
                u64::from(workload),
                stage.workloads.get(usize::from(workload)).map_or(0, |workload| workload.users_before),
            ),
        };
        let state = State {
            vars: Vars::new(stage.script.vars.len()),
            rows: Rows::new(feeds, slot),
            random: SplitMix64::new(draw::seed_of(seed, number, u64::from(slot.user))),
            jar: stage.script.cookies.then(|| Box::new(CookieJar::new())),
            slots: vec![0; usize::from(stage.code.slots) + stage.script.timings.len()].into(),
            first: Branch::default(),
            others: Vec::new(),
            sockets: Vec::new(),
            iteration: 0,
            begin_ns: 0,
            user: before.saturating_add(slot.user).saturating_add(1),
            scenario: 0,
            part,
            mood: IterationState::Going,
            lane_over: false,
            onces: 0,
        };
        User { stage, series, state }
    }
}

/// Buffers for one wake; one set per worker thread.
pub(super) struct Bench {
    /// The maximum body size of the scratch.
    body_bytes_max: usize,
    /// Strands that are ready to run.
    pub ready: Vec<StrandId>,
    pub fill: Vec<u8>,
    pub row: Vec<u8>,
    pub scratch: Scratch,
    pub findings: Findings,
    /// For messages of gRPC: as JSON, their reader, and their decoder.
    pub json: Vec<u8>,
    pub messages: Reader,
    pub gzip: Gzip,
    pub web: Web,
}

impl Bench {
    fn new(body_bytes_max: usize) -> Box<Bench> {
        Box::new(Bench {
            body_bytes_max,
            ready: Vec::new(),
            fill: Vec::new(),
            row: Vec::new(),
            scratch: Scratch::new(body_bytes_max),
            findings: Findings::default(),
            json: Vec::new(),
            messages: Reader::default(),
            gzip: Gzip::default(),
            web: Web::default(),
        })
    }
}

thread_local! {
    static BENCH: Cell<Option<Box<Bench>>> = const { Cell::new(None) };
}

/// One wake of one user.
pub(super) struct Turn<'a> {
    pub stage: &'a Stage,
    pub series: &'a StatusSeries,
    pub state: &'a mut State,
    pub at: At,
    pub out: &'a mut Outbox,
    pub bench: &'a mut Bench,
}

impl Program for User {
    fn resume(&mut self, at: At, wake: Wake<'_>, out: &mut Outbox) {
        let most = self.stage.body_bytes_max;
        let kept = BENCH.take().filter(|bench| bench.body_bytes_max == most);
        let mut bench = kept.unwrap_or_else(|| Bench::new(most));
        let (stage, series, state) = (&self.stage, &self.series, &mut self.state);
        Turn { stage, series, state, at, out, bench: &mut bench }.wake(wake);
        BENCH.set(Some(bench));
    }
}

impl Turn<'_> {
    fn wake(mut self, wake: Wake<'_>) {
        self.bench.ready.clear();
        match wake {
            Wake::Begin { .. } => self.begin(),
            Wake::Interrupted => return self.interrupted(),
            // The pause between two iterations belongs to the earlier one, which ends with it.
            Wake::Slept { id } => match parts_of(id) {
                (strand, Kind::StreamFor) => self.stream_is_old(strand),
                (strand, Kind::StreamIdle) => self.stream_may_be_idle(strand),
                (socket, Kind::SocketFor) => self.socket_is_old(socket),
                (socket, Kind::SocketIdle) => self.socket_may_be_idle(socket),
                (strand, _) => self.slept(strand),
            },
            // A scenario asks for no origin.
            Wake::Reached { .. } => {}
            Wake::Reply(reply) => {
                let (strand, kind) = parts_of(reply.id);
                match kind {
                    Kind::Socket => self.socket_ended(strand, &reply),
                    _ => match self.state.strand(strand).wait {
                        Wait::Stream => self.stream_ended(strand, &reply),
                        Wait::Answer => self.answered(strand, &reply),
                        Wait::Idle | Wait::Sleep | Wait::Strands => {}
                        Wait::Socket | Wait::Message | Wait::Closed => {}
                    },
                }
            }
            Wake::Head { id, status, head } => match parts_of(id) {
                (socket, Kind::Socket) => self.socket_began(socket, status, head),
                (strand, _) => self.stream_began(strand, status, head),
            },
            Wake::Message(message) => self.socket_message(parts_of(message.id).0, &message),
            Wake::Event(event) => match parts_of(event.id) {
                (call, Kind::Socket) => self.call_message(call, &event),
                (strand, _) => self.stream_event(strand, &event),
            },
        }
        while let Some(strand) = self.bench.ready.pop() {
            self.run(strand);
        }
        if self.state.is_quiet() && !self.close_sockets() {
            self.over();
        }
    }

    fn begin(&mut self) {
        let state = &mut *self.state;
        if state.mood == IterationState::Retiring {
            return;
        }
        state.mood = IterationState::Going;
        state.iteration += 1;
        state.begin_ns = self.at.run_ns;
        state.rows.new_iteration();
        let entry = match state.part {
            Part::Setup => Some(self.stage.code.setup),
            Part::Teardown => Some(self.stage.code.teardown),
            Part::Workload(workload) => {
                self.stage.workloads.get(usize::from(workload)).and_then(|workload| {
                    let way = workload.picker.as_ref().map_or(0, |picker| picker.pick(&mut state.random));
                    state.scenario = *workload.ways.get(way)?;
                    self.stage.code.scenarios.get(usize::from(state.scenario)).copied()
                })
            }
        };
        match entry {
            Some(pc) => {
                state.strand(0).pc = pc;
                self.bench.ready.push(0);
            }
            // The plan does not have this workload, so the user ends.
            None => state.mood = IterationState::Retiring,
        }
    }

    /// Forgets what the iteration has begun: the engine has ended it.
    fn interrupted(&mut self) {
        if self.state.mood == IterationState::Going {
            self.state.mood = IterationState::Leaving;
        }
        for id in 0..self.state.strand_count() {
            self.drop_token(id);
            self.forget_stream(id);
            self.state.strand(id).wait = Wait::Idle;
        }
        self.state.sockets.clear();
    }

    /// Handles the end of all strands.
    fn over(&mut self) {
        if self.state.mood == IterationState::Retiring {
            if self.state.lane_over {
                self.out.end_workload();
            }
            return self.out.retire();
        }
        if self.is_aside() {
            if self.state.mood == IterationState::Going {
                self.stage.note_through();
            }
            return;
        }
        if let Some(pace) = self.stage.pace(self.state.scenario) {
            let least_ns = draw::delay_ns(pace, &mut self.state.random);
            let rest_ns = least_ns.saturating_sub(self.at.run_ns.saturating_sub(self.state.begin_ns));
            if rest_ns > 0 {
                self.out.rest(rest_ns);
            }
        }
    }

    /// Ends the iteration early.
    pub fn leave(&mut self, mood: IterationState) {
        if self.state.mood != IterationState::Going {
            // If the data runs out while an iteration ends, the user ends too.
            if mood == IterationState::Retiring {
                self.state.mood = mood;
            }
            return;
        }
        self.state.mood = mood;
        if mood == IterationState::Leaving {
            tell::abandoned(self.out);
        }
        self.bench.ready.clear();
        for id in 0..self.state.strand_count() {
            let wait = self.state.strand(id).wait;
            match wait {
                Wait::Idle => {}
                Wait::Strands => self.state.strand(id).wait = Wait::Idle,
                Wait::Sleep => {
                    self.end_sleep(step_id(id, Kind::Sleep));
                    self.state.strand(id).wait = Wait::Idle;
                }
                Wait::Socket | Wait::Message | Wait::Closed => self.forget_wait(id),
                Wait::Answer | Wait::Stream if self.unsaid(step_id(id, Kind::Request)) => {
                    self.drop_token(id);
                    self.forget_stream(id);
                    self.state.strand(id).wait = Wait::Idle;
                }
                // A request in flight continues, because its response counts.
                Wait::Answer => {}
                Wait::Stream => self.give_up_stream(id),
            }
        }
    }

    /// Removes a step of the current wake, which the engine does not know yet.
    pub fn unsaid(&mut self, id: StepId) -> bool {
        let before = self.out.steps.len();
        self.out.steps.retain(|step| step.id != id);
        self.out.steps.len() < before
    }

    /// Cancels a sleep, or removes it if it belongs to the current wake.
    pub fn end_sleep(&mut self, id: StepId) {
        let before = self.out.sleeps.len();
        self.out.sleeps.retain(|(asked, _)| *asked != id);
        if self.out.sleeps.len() == before {
            self.out.cancel(id);
        }
    }
}

//! A JMeter thread as a program of the engine.
//!
//! An iteration of the engine is an iteration of the thread group. The thread asks its controllers for the next sampler
//! and runs it with everything in its scope. It waits for a delay, a response, an origin, a lock, or other threads; its
//! [`Stage`] says for which.

mod authorize;
mod begin;
mod exchange;
mod finish;
mod hold;
mod host;
mod page;
mod react;
mod redirect;
mod response;
mod socket;
mod transaction;

use crate::cache::Cache;
use crate::config::{self, Effect, Kept, Opened};
use crate::controller::{self, Next, State};
use crate::plan::{Group, SamplerId};
use crate::sample::Sample;
use crate::scope::{Identity, Wish};
use crate::timer::Waiting;
use crate::vars::Vars;
use crate::worker::{OwnPlan, Worker};
use exchange::Flow;
use host::Controllers;
use page::Page;
use plimsoll_jmx::plan::GroupLoad;
use plimsoll_plan::program::{At, Outbox, Program, StepId, Wake};
use plimsoll_script::ask::CookieJar;
use plimsoll_stats::random::SplitMix64;
use socket::{Socket, Talk};
use std::rc::Rc;
use transaction::Open;

/// Builds the scope of a thread from its parts, so that the rest of the thread stays usable.
macro_rules! scope {
    ($thread:ident, $at:expr, $wish:expr) => {
        $crate::scope::Scope {
            vars: &mut $thread.vars,
            run: &$thread.worker.run,
            thread: &$thread.identity,
            random: &mut $thread.random,
            at: $at,
            previous: $thread.previous.as_deref(),
            sampler: &$thread.label,
            wish: $wish,
            caches: &$thread.worker.caches,
        }
    };
}
pub(crate) use scope;

/// Pauses between two looks at a lock or a barrier, ns.
const POLL_NS: u64 = 1_000_000;
/// Steps without waiting, after which a thread lets others run.
const STEPS_MAX: u32 = 2_000;

/// What a thread waits for.
#[derive(Default)]
enum Stage {
    #[default]
    Idle,
    /// The groups before its own, which run one after another.
    Held,
    /// Its start after that of its group.
    Starting,
    /// To look at a lock again, or to let others run.
    Resting,
    /// A pause of a Flow Control Action, which ends without a sample.
    Pausing,
    /// The end of the test, whose schedule is over.
    Ending,
    /// A delay before a sampler.
    Delaying(SamplerId),
    /// Other threads at a Synchronizing Timer; then the number of the timer, and the delay so far, ms.
    Gathering(SamplerId, Waiting, usize, i64),
    /// The sleep of a Java sampler.
    Sleeping(SamplerId, Box<Sample>),
    Requesting(Box<Flow>),
    /// What a page embeds.
    Loading(Box<Page>),
    /// A WebSocket, for a sampler.
    Talking(Box<Talk>),
    /// To begin the next iteration while a WebSocket is open.
    Repeating,
}

/// A thread.
pub struct Thread {
    worker: Rc<Worker>,
    plan: Rc<OwnPlan>,
    identity: Identity,
    /// A number over all groups, for locks and files.
    key: u64,
    vars: Vars,
    random: SplitMix64,
    states: Vec<State>,
    slots: Vec<i64>,
    csv: Vec<Option<Rc<Opened>>>,
    jars: Vec<CookieJar>,
    caches: Vec<Cache>,
    previous: Option<Box<Sample>>,
    is_last_ok: bool,
    label: Rc<str>,
    stage: Stage,
    /// The step that it waits for.
    step: StepId,
    /// Steps of this thread begin here.
    first_step: StepId,
    transactions: Vec<Open>,
    /// The WebSocket of the thread, which stays open until a sampler closes it, or the thread ends.
    socket: Option<Box<Socket>>,
    /// The step that opened the last WebSocket.
    last_socket_step: StepId,
    /// Iterations that the engine does not know of, because a WebSocket was open between them.
    more_iterations: u64,
    /// The timeout of the current sampler by a pre-processor, ms.
    limit_ms: Option<u64>,
    /// Values of arguments of the current sampler by pre-processors.
    replaced: Vec<(String, String)>,
    has_begun: bool,
    has_ended: bool,
    /// Whether any sampler has begun.
    has_sampled: bool,
}

/// What happens after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// The thread waits for its step.
    Waits,
    /// It continues with its controllers.
    Continues,
    /// Its iteration has ended.
    Iteration,
    /// It has ended.
    Ended,
}

impl Thread {
    /// `steps` is the first number of its steps; a thread uses the next 4,095 as well.
    pub fn new(
        worker: &Rc<Worker>,
        group: usize,
        number: u32,
        key: u64,
        vars: Vars,
        seed: u64,
        steps: StepId,
    ) -> Thread {
        let plan = Rc::clone(&worker.plan);
        let name = plan.groups.get(group).map(|group| format!("{} {}-{number}", group.title, group.number));
        let nodes = plan.groups.get(group).map_or(0, |group| group.nodes.len());
        let identity =
            Identity { group, number, name: name.unwrap_or_default().into(), ..Identity::default() };
        Thread {
            worker: Rc::clone(worker),
            identity,
            key,
            vars,
            random: SplitMix64::new(seed),
            states: vec![State::default(); nodes],
            slots: vec![0; plan.slots],
            csv: vec![None; plan.csv_count],
            caches: plan.cache_managers.iter().map(|_| Cache::default()).collect(),
            jars: plan.cookie_managers.iter().map(|_| CookieJar::new()).collect(),
            previous: None,
            is_last_ok: true,
            label: Rc::default(),
            stage: Stage::Idle,
            step: steps,
            first_step: steps,
            transactions: Vec::new(),
            socket: None,
            last_socket_step: 0,
            more_iterations: 0,
            limit_ms: None,
            replaced: Vec::new(),
            has_begun: false,
            has_ended: false,
            has_sampled: false,
            plan,
        }
    }

    fn group(&self) -> &Group {
        // proof: threads are made for groups of the plan.
        &self.plan.groups[self.identity.group]
    }

    /// Returns an unused number for a step. The last ones are those of WebSockets, which stay open.
    fn next_step(&mut self) -> StepId {
        let offset = (self.step - self.first_step + 1) % socket::FIRST_STEP;
        self.step = self.first_step + offset;
        self.step
    }

    /// Returns whether it waits for a response to this request.
    fn has_sent(&self, id: StepId) -> bool {
        match &self.stage {
            Stage::Loading(page) => page.has_sent(id),
            _ => id == self.step,
        }
    }

    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns whether it waits for nothing.
    pub fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Idle)
    }

    /// Begins an iteration, with its number from 0.
    pub fn begin(&mut self, iteration: u64, at: At, out: &mut Outbox) {
        self.stage = Stage::Idle;
        self.transactions.clear();
        if self.has_ended || self.worker.run.is_stopped() {
            self.end();
            return out.retire();
        }
        if !self.has_begun && self.has_to_wait() {
            return self.hold(out);
        }
        self.begin_iteration(iteration + self.more_iterations, at, out);
    }

    fn begin_iteration(&mut self, iteration: u64, at: At, out: &mut Outbox) {
        if !self.has_begun {
            self.has_begun = true;
            self.worker.run.thread_started(self.identity.group);
            self.worker.set_last_ok(&mut self.vars, true);
            self.prepare_cookies(at);
            controller::initialize(&mut Controllers { thread: self, at });
        }
        self.identity.iteration = iteration + 1;
        if iteration > 0 {
            self.prepare_iteration(at);
        }
        if let Some(root) = self.states.first_mut() {
            root.begin_iteration(iteration);
        }
        if let Some(variable) = self.group().nodes.first().and_then(|root| root.index_variable) {
            self.vars.set_at(variable, &iteration.to_string());
        }
        self.advance(at, out);
    }

    /// Continues after an event of the engine.
    pub fn wake(&mut self, at: At, wake: Wake<'_>, out: &mut Outbox) {
        let after = match wake {
            Wake::Slept { id } if id == self.step => self.slept(at, out),
            Wake::Reply(reply) if self.has_sent(reply.id) => self.replied(&reply, at, out),
            Wake::Reached { id, result } if self.has_sent(id) => self.reached(id, result, at, out),
            Wake::Head { id, status, head } => self.socket_answered(id, status, head, at, out),
            Wake::Message(message) => self.socket_received(&message, at, out),
            Wake::Reply(reply) => self.socket_ended(&reply, at, out),
            Wake::Interrupted => {
                self.socket = None;
                self.release();
                return;
            }
            _ => return,
        };
        match after {
            After::Waits => {}
            After::Continues => self.advance(at, out),
            After::Iteration => self.iteration_ended(at, out),
            After::Ended => self.thread_ended(out),
        }
    }

    /// Runs controllers and samplers until the thread waits, or its iteration ends.
    fn advance(&mut self, at: At, out: &mut Outbox) {
        for _ in 0..STEPS_MAX {
            if self.worker.run.is_stopped() {
                return self.thread_ended(out);
            }
            if self.is_over(at) {
                // The workload ends at the same time: no user has run out of anything.
                self.drop_socket(out);
                return self.end();
            }
            let next = controller::next(&mut Controllers { thread: self, at }, 0);
            let after = match next {
                None => After::Iteration,
                Some(Next::Sampler(sampler)) => self.begin_sampler(sampler, at, out),
                Some(Next::Begin(node)) => {
                    self.begin_transaction(node, at);
                    After::Continues
                }
                Some(Next::End(node)) => {
                    self.end_transaction(node, at, out);
                    After::Continues
                }
                Some(Next::Iteration(node)) => self.start_iteration(node, at),
                Some(Next::Locked) => return self.rest(out),
            };
            match after {
                After::Waits => return,
                After::Continues => {}
                After::Iteration => return self.iteration_ended(at, out),
                After::Ended => return self.thread_ended(out),
            }
        }
        self.rest(out);
    }

    fn rest(&mut self, out: &mut Outbox) {
        let step = self.next_step();
        out.sleep(step, POLL_NS);
        self.stage = Stage::Resting;
    }

    fn slept(&mut self, at: At, out: &mut Outbox) -> After {
        match std::mem::take(&mut self.stage) {
            Stage::Resting => After::Continues,
            Stage::Held => self.held(at, out),
            Stage::Starting if self.worker.run.is_stopped() => After::Ended,
            Stage::Starting => {
                self.begin_iteration(0, at, out);
                After::Waits
            }
            Stage::Pausing => After::Continues,
            Stage::Ending => {
                self.worker.run.stop(false);
                After::Ended
            }
            Stage::Delaying(sampler) => {
                if self.worker.run.is_stopped() || self.is_over(at) {
                    return After::Continues;
                }
                self.run_sampler(sampler, at, out)
            }
            Stage::Gathering(sampler, waiting, timer, delay_ms) => {
                self.gathered(sampler, waiting, timer, delay_ms, at, out)
            }
            Stage::Sleeping(sampler, sample) => self.woke(sampler, *sample, at, out),
            Stage::Talking(talk) => self.read_timed_out(*talk, at, out),
            Stage::Repeating => {
                self.more_iterations += 1;
                self.begin(self.identity.iteration - self.more_iterations, at, out);
                After::Waits
            }
            stage @ (Stage::Idle | Stage::Requesting(_) | Stage::Loading(_)) => {
                self.stage = stage;
                After::Waits
            }
        }
    }

    /// Runs the elements of a controller whose iteration starts.
    fn start_iteration(&mut self, node: u32, at: At) -> After {
        let plan = Rc::clone(&self.plan);
        let configs = &plan.groups[self.identity.group].nodes[node as usize].at_iteration;
        for one in configs {
            let mut wish = Wish::default();
            let mut kept = Kept { slots: &mut self.slots, csv: &mut self.csv, thread: self.key };
            let mut scope = scope!(self, at, &mut wish);
            match config::run(one, &mut kept, &mut scope) {
                Effect::Nothing => {}
                Effect::Ends | Effect::Fails => return After::Ended,
            }
        }
        controller::iteration_started(&mut Controllers { thread: self, at }, node);
        After::Continues
    }

    /// Returns whether the time of the thread group is over.
    fn is_over(&self, at: At) -> bool {
        match &self.group().load {
            GroupLoad::Threads(threads) => threads
                .duration_ns
                .is_some_and(|duration_ns| at.run_ns >= threads.delay_ns.saturating_add(duration_ns)),
            _ => false,
        }
    }

    fn iteration_ended(&mut self, at: At, out: &mut Outbox) {
        self.stage = Stage::Idle;
        self.end_transactions(at, out);
        let loops = match &self.group().load {
            GroupLoad::Threads(threads) => threads.loops,
            GroupLoad::Profile { loops, .. } => *loops,
            GroupLoad::Arrivals { .. } => None,
        };
        if loops.is_some_and(|loops| self.identity.iteration >= loops) {
            self.drop_socket(out);
            return self.end();
        }
        if self.socket.is_some() {
            // To the engine, the iteration lasts as long as the connection.
            let step = self.next_step();
            out.sleep(step, 0);
            self.stage = Stage::Repeating;
        }
    }

    /// Ends the thread before its loops are done.
    fn thread_ended(&mut self, out: &mut Outbox) {
        self.drop_socket(out);
        self.end();
        out.retire();
    }

    /// Counts the thread as ended.
    pub fn end(&mut self) {
        self.release();
        if self.has_begun && !std::mem::replace(&mut self.has_ended, true) {
            self.worker.run.thread_ended(self.identity.group);
        }
    }

    /// Frees its locks.
    fn release(&mut self) {
        self.stage = Stage::Idle;
        for node in 0..self.states.len() as u32 {
            if matches!(self.group().nodes[node as usize].kind, crate::plan::Kind::Critical(_)) {
                controller::leave(&mut Controllers { thread: self, at: At::default() }, node);
            }
        }
    }

    /// Sets the cookies that each thread begins with.
    fn prepare_cookies(&mut self, at: At) {
        let plan = Rc::clone(&self.plan);
        for (number, manager) in plan.cookie_managers.iter().enumerate() {
            self.reset_jar(number, manager, at);
        }
    }

    fn reset_jar(&mut self, number: usize, manager: &crate::plan::CookieManager, at: At) {
        self.jars[number].clear();
        for (cookie, is_secure) in manager.cookies.iter().zip(&manager.secure) {
            let mut wish = Wish::default();
            let mut scope = scope!(self, at, &mut wish);
            let [name, value, domain, path] = [0, 1, 2, 3].map(|part: usize| cookie[part].value(&mut scope));
            let domain = domain.trim().trim_start_matches('.').to_ascii_lowercase();
            if domain.is_empty() {
                self.worker.run.warn_once(&format!("the cookie `{name}` has no domain, so it is never sent"));
                continue;
            }
            let path = if path.is_empty() { "/" } else { &path };
            let secure = if *is_secure { "; Secure" } else { "" };
            let head = format!(
                "HTTP/1.1 200 OK\r\nSet-Cookie: {name}={value}; Domain={domain}; Path={path}{secure}\r\n\r\n"
            );
            let origin =
                plimsoll_script::ask::Origin::new(&crate::worker::site(u16::MAX, &domain, *is_secure));
            let head = plimsoll_plan::head::Head::new(head.as_bytes());
            self.jars[number].take(head, b"/", at.unix_ns, &origin);
        }
    }

    /// Forgets what another user would not have.
    fn prepare_iteration(&mut self, at: At) {
        let plan = Rc::clone(&self.plan);
        let is_same_user = self.group().is_same_user;
        for (cache, manager) in self.caches.iter_mut().zip(&plan.cache_managers) {
            let clears = match manager.follows_group {
                true => !is_same_user,
                false => manager.clears_each_iteration,
            };
            if clears {
                cache.clear();
            }
        }
        for (number, manager) in plan.cookie_managers.iter().enumerate() {
            let clears = match manager.follows_group {
                true => !is_same_user,
                false => manager.clears_each_iteration,
            };
            if clears {
                self.reset_jar(number, manager, at);
            }
        }
    }
}

impl Program for Thread {
    fn resume(&mut self, at: At, wake: Wake<'_>, out: &mut Outbox) {
        match wake {
            Wake::Begin { iteration, .. } => self.begin(iteration, at, out),
            other => self.wake(at, other, out),
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.end();
    }
}

//! A virtual user as a program of the engine.

use crate::channel;
use crate::event_loop;
use crate::grpc::stream;
use crate::host::Host;
use crate::known::What;
use crate::log::{Level, Source};
use crate::pod::Pod;
use crate::source::PhaseFailure;
use crate::vu::{Arrived, Vu};
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::program::{At, Count, Outbox, Program, StepId, Wake};
use plimsoll_plan::series::Family;
use plimsoll_quickjs::{Fiber, Progress, Thrown, Value};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::Ordering;

const EVENT_STREAM: &str = "a response is an event stream: its duration is that of the whole stream, and says nothing \
                            of its events; `open()` of `k6/x/sse` measures heads, gaps, and events";

/// What a user calls in each iteration.
pub enum Work {
    /// An exported function, with the data of setup.
    Function(Value),
    /// `setup()`: its result is kept for the load.
    Setup(Value),
    /// `teardown()`, with the data of setup.
    Teardown(Value),
}

/// A user.
pub struct User {
    pub pod: Rc<Pod>,
    pub vu: Rc<Vu>,
    pub work: Rc<Work>,
    /// The iteration in progress.
    pub fiber: Option<Fiber>,
    /// The data of setup, parsed once.
    pub data: Rc<RefCell<Option<Value>>>,
    /// The sleep that ends `setup()` or `teardown()` when it takes too long.
    pub deadline: Option<StepId>,
}

impl Program for User {
    fn resume(&mut self, at: At, wake: Wake<'_>, out: &mut Outbox) {
        let host = Rc::clone(&self.pod.host);
        host.at.set(at);
        std::mem::swap(out, &mut *host.out.borrow_mut());
        host.vu.replace(Some(Rc::clone(&self.vu)));
        self.step(&host, wake);
        host.vu.replace(None);
        std::mem::swap(out, &mut *host.out.borrow_mut());
    }
}

impl User {
    fn step(&mut self, host: &Rc<Host>, wake: Wake<'_>) {
        let can_continue = match wake {
            Wake::Begin { number, .. } => self.begin(host, number),
            Wake::Interrupted => {
                channel::interrupted(host, &self.vu);
                stream::interrupted(host, &self.vu);
                self.fiber = None;
                self.vu.end_iteration();
                false
            }
            Wake::Reached { id, result } => {
                let result = result.map_err(|why| (why.fault, why.sentence.to_string()));
                match channel::reached(host, &self.vu, id, &result) {
                    Some(can_continue) => can_continue,
                    None => self.vu.arrive(id, Arrived::Reached(result)),
                }
            }
            Wake::Slept { id } if self.deadline == Some(id) => {
                self.time_out(host);
                false
            }
            Wake::Slept { id } => {
                match channel::slept(&self.vu, id).or_else(|| stream::slept(host, &self.vu, id)) {
                    Some(can_continue) => can_continue,
                    None => self.vu.arrive(id, Arrived::Slept),
                }
            }
            Wake::Reply(reply) => match self.vu.take_pending(reply.id) {
                Some(pending) => {
                    let response = pending.finish(&reply);
                    if response.is_event_stream {
                        host.shared.warn_once(EVENT_STREAM);
                        host.out.borrow_mut().count(Count::Run(RunSum::EventStreamsAsResponses, 1));
                    }
                    if reply.fault.is_none()
                        && let Some(fault) = response.fault
                    {
                        host.out.borrow_mut().fail(fault);
                    }
                    self.vu.arrive(reply.id, Arrived::Response(Box::new(response)))
                }
                None => match self.vu.take_call(reply.id) {
                    Some(pending) => {
                        let called = pending.finish(host, &self.vu, &reply);
                        self.vu.arrive(reply.id, Arrived::Called(Box::new(called)))
                    }
                    None => channel::reply(host, &self.vu, &reply)
                        .or_else(|| stream::reply(host, &self.vu, &reply))
                        .unwrap_or(false),
                },
            },
            Wake::Head { id, status, head } => match stream::head(host, &self.vu, id, status, head) {
                Some(can_continue) => can_continue,
                None => channel::head(host, &self.vu, id, status, head),
            },
            Wake::Event(event) => match stream::event(host, &self.vu, &event) {
                Some(can_continue) => can_continue,
                None => channel::event(host, &self.vu, &event),
            },
            Wake::Message(message) => channel::message(host, &self.vu, &message),
        };
        if can_continue {
            self.run(host);
        }
    }

    /// Prepares an iteration; returns whether it can run.
    fn begin(&mut self, host: &Rc<Host>, number: Option<u64>) -> bool {
        let shared = &host.shared;
        // As in k6, `teardown()` is called all the same.
        if shared.aborted().is_some() && matches!(&*self.work, Work::Function(_)) {
            host.out.borrow_mut().retire();
            return false;
        }
        let vu = &self.vu;
        vu.end_iteration();
        vu.iterations.set(vu.iterations.get() + 1);
        if let Some(begun) = shared.begun.get(vu.scenario) {
            let own = begun.fetch_add(1, Ordering::Relaxed);
            vu.iteration_in_test.set(number.unwrap_or(own));
        }
        if !shared.settings.keeps_cookies {
            let is_clean = {
                let jar = vu.jar.borrow();
                Rc::strong_count(&jar) == 1 && jar.borrow().is_empty()
            };
            if !is_clean {
                vu.jar.replace(Rc::default());
            }
        }
        let (own, of, work, data) =
            (Rc::clone(host), Rc::clone(vu), Rc::clone(&self.work), Rc::clone(&self.data));
        let body = move || iterate(&own, &of, &work, &data);
        let limit_ns = match &*self.work {
            Work::Function(_) => None,
            Work::Setup(_) => Some(shared.settings.setup_timeout_ns),
            Work::Teardown(_) => Some(shared.settings.teardown_timeout_ns),
        };
        if let Some(limit_ns) = limit_ns {
            let id = self.vu.step();
            host.out.borrow_mut().sleep(id, limit_ns);
            self.deadline = Some(id);
        }
        match Fiber::new(&self.pod.stacks, &self.pod.runtime, body) {
            Ok(fiber) => {
                self.fiber = Some(fiber);
                true
            }
            Err(e) => {
                shared.warn_once(&format!("no memory for the stack of a virtual user: {e}"));
                false
            }
        }
    }

    /// Ends `setup()` or `teardown()`.
    fn time_out(&mut self, host: &Rc<Host>) {
        self.deadline = None;
        for id in self.vu.outstanding() {
            host.out.borrow_mut().cancel(id);
        }
        self.fiber = None;
        self.vu.end_iteration();
        let settings = &host.shared.settings;
        let (name, limit_ns, how) = match &*self.work {
            Work::Teardown(_) => ("teardown()", settings.teardown_timeout_ns, PhaseFailure::TeardownTimeout),
            _ => ("setup()", settings.setup_timeout_ns, PhaseFailure::SetupTimeout),
        };
        let why = format!("{name} timed out after {}", plimsoll_plan::phrase::chosen_ns(limit_ns));
        host.shared.script.log.write(Level::Error, Source::Run, &why);
        host.shared.set_trouble(how, why);
    }

    fn run(&mut self, host: &Rc<Host>) {
        let Some(fiber) = &mut self.fiber else { return };
        self.pod.runtime.set_budget(host.shared.settings.budget);
        if fiber.resume() == Progress::Ended {
            self.fiber = None;
            if let Some(deadline) = self.deadline.take() {
                host.out.borrow_mut().cancel(deadline);
            }
            self.pod.iteration_ended();
        }
    }
}

impl Drop for User {
    fn drop(&mut self) {
        // Its call in progress ends with an error, which may use the host.
        self.pod.host.vu.replace(Some(Rc::clone(&self.vu)));
        self.fiber = None;
        self.pod.host.vu.replace(None);
    }
}

/// A moment of an iteration.
#[derive(Clone, Copy)]
struct Moment {
    /// Time of the event that is handled, ns since the run began.
    run_ns: u64,
    /// Reading of the clock, ns; 0 in simulated time.
    clock_ns: u64,
}

impl Moment {
    fn of(host: &Host) -> Moment {
        let clock_ns = host.out.borrow().clock.map_or(0, |now_ns| now_ns());
        Moment { run_ns: host.at.get().run_ns, clock_ns }
    }

    /// Returns the time since an earlier moment, which includes what the script has computed after the last event.
    fn since_ns(self, earlier: Moment) -> u64 {
        let events_ns = self.run_ns.saturating_sub(earlier.run_ns);
        events_ns.max(self.clock_ns.saturating_sub(earlier.clock_ns))
    }
}

/// Runs one iteration.
fn iterate(host: &Rc<Host>, vu: &Rc<Vu>, work: &Work, data: &RefCell<Option<Value>>) {
    let began = Moment::of(host);
    let runtime = vu.realm.runtime();
    if let Some(jobs) = vu.jobs.take() {
        runtime.put_jobs(jobs);
    }
    let result = call(host, vu, work, data).and_then(|value| event_loop::complete(host, vu, value));
    if !matches!(result, Err(Thrown::Cancelled)) {
        // What a script has left open, because it threw.
        vu.release_channels(host);
        vu.release_streams(host);
    }
    // Those of an iteration that has thrown something else.
    drop(vu.realm.take_rejections());
    // Another user must not run what is left; after a cancellation, nothing is to run.
    let left = runtime.take_jobs();
    vu.jobs.replace(left.filter(|_| !matches!(result, Err(Thrown::Cancelled))));
    match (result, work) {
        (Err(Thrown::Cancelled), _) => {}
        (Err(thrown), Work::Setup(_)) => {
            host.shared.phase_failed(&thrown, PhaseFailure::SetupTimeout);
        }
        (Err(thrown), Work::Teardown(_)) => {
            host.shared.phase_failed(&thrown, PhaseFailure::TeardownTimeout);
        }
        (Err(thrown), _) => {
            host.shared.threw(&thrown);
            vu.iteration_ended(host, began, true);
        }
        (Ok(value), Work::Setup(_)) => match value.to_json() {
            Ok(json) => host.shared.keep_setup_data(json),
            Err(thrown) => host.shared.phase_failed(&thrown, PhaseFailure::SetupTimeout),
        },
        (Ok(_), Work::Teardown(_)) => host.shared.phase_ended(),
        (Ok(_), _) => vu.iteration_ended(host, began, false),
    }
}

fn call(host: &Host, vu: &Vu, work: &Work, data: &RefCell<Option<Value>>) -> Result<Value, Thrown> {
    let nothing = vu.realm.undefined();
    match work {
        Work::Setup(function) => function.call(&nothing, &[]),
        Work::Function(function) | Work::Teardown(function) => {
            let known = data.borrow().clone();
            let value = match known {
                Some(value) => value,
                None => {
                    let value = match host.shared.setup_json() {
                        Some(json) => vu.realm.parse_json(&json, "setup.json")?,
                        None => nothing.clone(),
                    };
                    data.replace(Some(value.clone()));
                    value
                }
            };
            function.call(&nothing, &[&value])
        }
    }
}

impl Vu {
    /// Waits for the minimum duration of an iteration, and counts it.
    fn iteration_ended(&self, host: &Host, began: Moment, has_thrown: bool) {
        let least_ns = host.shared.settings.min_iteration_ns;
        let passed_ns = Moment::of(host).since_ns(began);
        // The pause at the end is not part of the iteration.
        let time_ms = passed_ns as f64 / 1e6;
        host.add(self, What::IterationDuration, (Family::Trend, "iteration_duration"), time_ms, &[]);
        host.sample(self, &[("iteration_duration", time_ms), ("iterations", 1.0)], &[], &[]);
        if passed_ns < least_ns {
            let id = self.step();
            host.out.borrow_mut().sleep(id, least_ns - passed_ns);
            self.await_step(id);
            if self.realm.runtime().wait().is_err() {
                return;
            }
        }
        host.shared.note_completed();
        if has_thrown {
            host.count_exception();
        }
    }
}

impl Host {
    /// Counts an iteration that threw.
    fn count_exception(&self) {
        self.out.borrow_mut().count(Count::Run(RunSum::IterationsFailed, 1));
    }
}

impl crate::source::Shared {
    /// Notes why setup or teardown has failed; `endless` is the failure if it never waits.
    fn phase_failed(&self, thrown: &Thrown, endless: PhaseFailure) {
        self.threw(thrown);
        let is_endless = matches!(thrown, Thrown::Interrupted(_)) && self.aborted().is_none();
        let text = self.aborted().unwrap_or_else(|| self.describe(thrown));
        self.set_trouble(if is_endless { endless } else { PhaseFailure::Exception }, text);
    }
}

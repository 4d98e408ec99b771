//! An agent as a state machine: it takes a part of a run, has a load generator work on it, and sends on what that
//! reports. It knows one run at a time.

use crate::envelope::{Envelope, Sender, Spool};
use crate::message::{
    BEAT_NS, Beat, ClockOffset, Identity, Order, PROTOCOL, Refusal, Stage, Step, Task, Wish,
};
use crate::signature;
use plimsoll_plan::Problem;

/// Silence of the coordinator before the load after which an agent becomes free, ns.
pub const ABANDONED_NS: u64 = 15_000_000_000;
/// Time for which a finished agent keeps its envelopes for a silent coordinator, ns.
pub const KEPT_NS: u64 = 600_000_000_000;
/// Age at which events are sent even if no tick follows, ns.
const GATHER_NS: u64 = 500_000_000;
/// Size at which events are sent even if no tick follows, bytes.
const GATHER_BYTES: usize = 512 << 10;
/// A start that is this far in the past was missed, ns.
const STALE_START_NS: u64 = 2_000_000_000;
/// Time between two measurements of the clocks, ns.
const CLOCK_EVERY_NS: u64 = 10_000_000_000;
/// The same after a measurement without an answer; a load waits for it.
const CLOCK_AGAIN_NS: u64 = 4_000_000_000;
/// Time between signs of life while envelopes are sent, ns.
const BEAT_LOADING_NS: u64 = 3_000_000_000;
/// Fix if results cannot be kept.
const SPOOL_HINT: &str = "check the free space and memory of the agent";
/// Time for which signs of life contain a refusal, ns.
const REFUSAL_KEPT_NS: u64 = 3_000_000_000;

/// What a load generator reports, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// Everything before the load has succeeded; contains the values of setup in Base64 if it ran here.
    Prepared { setup: Option<String> },
    /// All users wait for the start.
    Ready,
    /// The load has begun at this time of the agent's clock, ns.
    Begun { begin_ns: u64 },
    /// An encoded event; the second says whether it is a tick.
    Event(Vec<u8>, bool),
    /// The script has ended the test for all agents.
    EndedTest,
    /// The load has ended, and the teardown waits.
    Ended,
    /// The process has ended. `ran` says whether it had a load with a record.
    Exited { code: i32, ran: bool, said: String },
}

/// What happens to an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Ordered(Order),
    /// An order that is not from its coordinator, and why.
    Forged(Order, Box<Problem>),
    /// A coordinator asks for all agents.
    RollCall,
    Reported(Report),
    /// The files of the task are here.
    FilesReady,
    /// The files are unavailable: a sentence and a fix.
    FilesFailed {
        sentence: String,
        hint: String,
    },
    ClockMeasured {
        run: String,
        clock: ClockOffset,
    },
    /// The server accepts no message of this size, bytes.
    TooLarge {
        bytes: usize,
        max_bytes: usize,
    },
    /// Time has passed.
    Tick,
}

/// What an agent wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    Beat(Box<Beat>),
    Envelope {
        run: String,
        bytes: Vec<u8>,
    },
    /// Get the files of the task, then answer [`Input::FilesReady`].
    Fetch {
        run: String,
        task: Box<Task>,
    },
    MeasureClock {
        run: String,
    },
    /// Start a load generator.
    Start {
        run: String,
        task: Box<Task>,
    },
    /// Write a line to its standard input.
    Line(String),
    /// End it at once, without a report.
    Kill,
    /// Delete what belongs to the run.
    CleanUp {
        run: String,
    },
}

/// An agent.
pub struct Agent<S> {
    identity: Identity,
    work: Option<Work<S>>,
    beat_ns: Option<u64>,
    beats: u64,
    /// Last envelope.
    sent_ns: Option<u64>,
    /// The last refusal, and when.
    refusal: Option<(Refusal, u64)>,
}

/// One run, as far as this agent has a part in it.
struct Work<S> {
    run: String,
    task: Box<Task>,
    stage: Stage,
    clock: Option<ClockOffset>,
    clock_asked_ns: u64,
    sender: Sender<S>,
    events: Vec<Vec<u8>>,
    events_bytes: usize,
    events_since_ns: u64,
    /// Last message of the coordinator for this run.
    heard_ns: u64,
    begin_ns: Option<u64>,
    has_ended_test: bool,
    steered: u64,
    is_started: bool,
    stopped: bool,
}

impl<S: Spool + Default> Agent<S> {
    pub fn new(identity: Identity) -> Self {
        Agent { identity, work: None, beat_ns: None, beats: 0, sent_ns: None, refusal: None }
    }

    /// Returns the run that the agent works for.
    pub fn run(&self) -> Option<&str> {
        self.work.as_ref().map(|work| work.run.as_str())
    }

    /// Takes what has happened, and returns what to do, in order. `now_ns` is the agent's monotonic clock.
    pub fn step(&mut self, now_ns: u64, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        let state = |work: &Work<S>| {
            let is_over = (work.has_ended_test, work.is_complete());
            (work.run.clone(), work.stage.step(), is_over, work.steered)
        };
        let before = self.work.as_ref().map(state);
        let refused = self.refusal.as_ref().map(|(refusal, _)| refusal.clone());
        let mut is_asked = false;
        match input {
            Input::Ordered(order) => self.ordered(now_ns, order, &mut out),
            Input::Forged(order, why) => self.refuse(now_ns, order, *why),
            Input::RollCall => is_asked = true,
            Input::Reported(report) => self.reported(now_ns, report, &mut out),
            Input::FilesReady => {
                if let Some(work) = self.work.as_mut().filter(|work| !work.is_started) {
                    work.is_started = true;
                    out.push(Output::Start { run: work.run.clone(), task: work.task.clone() });
                }
            }
            Input::FilesFailed { sentence, hint } => {
                if let Some(work) = self.work.as_mut().filter(|work| !work.is_started) {
                    work.stage = Stage::Failed { sentence, hint, exit: None };
                }
            }
            Input::ClockMeasured { run, clock } => {
                if let Some(work) = self.work.as_mut().filter(|work| work.run == run) {
                    is_asked |= work.clock.is_none();
                    work.clock = Some(clock);
                }
            }
            Input::TooLarge { bytes, max_bytes } => {
                if let Some(work) = &mut self.work {
                    let sentence = format!(
                        "its results of one second have {bytes} bytes, and the NATS server accepts {max_bytes}"
                    );
                    work.fail(sentence, "raise `max_payload` in the configuration of the server", &mut out);
                }
            }
            Input::Tick => {}
        }
        self.time(now_ns, &mut out);
        let after = self.work.as_ref().map(state);
        let has_sent = out.iter().any(|output| matches!(output, Output::Envelope { .. }));
        if has_sent {
            self.sent_ns = Some(now_ns);
        }
        // An envelope is a sign of life, too.
        let is_quiet = self.sent_ns.is_none_or(|last_ns| now_ns.saturating_sub(last_ns) > BEAT_NS);
        let beat_ns = if is_quiet { BEAT_NS } else { BEAT_LOADING_NS };
        let is_due = self.beat_ns.is_none_or(|last_ns| now_ns.saturating_sub(last_ns) >= beat_ns);
        // Once for many copies of an order.
        let is_refusing = self.refusal.as_ref().map(|(refusal, _)| refusal) != refused.as_ref();
        if is_due || is_asked || is_refusing || before != after {
            self.beat_ns = Some(now_ns);
            self.beats += 1;
            out.push(Output::Beat(Box::new(self.beat())));
        }
        out
    }

    fn beat(&self) -> Beat {
        let work = self.work.as_ref();
        Beat {
            identity: self.identity.clone(),
            number: self.beats,
            run: work.map(|work| work.run.clone()),
            stage: work.map_or(Stage::Free, |work| work.stage.clone()),
            clock: work.and_then(|work| work.clock),
            begin_ns: work.and_then(|work| work.begin_ns),
            has_ended_test: work.is_some_and(|work| work.has_ended_test),
            steered: work.map_or(0, |work| work.steered),
            backlog: work.map_or(0, Work::backlog),
            refusal: self.refusal.as_ref().map(|(refusal, _)| refusal.clone()),
        }
    }

    /// Does not execute an order, and says so in the next signs of life.
    fn refuse(&mut self, now_ns: u64, order: Order, why: Problem) {
        // One for an earlier process of this name is not for this one.
        if order.instance == self.identity.instance {
            let refusal = Refusal { run: order.run, sentence: why.message, hint: why.hint };
            self.refusal = Some((refusal, now_ns));
        }
    }

    fn ordered(&mut self, now_ns: u64, order: Order, out: &mut Vec<Output>) {
        if order.instance != self.identity.instance {
            return;
        }
        if order.turn != self.identity.turn {
            // Of an earlier run. All others are harmless, and may be late.
            if let Wish::Prepare(_) = order.wish {
                self.refuse(now_ns, order, signature::repeated());
            }
            return;
        }
        if let Wish::Prepare(task) = order.wish {
            // A coordinator that was silent after the end will not come back for the rest.
            let is_left =
                |work: &Work<S>| work.stage.is_over() && now_ns.saturating_sub(work.heard_ns) >= ABANDONED_NS;
            if self.work.as_ref().is_some_and(|work| work.run != order.run && is_left(work)) {
                self.release(out);
            }
            match &mut self.work {
                Some(work) if work.run == order.run => work.heard_ns = now_ns,
                Some(_) => {}
                None => self.begin(now_ns, order.run, task, out),
            }
            return;
        }
        let Some(work) = self.work.as_mut().filter(|work| work.run == order.run) else { return };
        work.heard_ns = now_ns;
        match order.wish {
            Wish::Prepare(_) => {}
            Wish::Seat { setup } => {
                if matches!(work.stage, Stage::Prepared { .. }) {
                    work.stage = Stage::Seating;
                    let line = serde_json::json!({ "do": "seat", "setup": setup });
                    out.push(Output::Line(line.to_string()));
                }
            }
            Wish::Begin { at_ns } => {
                let Some(clock) = work.clock.filter(|_| work.stage == Stage::Ready) else { return };
                let here_ns = clock.to_agent_ns(at_ns);
                // An agent that has missed the common start does not begin later. Only it knows that: the coordinator
                // may have lost its signs of life, and it may be loading.
                if here_ns + STALE_START_NS < now_ns {
                    let sentence = "it heard of the common start too late".to_owned();
                    work.fail(sentence, "check its network", out);
                    return;
                }
                work.stage = Stage::Armed;
                let line = serde_json::json!({ "do": "begin", "at_ns": here_ns });
                out.push(Output::Line(line.to_string()));
            }
            Wish::Steer { number, line } => {
                let is_loading = matches!(work.stage, Stage::Armed | Stage::Running);
                if number == work.steered + 1 && is_loading {
                    work.steered = number;
                    out.push(Output::Line(line));
                }
            }
            Wish::TearDown => work.tear_down(out),
            Wish::Stop => work.stop(out),
            Wish::Release => self.release(out),
            Wish::Receipt { below } => work.sender.receipt(below, now_ns),
        }
    }

    fn begin(&mut self, now_ns: u64, run: String, task: Box<Task>, out: &mut Vec<Output>) {
        let version = &self.identity.version;
        let is_known = task.protocol == PROTOCOL && task.version == *version;
        let stage = match is_known {
            true => Stage::Preparing,
            false => Stage::Failed {
                sentence: format!("it has version {version}, and the coordinator {}", task.version),
                hint: "install the same version on all machines".into(),
                exit: None,
            },
        };
        if is_known {
            out.push(Output::MeasureClock { run: run.clone() });
            out.push(Output::Fetch { run: run.clone(), task: task.clone() });
        }
        self.work = Some(Work {
            run,
            task,
            stage,
            clock: None,
            clock_asked_ns: now_ns,
            sender: Sender::new(S::default()),
            events: Vec::new(),
            events_bytes: 0,
            events_since_ns: now_ns,
            heard_ns: now_ns,
            begin_ns: None,
            has_ended_test: false,
            steered: 0,
            is_started: false,
            stopped: false,
        });
    }

    /// Forgets the run and becomes free.
    fn release(&mut self, out: &mut Vec<Output>) {
        let Some(work) = self.work.take() else { return };
        if work.is_started && !work.stage.is_over() {
            out.push(Output::Kill);
        }
        out.push(Output::CleanUp { run: work.run });
        self.identity.turn += 1;
    }

    fn reported(&mut self, now_ns: u64, report: Report, out: &mut Vec<Output>) {
        let instance = self.identity.instance.clone();
        let Some(work) = self.work.as_mut().filter(|work| !work.stage.is_over()) else { return };
        match report {
            Report::Prepared { setup } => work.advance(Stage::Prepared { setup }),
            Report::Ready => work.advance(Stage::Ready),
            Report::Begun { begin_ns } => {
                work.begin_ns = Some(begin_ns);
                work.advance(Stage::Running);
            }
            Report::Event(bytes, is_tick) => {
                if work.events.is_empty() {
                    work.events_since_ns = now_ns;
                }
                work.events_bytes += bytes.len();
                work.events.push(bytes);
                if is_tick || work.events_bytes >= GATHER_BYTES {
                    work.flush(&instance, now_ns, out);
                }
            }
            Report::EndedTest => work.has_ended_test = true,
            Report::Ended => {
                work.flush(&instance, now_ns, out);
                work.advance(Stage::Ended);
            }
            Report::Exited { code, ran, said } => {
                work.flush(&instance, now_ns, out);
                work.stage = match ran {
                    true => Stage::Finished { exit: code, said },
                    false => failure(code, &said),
                };
            }
        }
    }

    fn time(&mut self, now_ns: u64, out: &mut Vec<Output>) {
        let is_old = |(_, at_ns): &mut (Refusal, u64)| now_ns.saturating_sub(*at_ns) >= REFUSAL_KEPT_NS;
        self.refusal.take_if(is_old);
        let instance = self.identity.instance.clone();
        let Some(work) = &mut self.work else { return };
        let silent_ns = now_ns.saturating_sub(work.heard_ns);
        let is_before_load = work.stage.step() < Step::Armed;
        let limit_ns = if is_before_load { ABANDONED_NS } else { KEPT_NS };
        if silent_ns >= limit_ns && (is_before_load || work.stage.is_over()) {
            self.release(out);
            return;
        }
        // A coordinator that is gone must not leave the service as the setup left it.
        if work.stage == Stage::Ended && silent_ns >= ABANDONED_NS {
            work.tear_down(out);
        }
        if !work.events.is_empty() && now_ns.saturating_sub(work.events_since_ns) >= GATHER_NS {
            work.flush(&instance, now_ns, out);
        }
        let clock_every_ns = if work.clock.is_some() { CLOCK_EVERY_NS } else { CLOCK_AGAIN_NS };
        // The clocks matter for the common start only.
        let is_wanted = work.clock.is_none() || is_before_load;
        let is_wanted = is_wanted && !work.stage.is_over();
        if is_wanted && now_ns.saturating_sub(work.clock_asked_ns) >= clock_every_ns {
            work.clock_asked_ns = now_ns;
            out.push(Output::MeasureClock { run: work.run.clone() });
        }
        match work.sender.due(now_ns) {
            Ok(due) => {
                let run = &work.run;
                out.extend(due.into_iter().map(|bytes| Output::Envelope { run: run.clone(), bytes }));
            }
            Err(why) => work.fail(format!("cannot read the spool: {why}"), SPOOL_HINT, out),
        }
    }
}

impl<S: Spool> Work<S> {
    /// Moves on to a later stage.
    fn advance(&mut self, stage: Stage) {
        if stage.step() > self.stage.step() {
            self.stage = stage;
        }
    }

    fn tear_down(&mut self, out: &mut Vec<Output>) {
        if self.stage == Stage::Ended {
            self.stage = Stage::TearingDown;
            out.push(Output::Line(r#"{"do":"tear_down"}"#.into()));
        }
    }

    fn stop(&mut self, out: &mut Vec<Output>) {
        if self.stage.is_over() || std::mem::replace(&mut self.stopped, true) {
            return;
        }
        match self.is_started {
            true => out.push(Output::Line(r#"{"do":"stop"}"#.into())),
            // Its files are still on their way.
            false => {
                let sentence = "stopped before the load".into();
                self.stage = Stage::Failed { sentence, hint: String::new(), exit: None };
            }
        }
    }

    /// Puts the gathered events into an envelope.
    fn flush(&mut self, instance: &str, now_ns: u64, out: &mut Vec<Output>) {
        if self.events.is_empty() {
            return;
        }
        self.events_bytes = 0;
        let envelope = Envelope {
            instance: instance.to_owned(),
            number: self.sender.next_number(),
            events: std::mem::take(&mut self.events),
        };
        let kept = envelope.encode().map_err(|problem| problem.message);
        if let Err(why) = kept.and_then(|bytes| self.sender.push(bytes, now_ns)) {
            self.fail(format!("cannot keep results for the coordinator: {why}"), SPOOL_HINT, out);
        }
    }

    /// Ends the run, because its results could not be sent in full.
    fn fail(&mut self, sentence: String, hint: &str, out: &mut Vec<Output>) {
        if !matches!(self.stage, Stage::Failed { .. }) {
            if !self.stage.is_over() {
                out.push(Output::Kill);
            }
            self.stage = Stage::Failed { sentence, hint: hint.into(), exit: None };
        }
    }

    /// Returns whether the coordinator has everything, which it waits for.
    fn is_complete(&self) -> bool {
        self.stage.is_over() && self.backlog() == 0
    }

    /// Returns the number of envelopes that the coordinator should wait for.
    fn backlog(&self) -> u64 {
        match self.stage {
            // What is left may never arrive.
            Stage::Failed { .. } => 0,
            _ => self.sender.backlog() + u64::from(!self.events.is_empty()),
        }
    }
}

/// Returns why a load generator ended without a load, in its own words.
fn failure(code: i32, said: &str) -> Stage {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // Messages of the load may precede the error.
    let from = lines.iter().position(|line| line.starts_with("error")).unwrap_or(0);
    let mut lines = lines.into_iter().skip(from);
    let sentence = match lines.next() {
        Some(first) => first.trim_start_matches("error: ").to_owned(),
        None => format!("its load generator ended with code {code}"),
    };
    let hint = lines.collect::<Vec<_>>().join(" ");
    Stage::Failed { sentence, hint: hint.trim_start_matches("help: ").to_owned(), exit: Some(code) }
}

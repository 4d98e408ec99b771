//! The coordinator of a run as a state machine: it leads the agents through the stages of a run by repeating what it
//! wants of each until the agent reports it, and hands out their events.
//!
//! Nothing depends on a single message: an order is repeated, an envelope is repeated until it is confirmed, and an
//! agent that is silent for too long is lost until it is heard again.

use crate::envelope::{Receiver, Unpacker};
use crate::event_codec::{self, Decoded};
use crate::message::{Beat, Identity, Order, Refusal, Stage, Step, Task, Wish};
pub use crate::news::{Done, Failure, Input, News, OnLoss, Output};
use plimsoll_stats::Error as CodecError;
use std::collections::HashMap;
use std::ops::Range;

/// Silence after which an agent is named, ns.
pub const SILENT_NS: u64 = 3_000_000_000;
/// Silence after which an agent is lost, ns.
pub const LOST_NS: u64 = 10_000_000_000;
/// Silence after which the end of the run does not wait for an agent, ns.
pub const GONE_NS: u64 = 20_000_000_000;
/// Time between two identical orders, ns.
const REPEAT_NS: u64 = 500_000_000;
/// Time between two receipts without news, by which agents hear that the coordinator lives, ns.
const ALIVE_NS: u64 = 1_000_000_000;
/// Time between two looks at all agents while only envelopes and signs of life without news arrive, ns. Each look at a
/// thousand agents takes as long as several envelopes.
const LOOK_NS: u64 = 20_000_000;
/// Time from the order to begin to the beginning, ns. An order takes milliseconds; repetitions need the rest.
const LEAD_NS: u64 = 700_000_000;
/// The same for agents of this process, which miss no order.
const LOCAL_LEAD_NS: u64 = 100_000_000;

/// The coordinator of a run.
pub struct Coordinator {
    run: String,
    parts: Vec<Part>,
    /// The parts by instance.
    places: HashMap<String, usize>,
    /// Last look at all agents, ns.
    looked_ns: u64,
    unpacker: Unpacker,
    phase: Phase,
    on_loss: OnLoss,
    begin_ns: Option<u64>,
    /// Time from the order to begin to the beginning, ns.
    lead_ns: u64,
    setup: Option<String>,
    is_stopped: bool,
    /// Whether a script has ended the test.
    is_ended_by_test: bool,
    failure: Option<Failure>,
    /// Lines for the running loads, in order.
    lines: Vec<String>,
}

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Preparing,
    Seating,
    Loading,
    Over,
}

/// One agent's part.
struct Part {
    identity: Identity,
    task: Box<Task>,
    beat: Option<Beat>,
    /// Number of the newest sign of life.
    beats: u64,
    heard_ns: u64,
    silence: Silence,
    ordered: Option<(Wish, u64)>,
    /// The newest order that the agent refused.
    refusal: Option<Refusal>,
    receiver: Receiver,
    receipt_ns: u64,
    receipt: u64,
    /// Number of the newest line that was sent, and when.
    steered: (u64, u64),
    begun: bool,
    is_told: bool,
    released: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Silence {
    Heard,
    Silent,
    Lost,
}

impl Part {
    fn step(&self) -> Step {
        self.beat.as_ref().map_or(Step::Free, |beat| beat.stage.step())
    }

    fn is_over(&self) -> bool {
        self.beat.as_ref().is_some_and(|beat| beat.stage.is_over())
    }

    /// Everything that the agent reported has arrived.
    fn is_complete(&self) -> bool {
        self.is_over() && self.beat.as_ref().is_some_and(|beat| beat.backlog == 0)
    }
}

impl Coordinator {
    /// Creates the coordinator of a run. Each agent has its task, in the order of the parts.
    pub fn new(run: &str, agents: Vec<(Identity, Task)>, on_loss: OnLoss, now_ns: u64) -> Self {
        let part = |(identity, task): (Identity, Task)| Part {
            identity,
            task: Box::new(task),
            beat: None,
            beats: 0,
            heard_ns: now_ns,
            silence: Silence::Heard,
            ordered: None,
            refusal: None,
            receiver: Receiver::default(),
            receipt_ns: now_ns,
            receipt: 0,
            steered: (0, 0),
            begun: false,
            is_told: false,
            released: false,
        };
        let places = agents.iter().zip(0..).map(|((identity, _), at)| (identity.instance.clone(), at));
        Coordinator {
            run: run.to_owned(),
            places: places.collect(),
            parts: agents.into_iter().map(part).collect(),
            looked_ns: now_ns,
            unpacker: Unpacker::default(),
            phase: Phase::Preparing,
            on_loss,
            begin_ns: None,
            lead_ns: LEAD_NS,
            setup: None,
            is_stopped: false,
            is_ended_by_test: false,
            failure: None,
            lines: Vec::new(),
        }
    }

    /// Creates the coordinator of a run whose load another one has begun at `begin_ns` of the same clock. Give it the
    /// envelopes that the other one had.
    pub fn resumed(
        run: &str,
        agents: Vec<(Identity, Task)>,
        on_loss: OnLoss,
        now_ns: u64,
        begin_ns: u64,
    ) -> Self {
        let mut coordinator = Self::new(run, agents, on_loss, now_ns);
        (coordinator.phase, coordinator.begin_ns) = (Phase::Loading, Some(begin_ns));
        coordinator
    }

    /// Begins sooner, because no message to these agents is lost or late.
    pub fn local(self) -> Self {
        Self { lead_ns: LOCAL_LEAD_NS, ..self }
    }

    /// Returns the newest sign of life of each agent, in the order of the parts.
    pub fn beats(&self) -> impl Iterator<Item = (&Identity, Option<&Beat>)> {
        self.parts.iter().map(|part| (&part.identity, part.beat.as_ref()))
    }

    /// Returns how the run ended, once nothing more will come.
    pub fn done(&self) -> Option<Done> {
        if self.phase != Phase::Over {
            return None;
        }
        Some(match &self.failure {
            Some(failure) => Done::Failed(failure.clone()),
            None if self.parts.iter().all(|part| !part.begun) => Done::Stopped,
            None => Done::Ran,
        })
    }

    /// Takes what has happened, and returns what to do, in order. `now_ns` is the coordinator's monotonic clock.
    ///
    /// # Errors
    /// Returns an error if an agent of the same version sends something that is not an event.
    pub fn step(&mut self, now_ns: u64, input: Input) -> Result<Vec<Output>, CodecError> {
        let mut out = Vec::new();
        let all = 0..self.parts.len();
        // The agents for which something may have changed.
        let concerned = match input {
            Input::Beat(beat) => self.beat_of(now_ns, *beat, &mut out),
            Input::Envelope(bytes) => self.envelope(now_ns, &bytes, &mut out)?,
            Input::Steer(line) => {
                self.lines.push(line);
                all.clone()
            }
            Input::Stop => {
                self.is_stopped = true;
                all.clone()
            }
            Input::Reconnected => {
                self.parts.iter_mut().for_each(|part| part.heard_ns = now_ns);
                all.clone()
            }
            Input::Tick => all.clone(),
        };
        if concerned != all && now_ns.saturating_sub(self.looked_ns) < LOOK_NS {
            self.orders(now_ns, concerned, &mut out);
            return Ok(out);
        }
        self.looked_ns = now_ns;
        if self.phase != Phase::Over {
            self.silences(now_ns, &mut out);
            self.advance(now_ns, &mut out);
        }
        self.orders(now_ns, all, &mut out);
        Ok(out)
    }

    fn part_of(&self, instance: &str) -> Option<usize> {
        self.places.get(instance).copied()
    }

    /// Takes a sign of life. Most of them bring nothing new, which concerns their agent only.
    fn beat_of(&mut self, now_ns: u64, beat: Beat, out: &mut Vec<Output>) -> Range<usize> {
        let Some(at) = self.part_of(&beat.identity.instance) else { return 0..0 };
        let state = |of: &Self| {
            let part = &of.parts[at];
            let of_part = (part.step(), part.is_complete(), has_clock(part));
            (of_part, of.is_stopped, of.failure.is_some())
        };
        let before = state(self);
        self.beat(now_ns, at, beat, out);
        if state(self) == before { at..at + 1 } else { 0..self.parts.len() }
    }

    fn heard(&mut self, at: usize, now_ns: u64, out: &mut Vec<Output>) {
        let part = &mut self.parts[at];
        part.heard_ns = now_ns;
        if std::mem::replace(&mut part.silence, Silence::Heard) != Silence::Heard {
            out.push(Output::News(News::Back { part: at }));
        }
    }

    fn beat(&mut self, now_ns: u64, at: usize, beat: Beat, out: &mut Vec<Output>) {
        self.heard(at, now_ns, out);
        // Signs of life may overtake each other.
        let part = &mut self.parts[at];
        if beat.number <= part.beats {
            return;
        }
        part.beats = beat.number;
        part.identity.turn = beat.identity.turn;
        let is_this_run = beat.run.as_deref() == Some(self.run.as_str());
        self.refused(at, &beat, out);
        let part = &mut self.parts[at];
        if !is_this_run && self.phase >= Phase::Loading {
            // It may have given up before this coordinator has heard of it.
            if !part.is_over() {
                part.beat.get_or_insert(beat);
                self.lost_work(at, out);
            }
            return;
        }
        if !is_this_run {
            // A free agent has not received the task yet, or has released it.
            if let Some(other) = beat.run.filter(|_| part.step() == Step::Free && self.failure.is_none()) {
                let sentence = format!("it works for run {other}");
                let hint = "wait until it is free, or use other agents".into();
                self.failure = Some(Failure { part: at, sentence, hint, exit: None });
            } else if part.step() > Step::Free && !part.is_over() && self.failure.is_none() {
                self.lost_work(at, out);
            }
            return;
        }
        if let (Some(begin_ns), Some(clock), Some(common_ns)) = (beat.begin_ns, beat.clock, self.begin_ns)
            && !std::mem::replace(&mut part.begun, true)
        {
            let late_ns = clock.to_coordinator_ns(begin_ns).saturating_sub(common_ns);
            out.push(Output::News(News::Begun { part: at, late_ns, bound_ns: clock.bound_ns }));
        }
        if beat.has_ended_test && !std::mem::replace(&mut self.is_ended_by_test, true) {
            self.is_stopped = true;
            out.push(Output::News(News::EndedTest { part: at }));
        }
        let part = &mut self.parts[at];
        if beat.stage.is_over() && !std::mem::replace(&mut part.is_told, true) {
            match &beat.stage {
                Stage::Failed { sentence, hint, exit } => {
                    let (sentence, hint) = (sentence.clone(), hint.clone());
                    let is_before_load = self.phase < Phase::Loading;
                    if is_before_load && self.failure.is_none() && !self.is_stopped {
                        let (sentence, hint) = (sentence.clone(), hint.clone());
                        self.failure = Some(Failure { part: at, sentence, hint, exit: *exit });
                    }
                    out.push(Output::News(News::Failed { part: at, sentence, hint }));
                }
                Stage::Finished { exit, said } => {
                    out.push(Output::News(News::Finished { part: at, exit: *exit, said: said.clone() }));
                }
                _ => {}
            }
        }
        self.parts[at].beat = Some(beat);
    }

    /// Reports an order that an agent refused. If it is the task of this run, the agent has no load.
    fn refused(&mut self, at: usize, beat: &Beat, out: &mut Vec<Output>) {
        let part = &mut self.parts[at];
        let Some(refusal) = beat.refusal.clone().filter(|refusal| part.refusal.as_ref() != Some(refusal))
        else {
            return;
        };
        part.refusal = Some(refusal.clone());
        // Once the agent has the task, this is an order of another client.
        let is_task = refusal.run == self.run && beat.run.is_none() && part.step() == Step::Free;
        if is_task && self.phase < Phase::Loading && self.failure.is_none() {
            let Refusal { sentence, hint, .. } = refusal;
            self.failure = Some(Failure { part: at, sentence, hint, exit: None });
        } else {
            out.push(Output::News(News::Refused { part: at, refusal }));
        }
    }

    /// An agent has given up its work, because it heard nothing for too long.
    fn lost_work(&mut self, at: usize, out: &mut Vec<Output>) {
        let (sentence, hint) = ("it gave up its part of the run".to_owned(), String::new());
        if self.phase < Phase::Loading {
            let (sentence, hint) = (sentence.clone(), hint.clone());
            self.failure = Some(Failure { part: at, sentence, hint, exit: None });
        }
        let part = &mut self.parts[at];
        part.is_told = true;
        if let Some(beat) = &mut part.beat {
            beat.stage = Stage::Failed { sentence: sentence.clone(), hint: hint.clone(), exit: None };
            beat.backlog = 0;
        }
        out.push(Output::News(News::Failed { part: at, sentence, hint }));
    }

    fn envelope(
        &mut self,
        now_ns: u64,
        bytes: &[u8],
        out: &mut Vec<Output>,
    ) -> Result<Range<usize>, CodecError> {
        // A message of another program on this subject is ignored.
        let Ok(envelope) = self.unpacker.unpack(bytes) else { return Ok(0..0) };
        let Some(at) = self.part_of(&envelope.instance) else { return Ok(0..0) };
        self.heard(at, now_ns, out);
        let part = &mut self.parts[at];
        for event in part.receiver.take(envelope) {
            out.push(match event_codec::samples_in(&event) {
                Some(piece) => Output::Samples { part: at, piece: piece.to_vec() },
                None => match event_codec::decode(&event)? {
                    Decoded::Event(event) => Output::Event { part: at, event },
                    Decoded::Tick(tick) => Output::Ticked { part: at, tick },
                },
            });
        }
        Ok(at..at + 1)
    }

    fn silences(&mut self, now_ns: u64, out: &mut Vec<Output>) {
        for at in 0..self.parts.len() {
            let part = &mut self.parts[at];
            if part.is_complete() {
                continue;
            }
            let silent_ns = now_ns.saturating_sub(part.heard_ns);
            match part.silence {
                Silence::Heard if silent_ns >= SILENT_NS => {
                    part.silence = Silence::Silent;
                    out.push(Output::News(News::Silent { part: at }));
                }
                Silence::Silent if silent_ns >= LOST_NS => {
                    part.silence = Silence::Lost;
                    out.push(Output::News(News::Lost { part: at }));
                    self.lost(at);
                }
                _ => {}
            }
        }
    }

    fn lost(&mut self, at: usize) {
        if self.phase < Phase::Loading {
            if self.failure.is_none() {
                let sentence = format!("it has not been heard for {} s", LOST_NS / 1_000_000_000);
                let hint = "check its machine and its network".into();
                self.failure = Some(Failure { part: at, sentence, hint, exit: None });
            }
            return;
        }
        if self.parts[at].is_over() {
            return;
        }
        match self.on_loss {
            OnLoss::Stop => self.is_stopped = true,
            OnLoss::Continue => {}
            OnLoss::Rebalance => {
                let left = |part: &&Part| part.silence != Silence::Lost && !part.is_over();
                let left = self.parts.iter().filter(left).count();
                if left > 0 {
                    let factor = (left as f64 + 1.0) / left as f64;
                    let lost = &self.parts[at].identity.name;
                    let line =
                        format!(r#"{{"do":"rebalance","factor":{factor},"left":{left},"lost":"{lost}"}}"#);
                    self.lines.push(line);
                }
            }
        }
    }

    fn advance(&mut self, now_ns: u64, out: &mut Vec<Output>) {
        let least = self.parts.iter().map(Part::step).min().unwrap_or(Step::Free);
        let is_ending = self.failure.is_some() || (self.is_stopped && self.phase < Phase::Loading);
        match self.phase {
            Phase::Preparing | Phase::Seating if is_ending => {
                // Waits until no load generator is left, but not for an agent that is gone.
                let gone =
                    |part: &Part| part.is_over() || part.beat.is_none() || part.silence != Silence::Heard;
                if self.parts.iter().all(gone) {
                    self.phase = Phase::Over;
                }
            }
            Phase::Preparing if least >= Step::Prepared => {
                self.setup = self.parts.iter().find_map(|part| match &part.beat.as_ref()?.stage {
                    Stage::Prepared { setup } => setup.clone(),
                    _ => None,
                });
                self.phase = Phase::Seating;
                out.push(Output::News(News::Prepared { setup: self.setup.clone() }));
            }
            Phase::Seating if least >= Step::Ready && self.parts.iter().all(has_clock) => {
                let at_ns = now_ns + self.lead_ns;
                self.begin_ns = Some(at_ns);
                self.phase = Phase::Loading;
                out.push(Output::News(News::Begins { at_ns }));
            }
            Phase::Loading => {
                let silent_ns = |part: &Part| now_ns.saturating_sub(part.heard_ns);
                let ended = |part: &Part| part.is_complete() || silent_ns(part) >= GONE_NS;
                if self.parts.iter().all(ended) {
                    self.phase = Phase::Over;
                }
            }
            Phase::Preparing | Phase::Seating | Phase::Over => {}
        }
    }

    /// Tells these agents what to do.
    fn orders(&mut self, now_ns: u64, which: Range<usize>, out: &mut Vec<Output>) {
        let all_ended =
            self.parts.iter().all(|part| part.step() >= Step::Ended || part.silence == Silence::Lost);
        for part in &mut self.parts[which] {
            let send = |wish: Wish, out: &mut Vec<Output>| {
                let Identity { instance, turn, .. } = &part.identity;
                let order = Order { run: self.run.clone(), instance: instance.clone(), turn: *turn, wish };
                out.push(Output::Order { agent: part.identity.name.clone(), order });
            };
            if self.phase == Phase::Over {
                if !std::mem::replace(&mut part.released, true) {
                    send(Wish::Release, out);
                }
                continue;
            }
            let step = part.step();
            let wish = match self.phase {
                _ if part.is_over() => None,
                _ if self.is_stopped || self.failure.is_some() => match step {
                    Step::Free => None,
                    Step::Ended if all_ended => Some(Wish::TearDown),
                    _ => Some(Wish::Stop),
                },
                Phase::Preparing if step < Step::Preparing => Some(Wish::Prepare(part.task.clone())),
                Phase::Seating if step < Step::Seating => Some(Wish::Seat { setup: self.setup.clone() }),
                // Nothing is known yet of an agent that has not been heard.
                Phase::Loading if part.beat.is_none() => None,
                // An agent that has missed the common start stops by itself.
                Phase::Loading if step < Step::Armed => self.begin_ns.map(|at_ns| Wish::Begin { at_ns }),
                Phase::Loading if step == Step::Ended && all_ended => Some(Wish::TearDown),
                _ => None,
            };
            if let Some(wish) = wish {
                let is_due = match &part.ordered {
                    Some((before, at_ns)) => *before != wish || now_ns.saturating_sub(*at_ns) >= REPEAT_NS,
                    None => true,
                };
                if is_due {
                    part.ordered = Some((wish.clone(), now_ns));
                    send(wish, out);
                }
            }
            // The agent executes each number once and in order, so repeating one is harmless.
            let done = part.beat.as_ref().map_or(0, |beat| beat.steered);
            if let Some(line) = self.lines.get(done as usize).filter(|_| step == Step::Running) {
                let number = done + 1;
                if part.steered.0 < number || now_ns.saturating_sub(part.steered.1) >= REPEAT_NS {
                    part.steered = (number, now_ns);
                    send(Wish::Steer { number, line: line.clone() }, out);
                }
            }
            let below = part.receiver.below();
            let is_new = below > part.receipt;
            if is_new || now_ns.saturating_sub(part.receipt_ns) >= ALIVE_NS {
                (part.receipt, part.receipt_ns) = (below, now_ns);
                send(Wish::Receipt { below }, out);
            }
        }
    }
}

fn has_clock(part: &Part) -> bool {
    part.beat.as_ref().is_some_and(|beat| beat.clock.is_some())
}

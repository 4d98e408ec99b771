//! Runs code until every strand waits.

use super::check::whole;
use super::code::{Code, Op, Pc, SlotId, StrandId};
use super::user::{Exchange, IterationState, Kind, Part, Turn, Wait, step_id};
use super::{draw, file};
use crate::value::{Unfilled, fill};
use plimsoll_plan::metric::{GroupHist, GroupSum, RunSum};
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{BodyUse, Count, Payload, Step};
use plimsoll_plan::script::Slot;

/// Maximum number of operations of a strand in one wake. A long loop that sends nothing must not block the other users
/// of the worker thread, so it continues in the next event-loop iteration.
const OPS_PER_WAKE: u32 = 4_096;

/// What a strand does after an operation.
enum Flow {
    To(Pc),
    /// It waits, or has ended.
    Stop,
}

impl Turn<'_> {
    /// Runs a strand until it waits.
    pub fn run(&mut self, strand: StrandId) {
        let mut pc = self.state.strand(strand).pc;
        for _ in 0..OPS_PER_WAKE {
            let Some(op) = self.stage.code.ops.get(pc as usize) else { return };
            match self.op(strand, pc, op) {
                Ok(Flow::To(next)) => pc = next,
                Ok(Flow::Stop) => return,
                Err(unfilled) => return self.unfilled(strand, pc, &unfilled),
            }
        }
        // `slept` resumes it after the operation that it waits in.
        self.sleep(strand, pc.wrapping_sub(1), 0);
    }

    fn op(&mut self, strand: StrandId, pc: Pc, op: &Op) -> Result<Flow, Unfilled> {
        let code = &self.stage.code;
        let next = Flow::To(pc + 1);
        match *op {
            Op::Ask(ask) => {
                if !self.waits_for_token(strand, pc, ask)? {
                    self.send(strand, ask, None)?;
                    self.wait(strand, pc, Wait::Answer);
                }
                Ok(Flow::Stop)
            }
            Op::Stream { ask, .. } | Op::Connect { ask, .. } if self.waits_for_token(strand, pc, ask)? => {
                Ok(Flow::Stop)
            }
            Op::Stream { ask, slot, .. } => {
                self.open_stream(strand, ask)?;
                self.state.slots[usize::from(slot)] = 1;
                self.wait(strand, pc, Wait::Stream);
                Ok(Flow::Stop)
            }
            Op::Connect { ask, slot, .. } => {
                let wait = match self.connect(strand, pc, ask)? {
                    true => Wait::Socket,
                    false => Wait::Closed,
                };
                self.state.slots[usize::from(slot)] = 1;
                self.wait(strand, pc, wait);
                if wait == Wait::Socket {
                    self.call_opened(ask, strand, pc);
                }
                Ok(Flow::Stop)
            }
            Op::SendMessage { ask, message } => {
                Ok(if self.send_call_message(strand, ask, message)? { next } else { Flow::Stop })
            }
            Op::Complete { ask } => {
                self.complete_call(ask);
                Ok(next)
            }
            Op::Send { ask, content, text } => {
                Ok(if self.send_message(strand, ask, content, text)? { next } else { Flow::Stop })
            }
            Op::Expect { ask, expectation } => {
                Ok(self.await_message(strand, pc, ask, expectation).map_or(Flow::Stop, |()| next))
            }
            Op::Ping { ask, text, expectation } => {
                self.ping(strand, pc, ask, text, expectation)?;
                Ok(Flow::Stop)
            }
            Op::Close { ask, code, reason } => {
                if self.close(ask, code, reason)? {
                    return Ok(next);
                }
                self.wait(strand, pc, Wait::Closed);
                Ok(Flow::Stop)
            }
            Op::Think(delay) => {
                let ns = draw::delay_ns(&delay, &mut self.state.random);
                self.sleep(strand, pc, ns);
                Ok(Flow::Stop)
            }
            Op::GroupBegin { slot } => {
                self.state.slots[usize::from(slot)] = self.at.run_ns;
                Ok(next)
            }
            Op::GroupEnd { group, slot } => {
                let series = self.stage.group_series + u32::from(group);
                let took_ns = self.at.run_ns.saturating_sub(self.state.slots[usize::from(slot)]);
                self.out.count(Count::sum(series, GroupSum::Passages, 1));
                self.out.count(Count::hist(series, GroupHist::Time, took_ns));
                Ok(next)
            }
            Op::Repeat { times, slot, exit } => {
                self.fill(times)?;
                let Some(rounds) = whole(&self.bench.fill) else {
                    self.no_number(strand);
                    return Ok(Flow::Stop);
                };
                self.state.slots[usize::from(slot)] = rounds;
                Ok(if rounds == 0 { Flow::To(exit) } else { next })
            }
            Op::Again { slot, body } => {
                let rounds = &mut self.state.slots[usize::from(slot)];
                *rounds = rounds.saturating_sub(1);
                Ok(if *rounds > 0 { Flow::To(body) } else { next })
            }
            Op::Zero { slot } => {
                self.state.slots[usize::from(slot)] = 0;
                Ok(next)
            }
            Op::While { asked, most, slot, exit } => {
                let rounds = self.state.slots[usize::from(slot)];
                if rounds >= u64::from(most) || !self.holds(code, asked)? {
                    return Ok(Flow::To(exit));
                }
                self.state.slots[usize::from(slot)] = rounds + 1;
                Ok(next)
            }
            Op::Unless { asked, to } => Ok(if self.holds(code, asked)? { next } else { Flow::To(to) }),
            Op::Jump(to) => Ok(Flow::To(to)),
            Op::Once { mark, to } => Ok(if self.state.onces & 1 << mark == 0 { next } else { Flow::To(to) }),
            Op::OnceThrough { mark } => {
                self.state.onces |= 1 << mark;
                Ok(next)
            }
            Op::Choose(choice) => {
                let (picker, starts) = &code.choices[choice as usize];
                Ok(Flow::To(starts[picker.pick(&mut self.state.random)]))
            }
            Op::Set { slot, text } => {
                self.fill(text)?;
                self.set(slot);
                Ok(next)
            }
            Op::Append { file, texts, count } => {
                self.append(file, texts, count)?;
                Ok(next)
            }
            Op::Fork { fork, slot } => {
                let branches = &code.forks[fork as usize];
                if branches.is_empty() {
                    return Ok(next);
                }
                self.state.slots[usize::from(slot)] = branches.len() as u64;
                self.wait(strand, pc, Wait::Strands);
                // The list of ready strands is processed from its end.
                for (branch, start) in branches.iter().rev() {
                    self.state.strand(*branch).pc = *start;
                    self.bench.ready.push(*branch);
                }
                Ok(Flow::Stop)
            }
            Op::Join { parent, slot } => {
                self.state.strand(strand).wait = Wait::Idle;
                self.joined(parent, slot);
                Ok(Flow::Stop)
            }
            Op::End => {
                self.state.strand(strand).wait = Wait::Idle;
                Ok(Flow::Stop)
            }
        }
    }

    pub(super) fn wait(&mut self, strand: StrandId, pc: Pc, wait: Wait) {
        let strand = self.state.strand(strand);
        (strand.pc, strand.wait) = (pc, wait);
    }

    pub(super) fn sleep(&mut self, strand: StrandId, pc: Pc, ns: u64) {
        self.out.sleep(step_id(strand, Kind::Sleep), ns);
        self.wait(strand, pc, Wait::Sleep);
    }

    /// Handles the end of a pause, or of the wait for a message.
    pub fn slept(&mut self, strand: StrandId) {
        match self.state.strand(strand).wait {
            Wait::Sleep => self.go_on(strand),
            Wait::Message => self.message_is_late(strand),
            _ => {}
        }
    }

    /// Resumes a strand after its wait, unless the iteration is ending.
    pub fn go_on(&mut self, strand: StrandId) {
        let going = self.state.mood == IterationState::Going;
        let waiting = self.state.strand(strand);
        waiting.wait = Wait::Idle;
        if going {
            waiting.pc = waiting.pc.wrapping_add(1);
            self.bench.ready.push(strand);
        }
    }

    /// Handles the end of a strand that another one waits for.
    pub fn joined(&mut self, parent: StrandId, slot: SlotId) {
        let left = &mut self.state.slots[usize::from(slot)];
        *left = left.saturating_sub(1);
        if *left == 0 && self.state.strand(parent).wait == Wait::Strands {
            self.go_on(parent);
        }
    }

    pub fn fill(&mut self, text: u32) -> Result<(), Unfilled> {
        let code = &self.stage.code;
        self.bench.fill.clear();
        let (mut scope, _) = self.state.scope(self.stage, self.at.unix_ns);
        fill(&code.texts[text as usize], &mut scope, &mut self.bench.fill)
    }

    fn holds(&mut self, code: &Code, asked: u32) -> Result<bool, Unfilled> {
        let (mut scope, _) = self.state.scope(self.stage, self.at.unix_ns);
        code.asked[asked as usize].holds(&mut scope, &mut self.bench.scratch)
    }

    /// Sets a slot to the last filled-in value.
    fn set(&mut self, slot: Slot) {
        let value = &self.bench.fill;
        match slot {
            Slot::Var(id) => self.state.vars.set(id, value),
            Slot::Global(id) => {
                if !self.stage.globals.set(id, value) {
                    self.stage.note_trouble(|| "setup set a value too often".into());
                }
            }
        }
    }

    fn append(&mut self, to: u16, texts: u32, count: u16) -> Result<(), Unfilled> {
        self.bench.row.clear();
        for column in 0..u32::from(count) {
            self.fill(texts + column)?;
            if column > 0 {
                self.bench.row.push(b',');
            }
            file::push_field(&self.bench.fill, &mut self.bench.row);
        }
        self.bench.row.extend_from_slice(b"\r\n");
        if !self.stage.files[usize::from(to)].append(&self.bench.row) {
            self.out.count(Count::Run(RunSum::RowsNotWritten, 1));
        }
        Ok(())
    }

    /// Sends a request with the current values of the user. `last_id` is the last event ID of a reopened stream.
    pub fn send(&mut self, strand: StrandId, ask: u32, last_id: Option<&[u8]>) -> Result<(), Unfilled> {
        let asking = &self.stage.asks[ask as usize];
        let begin = self.out.arena.len();
        let (mut scope, jar) = self.state.scope(self.stage, self.at.unix_ns);
        asking.form.render(&mut scope, jar, &mut self.bench.fill, &mut self.out.arena)?;
        if let Some(id) = last_id
            && let Err(unfilled) = crate::ask::set_header(&mut self.out.arena, begin, "Last-Event-ID", id)
        {
            self.out.arena.truncate(begin);
            return Err(unfilled);
        }
        let (head_only, to) = (asking.form.head_only(), asking.form.origin().number());
        let waiting = self.state.strand(strand);
        waiting.redirects = self.stage.script.asks[ask as usize].redirects;
        waiting.exchange = Exchange::Own;
        if asking.auth.is_some() {
            return self.push_signed(strand, ask, begin, head_only, to);
        }
        self.push(strand, ask, begin, head_only, to);
        Ok(())
    }

    /// Adds the request that starts at `begin` in the outbox, for the origin `to`.
    pub fn push(&mut self, strand: StrandId, ask: u32, begin: usize, head_only: bool, to: OriginId) {
        let asking = &self.stage.asks[ask as usize];
        let end = self.out.arena.len();
        if asking.follows {
            let trail = self.state.strand(strand).trail.get_or_insert_default();
            trail.to = to;
            trail.sent.clear();
            trail.sent.extend_from_slice(&self.out.arena[begin..end]);
        }
        // The body of a failed response says why, but is otherwise not read.
        let curious = asking.status_samples.is_begun() && !asking.body.is_stream();
        self.out.push(Step {
            id: step_id(strand, Kind::Request),
            request: ask,
            origin: to,
            body: if curious { BodyUse::Keep } else { asking.body },
            payload: Payload::Rendered { begin: begin as u32, end: end as u32 },
            head_only,
            close: asking.form.close(),
            timeout_ns: asking.timeout_ns,
            judged: true,
        });
    }

    /// Returns whether this is setup or teardown, where a failure is more than a count.
    pub fn is_aside(&self) -> bool {
        matches!(self.state.part, Part::Setup | Part::Teardown)
    }
}

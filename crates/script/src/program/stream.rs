//! A stream of events from its head to its end: who ends it, when it is opened again, and what its end means.

use super::code::{Op, StrandId};
use super::reply::Way;
use super::user::{IterationState, Kind, Trail, Turn, Wait, step_id};
use crate::answer::Answer;
use crate::value::Unfilled;
use crate::watch::Watch;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::StreamSum;
use plimsoll_plan::program::{Count, Ended, Event, Reply};
use plimsoll_plan::stream::{Closer, Stream};
use plimsoll_plan::{Fault, Side};

/// What a strand knows of the stream that it waits for.
#[derive(Default)]
pub(super) struct Live {
    /// The account, from the first accepted head on.
    watch: Option<Watch>,
    /// When the last sign of life came, ns of the run.
    last_ns: u64,
    /// Events over all connections.
    events: u64,
    reconnects: u32,
    ending: Ending,
    /// The head of this connection was accepted.
    is_open: bool,
    /// The head was a redirect, which is followed when its reply is there.
    is_redirect: bool,
    for_armed: bool,
    idle_armed: bool,
}

/// Why we end a stream, once we do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Ending {
    /// We do not.
    #[default]
    Not,
    AsPlanned,
    Idle,
    /// Its head was not accepted; counted already.
    Refused(Fault),
    /// The iteration is left.
    GivenUp,
}

impl Turn<'_> {
    /// The plan of the stream that a strand waits for, with the number of its request.
    fn stream_of(&mut self, strand: StrandId) -> Option<(u32, &'_ Stream)> {
        if self.state.strand(strand).wait != Wait::Stream {
            return None;
        }
        let ask = self.ask_of(strand)?;
        Some((ask, self.stage.script.asks[ask as usize].stream.as_deref()?))
    }

    pub fn open_stream(&mut self, strand: StrandId, ask: u32) -> Result<(), Unfilled> {
        self.send(strand, ask, None)?;
        let reconnects =
            self.stage.script.asks[ask as usize].stream.as_ref().map_or(0, |stream| stream.reconnects);
        self.state.strand(strand).live = Some(Box::new(Live { reconnects, ..Live::default() }));
        Ok(())
    }

    /// The head has come: the stream begins, or does not.
    pub fn stream_began(&mut self, strand: StrandId, status: u16, head: Head<'_>) {
        let Some((ask, _)) = self.stream_of(strand) else { return };
        self.take_cookies(strand, ask, head);
        let stage = self.stage;
        let script = &stage.script.asks[ask as usize];
        let going = self.state.mood == IterationState::Going;
        let waiting = self.state.strand(strand);
        let Some(live) = &mut waiting.live else { return };
        if live.ending != Ending::Not {
            // It was given up before there was anything to close.
            return self.out.cancel(step_id(strand, Kind::Request));
        }
        if going && script.redirects > 0 && matches!(status, 301 | 302 | 303 | 307 | 308) {
            live.is_redirect = true;
            let Trail { head: kept, .. } = &mut **waiting.trail.get_or_insert_default();
            kept.clear();
            return kept.extend_from_slice(head.text());
        }
        // The service time of a stream is its whole life, which has just begun.
        let answer = Answer { status, head, body: &[], body_bytes: 0, service_ns: 0 };
        if let Some(fault) = self.judge(ask, &answer) {
            return self.end_stream(strand, Ending::Refused(fault));
        }
        self.stream_opened(strand, script.stream.as_deref());
    }

    fn stream_opened(&mut self, strand: StrandId, stream: Option<&Stream>) {
        let (now_ns, pc) = (self.at.run_ns, self.state.strand(strand).pc);
        let (Some(live), Some(stream)) = (&mut self.state.strand(strand).live, stream) else { return };
        live.is_open = true;
        live.last_ns = now_ns;
        if let (Some(idle_ns), false) = (stream.idle_ns, live.idle_armed) {
            live.idle_armed = true;
            self.out.sleep(step_id(strand, Kind::StreamIdle), idle_ns);
        }
        if let Some(watch) = &mut live.watch {
            return watch.reopen(now_ns);
        }
        live.watch = Some(Watch::new(now_ns));
        if let Some(for_ns) = stream.for_ns {
            live.for_armed = true;
            self.out.sleep(step_id(strand, Kind::StreamFor), for_ns);
        }
        if let Some(&Op::Stream { beside: Some((beside, start)), slot, .. }) =
            self.stage.code.ops.get(pc as usize)
        {
            self.state.slots[usize::from(slot)] += 1;
            self.state.strand(beside).pc = start;
            self.bench.ready.push(beside);
        }
    }

    pub fn stream_event(&mut self, strand: StrandId, event: &Event<'_>) {
        let Some((ask, stream)) = self.stream_of(strand) else { return };
        let most = stream.events;
        let Some(live) = &mut self.state.strand(strand).live else { return };
        live.last_ns = self.at.run_ns;
        live.events += 1;
        let enough = most.is_some_and(|most| live.events >= most);
        let ledger = &self.stage.asks[ask as usize].ledger;
        if let (Some(watch), Some(ledger)) = (&mut live.watch, ledger) {
            watch.event(ledger, ask, event, self.at, &mut self.bench.fill, &mut self.out.counts);
        }
        if enough {
            self.end_stream(strand, Ending::AsPlanned);
        }
    }

    /// It has been open for as long as it should.
    pub fn stream_is_old(&mut self, strand: StrandId) {
        if self.stream_of(strand).is_none() {
            return;
        }
        if let Some(live) = &mut self.state.strand(strand).live {
            live.for_armed = false;
            self.end_stream(strand, Ending::AsPlanned);
        }
    }

    /// The one timer for silence has fired. It is not moved by events, so it asks when the last one was.
    pub fn stream_may_be_idle(&mut self, strand: StrandId) {
        let now_ns = self.at.run_ns;
        let Some((_, stream)) = self.stream_of(strand) else { return };
        let Some(idle_ns) = stream.idle_ns else { return };
        let Some(live) = &mut self.state.strand(strand).live else { return };
        live.idle_armed = false;
        // Between two connections silence is in order; the next head arms it again.
        if live.ending != Ending::Not || !live.is_open {
            return;
        }
        let quiet_ns = now_ns.saturating_sub(live.last_ns);
        if quiet_ns >= idle_ns {
            return self.end_stream(strand, Ending::Idle);
        }
        live.idle_armed = true;
        self.out.sleep(step_id(strand, Kind::StreamIdle), idle_ns - quiet_ns);
    }

    /// Asks for the end; the reply settles everything.
    fn end_stream(&mut self, strand: StrandId, why: Ending) {
        if let Some(live) = &mut self.state.strand(strand).live
            && live.ending == Ending::Not
        {
            live.ending = why;
            self.out.cancel(step_id(strand, Kind::Request));
        }
    }

    /// The iteration is left while this stream is open.
    pub fn give_up_stream(&mut self, strand: StrandId) {
        self.end_timers(strand);
        self.end_stream(strand, Ending::GivenUp);
    }

    /// The iteration is left before the engine has heard that this stream is to be opened (again).
    pub fn forget_stream(&mut self, strand: StrandId) {
        self.end_timers(strand);
        let ask = self.ask_of(strand);
        if let (Some(live), Some(ask)) = (self.state.strand(strand).live.take(), ask) {
            self.settle(ask, *live);
        }
    }

    fn end_timers(&mut self, strand: StrandId) {
        let Some(live) = &mut self.state.strand(strand).live else { return };
        let (for_armed, idle_armed) = (live.for_armed, live.idle_armed);
        (live.for_armed, live.idle_armed) = (false, false);
        if for_armed {
            self.end_sleep(step_id(strand, Kind::StreamFor));
        }
        if idle_armed {
            self.end_sleep(step_id(strand, Kind::StreamIdle));
        }
    }

    /// The last word on what was expected and lost.
    fn settle(&mut self, ask: u32, live: Live) {
        if let (Some(mut watch), Some(ledger)) = (live.watch, &self.stage.asks[ask as usize].ledger) {
            match live.is_open {
                true => watch.end(ledger, ask, self.at, &mut self.out.counts),
                false => watch.give_up(ledger, ask, &mut self.out.counts),
            }
        }
    }

    /// The connection of a stream has ended, by whomever.
    pub fn stream_ended(&mut self, strand: StrandId, reply: &Reply<'_>) {
        let Some((ask, stream)) = self.stream_of(strand) else { return };
        if reply.ended == Some(Ended::Stop) {
            // Nobody failed and nobody goes on: what was expected until now is settled, and that is all.
            if let Some(live) = self.state.strand(strand).live.take() {
                self.settle(ask, *live);
            }
            self.state.strand(strand).wait = Wait::Idle;
            return;
        }
        let closer = stream.closed_by;
        let Some(live) = &mut self.state.strand(strand).live else { return };
        let (ending, is_redirect) = (live.ending, std::mem::take(&mut live.is_redirect));
        if is_redirect && ending == Ending::Not && reply.fault.is_none() {
            return self.stream_redirected(strand, ask, reply);
        }
        let fault = match (reply.fault, ending) {
            (Some(fault), _) => Some(fault),
            (None, Ending::GivenUp) => None,
            (None, Ending::Refused(fault)) => Some(fault),
            (None, Ending::Idle) => Some(Fault::StreamIdleTimeout),
            (None, Ending::AsPlanned) => (closer == Some(Closer::Server)).then_some(Fault::StreamFailed),
            // An answer without a head that could have been accepted: no stream has ever begun.
            (None, Ending::Not) if !live.is_open => Some(Fault::StreamFailed),
            (None, Ending::Not) => {
                // Between two connections an end by the server is what the plan speaks of.
                let last = live.reconnects == 0;
                (last && closer == Some(Closer::Client)).then_some(Fault::StreamFailed)
            }
        };
        // What broke on the way is opened again too, as browsers do; but not for a limit of this machine.
        let again = ending == Ending::Not
            && live.reconnects > 0
            && live.watch.is_some()
            && reply.fault.is_none_or(|fault| fault.side() != Side::Client);
        if again && self.state.mood == IterationState::Going {
            if let Some(fault) = reply.fault {
                self.tell_fault(ask, fault, reply);
            }
            return self.reconnect(strand, ask);
        }
        if reply.fault.is_none()
            && let Some(fault) = fault
        {
            self.out.fail(fault);
        }
        // What the head was refused for was told when it came.
        if let Some(fault) = fault.filter(|_| !matches!(ending, Ending::Refused(_))) {
            self.tell_fault(ask, fault, reply);
        }
        self.stream_over(strand, ask, fault);
    }

    /// The strand goes on behind its stream, or the iteration is left.
    fn stream_over(&mut self, strand: StrandId, ask: u32, fault: Option<Fault>) {
        self.end_timers(strand);
        if let Some(live) = self.state.strand(strand).live.take() {
            self.settle(ask, *live);
        }
        let pc = self.state.strand(strand).pc;
        let go_on = self.stage.script.asks[ask as usize].go_on_after_failure;
        if let Some(fault) = fault.filter(|_| !go_on) {
            return self.failed(strand, ask, fault);
        }
        if self.state.mood != IterationState::Going {
            self.state.strand(strand).wait = Wait::Idle;
            return;
        }
        self.state.strand(strand).wait = Wait::Strands;
        if let Some(&Op::Stream { slot, .. }) = self.stage.code.ops.get(pc as usize) {
            self.joined(strand, slot);
        }
    }

    fn stream_redirected(&mut self, strand: StrandId, ask: u32, reply: &Reply<'_>) {
        let kept =
            self.state.strand(strand).trail.as_mut().map(|t| std::mem::take(&mut t.head)).unwrap_or_default();
        let head = Head::new(&kept);
        let fault = match self.redirect(strand, ask, reply.status, head) {
            Way::On => return,
            Way::TooFar => Fault::Redirects,
            Way::Here => {
                let answer = Answer { status: reply.status, head, body: &[], body_bytes: 0, service_ns: 0 };
                // Whatever the plan accepts: a redirect that leads nowhere is no stream.
                self.judge(ask, &answer).unwrap_or(Fault::StreamFailed)
            }
        };
        self.out.fail(fault);
        self.tell_fault(ask, fault, reply);
        self.stream_over(strand, ask, Some(fault));
    }

    /// Opens a stream again behind the last event.
    fn reconnect(&mut self, strand: StrandId, ask: u32) {
        let Some(mut live) = self.state.strand(strand).live.take() else { return };
        live.reconnects -= 1;
        self.out.count(Count::sum(ask, StreamSum::Reconnects, 1));
        let ledger = &self.stage.asks[ask as usize].ledger;
        if let (Some(watch), Some(ledger), true) = (&mut live.watch, ledger, live.is_open) {
            watch.interrupt(ledger, ask, self.at, &mut self.out.counts);
        }
        live.is_open = false;
        let sent = self.send(strand, ask, live.watch.as_ref().and_then(Watch::last_id));
        self.state.strand(strand).live = Some(live);
        if let Err(unfilled) = sent {
            self.forget_stream(strand);
            let pc = self.state.strand(strand).pc;
            self.unfilled(strand, pc, &unfilled);
        }
    }
}

//! Event streams from head to end: which side ends them, when they are reopened, and the meaning of their end.

use super::code::{Op, StrandId};
use super::reply::Way;
use super::user::{IterationState, Kind, Trail, Turn, Wait, step_id};
use crate::answer::Answer;
use crate::call::status_in;
use crate::value::Unfilled;
use crate::watch::{Ledger, Watch};
use plimsoll_body::json;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::StreamSum;
use plimsoll_plan::program::{Count, Ended, Event, Reply};
use plimsoll_plan::stream::{Closer, Stream};
use plimsoll_plan::{Fault, Side};

/// The state of the stream that a strand waits for.
#[derive(Default)]
pub(super) struct Live {
    /// The account since the first accepted head.
    watch: Option<Watch>,
    /// Time of the last activity, ns since the start of the run.
    last_ns: u64,
    /// Number of events over all connections.
    events: u64,
    reconnects: u32,
    ending: Ending,
    /// Whether the head of this connection was accepted.
    is_open: bool,
    /// Whether the head was a redirect, which is followed after its reply.
    is_redirect: bool,
    for_armed: bool,
    idle_armed: bool,
    /// The head of the response of a gRPC call, if something reads it at the end.
    head: Option<Box<[u8]>>,
}

/// Why the client ends a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Ending {
    /// It does not.
    #[default]
    Not,
    AsPlanned,
    Idle,
    /// Its head was not accepted, which is already counted.
    Refused(Fault),
    /// An event of a GraphQL subscription has errors.
    Errors,
    /// The iteration ends.
    GivenUp,
    /// A gRPC call without messages has ended with an expected status.
    Accepted,
    /// A message could not be read.
    Broken(Fault),
}

/// Returns whether the data of an event is a GraphQL response with errors.
fn has_errors(data: &[u8]) -> bool {
    let mut errors = Vec::new();
    let path = json::Path::compile("$.errors");
    path.is_ok_and(|path| path.first(data, &mut errors)) && are_errors(&errors)
}

/// Returns whether the value of `errors` in a GraphQL response has any.
pub(super) fn are_errors(value: &[u8]) -> bool {
    !matches!(value, b"null" | b"[]")
}

impl Turn<'_> {
    /// Returns the settings of the stream that a strand waits for, with the number of its request.
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

    /// Handles the head, which starts or rejects the stream.
    pub fn stream_began(&mut self, strand: StrandId, status: u16, head: Head<'_>) {
        let Some((ask, _)) = self.stream_of(strand) else { return };
        self.take_cookies(strand, ask, head);
        let stage = self.stage;
        let script = &stage.script.asks[ask as usize];
        let going = self.state.mood == IterationState::Going;
        let waiting = self.state.strand(strand);
        let Some(live) = &mut waiting.live else { return };
        if live.ending != Ending::Not {
            // It was canceled before it could be closed.
            return self.out.cancel(step_id(strand, Kind::Request));
        }
        if going && script.redirects > 0 && matches!(status, 301 | 302 | 303 | 307 | 308) {
            live.is_redirect = true;
            let Trail { head: kept, .. } = &mut **waiting.trail.get_or_insert_default();
            kept.clear();
            return kept.extend_from_slice(head.text());
        }
        if let Some(call) = &script.grpc {
            // The status of a call comes at its end, unless there are no messages.
            return match self.call_began(ask, call, status, head) {
                Ok(()) if status_in(head).is_none() => {
                    if let (Some(live), true) =
                        (&mut self.state.strand(strand).live, stage.asks[ask as usize].keeps_head)
                    {
                        live.head = Some(head.text().into());
                    }
                    self.stream_opened(strand, script.stream.as_deref());
                }
                Ok(()) => self.end_stream(strand, Ending::Accepted),
                Err(fault) => self.end_stream(strand, Ending::Refused(fault)),
            };
        }
        // The service time of a stream is its whole duration, which has just begun.
        let answer = Answer { status, head, body: &[], body_bytes: 0, service_ns: 0, call: None };
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
        let stage = self.stage;
        let ledger = stage.asks[ask as usize].ledger.as_ref();
        let mut json = std::mem::take(&mut self.bench.json);
        let read = match &stage.script.asks[ask as usize].grpc {
            Some(call) => self.read_event(call, event, ledger.is_some_and(Ledger::reads_data), &mut json),
            None => Ok(*event),
        };
        if let Err(fault) = read {
            self.end_stream(strand, Ending::Broken(fault));
        }
        self.note_event(strand, ask, most, read.as_ref().unwrap_or(event));
        self.bench.json = json;
    }

    fn note_event(&mut self, strand: StrandId, ask: u32, most: Option<u64>, event: &Event<'_>) {
        let Some(live) = &mut self.state.strand(strand).live else { return };
        live.last_ns = self.at.run_ns;
        live.events += 1;
        let enough = most.is_some_and(|most| live.events >= most);
        let ledger = &self.stage.asks[ask as usize].ledger;
        if let (Some(watch), Some(ledger)) = (&mut live.watch, ledger) {
            watch.event(ledger, ask, event, self.at, &mut self.bench.fill, &mut self.out.counts);
        }
        if self.stage.asks[ask as usize].fails_on_graphql_errors && has_errors(event.data) {
            return self.end_stream(strand, Ending::Errors);
        }
        if enough {
            self.end_stream(strand, Ending::AsPlanned);
        }
    }

    /// Ends the stream after its configured duration.
    pub fn stream_is_old(&mut self, strand: StrandId) {
        if self.stream_of(strand).is_none() {
            return;
        }
        if let Some(live) = &mut self.state.strand(strand).live {
            live.for_armed = false;
            self.end_stream(strand, Ending::AsPlanned);
        }
    }

    /// Handles the idle timer. Events do not reset it, so it checks the time of the last event.
    pub fn stream_may_be_idle(&mut self, strand: StrandId) {
        let now_ns = self.at.run_ns;
        let Some((_, stream)) = self.stream_of(strand) else { return };
        let Some(idle_ns) = stream.idle_ns else { return };
        let Some(live) = &mut self.state.strand(strand).live else { return };
        live.idle_armed = false;
        // Silence between two connections is normal. The next head sets the timer again.
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

    /// Requests the end of the stream; its reply completes it.
    fn end_stream(&mut self, strand: StrandId, why: Ending) {
        if let Some(live) = &mut self.state.strand(strand).live
            && live.ending == Ending::Not
        {
            live.ending = why;
            self.out.cancel(step_id(strand, Kind::Request));
        }
    }

    /// Cancels an open stream at the end of the iteration.
    pub fn give_up_stream(&mut self, strand: StrandId) {
        self.end_timers(strand);
        self.end_stream(strand, Ending::GivenUp);
    }

    /// Cancels a stream that the engine does not know yet, at the end of the iteration.
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

    /// Counts the final numbers of expected and lost events.
    fn settle(&mut self, ask: u32, live: Live) {
        if let (Some(mut watch), Some(ledger)) = (live.watch, &self.stage.asks[ask as usize].ledger) {
            match live.is_open {
                true => watch.end(ledger, ask, self.at, &mut self.out.counts),
                false => watch.give_up(ledger, ask, &mut self.out.counts),
            }
        }
    }

    /// Handles the end of a stream's connection, by either side.
    pub fn stream_ended(&mut self, strand: StrandId, reply: &Reply<'_>) {
        let Some((ask, stream)) = self.stream_of(strand) else { return };
        if reply.ended == Some(Ended::Stop) {
            // The run ends: there is no failure and no continuation, so only the account is closed.
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
        let is_open = live.is_open;
        let head = live.head.take();
        let stage = self.stage;
        let status = match &stage.script.asks[ask as usize].grpc {
            Some(call) if ending == Ending::Not && is_open && reply.fault.is_none() => {
                let head = head.as_deref().map_or(reply.head, Head::new);
                self.stream_call_ended(ask, call, &Reply { head, ..*reply }).err()
            }
            _ => None,
        };
        let Some(live) = &mut self.state.strand(strand).live else { return };
        let fault = match (reply.fault.or(status), ending) {
            (Some(fault), _) => Some(fault),
            (None, Ending::GivenUp | Ending::Accepted) => None,
            (None, Ending::Refused(fault) | Ending::Broken(fault)) => Some(fault),
            (None, Ending::Idle) => Some(Fault::StreamIdleTimeout),
            (None, Ending::Errors) => Some(Fault::GraphqlErrors),
            (None, Ending::AsPlanned) => (closer == Some(Closer::Server)).then_some(Fault::StreamFailed),
            // Without an accepted head, the stream never began.
            (None, Ending::Not) if !live.is_open => Some(Fault::StreamFailed),
            (None, Ending::Not) => {
                // Before the last connection, the plan expects the server to end the stream.
                let last = live.reconnects == 0;
                (last && closer == Some(Closer::Client)).then_some(Fault::StreamFailed)
            }
        };
        // As in browsers, a broken connection is also reopened, except after a limit of the load generator.
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
        // The rejection of the head is already counted, and a status is already reported.
        let is_told =
            matches!(ending, Ending::Refused(_)) || status.is_some_and(|own| own != Fault::GrpcNoStatus);
        if let Some(fault) = fault.filter(|_| !is_told) {
            self.tell_fault(ask, fault, reply);
        }
        self.stream_over(strand, ask, fault);
    }

    /// Continues the strand after its stream, or ends the iteration.
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
                let answer = Answer {
                    status: reply.status,
                    head,
                    body: &[],
                    body_bytes: 0,
                    service_ns: 0,
                    call: None,
                };
                // A redirect that is not followed is not a stream, regardless of the expected status codes.
                self.judge(ask, &answer).unwrap_or(Fault::StreamFailed)
            }
        };
        self.out.fail(fault);
        self.tell_fault(ask, fault, reply);
        self.stream_over(strand, ask, Some(fault));
    }

    /// Reopens a stream after the last event.
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

//! WebSockets of a user: opened by a step, used by later ones or awaited, and closed at the end of the iteration. A
//! gRPC call with a stream of messages to send is one, too.

mod calls;
mod messages;
pub(super) mod subscription;

use super::code::{Op, Pc, StrandId};
use super::stage::SocketAsking;
use super::user::{IterationState, Kind, Trail, Turn, Wait, step_id};
use crate::answer::Answer;
use crate::value::Unfilled;
use crate::watch::Watch;
use plimsoll_plan::Fault;
use plimsoll_plan::auth::Auth;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::WebSocketSum;
use plimsoll_plan::program::{Count, Ended, MessageKind, Payload, Reply, Step, StepId};
use plimsoll_plan::stream::{Closer, Stream};
use plimsoll_plan::websocket::{Content, NORMAL_CLOSE};
use plimsoll_wire::ws;
use std::collections::VecDeque;
use subscription::Progress;

/// Number of a WebSocket: its index among those of the script.
pub type SocketId = u16;

/// The status that opens a socket over HTTP/1.1.
const SWITCHING: u16 = 101;
/// Messages without a response that a socket remembers.
const PENDING_MAX: usize = 4_096;
/// Messages that wait for an `expect` step, and their bytes.
const INBOX_MAX: usize = 64;
const INBOX_BYTES: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Closed,
    Opening,
    Open,
    /// A gRPC call that sends no more messages. It still receives some.
    Completed,
    /// A close frame was sent, or the engine was asked to end it.
    Closing,
}

impl Phase {
    /// Returns whether messages are received.
    fn is_open(self) -> bool {
        matches!(self, Phase::Open | Phase::Completed)
    }
}

/// A message that no step has looked at.
struct Letter {
    received_ns: u64,
    content: Content,
    data: Box<[u8]>,
}

/// What few sockets need.
#[derive(Default)]
struct Mail {
    /// IDs and send times of messages without a response, the oldest first.
    pending: VecDeque<(u64, u64)>,
    inbox: VecDeque<Letter>,
    /// Pings without a pong, the oldest first.
    pings: VecDeque<SentPing>,
    /// The only response of a gRPC call, as JSON.
    response: Option<Box<[u8]>>,
    /// The head of the response of a gRPC call, if something reads it at the end.
    head: Option<Box<[u8]>>,
    /// The messages that begin a subscription, until they are sent.
    opening: Option<[Box<[u8]>; 2]>,
}

/// A ping that a strand waits for.
struct SentPing {
    strand: StrandId,
    /// Hash of its payload.
    hash: u64,
    sent_ns: u64,
}

/// A WebSocket of a user. Thousands of them are open and idle.
#[derive(Default)]
pub(super) struct Socket {
    phase: Phase,
    progress: Progress,
    /// The strand and the operation that opened it.
    strand: StrandId,
    pc: Pc,
    for_armed: bool,
    idle_armed: bool,
    /// The client closes it as planned: its duration or its number of messages has been reached.
    is_complete: bool,
    /// Its iteration ends, so nothing about its end is a failure.
    is_given_up: bool,
    /// The first failure, which is counted at its end; `is_settled`: the iteration has reacted to it.
    fault: Option<Fault>,
    is_settled: bool,
    /// The code of the server's close frame; 0: none.
    close_code: u16,
    key: [u8; ws::KEY_BYTES],
    watch: Option<Watch>,
    /// Time of the last activity, ns since the start of the run.
    last_ns: u64,
    messages: u64,
    /// When the last message was sent that no `expect` has answered; 0: none.
    sent_ns: u64,
    mail: Option<Box<Mail>>,
}

impl Socket {
    fn mail(&mut self) -> &mut Mail {
        self.mail.get_or_insert_default()
    }
}

fn socket_step(socket: SocketId) -> StepId {
    step_id(socket, Kind::Socket)
}

impl Turn<'_> {
    fn asking(&self, ask: u32) -> Option<&'_ SocketAsking> {
        self.stage.asks[ask as usize].socket.as_deref()
    }

    fn socket(&mut self, id: SocketId) -> &mut Socket {
        let at = usize::from(id);
        if at >= self.state.sockets.len() {
            // Most users have one: a vector that grows by itself would have room for four.
            let more = at + 1 - self.state.sockets.len();
            self.state.sockets.reserve_exact(more);
            self.state.sockets.resize_with(at + 1, Socket::default);
        }
        &mut self.state.sockets[at]
    }

    /// Opens the socket of a request. Returns false if an earlier one is open, which is closed first.
    pub fn connect(&mut self, strand: StrandId, pc: Pc, ask: u32) -> Result<bool, Unfilled> {
        let Some(id) = self.asking(ask).map(|asking| asking.number) else { return Ok(true) };
        if self.socket(id).phase != Phase::Closed {
            self.close_socket(id, NORMAL_CLOSE, b"");
            return Ok(false);
        }
        let stage = self.stage;
        let asking = &stage.asks[ask as usize];
        let opening = self.opening_messages(ask)?;
        let begin = self.out.arena.len();
        let (mut scope, jar) = self.state.scope(stage, self.at.unix_ns);
        asking.form.render(&mut scope, jar, &mut self.bench.fill, &mut self.out.arena)?;
        if let Some(Auth::SigV4(signature)) = &asking.auth
            && let Err(unfilled) = self.sign(signature, begin)
        {
            self.out.arena.truncate(begin);
            return Err(unfilled);
        }
        if stage.script.asks[ask as usize].grpc.is_some() {
            self.push_call(id, strand, pc, ask, begin);
            return Ok(true);
        }
        let mut random = [0; 16];
        random[..8].copy_from_slice(&self.state.random.next_u64().to_ne_bytes());
        random[8..].copy_from_slice(&self.state.random.next_u64().to_ne_bytes());
        let key = ws::key_of(random);
        if let Err(unfilled) = crate::ask::set_header(&mut self.out.arena, begin, "Sec-WebSocket-Key", &key) {
            self.out.arena.truncate(begin);
            return Err(unfilled);
        }
        let (end, origin) = (self.out.arena.len(), asking.form.origin().number());
        if asking.follows {
            let Trail { sent, to, .. } = &mut **self.state.strand(strand).trail.get_or_insert_default();
            *to = origin;
            sent.clear();
            sent.extend_from_slice(&self.out.arena[begin..end]);
        }
        let mail = opening.map(|opening| Box::new(Mail { opening: Some(opening), ..Mail::default() }));
        *self.socket(id) = Socket { phase: Phase::Opening, strand, pc, key, mail, ..Socket::default() };
        self.out.push(Step {
            id: socket_step(id),
            request: ask,
            origin,
            body: asking.body,
            payload: Payload::Rendered { begin: begin as u32, end: end as u32 },
            head_only: false,
            close: false,
            timeout_ns: asking.timeout_ns,
            judged: true,
        });
        Ok(true)
    }

    /// Handles the head of the response, which opens or rejects the socket.
    pub fn socket_began(&mut self, id: SocketId, status: u16, head: Head<'_>) {
        let Some(&ask) = self.stage.sockets.get(usize::from(id)) else { return };
        if self.is_call(id) {
            return self.call_responds(id, ask, status, head);
        }
        let socket = self.socket(id);
        let (strand, pc, key) = (socket.strand, socket.pc, socket.key);
        if socket.phase != Phase::Opening {
            // It was given up before it could be closed.
            return self.out.cancel(socket_step(id));
        }
        self.take_cookies(strand, ask, head);
        let is_http2 = head.is_http2();
        let is_opened = if is_http2 { (200..300).contains(&status) } else { status == SWITCHING };
        // Over HTTP/2, any 2xx opens it (RFC 8441 section 5), so it meets the expectation of the one of HTTP/1.1.
        let judge = &self.stage.asks[ask as usize].judge;
        let stands_for = is_opened && !judge.expects(status) && judge.expects(SWITCHING);
        let status = if stands_for { SWITCHING } else { status };
        let answer = Answer { status, head, body: &[], body_bytes: 0, service_ns: 0, call: None };
        if let Some(fault) = self.judge(ask, &answer) {
            return self.reject(id, fault);
        }
        if !is_opened {
            // The plan expects that the server refuses it.
            let socket = self.socket(id);
            (socket.phase, socket.is_complete) = (Phase::Closing, true);
            return self.out.cancel(socket_step(id));
        }
        let response = ws::Response {
            upgrade: head.field("upgrade"),
            connection: head.field("connection"),
            accept: head.field("sec-websocket-accept"),
            extensions: head.field("sec-websocket-extensions"),
            subprotocol: head.field("sec-websocket-protocol"),
        };
        let offer = self.stage.script.asks[ask as usize].websocket.as_deref();
        let offer = offer.map_or_else(ws::Offer::default, |socket| ws::Offer {
            deflate: socket.compression.map(|compression| ws::Terms {
                client_no_context: !compression.context_takeover,
                server_no_context: !compression.context_takeover,
            }),
            subprotocols: &socket.subprotocols,
        });
        // Over HTTP/2, the handshake has no key and no upgrade.
        let upgraded = if is_http2 { Ok(()) } else { ws::check_upgrade(&response, &key) };
        if let Err(rejected) = upgraded.and_then(|()| ws::check_choice_of_window(&response, &offer)) {
            self.tell_socket(ask, Fault::WebSocketHandshake, rejected.sentence(), status, &[]);
            return self.reject(id, Fault::WebSocketHandshake);
        }
        self.socket_opened(id, ask, strand, pc);
    }

    fn reject(&mut self, id: SocketId, fault: Fault) {
        let socket = self.socket(id);
        (socket.phase, socket.fault) = (Phase::Closing, Some(fault));
        self.out.cancel(socket_step(id));
    }

    fn socket_opened(&mut self, id: SocketId, ask: u32, strand: StrandId, pc: Pc) {
        let now_ns = self.at.run_ns;
        let stage = self.stage;
        let Some(plan) = stage.script.asks[ask as usize].websocket.as_deref() else { return };
        let socket = self.socket(id);
        socket.phase = Phase::Open;
        socket.last_ns = now_ns;
        socket.watch = Some(Watch::new(now_ns));
        if self.initialize(id, ask) {
            return;
        }
        self.begin_socket_timers(id, &plan.stream);
        if !plan.is_awaited {
            return self.go_on(strand);
        }
        self.begin_beside(pc);
    }

    fn begin_socket_timers(&mut self, id: SocketId, stream: &Stream) {
        let socket = self.socket(id);
        socket.for_armed = stream.for_ns.is_some();
        socket.idle_armed = stream.idle_ns.is_some();
        if let Some(for_ns) = stream.for_ns {
            self.out.sleep(step_id(id, Kind::SocketFor), for_ns);
        }
        if let Some(idle_ns) = stream.idle_ns {
            self.out.sleep(step_id(id, Kind::SocketIdle), idle_ns);
        }
    }

    /// Begins the steps alongside a socket.
    fn begin_beside(&mut self, pc: Pc) {
        let stage = self.stage;
        if let Some(&Op::Connect { beside: Some((beside, start)), slot, .. }) =
            stage.code.ops.get(pc as usize)
        {
            self.state.slots[usize::from(slot)] += 1;
            self.state.strand(beside).pc = start;
            self.bench.ready.push(beside);
        }
    }

    /// Closes a socket for a step. Returns whether it is closed already.
    pub fn close(&mut self, ask: u32, code: u16, reason: u32) -> Result<bool, Unfilled> {
        let Some(id) = self.asking(ask).map(|asking| asking.number) else { return Ok(true) };
        if self.socket(id).phase == Phase::Closed {
            return Ok(true);
        }
        self.fill(reason)?;
        let reason = std::mem::take(&mut self.bench.fill);
        self.close_socket(id, code, &reason);
        self.bench.fill = reason;
        Ok(false)
    }

    /// Begins the end of a socket; its reply completes it.
    fn close_socket(&mut self, id: SocketId, code: u16, reason: &[u8]) {
        self.end_socket_timers(id);
        let phase = self.socket(id).phase;
        match phase {
            Phase::Closed | Phase::Closing => return,
            Phase::Open if !self.is_call(id) => {
                self.complete_operation(id);
                self.out.send(socket_step(id), MessageKind::Close(code), reason);
            }
            Phase::Opening | Phase::Open | Phase::Completed => self.out.cancel(socket_step(id)),
        }
        self.socket(id).phase = Phase::Closing;
    }

    /// Closes what the iteration has left open. Returns whether something is, which the iteration waits for.
    pub fn close_sockets(&mut self) -> bool {
        let mut is_any_open = false;
        for id in 0..self.state.sockets.len() as SocketId {
            let socket = self.socket(id);
            if socket.phase == Phase::Closed {
                continue;
            }
            socket.is_given_up |= socket.phase != Phase::Closing;
            if self.unsaid(socket_step(id)) {
                self.end_socket_timers(id);
                *self.socket(id) = Socket::default();
                continue;
            }
            self.close_socket(id, NORMAL_CLOSE, b"");
            is_any_open = true;
        }
        is_any_open
    }

    /// Ends a socket after its configured duration.
    pub fn socket_is_old(&mut self, id: SocketId) {
        let socket = self.socket(id);
        socket.for_armed = false;
        if socket.phase.is_open() {
            socket.is_complete = true;
            self.close_socket(id, NORMAL_CLOSE, b"");
        }
    }

    /// Handles the idle timer. Messages do not reset it, so it checks the time of the last one.
    pub fn socket_may_be_idle(&mut self, id: SocketId) {
        let now_ns = self.at.run_ns;
        let Some(&ask) = self.stage.sockets.get(usize::from(id)) else { return };
        let plan = self.stage.script.asks[ask as usize].websocket.as_deref();
        let socket = self.socket(id);
        socket.idle_armed = false;
        if !socket.phase.is_open() || self.is_unacknowledged(id, ask) {
            return;
        }
        let Some(idle_ns) = plan.and_then(|plan| plan.stream.idle_ns) else { return };
        let socket = self.socket(id);
        let quiet_ns = now_ns.saturating_sub(socket.last_ns);
        if quiet_ns < idle_ns {
            socket.idle_armed = true;
            return self.out.sleep(step_id(id, Kind::SocketIdle), idle_ns - quiet_ns);
        }
        // A silent server would not answer a close frame, either.
        self.end_socket_timers(id);
        let socket = self.socket(id);
        (socket.phase, socket.fault) = (Phase::Closing, socket.fault.or(Some(Fault::StreamIdleTimeout)));
        self.out.cancel(socket_step(id));
    }

    fn end_socket_timers(&mut self, id: SocketId) {
        let socket = self.socket(id);
        let (for_armed, idle_armed) = (socket.for_armed, socket.idle_armed);
        (socket.for_armed, socket.idle_armed) = (false, false);
        if for_armed {
            self.end_sleep(step_id(id, Kind::SocketFor));
        }
        if idle_armed {
            self.end_sleep(step_id(id, Kind::SocketIdle));
        }
    }

    /// Handles the end of a socket, by either side.
    pub fn socket_ended(&mut self, id: SocketId, reply: &Reply<'_>) {
        let Some(&ask) = self.stage.sockets.get(usize::from(id)) else { return };
        let is_stop = reply.ended == Some(Ended::Stop);
        if !is_stop {
            self.end_socket_timers(id);
        }
        let mut socket = std::mem::take(self.socket(id));
        let watch = socket.watch.take();
        let is_told = socket.fault.is_some();
        let stage = self.stage;
        let status = match &stage.script.asks[ask as usize].grpc {
            Some(call) if !is_stop && !is_told && reply.fault.is_none() => {
                self.call_socket_ended(ask, call, &socket, reply).err()
            }
            _ => None,
        };
        socket.fault = socket.fault.or(status);
        if let (Some(mut watch), Some(asking)) = (watch, self.stage.asks[ask as usize].socket.as_deref()) {
            watch.end(&asking.ledger, ask, self.at, &mut self.out.counts);
        }
        if is_stop {
            // The run ends: there is no failure and no continuation.
            return self.state.strand(socket.strand).wait = Wait::Idle;
        }
        let unanswered = socket.mail.as_ref().map_or(0, |mail| mail.pending.len() as u64);
        if unanswered > 0 {
            self.out.count(Count::sum(ask, WebSocketSum::MessagesUnanswered, unanswered));
        }
        let fault = self.fault_of(ask, &socket, reply);
        if let Some(fault) = fault.filter(|_| reply.fault.is_none()) {
            self.out.fail(fault);
        }
        // A status was reported when it was judged.
        let is_told = is_told || status.is_some_and(|own| own != Fault::GrpcNoStatus);
        if let Some(fault) = fault.filter(|_| !is_told) {
            self.tell_fault(ask, fault, reply);
        }
        let is_fatal = fault.is_some()
            && !socket.is_settled
            && !self.stage.script.asks[ask as usize].go_on_after_failure;
        self.after_socket(&socket, ask, fault.filter(|_| is_fatal));
    }

    /// Returns the failure that the end of a socket is, if it is one.
    fn fault_of(&self, ask: u32, socket: &Socket, reply: &Reply<'_>) -> Option<Fault> {
        if let Some(fault) = reply.fault.or(socket.fault) {
            return Some(fault);
        }
        let script = &self.stage.script.asks[ask as usize];
        let plan = script.websocket.as_deref()?;
        let closer = plan.stream.closed_by;
        if script.grpc.is_some() {
            return calls::fault_of(socket, closer, reply.ended?);
        }
        match reply.ended? {
            Ended::Server if socket.is_given_up => None,
            Ended::Server => {
                let may_close = closer == Some(Closer::Server) || (closer.is_none() && plan.is_awaited);
                let is_usual = ws::close::is_usual(socket.close_code);
                (!may_close || !is_usual).then_some(Fault::WebSocketClosed)
            }
            Ended::Client => {
                let is_early = socket.is_complete && closer == Some(Closer::Server);
                is_early.then_some(Fault::WebSocketClosed)
            }
            Ended::Stop => None,
        }
    }

    /// Continues the strands that wait for a socket, or ends the iteration.
    fn after_socket(&mut self, socket: &Socket, ask: u32, fault: Option<Fault>) {
        let opener = socket.strand;
        let is_waiting = {
            let strand = self.state.strand(opener);
            strand.wait == Wait::Socket && strand.pc == socket.pc
        };
        if let Some(fault) = fault {
            if is_waiting {
                self.state.strand(opener).wait = Wait::Idle;
            }
            let name = &self.stage.script.asks[ask as usize].name;
            self.note_aside(name, || fault.sentence().into());
            self.leave(IterationState::Leaving);
        } else if is_waiting {
            let is_going = self.state.mood == IterationState::Going;
            self.state.strand(opener).wait = if is_going { Wait::Strands } else { Wait::Idle };
            if is_going
                && let Some(&Op::Connect { slot, beside, .. }) = self.stage.code.ops.get(socket.pc as usize)
            {
                self.end_beside_call(ask, opener, beside.map(|(beside, _)| beside), slot);
                self.joined(opener, slot);
            }
        }
        for strand in 0..self.state.strand_count() {
            let waiting = self.state.strand(strand);
            let (wait, pc) = (waiting.wait, waiting.pc);
            match (wait, self.stage.code.ops.get(pc as usize)) {
                (Wait::Closed, Some(Op::Close { ask: of, .. })) if *of == ask => self.go_on(strand),
                (Wait::Closed, Some(Op::Connect { ask: of, .. })) if *of == ask => {
                    // The operation begins again.
                    self.state.strand(strand).wait = Wait::Idle;
                    if self.state.mood == IterationState::Going {
                        self.bench.ready.push(strand);
                    }
                }
                (
                    Wait::Message,
                    Some(&(Op::Expect { ask: of, expectation } | Op::Ping { ask: of, expectation, .. })),
                ) if of == ask => {
                    self.end_sleep(step_id(strand, Kind::Sleep));
                    let sentence = match self.stage.script.asks[ask as usize].grpc {
                        Some(_) => "the call ended before",
                        None => "the WebSocket was closed before",
                    };
                    self.expectation_failed(strand, ask, expectation, sentence);
                }
                _ => {}
            }
        }
    }
}

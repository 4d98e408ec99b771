//! WebSockets of a user: opened by a step, used by later ones or awaited, and closed at the end of the iteration.

use super::code::{Op, Pc, StrandId};
use super::stage::SocketAsking;
use super::user::{Bench, IterationState, Kind, Trail, Turn, Wait, step_id};
use crate::answer::Answer;
use crate::value::Unfilled;
use crate::watch::Watch;
use plimsoll_plan::Fault;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::{CheckSum, WebSocketHist, WebSocketSum};
use plimsoll_plan::program::{
    Count, Ended, Event, Message, MessageKind, Payload, Reply, RequestId, Step, StepId,
};
use plimsoll_plan::script::Slot;
use plimsoll_plan::stream::Closer;
use plimsoll_plan::websocket::{Content, NORMAL_CLOSE};
use plimsoll_wire::ws;
use std::collections::VecDeque;

/// Number of a WebSocket: its index among those of the script.
pub type SocketId = u16;

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
    /// A close frame was sent, or the engine was asked to end it.
    Closing,
}

/// A message that no step has looked at.
struct Letter {
    received_ns: u64,
    content: Content,
    data: Box<[u8]>,
}

/// A WebSocket of a user.
#[derive(Default)]
pub(super) struct Socket {
    phase: Phase,
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
    /// IDs and send times of messages without a response, the oldest first.
    pending: VecDeque<(u64, u64)>,
    inbox: VecDeque<Letter>,
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
        let asking = &self.stage.asks[ask as usize];
        let begin = self.out.arena.len();
        let (mut scope, jar) = self.state.scope(self.stage, self.at.unix_ns);
        asking.form.render(&mut scope, jar, &mut self.bench.fill, &mut self.out.arena)?;
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
        *self.socket(id) = Socket { phase: Phase::Opening, strand, pc, key, ..Socket::default() };
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
        let socket = self.socket(id);
        let (strand, pc, key) = (socket.strand, socket.pc, socket.key);
        if socket.phase != Phase::Opening {
            // It was given up before it could be closed.
            return self.out.cancel(socket_step(id));
        }
        self.take_cookies(strand, ask, head);
        let answer = Answer { status, head, body: &[], body_bytes: 0, service_ns: 0, call: None };
        if let Some(fault) = self.judge(ask, &answer) {
            return self.reject(id, fault);
        }
        if status != 101 {
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
        if let Err(rejected) = ws::check(&response, &key, &offer) {
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
        socket.for_armed = plan.stream.for_ns.is_some();
        socket.idle_armed = plan.stream.idle_ns.is_some();
        if let Some(for_ns) = plan.stream.for_ns {
            self.out.sleep(step_id(id, Kind::SocketFor), for_ns);
        }
        if let Some(idle_ns) = plan.stream.idle_ns {
            self.out.sleep(step_id(id, Kind::SocketIdle), idle_ns);
        }
        if !plan.is_awaited {
            return self.go_on(strand);
        }
        if let Some(&Op::Connect { beside: Some((beside, start)), slot, .. }) =
            stage.code.ops.get(pc as usize)
        {
            self.state.slots[usize::from(slot)] += 1;
            self.state.strand(beside).pc = start;
            self.bench.ready.push(beside);
        }
    }

    /// Handles a message, or the server's close frame.
    pub fn socket_message(&mut self, id: SocketId, message: &Message<'_>) {
        let Some(&ask) = self.stage.sockets.get(usize::from(id)) else { return };
        let content = match message.kind {
            MessageKind::Text => Content::Text,
            MessageKind::Binary => Content::Binary,
            MessageKind::Close(code) => return self.socket(id).close_code = code,
            // The engine answers and counts them.
            MessageKind::Ping | MessageKind::Pong => return,
        };
        let stage = self.stage;
        let (Some(asking), Some(plan)) = (
            stage.asks[ask as usize].socket.as_deref(),
            stage.script.asks[ask as usize].websocket.as_deref(),
        ) else {
            return;
        };
        let (at, now_ns) = (self.at, self.at.run_ns);
        let event = Event { id: message.id, name: b"", data: message.data, event_id: None };
        let socket = &mut self.state.sockets[usize::from(id)];
        socket.last_ns = now_ns;
        socket.messages += 1;
        let is_last = plan.stream.events.is_some_and(|most| socket.messages >= most);
        if let Some(watch) = &mut socket.watch {
            watch.event(&asking.ledger, ask, &event, at, &mut self.bench.fill, &mut self.out.counts);
        }
        if let Some(correlator) = &asking.correlation
            && let Some(hash) = correlator.hash(message.data, &mut self.bench.fill)
        {
            let sent = socket.pending.iter().position(|(pending, _)| *pending == hash);
            let counts = &mut self.out.counts;
            match sent.and_then(|at| socket.pending.remove(at)) {
                Some((_, sent_ns)) => {
                    let took_ns = now_ns.saturating_sub(sent_ns);
                    counts.push(Count::hist(ask, WebSocketHist::RoundTrip, took_ns));
                }
                // Without IDs, a server may send more than responses.
                None if correlator.is_next() => {}
                None => counts.push(Count::sum(ask, WebSocketSum::ResponsesUnmatched, 1)),
            }
        }
        if !asking.expectations.is_empty() {
            self.offer(id, ask, content, message.data);
        }
        if is_last {
            self.socket(id).is_complete = true;
            self.close_socket(id, NORMAL_CLOSE, b"");
        }
    }

    /// Offers a message to the steps that wait for one; otherwise, it waits for the next such step.
    fn offer(&mut self, id: SocketId, ask: u32, content: Content, data: &[u8]) {
        let mut is_looked_at = false;
        for strand in 0..self.state.strand_count() {
            let waiting = self.state.strand(strand);
            if waiting.wait != Wait::Message {
                continue;
            }
            let Some(&Op::Expect { ask: of, expectation }) = self.stage.code.ops.get(waiting.pc as usize)
            else {
                continue;
            };
            if of != ask {
                continue;
            }
            is_looked_at = true;
            if self.matches(ask, expectation, content, data) {
                self.end_sleep(step_id(strand, Kind::Sleep));
                self.expectation_met(id, ask, expectation, self.at.run_ns);
                return self.go_on(strand);
            }
        }
        if is_looked_at {
            return;
        }
        let letter = Letter { received_ns: self.at.run_ns, content, data: data.into() };
        let inbox = &mut self.socket(id).inbox;
        inbox.push_back(letter);
        let mut bytes: usize = inbox.iter().map(|letter| letter.data.len()).sum();
        while inbox.len() > INBOX_MAX || (bytes > INBOX_BYTES && inbox.len() > 1) {
            bytes -= inbox.pop_front().map_or(0, |letter| letter.data.len());
        }
    }

    /// Returns whether a message is the one that a step expects. If so, its values are extracted.
    fn matches(&mut self, ask: u32, expectation: u16, content: Content, data: &[u8]) -> bool {
        let stage = self.stage;
        let Some(plan) = stage.script.asks[ask as usize].websocket.as_deref() else { return false };
        let wanted = &plan.expectations[usize::from(expectation)];
        if wanted.content.is_some_and(|wanted| wanted != content) {
            return false;
        }
        let Some(asking) = stage.asks[ask as usize].socket.as_deref() else { return false };
        let answer = Answer {
            status: 200,
            head: Head::default(),
            body: data,
            body_bytes: data.len() as u64,
            service_ns: 0,
            call: None,
        };
        let findings = &mut self.bench.findings;
        findings.wants_sentences = false;
        let (mut scope, _) = self.state.scope(stage, self.at.unix_ns);
        let judge = &asking.expectations[usize::from(expectation)];
        judge.run(&answer, &mut scope, &mut self.bench.scratch, &mut self.bench.findings);
        let findings = &self.bench.findings;
        if !findings.all_held() {
            return false;
        }
        for (slot, range) in &findings.extracted {
            let value = findings.bytes.get(range.clone()).unwrap_or_default();
            match slot {
                Slot::Var(id) => self.state.vars.set(*id, value),
                Slot::Global(id) => {
                    if !stage.globals.set(*id, value) {
                        stage.note_trouble(|| "setup set a value too often".into());
                    }
                }
            }
        }
        true
    }

    fn expectation_met(&mut self, id: SocketId, ask: u32, expectation: u16, received_ns: u64) {
        let series = self.check_of(ask, expectation);
        self.out.count(Count::sum(series, CheckSum::Made, 1));
        let is_correlated = self.asking(ask).is_some_and(|asking| asking.correlation.is_some());
        let sent_ns = std::mem::take(&mut self.socket(id).sent_ns);
        if sent_ns > 0 && received_ns >= sent_ns && !is_correlated {
            self.out.count(Count::hist(ask, WebSocketHist::RoundTrip, received_ns - sent_ns));
        }
    }

    /// Returns the series of the check of an expected message, which follows those of the request.
    fn check_of(&self, ask: u32, expectation: u16) -> RequestId {
        let plan = &self.stage.script.asks[ask as usize];
        let before = plan.checks.len() + plan.extracts.len();
        self.stage.asks[ask as usize].checks + before as u32 + u32::from(expectation)
    }

    /// Sends a message with the current values of the user. Returns false if the iteration ends instead.
    pub fn send_message(
        &mut self,
        strand: StrandId,
        ask: u32,
        content: Content,
        text: u32,
    ) -> Result<bool, Unfilled> {
        let Some(id) = self.asking(ask).map(|asking| asking.number) else { return Ok(true) };
        if self.socket(id).phase != Phase::Open {
            return Ok(self.not_open(strand, ask));
        }
        self.fill(text)?;
        let kind = match content {
            Content::Text => MessageKind::Text,
            Content::Binary => MessageKind::Binary,
        };
        self.out.send(socket_step(id), kind, &self.bench.fill);
        // 0 means that none was sent.
        let now_ns = self.at.run_ns.max(1);
        let stage = self.stage;
        let Some(asking) = stage.asks[ask as usize].socket.as_deref() else { return Ok(true) };
        let Bench { fill, row, .. } = &mut *self.bench;
        let hash = asking.correlation.as_ref().and_then(|correlator| correlator.hash(fill, row));
        let socket = self.socket(id);
        socket.sent_ns = now_ns;
        if let Some(hash) = hash {
            socket.pending.push_back((hash, now_ns));
            if socket.pending.len() > PENDING_MAX {
                socket.pending.pop_front();
                self.out.count(Count::sum(ask, WebSocketSum::MessagesUnanswered, 1));
            }
        }
        Ok(true)
    }

    /// Handles a step that needs an open socket. Returns whether the iteration continues.
    fn not_open(&mut self, strand: StrandId, ask: u32) -> bool {
        let script = &self.stage.script.asks[ask as usize];
        if script.go_on_after_failure {
            return true;
        }
        let sentence = "the WebSocket is not open: it was closed, or never opened";
        self.tell_socket(ask, Fault::WebSocketClosed, sentence, 0, &[]);
        self.note_aside(&script.name, || sentence.into());
        self.state.strand(strand).wait = Wait::Idle;
        self.leave(IterationState::Leaving);
        false
    }

    /// Looks for a message that has arrived already. Otherwise, the strand waits. Returns whether it continues; `None`
    /// if it waits, or the iteration ends.
    pub fn expect(&mut self, strand: StrandId, pc: Pc, ask: u32, expectation: u16) -> Option<()> {
        let id = self.asking(ask)?.number;
        while let Some(letter) = self.socket(id).inbox.pop_front() {
            if self.matches(ask, expectation, letter.content, &letter.data) {
                self.expectation_met(id, ask, expectation, letter.received_ns);
                return Some(());
            }
        }
        if self.socket(id).phase != Phase::Open {
            self.state.strand(strand).pc = pc;
            self.expectation_failed(strand, ask, expectation, "the WebSocket is closed");
            return None;
        }
        let plan = self.stage.script.asks[ask as usize].websocket.as_deref()?;
        let within_ns = plan.expectations[usize::from(expectation)].within_ns;
        self.out.sleep(step_id(strand, Kind::Sleep), within_ns.unwrap_or(self.stage.timeout_ns));
        let waiting = self.state.strand(strand);
        (waiting.pc, waiting.wait) = (pc, Wait::Message);
        None
    }

    /// Handles the end of the wait for a message.
    pub fn message_is_late(&mut self, strand: StrandId) {
        let pc = self.state.strand(strand).pc;
        let Some(&Op::Expect { ask, expectation }) = self.stage.code.ops.get(pc as usize) else { return };
        let plan = self.stage.script.asks[ask as usize].websocket.as_deref();
        let within_ns = plan
            .and_then(|plan| plan.expectations[usize::from(expectation)].within_ns)
            .unwrap_or(self.stage.timeout_ns);
        let sentence = format!("no message matched within {}", plimsoll_plan::phrase::chosen_ns(within_ns));
        self.expectation_failed(strand, ask, expectation, &sentence);
    }

    /// Counts a message that was not received, and ends the iteration unless the step says otherwise.
    fn expectation_failed(&mut self, strand: StrandId, ask: u32, expectation: u16, sentence: &str) {
        let series = self.check_of(ask, expectation);
        self.out.count(Count::sum(series, CheckSum::Made, 1));
        self.out.count(Count::sum(series, CheckSum::Failed, 1));
        let stage = self.stage;
        let script = &stage.script.asks[ask as usize];
        let Some(plan) = script.websocket.as_deref() else { return };
        let wanted = &plan.expectations[usize::from(expectation)];
        self.tell_expectation(ask, expectation, sentence);
        if let Some(id) = self.asking(ask).map(|asking| asking.number) {
            let socket = self.socket(id);
            socket.sent_ns = 0;
            if socket.phase == Phase::Open {
                socket.fault.get_or_insert(Fault::MessageTimeout);
                socket.is_settled = true;
            }
        }
        if wanted.go_on_after_failure || script.go_on_after_failure {
            return self.go_on(strand);
        }
        self.note_aside(&script.name, || format!("{}: {sentence}", wanted.name));
        self.state.strand(strand).wait = Wait::Idle;
        self.leave(IterationState::Leaving);
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
        let socket = self.socket(id);
        match socket.phase {
            Phase::Closed | Phase::Closing => {}
            Phase::Opening => {
                socket.phase = Phase::Closing;
                self.out.cancel(socket_step(id));
            }
            Phase::Open => {
                socket.phase = Phase::Closing;
                self.out.send(socket_step(id), MessageKind::Close(code), reason);
            }
        }
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
            if socket.phase == Phase::Opening && self.unsaid(socket_step(id)) {
                self.socket(id).phase = Phase::Closed;
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
        if socket.phase == Phase::Open {
            socket.is_complete = true;
            self.close_socket(id, NORMAL_CLOSE, b"");
        }
    }

    /// Handles the idle timer. Messages do not reset it, so it checks the time of the last one.
    pub fn socket_may_be_idle(&mut self, id: SocketId) {
        let now_ns = self.at.run_ns;
        let Some(&ask) = self.stage.sockets.get(usize::from(id)) else { return };
        let plan = self.stage.script.asks[ask as usize].websocket.as_deref();
        let Some(idle_ns) = plan.and_then(|plan| plan.stream.idle_ns) else { return };
        let socket = self.socket(id);
        socket.idle_armed = false;
        if socket.phase != Phase::Open {
            return;
        }
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
        if let (Some(mut watch), Some(asking)) = (watch, self.stage.asks[ask as usize].socket.as_deref()) {
            watch.end(&asking.ledger, ask, self.at, &mut self.out.counts);
        }
        if is_stop {
            // The run ends: there is no failure and no continuation.
            return self.state.strand(socket.strand).wait = Wait::Idle;
        }
        if !socket.pending.is_empty() {
            let unanswered = socket.pending.len() as u64;
            self.out.count(Count::sum(ask, WebSocketSum::MessagesUnanswered, unanswered));
        }
        let fault = self.fault_of(ask, &socket, reply);
        if let Some(fault) = fault.filter(|_| reply.fault.is_none()) {
            self.out.fail(fault);
        }
        if let Some(fault) = fault.filter(|_| socket.fault.is_none()) {
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
        let plan = self.stage.script.asks[ask as usize].websocket.as_deref()?;
        let closer = plan.stream.closed_by;
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
            if is_going && let Some(&Op::Connect { slot, .. }) = self.stage.code.ops.get(socket.pc as usize) {
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
                (Wait::Message, Some(&Op::Expect { ask: of, expectation })) if of == ask => {
                    self.end_sleep(step_id(strand, Kind::Sleep));
                    self.expectation_failed(strand, ask, expectation, "the WebSocket was closed before");
                }
                _ => {}
            }
        }
    }

    /// Forgets a wait for a message when the iteration ends.
    pub fn forget_wait(&mut self, strand: StrandId) {
        if self.state.strand(strand).wait == Wait::Message {
            self.end_sleep(step_id(strand, Kind::Sleep));
        }
        self.state.strand(strand).wait = Wait::Idle;
    }
}

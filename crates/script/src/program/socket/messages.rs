//! Messages of a WebSocket: sent, accounted for, matched with what they respond to, and expected by steps.

use super::subscription::Meaning;
use super::{INBOX_BYTES, INBOX_MAX, Letter, PENDING_MAX, Phase, SentPing, SocketId, socket_step};
use crate::answer::Answer;
use crate::program::code::{Op, Pc, StrandId};
use crate::program::user::{Bench, IterationState, Kind, Turn, Wait, step_id};
use crate::value::Unfilled;
use plimsoll_plan::Fault;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::{CheckSum, WebSocketHist, WebSocketSum};
use plimsoll_plan::program::{Count, Event, Message, MessageKind, RequestId};
use plimsoll_plan::script::Slot;
use plimsoll_plan::websocket::{Content, NORMAL_CLOSE};
use plimsoll_wire::ws;
use std::hash::{DefaultHasher, Hasher};

impl Turn<'_> {
    /// Handles a message, or the server's close frame.
    pub fn socket_message(&mut self, id: SocketId, message: &Message<'_>) {
        let Some(&ask) = self.stage.sockets.get(usize::from(id)) else { return };
        let content = match message.kind {
            MessageKind::Text => Content::Text,
            MessageKind::Binary => Content::Binary,
            MessageKind::Close(code) => return self.socket(id).close_code = code,
            MessageKind::Pong => return self.pong(id, ask, message.data),
            // The engine answers and counts it.
            MessageKind::Ping => return,
        };
        let stage = self.stage;
        let (Some(asking), Some(plan)) = (
            stage.asks[ask as usize].socket.as_deref(),
            stage.script.asks[ask as usize].websocket.as_deref(),
        ) else {
            return;
        };
        let meaning = self.read_result(id, ask, message.data);
        if matches!(meaning, Meaning::Protocol) {
            return;
        }
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
            let pending = &mut socket.mail().pending;
            let sent = pending.iter().position(|(pending, _)| *pending == hash);
            let counts = &mut self.out.counts;
            match sent.and_then(|at| pending.remove(at)) {
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
        if matches!(meaning, Meaning::Errors) {
            return self.fail_socket(id, ask, Fault::GraphqlErrors, "a result has errors", message.data);
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
        let inbox = &mut self.socket(id).mail().inbox;
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
        let stage = self.stage;
        let Some(asking) = stage.asks[ask as usize].socket.as_deref() else { return Ok(true) };
        let Bench { fill, row, .. } = &mut *self.bench;
        let hash = asking.correlation.as_ref().and_then(|correlator| correlator.hash(fill, row));
        self.note_sent(id, ask, hash);
        Ok(true)
    }

    /// Notes the time of a message, with the hash of its ID.
    pub(super) fn note_sent(&mut self, id: SocketId, ask: u32, hash: Option<u64>) {
        // 0 means that none was sent.
        let now_ns = self.at.run_ns.max(1);
        let socket = self.socket(id);
        socket.sent_ns = now_ns;
        if let Some(hash) = hash {
            let pending = &mut socket.mail().pending;
            pending.push_back((hash, now_ns));
            if pending.len() > PENDING_MAX {
                pending.pop_front();
                self.out.count(Count::sum(ask, WebSocketSum::MessagesUnanswered, 1));
            }
        }
    }

    /// Handles a step that needs an open socket. Returns whether the iteration continues.
    pub(super) fn not_open(&mut self, strand: StrandId, ask: u32) -> bool {
        let script = &self.stage.script.asks[ask as usize];
        if script.go_on_after_failure {
            return true;
        }
        let sentence = match script.grpc {
            Some(_) => "the call takes no more messages: it has ended, or was completed",
            None => "the WebSocket is not open: it was closed, or never opened",
        };
        self.tell_socket(ask, Fault::WebSocketClosed, sentence, 0, &[]);
        self.note_aside(&script.name, || sentence.into());
        self.state.strand(strand).wait = Wait::Idle;
        self.leave(IterationState::Leaving);
        false
    }

    /// Looks for a message that has arrived already. Otherwise, the strand waits. Returns whether it continues; `None`
    /// if it waits, or the iteration ends.
    pub fn await_message(&mut self, strand: StrandId, pc: Pc, ask: u32, expectation: u16) -> Option<()> {
        let id = self.asking(ask)?.number;
        while let Some(letter) = self.socket(id).mail.as_mut().and_then(|mail| mail.inbox.pop_front()) {
            if self.matches(ask, expectation, letter.content, &letter.data) {
                self.expectation_met(id, ask, expectation, letter.received_ns);
                return Some(());
            }
        }
        if !self.socket(id).phase.is_open() {
            self.state.strand(strand).pc = pc;
            let sentence = match self.stage.script.asks[ask as usize].grpc {
                Some(_) => "the call has ended",
                None => "the WebSocket is closed",
            };
            self.expectation_failed(strand, ask, expectation, sentence);
            return None;
        }
        let plan = self.stage.script.asks[ask as usize].websocket.as_deref()?;
        let within_ns = plan.expectations[usize::from(expectation)].within_ns;
        self.out.sleep(step_id(strand, Kind::Sleep), within_ns.unwrap_or(self.stage.timeout_ns));
        let waiting = self.state.strand(strand);
        (waiting.pc, waiting.wait) = (pc, Wait::Message);
        None
    }

    /// Sends a ping, and waits for its pong.
    pub fn ping(
        &mut self,
        strand: StrandId,
        pc: Pc,
        ask: u32,
        text: u32,
        expectation: u16,
    ) -> Result<(), Unfilled> {
        let Some(id) = self.asking(ask).map(|asking| asking.number) else { return Ok(()) };
        if self.socket(id).phase != Phase::Open {
            self.state.strand(strand).pc = pc;
            self.expectation_failed(strand, ask, expectation, "the WebSocket is closed");
            return Ok(());
        }
        self.fill(text)?;
        // A control frame carries no more (RFC 6455 section 5.5).
        self.bench.fill.truncate(ws::CONTROL_BYTES_MAX);
        self.out.send(socket_step(id), MessageKind::Ping, &self.bench.fill);
        let (hash, sent_ns) = (hash_of(&self.bench.fill), self.at.run_ns);
        self.socket(id).mail().pings.push_back(SentPing { strand, hash, sent_ns });
        let plan = self.stage.script.asks[ask as usize].websocket.as_deref();
        let within_ns = plan.and_then(|plan| plan.expectations[usize::from(expectation)].within_ns);
        self.out.sleep(step_id(strand, Kind::Sleep), within_ns.unwrap_or(self.stage.timeout_ns));
        let waiting = self.state.strand(strand);
        (waiting.pc, waiting.wait) = (pc, Wait::Message);
        Ok(())
    }

    /// Ends the wait for a pong. A server may answer only the last of several pings (RFC 6455 section 5.5.3), so a pong
    /// is that of all pings before its own, too. One that answers no ping has no meaning.
    fn pong(&mut self, id: SocketId, ask: u32, payload: &[u8]) {
        let now_ns = self.at.run_ns;
        let Some(mail) = &mut self.state.sockets[usize::from(id)].mail else { return };
        let hash = hash_of(payload);
        let Some(at) = mail.pings.iter().position(|ping| ping.hash == hash) else { return };
        for _ in 0..=at {
            let mail = self.socket(id).mail();
            let Some(SentPing { strand, sent_ns, .. }) = mail.pings.pop_front() else { return };
            let took_ns = now_ns.saturating_sub(sent_ns);
            self.out.count(Count::hist(ask, WebSocketHist::PingRoundTrip, took_ns));
            let waiting = self.state.strand(strand);
            let (wait, pc) = (waiting.wait, waiting.pc);
            if let (Wait::Message, Some(&Op::Ping { ask: of, expectation, .. })) =
                (wait, self.stage.code.ops.get(pc as usize))
                && of == ask
            {
                self.end_sleep(step_id(strand, Kind::Sleep));
                let series = self.check_of(ask, expectation);
                self.out.count(Count::sum(series, CheckSum::Made, 1));
                self.go_on(strand);
            }
        }
    }

    /// Forgets the ping that a strand no longer waits for.
    fn forget_ping(&mut self, strand: StrandId, ask: u32) {
        let Some(id) = self.asking(ask).map(|asking| asking.number) else { return };
        if let Some(mail) = &mut self.socket(id).mail {
            mail.pings.retain(|ping| ping.strand != strand);
        }
    }

    /// Handles the end of the wait for a message.
    pub fn message_is_late(&mut self, strand: StrandId) {
        let pc = self.state.strand(strand).pc;
        let (ask, expectation, what) = match self.stage.code.ops.get(pc as usize) {
            Some(&Op::Expect { ask, expectation }) => (ask, expectation, "message matched"),
            Some(&Op::Ping { ask, expectation, .. }) => {
                self.forget_ping(strand, ask);
                (ask, expectation, "pong was received")
            }
            _ => return,
        };
        let plan = self.stage.script.asks[ask as usize].websocket.as_deref();
        let within_ns = plan
            .and_then(|plan| plan.expectations[usize::from(expectation)].within_ns)
            .unwrap_or(self.stage.timeout_ns);
        let sentence = format!("no {what} within {}", plimsoll_plan::phrase::chosen_ns(within_ns));
        self.expectation_failed(strand, ask, expectation, &sentence);
    }

    /// Counts a message that was not received, and ends the iteration unless the step says otherwise.
    pub(super) fn expectation_failed(
        &mut self,
        strand: StrandId,
        ask: u32,
        expectation: u16,
        sentence: &str,
    ) {
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
            if socket.phase.is_open() {
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

    /// Forgets a wait for a message when the iteration ends.
    pub fn forget_wait(&mut self, strand: StrandId) {
        if self.state.strand(strand).wait == Wait::Message {
            self.end_sleep(step_id(strand, Kind::Sleep));
            let pc = self.state.strand(strand).pc;
            if let Some(&Op::Ping { ask, .. }) = self.stage.code.ops.get(pc as usize) {
                self.forget_ping(strand, ask);
            }
        }
        self.state.strand(strand).wait = Wait::Idle;
    }
}

fn hash_of(payload: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(payload);
    hasher.finish()
}

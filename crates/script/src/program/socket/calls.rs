//! gRPC calls with a stream of messages to send. They are open as WebSockets are, with three differences: their steps
//! begin at once, because a server may respond only to messages; each side ends its direction alone; and the server
//! ends the call with a status.

use super::{Phase, Socket, SocketId, socket_step};
use crate::call::status_in;
use crate::program::code::{Op, Pc, SlotId, StrandId};
use crate::program::user::{Kind, Turn, Wait, step_id};
use crate::value::Unfilled;
use crate::watch::Watch;
use plimsoll_plan::Fault;
use plimsoll_plan::grpc::{Call, Status};
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::{WebSocketHist, WebSocketSum};
use plimsoll_plan::program::{Count, Ended, Event, Message, MessageKind, Payload, Reply, Step};
use plimsoll_plan::stream::Closer;

/// Returns the failure that the end of a call is, if its status is none.
pub(super) fn fault_of(socket: &Socket, closer: Option<Closer>, ended: Ended) -> Option<Fault> {
    let is_early = match ended {
        Ended::Server => !socket.is_given_up && closer == Some(Closer::Client),
        Ended::Client => socket.is_complete && closer == Some(Closer::Server),
        Ended::Stop => false,
    };
    is_early.then_some(Fault::StreamFailed)
}

impl Turn<'_> {
    /// Returns whether a socket is a gRPC call.
    pub(super) fn is_call(&self, id: SocketId) -> bool {
        let ask = self.stage.sockets.get(usize::from(id));
        ask.is_some_and(|ask| self.stage.script.asks[*ask as usize].grpc.is_some())
    }

    /// Sends the rendered request of a call, with the messages that it begins with.
    pub(super) fn push_call(&mut self, id: SocketId, strand: StrandId, pc: Pc, ask: u32, begin: usize) {
        let asking = &self.stage.asks[ask as usize];
        let watch = Some(Watch::new(self.at.run_ns));
        let last_ns = self.at.run_ns;
        *self.socket(id) = Socket { phase: Phase::Open, strand, pc, watch, last_ns, ..Socket::default() };
        self.out.push(Step {
            id: socket_step(id),
            request: ask,
            origin: asking.form.origin().number(),
            body: asking.body,
            payload: Payload::Rendered { begin: begin as u32, end: self.out.arena.len() as u32 },
            head_only: false,
            close: false,
            timeout_ns: asking.timeout_ns,
            judged: true,
        });
    }

    /// Begins the steps of a call, or completes it if it has none. Does nothing for a WebSocket, which is not open yet.
    pub fn call_opened(&mut self, ask: u32, strand: StrandId, pc: Pc) {
        let stage = self.stage;
        let script = &stage.script.asks[ask as usize];
        let (Some(asking), Some(plan), true) =
            (stage.asks[ask as usize].socket.as_deref(), script.websocket.as_deref(), script.grpc.is_some())
        else {
            return;
        };
        if self.socket(asking.number).strand != strand || !self.socket(asking.number).phase.is_open() {
            return;
        }
        if asking.first_messages > 0 {
            self.out.count(Count::sum(ask, WebSocketSum::MessagesSent, asking.first_messages));
            self.note_sent(asking.number, ask, None);
        }
        self.begin_socket_timers(asking.number, &plan.stream);
        match stage.code.ops.get(pc as usize) {
            Some(Op::Connect { beside: Some(_), .. }) => self.begin_beside(pc),
            _ => self.complete_call(ask),
        }
    }

    /// Sends a message of a step. Returns false if the iteration ends instead.
    pub fn send_call_message(&mut self, strand: StrandId, ask: u32, message: u32) -> Result<bool, Unfilled> {
        let stage = self.stage;
        let script = &stage.script.asks[ask as usize];
        let (Some(asking), Some(call)) = (stage.asks[ask as usize].socket.as_deref(), &script.grpc) else {
            return Ok(true);
        };
        let id = asking.number;
        match self.socket(id).phase {
            Phase::Open => {}
            // The server may end a call whenever it wants; its status says whether that is a failure.
            Phase::Closed | Phase::Closing => return Ok(true),
            Phase::Opening | Phase::Completed => return Ok(self.not_open(strand, ask)),
        }
        let Some(encoder) = asking.messages.get(message as usize) else { return Ok(true) };
        let mut framed = std::mem::take(&mut self.bench.fill);
        framed.clear();
        let (mut scope, _) = self.state.scope(stage, self.at.unix_ns);
        let rendered = encoder.put(&mut scope, &mut framed);
        if rendered.is_ok() {
            self.out.send(socket_step(id), MessageKind::Binary, &framed);
            let hash = asking.correlation.as_ref().and_then(|correlator| {
                if correlator.is_next() {
                    return correlator.hash(b"", &mut self.bench.row);
                }
                let mut json = std::mem::take(&mut self.bench.json);
                self.read_sent(call, &framed, &mut json);
                let hash = correlator.hash(&json, &mut self.bench.row);
                self.bench.json = json;
                hash
            });
            self.note_sent(id, ask, hash);
        }
        self.bench.fill = framed;
        rendered.map(|()| true)
    }

    /// Sends no more messages of a call.
    pub fn complete_call(&mut self, ask: u32) {
        let Some(id) = self.stage.asks[ask as usize].socket.as_deref().map(|asking| asking.number) else {
            return;
        };
        let socket = self.socket(id);
        if socket.phase == Phase::Open {
            socket.phase = Phase::Completed;
            self.out.send(socket_step(id), MessageKind::Close(0), b"");
        }
    }

    /// Ends a pause in the steps of a call that has ended: nothing that follows could be sent.
    pub(super) fn end_beside_call(
        &mut self,
        ask: u32,
        opener: StrandId,
        beside: Option<StrandId>,
        slot: SlotId,
    ) {
        let is_call = self.stage.script.asks[ask as usize].grpc.is_some();
        let Some(beside) = beside.filter(|_| is_call) else { return };
        if self.state.strand(beside).wait == Wait::Sleep {
            self.end_sleep(step_id(beside, Kind::Sleep));
            self.state.strand(beside).wait = Wait::Idle;
            self.joined(opener, slot);
        }
    }

    /// Handles the head of a response, which begins its messages, or has its status.
    pub(super) fn call_responds(&mut self, id: SocketId, ask: u32, status: u16, head: Head<'_>) {
        let stage = self.stage;
        let Some(call) = &stage.script.asks[ask as usize].grpc else { return };
        if !self.socket(id).phase.is_open() {
            // It was given up before it could be closed.
            return self.out.cancel(socket_step(id));
        }
        match self.call_began(ask, call, status, head) {
            Ok(()) if status_in(head).is_none() => {
                if stage.asks[ask as usize].keeps_head {
                    self.socket(id).mail().head = Some(head.text().into());
                }
            }
            Ok(()) => {
                let socket = self.socket(id);
                socket.phase = Phase::Closing;
                self.out.cancel(socket_step(id));
            }
            Err(fault) => self.reject(id, fault),
        }
    }

    /// Handles a message of the server.
    pub fn call_message(&mut self, id: SocketId, event: &Event<'_>) {
        let stage = self.stage;
        let Some(&ask) = stage.sockets.get(usize::from(id)) else { return };
        let script = &stage.script.asks[ask as usize];
        let (Some(call), Some(asking)) = (&script.grpc, stage.asks[ask as usize].socket.as_deref()) else {
            return;
        };
        if !self.socket(id).phase.is_open() {
            return;
        }
        let is_read =
            asking.reads_messages || call.has_one_response && stage.asks[ask as usize].reads_message;
        let mut json = std::mem::take(&mut self.bench.json);
        let read = self.read_event(call, event, is_read, &mut json).map(|event| event.data.len());
        match read {
            Ok(_) => {
                self.out.count(Count::hist(ask, WebSocketHist::MessageSize, event.data.len() as u64));
                if call.has_one_response {
                    self.socket(id).mail().response = Some(json.as_slice().into());
                }
                let message = Message { id: event.id, kind: MessageKind::Text, data: &json };
                self.socket_message(id, &message);
            }
            Err(fault) => {
                self.tell_socket(ask, fault, fault.sentence(), 0, &[]);
                self.reject(id, fault);
            }
        }
        self.bench.json = json;
    }

    /// Judges the status that ends a call, and its only response. Returns an error if the call has failed.
    pub(super) fn call_socket_ended(
        &mut self,
        ask: u32,
        call: &Call,
        socket: &Socket,
        reply: &Reply<'_>,
    ) -> Result<(), Fault> {
        // Without a head, the end is that of the request; and what the client ends has no status.
        if reply.ended != Some(Ended::Server) || socket.phase == Phase::Closing {
            return Ok(());
        }
        let Some(end) = status_in(reply.trailers) else { return Err(Fault::GrpcNoStatus) };
        let head = socket.mail.as_ref().and_then(|mail| mail.head.as_deref());
        let reply = &Reply { head: head.map_or(reply.head, Head::new), ..*reply };
        if !call.has_one_response {
            return self.judge_end(ask, call, &end, reply, b"");
        }
        if end.status == Status::Ok && socket.messages != 1 {
            self.tell_fault(ask, Fault::GrpcInvalidMessage, reply);
            return Err(Fault::GrpcInvalidMessage);
        }
        let response = socket.mail.as_ref().and_then(|mail| mail.response.as_deref());
        self.judge_end(ask, call, &end, reply, response.unwrap_or_default())
    }
}

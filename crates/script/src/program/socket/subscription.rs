//! Subscriptions of GraphQL over a WebSocket, in the protocol `graphql-transport-ws` of the library `graphql-ws`: the
//! client initializes the connection, subscribes after the acknowledgment of the server, and receives results until one
//! side completes the operation. A socket has one operation, whose ID is 1.

use super::{Phase, SocketId, socket_step};
use crate::program::stage::Stage;
use crate::program::stream::are_errors;
use crate::program::user::{Kind, Turn, step_id};
use crate::value::Unfilled;
use plimsoll_body::json::Path;
use plimsoll_plan::Fault;
use plimsoll_plan::program::MessageKind;
use plimsoll_plan::script;
use plimsoll_plan::stream::Closer;
use plimsoll_plan::value::Text;
use plimsoll_plan::websocket::NORMAL_CLOSE;

const COMPLETE: &[u8] = br#"{"id":"1","type":"complete"}"#;
const PONG: &[u8] = br#"{"type":"pong"}"#;

/// A compiled subscription.
pub(in crate::program) struct Subscription {
    init: Text,
    subscribe: Text,
    /// Whether errors of a result fail the socket.
    fails_on_errors: bool,
    /// The places of the type of a message, and of the errors of a result.
    kind: Path,
    errors: Path,
}

impl Subscription {
    pub fn compile(plan: &script::Subscription, fails_on_errors: bool) -> Result<Subscription, String> {
        Ok(Subscription {
            init: plan.init.clone(),
            subscribe: plan.subscribe.clone(),
            fails_on_errors,
            kind: Path::compile("$.type")?,
            errors: Path::compile("$.payload.errors")?,
        })
    }
}

/// What a socket has said about its operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Progress {
    /// Nothing: the socket is not open, or has no operation.
    #[default]
    None,
    /// It waits for the acknowledgment.
    Initialized,
    Subscribed,
    /// One side has completed the operation.
    Completed,
}

/// The meaning of a message for the account of the socket.
pub(super) enum Meaning {
    /// A result, or a message of a socket without a subscription.
    Result,
    /// A result with errors, which fails the socket.
    Errors,
    /// A message of the protocol, which counts as none.
    Protocol,
}

fn subscription_of(stage: &Stage, ask: u32) -> Option<&Subscription> {
    stage.asks[ask as usize].socket.as_deref()?.subscription.as_deref()
}

impl Turn<'_> {
    /// Fills in the messages of a subscription, before its socket is opened: the first, and the one that subscribes.
    pub(super) fn opening_messages(&mut self, ask: u32) -> Result<Option<[Box<[u8]>; 2]>, Unfilled> {
        let stage = self.stage;
        let Some(subscription) = subscription_of(stage, ask) else { return Ok(None) };
        let init = self.filled(&subscription.init)?;
        Ok(Some([init.into(), self.filled(&subscription.subscribe)?.into()]))
    }

    /// Sends the first message over an open socket. Returns false if the socket has no subscription.
    pub(super) fn initialize(&mut self, id: SocketId, ask: u32) -> bool {
        let opening = self.socket(id).mail.as_mut().and_then(|mail| mail.opening.as_mut());
        let Some(init) = opening.map(|[init, _]| std::mem::take(init)) else { return false };
        self.out.send(socket_step(id), MessageKind::Text, &init);
        let socket = self.socket(id);
        (socket.progress, socket.idle_armed) = (Progress::Initialized, true);
        let patience_ns = self.patience_ns(ask);
        self.out.sleep(step_id(id, Kind::SocketIdle), patience_ns);
        true
    }

    /// Returns the longest wait for the acknowledgment, or for the next message if that must be checked earlier.
    fn patience_ns(&self, ask: u32) -> u64 {
        let plan = self.stage.script.asks[ask as usize].websocket.as_deref();
        let idle_ns = plan.and_then(|plan| plan.stream.idle_ns).unwrap_or(u64::MAX);
        self.acknowledgment_ns(ask).min(idle_ns)
    }

    /// Returns the longest wait for the acknowledgment: the timeout of the request.
    fn acknowledgment_ns(&self, ask: u32) -> u64 {
        match self.stage.asks[ask as usize].timeout_ns {
            0 => self.stage.timeout_ns,
            own => own,
        }
    }

    /// Ends a socket whose server has not acknowledged it in time. Returns false if that is not what it waits for.
    pub(super) fn is_unacknowledged(&mut self, id: SocketId, ask: u32) -> bool {
        if self.socket(id).progress != Progress::Initialized {
            return false;
        }
        let timeout_ns = self.acknowledgment_ns(ask);
        let quiet_ns = self.at.run_ns.saturating_sub(self.socket(id).last_ns);
        if quiet_ns < timeout_ns {
            let patience_ns = self.patience_ns(ask).min(timeout_ns - quiet_ns);
            self.socket(id).idle_armed = true;
            self.out.sleep(step_id(id, Kind::SocketIdle), patience_ns);
        } else {
            let sentence = "the server did not acknowledge the connection (`connection_ack`) in time";
            self.fail_socket(id, ask, Fault::MessageTimeout, sentence, &[]);
        }
        true
    }

    /// Handles a message of the protocol, and returns what it is.
    pub(super) fn read_result(&mut self, id: SocketId, ask: u32, data: &[u8]) -> Meaning {
        let stage = self.stage;
        let Some(subscription) = subscription_of(stage, ask) else { return Meaning::Result };
        let progress = self.socket(id).progress;
        let (mut kind, mut errors) = (Vec::new(), Vec::new());
        subscription.kind.first(data, &mut kind);
        let fails = subscription.fails_on_errors;
        match (&kind[..], progress) {
            (b"next", Progress::Subscribed) => {
                let has_errors = fails && subscription.errors.first(data, &mut errors) && are_errors(&errors);
                return if has_errors { Meaning::Errors } else { Meaning::Result };
            }
            (b"connection_ack", Progress::Initialized) => self.subscribe(id, ask),
            (b"ping", _) => self.out.send(socket_step(id), MessageKind::Text, PONG),
            (b"error", Progress::Subscribed) if fails => {
                self.socket(id).progress = Progress::Completed;
                self.fail_socket(id, ask, Fault::GraphqlErrors, "the server rejected the operation", data);
            }
            (b"complete" | b"error", Progress::Subscribed) => self.completed(id, ask),
            // What the server sent before it knew that the client has completed the operation.
            (b"pong", _) | (b"next" | b"complete" | b"error", Progress::Completed) => {}
            _ => {
                let sentence = "the message is none of `graphql-transport-ws` at this point";
                self.fail_socket(id, ask, Fault::MalformedResponse, sentence, data);
            }
        }
        Meaning::Protocol
    }

    /// Subscribes after the acknowledgment. The times of the plan begin here.
    fn subscribe(&mut self, id: SocketId, ask: u32) {
        let stage = self.stage;
        let Some(plan) = stage.script.asks[ask as usize].websocket.as_deref() else { return };
        let opening = self.socket(id).mail.as_mut().and_then(|mail| mail.opening.take());
        let Some([_, subscribe]) = opening else { return };
        self.out.send(socket_step(id), MessageKind::Text, &subscribe);
        let now_ns = self.at.run_ns;
        let socket = self.socket(id);
        (socket.progress, socket.last_ns) = (Progress::Subscribed, now_ns);
        if let Some(for_ns) = plan.stream.for_ns {
            socket.for_armed = true;
            self.out.sleep(step_id(id, Kind::SocketFor), for_ns);
        }
        let pc = self.socket(id).pc;
        self.begin_beside(pc);
    }

    /// Closes a socket whose operation the server has completed.
    fn completed(&mut self, id: SocketId, ask: u32) {
        self.socket(id).progress = Progress::Completed;
        let plan = self.stage.script.asks[ask as usize].websocket.as_deref();
        if plan.is_some_and(|plan| plan.stream.closed_by == Some(Closer::Client)) {
            let sentence = "the server completed the operation before the client did";
            return self.fail_socket(id, ask, Fault::StreamFailed, sentence, &[]);
        }
        self.close_socket(id, NORMAL_CLOSE, b"");
    }

    /// Notes a failure, and closes the socket.
    pub(super) fn fail_socket(&mut self, id: SocketId, ask: u32, fault: Fault, sentence: &str, data: &[u8]) {
        if self.socket(id).fault.is_none() {
            self.socket(id).fault = Some(fault);
            self.tell_socket(ask, fault, sentence, 0, data);
        }
        self.close_socket(id, NORMAL_CLOSE, b"");
    }

    /// Completes an operation that the client ends.
    pub(super) fn complete_operation(&mut self, id: SocketId) {
        let socket = self.socket(id);
        if socket.progress == Progress::Subscribed && socket.phase == Phase::Open {
            socket.progress = Progress::Completed;
            self.out.send(socket_step(id), MessageKind::Text, COMPLETE);
        }
    }
}

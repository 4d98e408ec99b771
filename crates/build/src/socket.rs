//! Builds WebSockets: the request that opens one, and the steps that use it.

use crate::answer::{distinct_name, needs_body};
use crate::draft::{CloseDraft, ExpectDraft, NameDraft, PingDraft, RequestDraft, SendDraft, WebSocketDraft};
use crate::source::Pos;
use crate::work::Work;
use plimsoll_plan::answer::{Check, Source};
use plimsoll_plan::script::{Ask, AskId, Node};
use plimsoll_plan::stream::Closer;
use plimsoll_plan::value::Text;
use plimsoll_plan::websocket::Expectation;

/// Headers that open a WebSocket, which a file cannot set.
const OWN: [&str; 6] = [
    "Connection",
    "Upgrade",
    "Sec-WebSocket-Key",
    "Sec-WebSocket-Version",
    "Sec-WebSocket-Protocol",
    "Sec-WebSocket-Extensions",
];

impl Work {
    /// Adds the headers of the handshake (RFC 6455 section 4.1). The key is new for every request.
    pub fn upgrade(&mut self, draft: &WebSocketDraft, ask: &mut Ask) {
        let is_own = |name: &str| OWN.iter().any(|own| own.eq_ignore_ascii_case(name));
        if let Some((name, _)) = ask.headers.iter().find(|(name, _)| is_own(name)) {
            let message =
                format!("header `{name}` cannot be set: it belongs to the handshake of the WebSocket");
            let hint = "remove it; `subprotocols` and `compression` say what the client offers";
            self.wrong.complain("F017", draft.pos, message, hint);
        }
        let mut add = |name: &str, value: &str| ask.headers.push((name.into(), Text::literal(value)));
        add("Connection", "Upgrade");
        add("Upgrade", "websocket");
        add("Sec-WebSocket-Version", "13");
        if !draft.socket.subprotocols.is_empty() {
            add("Sec-WebSocket-Protocol", &draft.socket.subprotocols.join(", "));
        }
        if let Some(compression) = draft.socket.compression {
            add(
                "Sec-WebSocket-Extensions",
                match compression.context_takeover {
                    true => "permessage-deflate; client_max_window_bits",
                    false => {
                        "permessage-deflate; client_no_context_takeover; server_no_context_takeover; \
                         client_max_window_bits"
                    }
                },
            );
        }
    }

    /// Checks the steps inside of a `connect` step that has a mistake itself. Later steps may name it.
    pub fn check_websocket(&mut self, draft: &RequestDraft, mut ask: Ask) {
        if let Some(socket) = &draft.websocket {
            ask.name = draft.name.as_ref().map(|chosen| chosen.name.clone()).unwrap_or_default();
            self.websocket(socket, ask);
        }
    }

    /// Adds the request that opens a WebSocket, and builds the steps while it is open.
    pub fn websocket(&mut self, draft: &WebSocketDraft, mut ask: Ask) -> AskId {
        let stream = &draft.socket.stream;
        let call = ask.grpc.as_deref();
        let (is_call, has_one_response) = (call.is_some(), call.is_some_and(|call| call.has_one_response));
        let reads_body = ask.checks.iter().any(|check| needs_body(&check.on))
            || ask
                .extracts
                .iter()
                .any(|e| matches!(e.from, Source::Json(_) | Source::Regex { .. } | Source::Body));
        if reads_body && !has_one_response {
            let (message, hint) = match is_call {
                true => (
                    "a stream of messages cannot be checked as one response",
                    "check its status and metadata, and the messages with `expect`",
                ),
                false => (
                    "the response that opens a WebSocket has no body",
                    "check its status and headers, and the messages with `expect`",
                ),
            };
            self.wrong.complain("F017", draft.pos, message, hint);
        }
        if stream.closed_by == Some(Closer::Client)
            && stream.for_ns.is_none()
            && stream.events.is_none()
            && (is_call || draft.beside.is_empty())
        {
            let count = if is_call { "events" } else { "messages" };
            let message =
                format!("missing `duration` or `{count}`: `closed_by: client` requires one of them");
            let hint = format!("add one, such as `duration: 60s` or `{count}: 100`");
            self.wrong.complain("F016", draft.pos, message, hint);
        }
        let id = self.script.asks.len() as AskId;
        let name = ask.name.clone();
        ask.websocket = Some(Box::new(draft.socket.clone()));
        self.script.asks.push(ask);
        self.scope.sockets.push((name, id));
        // Both run at the same time: a value that one side sets may be available to the other.
        self.scope.add_all_of(&draft.beside);
        let before = self.scope.sockets.len();
        let mut nodes = self.steps(&draft.beside);
        if is_call && !nodes.is_empty() {
            nodes.push(Node::Complete { call: id });
        }
        // What these steps have opened, later steps name.
        let inner = self.scope.sockets.split_off(before);
        let own = self.scope.sockets.pop();
        self.scope.sockets.extend(inner);
        // A call has ended after its steps.
        self.scope.sockets.extend(own.filter(|_| !is_call));
        if let Some(socket) = &mut self.script.asks[id as usize].websocket {
            socket.stream.beside = nodes;
        }
        id
    }

    /// Returns the request that opens the WebSocket of a step.
    pub(super) fn socket_of(&mut self, chosen: Option<&NameDraft>, pos: Pos) -> Option<AskId> {
        let sockets = &self.scope.sockets;
        let found = match chosen {
            None => sockets.last(),
            Some(chosen) => sockets.iter().rev().find(|(name, _)| *name == chosen.name),
        };
        if let Some((_, ask)) = found {
            return Some(*ask);
        }
        let has_calls = self.script.asks.iter().any(|ask| ask.grpc.is_some());
        let (pos, message, hint) = match chosen {
            None if has_calls => (
                pos,
                "no gRPC call is open at this step".to_owned(),
                "move it under `stream: { while_open: [ ... ] }` of a call that streams".to_owned(),
            ),
            None => (
                pos,
                "missing `connect`: no WebSocket is open at this step".to_owned(),
                "add a step before it, such as `- connect: /socket`".to_owned(),
            ),
            Some(chosen) => {
                let names: Vec<String> = sockets.iter().map(|(name, _)| format!("`{name}`")).collect();
                let hint = match names.is_empty() {
                    true => {
                        format!("add a step before it: `- {{ connect: /socket, name: {} }}`", chosen.name)
                    }
                    false => format!("use the name of an earlier `connect` step: {}", names.join(", ")),
                };
                (chosen.pos, format!("unknown WebSocket `{}`", chosen.name), hint)
            }
        };
        self.wrong.complain("F021", pos, message, hint);
        None
    }

    pub fn send(&mut self, draft: &SendDraft) -> Option<Node> {
        let socket = self.socket_of(draft.socket.as_ref(), draft.pos);
        let text = self.text(&draft.text)?;
        Some(Node::Send { socket: socket?, content: draft.content, text })
    }

    pub fn expectation(&mut self, draft: &ExpectDraft) -> Option<Node> {
        let socket = self.socket_of(draft.socket.as_ref(), draft.pos);
        let found = self.subjects(&draft.subjects, None);
        let words: Vec<&str> = found.iter().map(|(_, words)| words.as_str()).collect();
        let default = match words.is_empty() {
            true => "message received".to_owned(),
            false => words.join(", "),
        };
        let checks = found.iter().map(|(on, words)| Check { name: words.clone(), on: on.clone() }).collect();
        let extracts = self.extracts(&draft.extracts);
        if let Some(odd) = extracts
            .iter()
            .find(|extract| matches!(extract.from, Source::Header(_) | Source::Cookie(_) | Source::Status))
        {
            let message =
                format!("`{}` cannot be extracted: a message has no headers and no status", odd.name);
            let hint = "write a JSONPath such as `$.id`, `body`, or `{ regex: \"id=([0-9]+)\" }`";
            self.wrong.complain("F017", draft.pos, message, hint);
            return None;
        }
        let expectation = Expectation {
            name: String::new(),
            content: draft.content,
            checks,
            extracts,
            within_ns: draft.within_ns,
            go_on_after_failure: draft.go_on_after_failure,
        };
        let expectation = self.expected(socket?, draft.name.as_ref(), default, expectation)?;
        Some(Node::Expect { socket: socket?, expectation })
    }

    pub fn ping(&mut self, draft: &PingDraft) -> Option<Node> {
        let socket = self.socket_of(draft.socket.as_ref(), draft.pos);
        let text = self.text(&draft.text)?;
        let expectation = Expectation {
            within_ns: draft.within_ns,
            go_on_after_failure: draft.go_on_after_failure,
            ..Expectation::default()
        };
        let default = "pong received".to_owned();
        let expectation = self.expected(socket?, draft.name.as_ref(), default, expectation)?;
        Some(Node::Ping { socket: socket?, text, expectation })
    }

    /// Adds an expectation under its own name.
    fn expected(
        &mut self,
        socket: AskId,
        name: Option<&NameDraft>,
        default: String,
        expectation: Expectation,
    ) -> Option<u16> {
        let ask = &mut self.script.asks[socket as usize];
        let checks_of: Vec<String> = ask.checks.iter().map(|check| check.name.clone()).collect();
        let plan = ask.websocket.as_mut()?;
        let is_taken = |name: &str| {
            checks_of.iter().any(|check| check == name)
                || plan.expectations.iter().any(|expectation| expectation.name == name)
        };
        let name = match name {
            Some(chosen) if is_taken(&chosen.name) => {
                let message = format!("duplicate check name `{}`", chosen.name);
                let hint = "give each check its own name, because reports distinguish checks by name";
                self.wrong.complain("F013", chosen.pos, message, hint);
                return None;
            }
            Some(chosen) => chosen.name.clone(),
            None => distinct_name(default, is_taken),
        };
        let number = u16::try_from(plan.expectations.len()).ok()?;
        plan.expectations.push(Expectation { name, ..expectation });
        Some(number)
    }

    pub fn close(&mut self, draft: &CloseDraft) -> Option<Node> {
        let socket = self.socket_of(draft.socket.as_ref(), draft.pos);
        let reason = self.text(&draft.reason)?;
        Some(Node::Close { socket: socket?, code: draft.code, reason })
    }
}

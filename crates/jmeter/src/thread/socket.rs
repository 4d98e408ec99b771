//! The WebSocket of a thread, and the samplers that use it. Their texts are those of the common plugin.

use super::finish::Judged;
use super::{After, Stage, Thread, scope};
use crate::plan::{SamplerId, SamplerKind, Socket as Of, SocketAction, SocketMessage};
use crate::sample::{DataType, Sample};
use crate::scope::Wish;
use crate::worker::{Known, USER_AGENT};
use plimsoll_plan::Fault;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::CheckSum;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{
    At, BodyUse, Count, Message, MessageKind, Outbox, Reply, RequestId, Step, StepId, Unreachable,
};
use plimsoll_plan::request::Target;
use plimsoll_plan::series::{Family, label};
use plimsoll_wire::h1::{Writer, check_header, check_target};
use plimsoll_wire::ws;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;

/// The first of the steps that open WebSockets. Two of them take turns, as one may still close while the next opens.
pub(super) const FIRST_STEP: StepId = 4_094;

/// The default timeouts of the plugin, ms.
const CONNECT_MS: u64 = 20_000;
const READ_MS: u64 = 6_000;

/// Bytes of a frame before its payload; those of a client also have a mask (RFC 6455 section 5.2).
fn frame_head(payload: usize) -> u64 {
    match payload {
        ..126 => 2,
        126..65_536 => 4,
        _ => 10,
    }
}
const MASK_BYTES: u64 = 4;

/// A WebSocket that opens or is open.
pub(super) struct Socket {
    step: StepId,
    key: [u8; ws::KEY_BYTES],
    is_open: bool,
    /// Messages that no sampler has read.
    inbox: VecDeque<(MessageKind, Vec<u8>)>,
}

/// A sampler that uses the WebSocket.
pub(super) struct Talk {
    sampler: SamplerId,
    sample: Sample,
    begin_ns: u64,
    target: Option<Target>,
}

impl Thread {
    pub(super) fn begin_socket(&mut self, sampler: SamplerId, of: &Of, at: At, out: &mut Outbox) -> After {
        let mut sample = Sample::local(&self.label, at.unix_ns / 1_000_000);
        sample.is_success = false;
        (sample.code, sample.message) = Default::default();
        let mut talk = Talk { sampler, sample, begin_ns: at.run_ns, target: None };
        let Some((is_secure, url)) = &of.opens else {
            return match self.socket.is_some() {
                true => self.talk(talk, at, out),
                false => {
                    let (code, message) = match of.action {
                        SocketAction::Close(_) => ("", "No connection; nothing to close."),
                        _ => (
                            "Sampler error",
                            "Sampler configured for using existing connection, but there is no connection",
                        ),
                    };
                    self.end_talk(talk, (code, message.to_owned()), false, at, out)
                }
            };
        };
        self.drop_socket(out);
        let mut wish = Wish::default();
        let [server, port, path] =
            url.each_ref().map(|text| text.value(&mut scope!(self, at, &mut wish)).trim().to_owned());
        let port = match port.as_str() {
            "" => if *is_secure { "443" } else { "80" }.parse().ok(),
            text => text.parse().ok().filter(|port| *port > 0),
        };
        let Some(port) = port else {
            let message = format!("Sampler error: Port number '{port:?}' is not valid.").replace("None", "");
            return self.end_talk(talk, ("Sampler error", message), false, at, out);
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        let scheme = if *is_secure { "wss" } else { "ws" };
        talk.sample.url = format!("{scheme}://{server}:{port}{slash}{path}").into();
        talk.target = Some(Target { host: server, port, tls: *is_secure });
        self.open_socket(talk, at, out)
    }

    /// Opens a WebSocket, or asks for its origin first.
    fn open_socket(&mut self, mut talk: Talk, at: At, out: &mut Outbox) -> After {
        let Some(target) = talk.target.clone() else { return After::Continues };
        let Some(known) = self.worker.origin(&target) else {
            let step = self.next_step();
            out.reach(step, target);
            self.stage = Stage::Talking(Box::new(talk));
            return After::Waits;
        };
        match self.send_handshake(&mut talk, &known, at, out) {
            Ok(()) => {
                self.stage = Stage::Talking(Box::new(talk));
                After::Waits
            }
            Err(why) => {
                let message = format!("Sampler error: {why}");
                self.end_talk(talk, ("Sampler error", message), false, at, out)
            }
        }
    }

    fn send_handshake(
        &mut self,
        talk: &mut Talk,
        known: &Known,
        at: At,
        out: &mut Outbox,
    ) -> Result<(), String> {
        let plan = Rc::clone(&self.plan);
        let Some((sampler, of)) = self.socket_of(&plan, talk.sampler) else { return Ok(()) };
        let mut wish = Wish::default();
        let mut scope = scope!(self, at, &mut wish);
        let headers: Vec<(String, String)> = sampler
            .headers
            .iter()
            .map(|(name, value)| (name.value(&mut scope), value.value(&mut scope)))
            .filter(|(name, _)| !name.is_empty())
            .collect();
        let timeout_ms = milliseconds(&of.connect_timeout_ms.value(&mut scope), CONNECT_MS);
        for (name, value) in &headers {
            check_header(name, value)?;
        }
        let path = talk.sample.url.splitn(4, '/').nth(3).unwrap_or_default();
        let path = format!("/{path}");
        check_target(&path)?;
        let mut random = [0; 16];
        random[..8].copy_from_slice(&self.random.next_u64().to_le_bytes());
        random[8..].copy_from_slice(&self.random.next_u64().to_le_bytes());
        let key = ws::key_of(random);
        let series = out
            .open(Family::WebSocket, crate::worker::shortened(&self.label), &[])
            .ok_or("too many different labels")?;
        let mut cookies = Vec::new();
        if let Some(number) = sampler.cookies {
            self.jars[number].header(path.as_bytes(), &known.origin, at.unix_ns, &mut cookies);
        }
        let former = self.socket_step();
        let step = Step {
            id: if former == self.first_step + FIRST_STEP {
                former + 1
            } else {
                self.first_step + FIRST_STEP
            },
            request: series,
            origin: known.number,
            body: BodyUse::WebSocket,
            timeout_ns: timeout_ms * 1_000_000,
            judged: true,
            ..Step::default()
        };
        let begin = out.arena.len();
        out.push_rendered(step, |bytes| {
            let mut writer = Writer::new(bytes);
            let Ok(_) = writer.line("GET", false, |bytes| {
                bytes.extend_from_slice(path.as_bytes());
                Ok::<(), Infallible>(())
            });
            let has = |wanted: &str| headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
            if !has("host") {
                writer.field("Host", known.host.as_bytes());
            }
            writer.field("Upgrade", b"websocket");
            writer.field("Connection", b"Upgrade");
            writer.field("Sec-WebSocket-Key", &key);
            writer.field("Sec-WebSocket-Version", b"13");
            for (name, value) in &headers {
                writer.field(name, value.as_bytes());
            }
            if !cookies.is_empty() {
                writer.field("Cookie", &cookies);
            }
            if !has("user-agent") {
                writer.field("User-Agent", USER_AGENT.as_bytes());
            }
            writer.end();
        });
        talk.sample.sent_bytes = (out.arena.len() - begin) as u64;
        self.last_socket_step = step.id;
        self.socket = Some(Box::new(Socket { step: step.id, key, is_open: false, inbox: VecDeque::new() }));
        Ok(())
    }

    fn socket_of<'p>(
        &self,
        plan: &'p crate::plan::Plan,
        sampler: SamplerId,
    ) -> Option<(&'p crate::plan::Sampler, &'p Of)> {
        let of = plan.groups.get(self.identity.group)?.samplers.get(sampler as usize)?;
        match &of.kind {
            SamplerKind::Socket(socket) => Some((of, socket)),
            _ => None,
        }
    }

    /// Takes the answer for the origin of a WebSocket.
    pub(super) fn socket_reached(
        &mut self,
        talk: Talk,
        result: Result<OriginId, &Unreachable>,
        at: At,
        out: &mut Outbox,
    ) -> After {
        match result {
            Ok(number) => {
                if let Some(target) = &talk.target {
                    self.worker.know_origin(target.clone(), number);
                }
                self.open_socket(talk, at, out)
            }
            Err(why) => {
                if why.fault == Fault::OriginRefused {
                    self.worker.run.warn_once(&why.sentence);
                }
                let message = format!("WebSocket I/O error: {}", why.sentence);
                self.end_talk(talk, ("Websocket I/O error", message), false, at, out)
            }
        }
    }

    /// Takes the response to the handshake.
    pub(super) fn socket_answered(
        &mut self,
        id: StepId,
        status: u16,
        head: Head<'_>,
        at: At,
        out: &mut Outbox,
    ) -> After {
        let Some(socket) = self.socket.as_mut().filter(|socket| socket.step == id) else {
            return After::Waits;
        };
        let response = ws::Response {
            upgrade: head.field("upgrade"),
            connection: head.field("connection"),
            accept: head.field("sec-websocket-accept"),
            extensions: head.field("sec-websocket-extensions"),
            subprotocol: None,
        };
        let refused = match status {
            101 => ws::check_upgrade(&response, &socket.key).err().map(|wrong| wrong.sentence().to_owned()),
            _ => Some(format!("HTTP Upgrade request failed with status code {status}")),
        };
        socket.is_open = refused.is_none();
        if refused.is_some() {
            self.drop_socket(out);
        }
        let Stage::Talking(mut talk) = std::mem::take(&mut self.stage) else { return After::Waits };
        let sample = &mut talk.sample;
        sample.connect_ms = at.run_ns.saturating_sub(talk.begin_ns) / 1_000_000;
        sample.head = head.text().to_vec();
        sample.head_bytes = sample.head.len() as u64;
        sample.bytes = sample.head_bytes;
        match refused {
            None => self.talk(*talk, at, out),
            Some(why) => {
                sample.code = Cow::Owned(status.to_string());
                self.end_talk(*talk, ("", why), false, at, out)
            }
        }
    }

    /// Does what a sampler does with an open WebSocket.
    fn talk(&mut self, mut talk: Talk, at: At, out: &mut Outbox) -> After {
        let plan = Rc::clone(&self.plan);
        let Some((_, of)) = self.socket_of(&plan, talk.sampler) else { return After::Continues };
        let mut wish = Wish::default();
        let step = self.socket_step();
        match &of.action {
            SocketAction::Open => return self.passed(talk, at, out),
            SocketAction::Write(message, reads) => {
                let payload = match self.payload(message, at) {
                    Ok(payload) => payload,
                    Err(why) => return self.end_talk(talk, ("Sampler Error", why), false, at, out),
                };
                let kind = if message.is_binary { MessageKind::Binary } else { MessageKind::Text };
                out.send(step, kind, &payload);
                talk.sample.sent_bytes = frame_head(payload.len()) + MASK_BYTES + payload.len() as u64;
                talk.sample.request_body = payload;
                if !reads {
                    return self.passed(talk, at, out);
                }
            }
            SocketAction::Read { .. } => {}
            SocketAction::Ping => out.send(step, MessageKind::Ping, b""),
            SocketAction::Pong => {
                out.send(step, MessageKind::Pong, b"");
                return self.passed(talk, at, out);
            }
            SocketAction::Close(status) => {
                let status = status.value(&mut scope!(self, at, &mut wish));
                let status = if status.trim().is_empty() { Some(1000) } else { status.trim().parse().ok() };
                let Some(status) = status else {
                    let message = "Sampler error: invalid close status".to_owned();
                    return self.end_talk(talk, ("Sampler error", message), false, at, out);
                };
                out.send(step, MessageKind::Close(status), b"sampler requested close");
            }
        }
        let waits_for_message = !matches!(of.action, SocketAction::Close(_) | SocketAction::Ping);
        let waiting = self.socket.as_mut().filter(|_| waits_for_message);
        if let Some((kind, data)) = waiting.and_then(|socket| socket.inbox.pop_front()) {
            return self.read(talk, kind, data, at, out);
        }
        let read_ms = of.read_timeout_ms.value(&mut scope!(self, at, &mut wish));
        let read_ms = milliseconds(&read_ms, READ_MS);
        let timer = self.next_step();
        if read_ms > 0 {
            out.sleep(timer, read_ms * 1_000_000);
        }
        self.stage = Stage::Talking(Box::new(talk));
        After::Waits
    }

    /// Returns the bytes of a message.
    fn payload(&mut self, message: &SocketMessage, at: At) -> Result<Vec<u8>, String> {
        let mut wish = Wish::default();
        let mut scope = scope!(self, at, &mut wish);
        if let Some(file) = &message.file {
            let name = file.value(&mut scope);
            let path = scope.run.files.find_beside_plan(name.trim());
            return std::fs::read(path)
                .map_err(|_| format!("Request data cannot be loaded, file '{name}' not found"));
        }
        let text = message.text.value(&mut scope);
        if !message.is_binary {
            return Ok(text.into_bytes());
        }
        let bytes: Option<Vec<u8>> = text
            .split_whitespace()
            .map(|pair| u8::from_str_radix(pair.trim_start_matches("0x"), 16).ok())
            .collect();
        bytes.ok_or_else(|| format!("Request data is not binary: {text}"))
    }

    /// Takes a message or a control frame.
    pub(super) fn socket_received(&mut self, message: &Message<'_>, at: At, out: &mut Outbox) -> After {
        let Some(socket) = self.socket.as_mut().filter(|socket| socket.step == message.id) else {
            return After::Waits;
        };
        let plan = Rc::clone(&self.plan);
        let stage = std::mem::take(&mut self.stage);
        let Stage::Talking(talk) = stage else {
            if !matches!(message.kind, MessageKind::Ping | MessageKind::Pong) {
                socket.inbox.push_back((message.kind, message.data.to_vec()));
            }
            self.stage = stage;
            return After::Waits;
        };
        let action = self.socket_of(&plan, talk.sampler).map(|(_, of)| &of.action);
        let is_awaited = match (action, message.kind) {
            (Some(SocketAction::Ping), kind) => kind == MessageKind::Pong,
            (Some(SocketAction::Close(_)), MessageKind::Close(_)) => true,
            (Some(SocketAction::Close(_)), _) | (_, MessageKind::Ping | MessageKind::Pong) => false,
            _ => true,
        };
        if is_awaited {
            out.cancel(self.step);
            return self.read(*talk, message.kind, message.data.to_vec(), at, out);
        }
        if let (Some(socket), MessageKind::Text | MessageKind::Binary) = (&mut self.socket, message.kind) {
            socket.inbox.push_back((message.kind, message.data.to_vec()));
        }
        self.stage = Stage::Talking(talk);
        After::Waits
    }

    /// Ends a sampler with what it has read.
    fn read(&mut self, mut talk: Talk, kind: MessageKind, data: Vec<u8>, at: At, out: &mut Outbox) -> After {
        let plan = Rc::clone(&self.plan);
        let action = self.socket_of(&plan, talk.sampler).map(|(_, of)| &of.action);
        let expected = match action {
            Some(SocketAction::Write(message, _)) => Some(message.is_binary),
            Some(SocketAction::Read { is_binary, .. }) => *is_binary,
            _ => None,
        };
        let frame = frame_head(data.len());
        talk.sample.head_bytes += frame;
        talk.sample.bytes += frame + data.len() as u64;
        let reason = String::from_utf8_lossy(&data).into_owned();
        if let (MessageKind::Close(code), Some(SocketAction::Close(_))) = (kind, action) {
            self.drop_socket(out);
            talk.sample.data_type = DataType::Text;
            talk.sample.body = format!("{code}: {reason}").into_bytes();
            talk.sample.code = Cow::Owned(code.to_string());
            let message = format!("Connection closed; close reason: '{reason}'.");
            return self.end_talk(talk, ("", message), true, at, out);
        }
        let unexpected = match kind {
            MessageKind::Close(code) => {
                self.drop_socket(out);
                Some((
                    "close",
                    format!("Received: Close frame with status code {code} and close reason '{reason}'"),
                ))
            }
            MessageKind::Text if expected == Some(true) => {
                Some(("text", format!("Received: Text frame with text '{reason}'")))
            }
            MessageKind::Binary if expected == Some(false) => {
                Some(("binary", format!("Received: Binary frame, payload length {}", data.len())))
            }
            _ => None,
        };
        if let Some((kind, message)) = unexpected {
            talk.sample.code = Cow::Owned(format!("Sampler error: unexpected frame type ({kind})."));
            return self.end_talk(talk, ("", message), false, at, out);
        }
        let is_binary = kind == MessageKind::Binary;
        talk.sample.data_type = if is_binary { DataType::Binary } else { DataType::Text };
        talk.sample.body = data;
        self.passed(talk, at, out)
    }

    /// Ends a sampler without a message in time.
    pub(super) fn read_timed_out(&mut self, talk: Talk, at: At, out: &mut Outbox) -> After {
        let plan = Rc::clone(&self.plan);
        let action = self.socket_of(&plan, talk.sampler).map(|(_, of)| &of.action);
        if let Some(SocketAction::Read { is_optional: true, .. }) = action {
            let message = "Read timeout, no response received.".to_owned();
            return self.end_talk(talk, ("No response", message), true, at, out);
        }
        let message = "WebSocket I/O error: Read timed out".to_owned();
        self.end_talk(talk, ("Websocket I/O error", message), false, at, out)
    }

    /// Takes the end of a WebSocket.
    pub(super) fn socket_ended(&mut self, reply: &Reply<'_>, at: At, out: &mut Outbox) -> After {
        let Some(socket) = self.socket.take_if(|socket| socket.step == reply.id) else { return After::Waits };
        let Stage::Talking(talk) = std::mem::take(&mut self.stage) else { return After::Waits };
        out.cancel(self.step);
        let why = match (reply.fault, socket.is_open) {
            (Some(fault), _) => fault.sentence(),
            (None, true) => "end of stream",
            (None, false) => "the connection ended",
        };
        let message = format!("WebSocket I/O error: {why}");
        self.end_talk(*talk, ("Websocket I/O error", message), false, at, out)
    }

    /// Ends a sampler that has done what it does.
    fn passed(&mut self, talk: Talk, at: At, out: &mut Outbox) -> After {
        let end = match talk.target {
            Some(_) => ("101", "Switching Protocols"),
            None => ("200", "OK"),
        };
        self.end_talk(talk, (end.0, end.1.to_owned()), true, at, out)
    }

    /// Ends a sampler. `code` is that of its sample, unless that has one.
    fn end_talk(
        &mut self,
        mut talk: Talk,
        (code, message): (&'static str, String),
        is_success: bool,
        at: At,
        out: &mut Outbox,
    ) -> After {
        let sample = &mut talk.sample;
        if sample.code.is_empty() {
            sample.code = Cow::Borrowed(code);
        }
        sample.message = Cow::Owned(message);
        sample.is_success = is_success;
        let elapsed_ns = at.run_ns.saturating_sub(talk.begin_ns);
        sample.elapsed_ms = elapsed_ns / 1_000_000;
        let label = Rc::clone(&sample.label);
        self.count_group(&label, elapsed_ns, out);
        let check =
            out.open(Family::Check, "WebSocket", &[(label::REQUEST, crate::worker::shortened(&label))]);
        if let Some(check) = check {
            count_check(check, is_success, out);
        }
        self.finish_sampler(talk.sampler, Some(talk.sample), Judged::Nothing, at, out)
    }

    /// Closes the WebSocket, if one is open.
    pub(super) fn drop_socket(&mut self, out: &mut Outbox) {
        if let Some(socket) = self.socket.take() {
            out.cancel(socket.step);
        }
    }

    fn socket_step(&self) -> StepId {
        self.last_socket_step
    }
}

fn count_check(series: RequestId, is_success: bool, out: &mut Outbox) {
    out.count(Count::sum(series, CheckSum::Made, 1));
    if !is_success {
        out.count(Count::sum(series, CheckSum::Failed, 1));
    }
}

fn milliseconds(text: &str, usual: u64) -> u64 {
    match text.trim() {
        "" => usual,
        text => text.parse().unwrap_or(usual),
    }
}

//! `/websocket`: what one WebSocket does, as its query says, over the protocol of a library that plimsoll does not use.
//!
//! It returns every message (`echo`), sends planned messages (`every`), or sends each message to all sockets of a
//! `room`. Bytes come from the connection and go back to it; nothing here owns a socket or waits.

use crate::feed::{Feed, Plan};
use crate::observed::Seen;
use crate::settings::query_parts;
use crate::units::{duration_ns, percent_decoded, switch, whole};
use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role};
use tungstenite::{Error, Message, WebSocket};

/// A client with this many unread bytes gets no further messages until it reads.
const UNSENT_MOST: usize = 1 << 20;

/// Counts since the start or the last `clear`.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) opened: u64,
    pub(crate) closed_by_peer: u64,
    pub(crate) closed_by_server: u64,
    /// The connection ended without a close frame of either side.
    pub(crate) cut: u64,
    pub(crate) received: u64,
    pub(crate) sent: u64,
    pub(crate) pings_received: u64,
    pub(crate) pongs_received: u64,
    pub(crate) malformed: u64,
    /// Codes of the sockets that the peer closed; 1005 is a close frame without a code.
    pub(crate) codes: BTreeMap<u16, u64>,
}

/// Ways to break the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handshake {
    Good,
    WrongAccept,
    NoUpgrade,
    NoConnection,
    Extension,
    Subprotocol,
}

/// What one WebSocket does.
#[derive(Clone)]
pub(crate) struct Script {
    accept: String,
    subprotocol: Option<String>,
    handshake: Handshake,
    feed: Option<Plan>,
    /// Drops, repeats, and swaps of echoes, by the number of the received message.
    places: Plan,
    echoes: bool,
    pub(crate) echo_delay_ns: u64,
    fragment_bytes: usize,
    pub(crate) ping_every_ns: u64,
    answers_ping: bool,
    pong_delay_ns: u64,
    close_after: Option<u64>,
    close_code: u16,
    close_reason: String,
    answers_close: bool,
    cut_after: Option<u64>,
    bad: Option<&'static [u8]>,
    bad_after: u64,
    pub(crate) room: Option<String>,
}

/// Frames that a server must not send.
const BAD: &[(&str, &[u8])] = &[
    ("masked", b"\x81\x81\x01\x02\x03\x04x"),
    ("reserved", b"\xc1\x01x"),
    ("opcode", b"\x83\x00"),
    ("fragmented_ping", b"\x09\x00"),
    ("long_ping", b"\x89\x7e\x00\x7e"),
    ("continuation", b"\x80\x01x"),
    ("interrupted", b"\x01\x01a\x81\x01b"),
    ("utf8", b"\x81\x02\xc3\x28"),
    ("length", b"\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00"),
    ("huge", b"\x82\x7f\x00\x00\x00\x7f\xff\xff\xff\xff"),
    ("close_code", b"\x88\x02\x03\xed"),
    ("close_payload", b"\x88\x01\x03"),
];

impl Script {
    /// Reads the query and the request; `None` if it asks for no WebSocket. An error is a sentence for a 400.
    pub(crate) fn parse(query: &[u8], seen: &Seen<'_>) -> Result<Option<Script>, String> {
        let has = |name: &[u8], value: &[u8]| {
            seen.header(name).is_some_and(|given| {
                given.split(|byte| *byte == b',').any(|one| one.trim_ascii().eq_ignore_ascii_case(value))
            })
        };
        if !has(b"upgrade", b"websocket") || !has(b"connection", b"upgrade") {
            return Ok(None);
        }
        if !has(b"sec-websocket-version", b"13") {
            return Err("unknown version of WebSocket: expected 13".into());
        }
        let key = seen.header(b"sec-websocket-key").ok_or("missing Sec-WebSocket-Key")?;
        let offered = seen.header(b"sec-websocket-protocol").unwrap_or_default();
        let first = offered.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).find(|name| !name.is_empty());
        let mut script = Script {
            accept: derive_accept_key(key),
            subprotocol: first.map(|name| String::from_utf8_lossy(name).into_owned()),
            handshake: Handshake::Good,
            feed: None,
            places: Plan::parse(query, None)?,
            echoes: true,
            echo_delay_ns: 0,
            fragment_bytes: 0,
            ping_every_ns: 0,
            answers_ping: true,
            pong_delay_ns: 0,
            close_after: None,
            close_code: 1000,
            close_reason: String::new(),
            answers_close: true,
            cut_after: None,
            bad: None,
            bad_after: 0,
            room: None,
        };
        for (name, value) in query_parts(query) {
            let (name, value) = (percent_decoded(name)?, percent_decoded(value)?);
            script.set(&name, &value).map_err(|wrong| format!("{name}: {wrong}"))?;
        }
        Ok(Some(script))
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "every" => {
                self.feed = Some(self.places.clone());
                self.echoes = false;
            }
            "echo" => self.echoes = switch(value)?,
            "echo_delay" => self.echo_delay_ns = duration_ns(value)?,
            "fragment" => self.fragment_bytes = whole(value, 1, 1 << 20)? as usize,
            "ping_every" => self.ping_every_ns = duration_ns(value)?,
            "answer_ping" => self.answers_ping = switch(value)?,
            "pong_delay" => self.pong_delay_ns = duration_ns(value)?,
            "close_after" => self.close_after = Some(whole(value, 0, 1 << 60)?),
            "close_code" => self.close_code = whole(value, 1000, 4999)? as u16,
            "close_reason" => self.close_reason = value.to_owned(),
            "answer_close" => self.answers_close = switch(value)?,
            "cut_after" => self.cut_after = Some(whole(value, 0, 1 << 60)?),
            "bad" => {
                let found = BAD.iter().find(|(known, _)| *known == value);
                let names = || BAD.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
                let (_, bytes) =
                    found.ok_or_else(|| format!("unknown frame `{value}`: expected {}", names()))?;
                self.bad = Some(bytes);
            }
            "bad_after" => self.bad_after = whole(value, 0, 1 << 60)?,
            "room" => self.room = Some(value.to_owned()),
            "handshake" => {
                self.handshake = match value {
                    "wrong_accept" => Handshake::WrongAccept,
                    "no_upgrade" => Handshake::NoUpgrade,
                    "no_connection" => Handshake::NoConnection,
                    "extension" => Handshake::Extension,
                    "subprotocol" => Handshake::Subprotocol,
                    _ => {
                        let known = "wrong_accept, no_upgrade, no_connection, extension, or subprotocol";
                        return Err(format!("unknown handshake `{value}`: expected {known}"));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the response to the handshake.
    pub(crate) fn head(&self) -> String {
        let mut head = "HTTP/1.1 101 Switching Protocols\r\nServer: ruler\r\n".to_owned();
        let mut line = |line: &str| {
            head.push_str(line);
            head.push_str("\r\n");
        };
        if self.handshake != Handshake::NoUpgrade {
            line("Upgrade: websocket");
        }
        if self.handshake != Handshake::NoConnection {
            line("Connection: Upgrade");
        }
        match self.handshake {
            Handshake::WrongAccept => line("Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA="),
            _ => line(&format!("Sec-WebSocket-Accept: {}", self.accept)),
        }
        if self.handshake == Handshake::Extension {
            line("Sec-WebSocket-Extensions: permessage-bzip2");
        }
        match (&self.subprotocol, self.handshake) {
            (_, Handshake::Subprotocol) => line("Sec-WebSocket-Protocol: unknown"),
            (Some(name), _) => line(&format!("Sec-WebSocket-Protocol: {name}")),
            (None, _) => {}
        }
        head.push_str("\r\n");
        head
    }
}

/// The bytes between the library and a connection.
#[derive(Default)]
struct Pipe {
    input: Vec<u8>,
    taken: usize,
    output: Vec<u8>,
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let rest = &self.input[self.taken..];
        if rest.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        self.taken += n;
        if self.taken == self.input.len() {
            self.input.clear();
            self.taken = 0;
        }
        Ok(n)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// How a socket ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// Both close frames were sent: FIN.
    Closed,
    /// FIN without a close frame.
    Cut,
}

/// One open WebSocket.
pub(crate) struct Peer {
    pub(crate) script: Script,
    socket: WebSocket<Pipe>,
    pub(crate) feed: Option<Box<Feed>>,
    received: u64,
    /// Echoes and pongs that are not due yet, in the order in which they are due.
    held: VecDeque<(u64, Message)>,
    /// An echo that waits for the one after it.
    swapped: Option<Message>,
    pub(crate) over: Option<Over>,
    /// A close frame was sent first by the ruler, or received first.
    pub(crate) is_closing: bool,
    pub(crate) is_closed_by_peer: bool,
}

/// What a server must do for a socket: send these messages to its room.
pub(crate) type Broadcast = Vec<Message>;

impl Peer {
    pub(crate) fn new(script: Script, now_ns: u64, wall_ns: u64, counts: &mut Counts) -> Peer {
        counts.opened += 1;
        let feed = script.feed.clone().map(|plan| Box::new(Feed::new(plan, false, now_ns, wall_ns)));
        let mut peer = Peer {
            socket: WebSocket::from_raw_socket(Pipe::default(), Role::Server, None),
            feed,
            received: 0,
            held: VecDeque::new(),
            swapped: None,
            over: None,
            is_closing: false,
            is_closed_by_peer: false,
            script,
        };
        peer.after_message();
        peer
    }

    /// Returns the bytes to send.
    pub(crate) fn output(&mut self) -> &mut Vec<u8> {
        &mut self.socket.get_mut().output
    }

    /// Handles received bytes. Echoes are due `echo_delay` after `now_ns`, or are returned for the room.
    pub(crate) fn take(&mut self, bytes: &[u8], now_ns: u64, counts: &mut Counts) -> Broadcast {
        self.socket.get_mut().input.extend_from_slice(bytes);
        let mut broadcast = Broadcast::new();
        let unsent_bytes = self.output().len();
        let mut has_delayed_pongs = false;
        while self.over.is_none() {
            match self.socket.read() {
                Ok(message @ (Message::Text(_) | Message::Binary(_))) => {
                    counts.received += 1;
                    self.received += 1;
                    match &self.script.room {
                        Some(_) => broadcast.push(message),
                        None if self.script.echoes => self.echo(message, now_ns),
                        None => {}
                    }
                    self.after_message();
                }
                Ok(Message::Ping(payload)) => {
                    counts.pings_received += 1;
                    if !self.script.answers_ping || self.script.pong_delay_ns > 0 {
                        has_delayed_pongs = true;
                        if self.script.answers_ping {
                            self.hold(now_ns + self.script.pong_delay_ns, Message::Pong(payload));
                        }
                    }
                }
                Ok(Message::Pong(_)) => counts.pongs_received += 1,
                Ok(Message::Close(frame)) => {
                    if !self.is_closing {
                        let code = frame.map_or(1005, |frame| frame.code.into());
                        *counts.codes.entry(code).or_default() += 1;
                        (self.is_closing, self.is_closed_by_peer) = (true, true);
                        if !self.script.answers_close {
                            // The library has queued the answer; dropping it is the fault that was asked for.
                            return broadcast;
                        }
                    }
                }
                Ok(Message::Frame(_)) => {}
                Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => break,
                Err(Error::ConnectionClosed | Error::AlreadyClosed) => self.over = Some(Over::Closed),
                Err(_) => {
                    counts.malformed += 1;
                    self.over = Some(Over::Cut);
                }
            }
        }
        // Pongs and the answer to a close frame.
        let _ = self.socket.flush();
        if has_delayed_pongs && !self.is_closing {
            // The library has answered already.
            self.output().truncate(unsent_bytes);
        }
        if self.is_closed_by_peer && self.script.answers_close && !self.socket.can_write() {
            self.over.get_or_insert(Over::Closed);
        }
        broadcast
    }

    fn echo(&mut self, message: Message, now_ns: u64) {
        let (place, times) = (self.received, self.script.places.place(self.received).1);
        if self.script.places.place(place).0 == place + 1 {
            // It changes places with the next one.
            self.swapped = Some(message);
            return;
        }
        let due_ns = now_ns + self.script.echo_delay_ns;
        (0..times).for_each(|_| self.hold(due_ns, message.clone()));
        if let Some(message) = self.swapped.take() {
            self.hold(due_ns, message);
        }
    }

    fn hold(&mut self, due_ns: u64, message: Message) {
        let at = self.held.partition_point(|(due, _)| *due <= due_ns);
        self.held.insert(at, (due_ns, message));
    }

    /// Does what is commanded after this many messages: nothing, a broken frame, a close frame, or the end.
    fn after_message(&mut self) {
        if let Some(bad) = self.script.bad
            && self.received == self.script.bad_after
        {
            self.output().extend_from_slice(bad);
        }
        if self.script.cut_after == Some(self.received) {
            self.over = Some(Over::Cut);
        }
        if self.script.close_after == Some(self.received) && self.held.is_empty() {
            self.close();
        }
    }

    fn close(&mut self) {
        self.is_closing = true;
        let (code, reason) = (CloseCode::from(self.script.close_code), self.script.close_reason.clone());
        // It fails only if the socket is closed already.
        let _ = self.socket.close(Some(CloseFrame { code, reason: reason.into() }));
    }

    /// Returns when the next echo or pong is due.
    pub(crate) fn due_ns(&self) -> Option<u64> {
        self.held.front().map(|(due_ns, _)| *due_ns)
    }

    /// Sends the echoes that are due.
    pub(crate) fn send_due(&mut self, now_ns: u64, unsent: usize, counts: &mut Counts) {
        while let Some((_, message)) = self.held.pop_front_if(|(due_ns, _)| *due_ns <= now_ns) {
            self.send(message, unsent, counts);
        }
        if self.script.close_after.is_some_and(|most| most > 0 && self.received >= most)
            && self.held.is_empty()
            && !self.is_closing
        {
            self.close();
        }
    }

    /// Sends a message, whole or in fragments, unless the client does not read.
    pub(crate) fn send(&mut self, message: Message, unsent: usize, counts: &mut Counts) {
        if self.is_closing || self.over.is_some() || unsent > UNSENT_MOST {
            return;
        }
        let piece = self.script.fragment_bytes;
        counts.sent += u64::from(!message.is_pong());
        if piece == 0 || message.len() <= piece || message.is_pong() {
            // It fails only if the socket is closed.
            let _ = self.socket.send(message);
            return;
        }
        let first = if message.is_text() { 1 } else { 2 };
        let bytes = message.into_data();
        let pieces = bytes.len().div_ceil(piece);
        for (at, part) in bytes.chunks(piece).enumerate() {
            let fin = if at + 1 == pieces { 0x80 } else { 0 };
            let opcode = if at == 0 { first } else { 0 };
            let output = self.output();
            output.push(fin | opcode);
            match part.len() {
                len @ 0..=125 => output.push(len as u8),
                len @ 126..=0xffff => {
                    output.push(126);
                    output.extend_from_slice(&(len as u16).to_be_bytes());
                }
                len => {
                    output.push(127);
                    output.extend_from_slice(&(len as u64).to_be_bytes());
                }
            }
            output.extend_from_slice(part);
        }
    }

    /// Sends the next planned messages. Returns whether more follow.
    pub(crate) fn send_planned(
        &mut self,
        (now_ns, wall_ns): (u64, u64),
        unsent: usize,
        counts: &mut Counts,
    ) -> bool {
        let Some(feed) = &mut self.feed else { return false };
        let (text, times) = feed.message(feed.due(now_ns, wall_ns).1, wall_ns);
        let goes_on = feed.advance();
        (0..times).for_each(|_| self.send(Message::text(text.clone()), unsent, counts));
        if !goes_on && !self.is_closing && self.script.close_after.is_none() {
            self.close();
        }
        goes_on && self.over.is_none() && !self.is_closing
    }

    pub(crate) fn ping(&mut self) {
        // It fails only if the socket is closed.
        let _ = self.socket.send(Message::Ping(b"ruler".to_vec().into()));
    }
}

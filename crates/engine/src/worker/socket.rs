//! WebSockets: an exchange that stays open after its response, with frames in both directions. Over HTTP/1.1, it has
//! its link for itself; over HTTP/2, it is a stream (`socket_stream`).
//!
//! A socket never ends while a program runs: what ends it (a failed send, a cancel) is noted, and carried out when no
//! code is using the exchange.

use super::{Post, Worker};
use crate::driver::{Door, Io};
use crate::exchange::{Exchange, OpenSocket, OpenStream, Phase, Reader};
use crate::fault;
use crate::link::{NONE, Peer, Way};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{SeriesSum, StreamHist, StreamSum, WebSocketHist, WebSocketSum};
use plimsoll_plan::program::{BodyUse, Message, MessageKind, Outbox, Sending, StepId, Wake};
use plimsoll_wire::h1::{Answer, Fed};
use plimsoll_wire::ws::{self, Incoming, Kind, Malformed, close};
use std::mem;
use std::ops::Range;

/// Bytes of messages that wait for the kernel, above which a socket has failed: a server that does not read must not
/// fill the memory.
const UNSENT_MAX: usize = 16 << 20;
/// Above this, pings are not answered until the kernel has taken what waits.
const UNSENT_FOR_PONGS_MAX: usize = 64 << 10;

/// The sentence of a socket that ends without a close frame.
pub(super) const ABNORMAL: &str = "the connection of a WebSocket ended without a close frame (code 1006)";

/// Returns a socket for a response that opens one.
pub(super) fn open_socket(head: &[u8]) -> Box<OpenSocket> {
    let extensions = plimsoll_plan::head::Head::new(head).field("sec-websocket-extensions");
    let terms = extensions.and_then(ws::terms_of);
    Box::new(OpenSocket {
        reader: ws::Session::new(terms),
        writer: ws::Writer::new(terms).within(extensions.and_then(ws::client_window)),
        is_open: false,
        is_closing: false,
        is_over: false,
        close_code: 0,
        broken: None,
    })
}

/// What some bytes of a socket were.
pub(super) struct SocketRead {
    /// The socket is closed, or was canceled.
    is_over: bool,
    has_any: bool,
    is_within: bool,
    malformed: Option<Malformed>,
}

impl<D: Door, P: Post> Worker<D, P> {
    pub(super) fn is_socket(&self, exchange: u32) -> bool {
        self.exchanges.get(exchange as usize).is_some_and(Exchange::is_socket)
    }

    pub(super) fn socket(&mut self, exchange: u32) -> Option<&mut OpenSocket> {
        match &mut self.exchanges[exchange as usize].stream.as_deref_mut()?.reader {
            Reader::Socket(socket) => Some(socket),
            Reader::Events(_) | Reader::Nothing => None,
        }
    }

    /// Handles bytes of the response to a handshake, which the bytes of a socket may follow. Returns whether the socket
    /// is open and still owned by the worker.
    pub(super) fn handshake_fed(&mut self, at: u32, fed: Fed, n: usize, opened: bool) -> bool {
        let exchange = &self.exchanges[at as usize];
        let is_new = exchange.kept_head > 0 && exchange.stream.is_none();
        let link = exchange.link;
        // What the program does meanwhile must not read over the bytes after the head.
        let was_feeding = mem::replace(&mut self.is_feeding, true);
        if is_new {
            let status = match fed.done {
                Some(answer) => answer.status,
                None => self.progress_of(at).status,
            };
            self.show_head(at, status);
        }
        self.is_feeding = was_feeding;
        self.payload.clear();
        if self.is_socket(at) {
            self.socket_opened(at);
        }
        let exchange = &self.exchanges[at as usize];
        if exchange.cancelled && exchange.stream.is_some() {
            self.end_socket(at);
            return false;
        }
        match fed.done {
            _ if self.is_socket(at) => self.feed_socket(link, fed.consumed..n, opened),
            Some(answer) => self.finished(at, answer, fed.consumed < n),
            None => {
                self.time_part(at);
                true
            }
        }
    }

    /// Counts a socket as opened, unless its program has rejected the handshake.
    pub(super) fn socket_opened(&mut self, at: u32) {
        let now_ns = self.now_ns;
        let exchange = &mut self.exchanges[at as usize];
        // The head is complete.
        exchange.part_until_ns = 0;
        if exchange.cancelled {
            return;
        }
        let (request, user) = (exchange.request, exchange.user);
        let took_ns = now_ns.saturating_sub(exchange.sent_ns);
        if let Some(socket) = self.socket(at) {
            socket.is_open = true;
        }
        let series = self.tally.socket(request);
        series.add(StreamSum::Streams.id(), 1);
        series.record(StreamHist::StreamHead.id(), took_ns);
        self.stream_lives(at, request, user);
    }

    /// Feeds bytes of the buffer, or of the data opened by TLS, to the socket on a link. Returns whether it is still
    /// open.
    pub(super) fn feed_socket(&mut self, link: u32, bytes: Range<usize>, opened: bool) -> bool {
        let at = self.links[link as usize].exchange;
        // Moved out, because programs run while they are read.
        let (buffer, clear) = (mem::take(&mut self.buffer), mem::take(&mut self.opened));
        let read = self.read_socket(at, if opened { &clear[bytes] } else { &buffer[bytes] });
        (self.buffer, self.opened) = (buffer, clear);
        self.socket_read(at, read)
    }

    /// Reads the messages in these bytes, and shows them to the program.
    pub(super) fn read_socket(&mut self, at: u32, piece: &[u8]) -> SocketRead {
        let request = self.exchanges[at as usize].request;
        self.tally.series(request).add(SeriesSum::BytesIn.id(), piece.len() as u64);
        let fresh = ws::Session::new(None);
        let mut read = SocketRead { is_over: false, has_any: false, is_within: false, malformed: None };
        let Some(socket) = self.socket(at) else { return read };
        let mut reader = mem::replace(&mut socket.reader, fresh);
        let mut shared = mem::replace(&mut self.sockets, ws::Shared::new(0));
        let was_feeding = mem::replace(&mut self.is_feeding, true);
        let fed = reader.feed(piece, &mut shared, &mut |incoming| {
            read.has_any = true;
            read.is_over = read.is_over || !self.take_message(at, incoming);
        });
        self.is_feeding = was_feeding;
        self.sockets = shared;
        (read.is_within, read.malformed) = (reader.is_within_message(), fed.err());
        if let Some(socket) = self.socket(at) {
            socket.reader = reader;
        }
        read
    }

    /// Acts on what was read. Returns whether the socket is still open.
    pub(super) fn socket_read(&mut self, at: u32, read: SocketRead) -> bool {
        if read.is_over {
            if self.parts(at) {
                return true;
            }
            self.end_socket(at);
            return false;
        }
        if let Some(malformed) = read.malformed {
            self.socket_malformed(at, malformed);
            return false;
        }
        self.time_message(at, read.is_within, read.has_any);
        true
    }

    /// Limits the time of a message that has begun. There is no such limit between two messages.
    fn time_message(&mut self, at: u32, is_within: bool, has_any: bool) {
        if self.socket(at).is_none_or(|socket| socket.is_closing) {
            return;
        }
        let timeout_ns = self.outline.limits.event_timeout_ns;
        let exchange = &mut self.exchanges[at as usize];
        if !is_within || timeout_ns == 0 {
            exchange.deadline_ns = 0;
        } else if has_any || exchange.deadline_ns == 0 {
            exchange.deadline_ns = self.now_ns.saturating_add(timeout_ns);
            let deadline_ns = exchange.deadline_ns;
            self.exchange_wheel.arm(at, deadline_ns);
        }
    }

    /// Counts a message or a control frame, and shows it to the program. Returns false if the socket is over.
    fn take_message(&mut self, at: u32, incoming: Incoming<'_>) -> bool {
        self.tell_time();
        let now_ns = self.now_ns;
        let exchange = &mut self.exchanges[at as usize];
        let (user, step, request, sent_ns) =
            (exchange.user, exchange.step, exchange.request, exchange.sent_ns);
        let (kind, data) = match incoming {
            Incoming::Text(data) => (MessageKind::Text, data),
            Incoming::Binary(data) => (MessageKind::Binary, data),
            Incoming::Ping(payload) => {
                self.tally.socket(request).add(WebSocketSum::PingsReceived.id(), 1);
                self.answer_ping(at, payload);
                (MessageKind::Ping, payload)
            }
            Incoming::Pong(payload) => {
                self.tally.socket(request).add(WebSocketSum::PongsReceived.id(), 1);
                (MessageKind::Pong, payload)
            }
            Incoming::Close(closing) => {
                self.take_close(at, closing.code);
                (MessageKind::Close(closing.code), closing.reason)
            }
        };
        let is_close = matches!(kind, MessageKind::Close(_));
        if matches!(kind, MessageKind::Text | MessageKind::Binary) {
            let Some(stream) = &mut self.exchanges[at as usize].stream else { return false };
            let last_ns = mem::replace(&mut stream.last_event_ns, now_ns);
            let series = self.tally.socket(request);
            series.add(StreamSum::Events.id(), 1);
            series.record(WebSocketHist::MessageSize.id(), data.len() as u64);
            match last_ns {
                0 => series.record(StreamHist::FirstEvent.id(), now_ns.saturating_sub(sent_ns)),
                last_ns => series.record(StreamHist::EventGap.id(), now_ns.saturating_sub(last_ns)),
            }
            self.stream_lives(at, request, user);
        }
        let out = self.wake(user, Wake::Message(Message { id: step, kind, data }));
        self.act(user, out, now_ns, false);
        !is_close && !self.is_cancelled(at)
    }

    fn is_cancelled(&self, at: u32) -> bool {
        self.exchanges[at as usize].cancelled
    }

    /// Answers the server's close frame, unless it is the answer to one of the client.
    fn take_close(&mut self, at: u32, code: u16) {
        let Some(socket) = self.socket(at) else { return };
        socket.is_over = true;
        if socket.is_closing {
            // It is the client that closes.
            self.exchanges[at as usize].cancelled = true;
            return;
        }
        socket.close_code = code;
        let code = if code == close::NO_CODE { close::NORMAL } else { code };
        self.write_frame(at, Kind::Close, &code.to_be_bytes());
        let request = self.exchanges[at as usize].request;
        if let Some(socket) = self.socket(at) {
            socket.is_closing = true;
            let cell = WebSocketSum::of_close(socket.close_code);
            self.tally.socket(request).add(cell.id(), 1);
        }
    }

    fn answer_ping(&mut self, at: u32, payload: &[u8]) {
        if self.unsent(at) <= UNSENT_FOR_PONGS_MAX {
            self.write_frame(at, Kind::Pong, payload);
        }
    }

    /// Returns the number of bytes that the kernel has not taken.
    fn unsent(&self, at: u32) -> usize {
        let exchange = &self.exchanges[at as usize];
        let held = exchange.out.as_ref().map_or(0, |held| held.len() - exchange.written as usize);
        let sealed = self.links[exchange.link as usize].tls.as_ref().map_or(0, |tls| tls.unsent.len());
        held + sealed
    }

    /// Sends the messages of a program. One for a socket that has ended or is closing is not sent: the program knows,
    /// or will know from the reply.
    pub(super) fn send_messages(&mut self, user: u32, out: &Outbox) {
        for sending in &out.messages {
            let Sending { id, kind, begin, end } = *sending;
            let payload = out.arena.get(begin as usize..end as usize).unwrap_or_default();
            let at = self.exchange_of(user, id);
            if at != NONE && self.exchanges[at as usize].body == BodyUse::Duplex {
                self.send_part(at, kind, payload);
                continue;
            }
            if at == NONE || self.socket(at).is_none_or(|socket| socket.is_closing) {
                continue;
            }
            let request = self.exchanges[at as usize].request;
            self.tell_time();
            match kind {
                MessageKind::Text => self.write_frame(at, Kind::Text, payload),
                MessageKind::Binary => self.write_frame(at, Kind::Binary, payload),
                MessageKind::Ping => self.write_frame(at, Kind::Ping, payload),
                MessageKind::Pong => self.write_frame(at, Kind::Pong, payload),
                MessageKind::Close(code) => self.begin_close(at, code, payload),
            }
            let sum = match kind {
                MessageKind::Text | MessageKind::Binary => WebSocketSum::MessagesSent,
                MessageKind::Ping => WebSocketSum::PingsSent,
                MessageKind::Pong | MessageKind::Close(_) => continue,
            };
            self.tally.socket(request).add(sum.id(), 1);
        }
    }

    /// Returns the exchange of a user's step; [`NONE`] if it has ended.
    fn exchange_of(&self, user: u32, step: StepId) -> u32 {
        let mut at = self.users[user as usize].first_exchange;
        while at != NONE {
            let exchange = &self.exchanges[at as usize];
            if exchange.step == step {
                break;
            }
            at = exchange.next;
        }
        at
    }

    /// Sends a close frame, and waits for the server's.
    fn begin_close(&mut self, at: u32, code: u16, reason: &[u8]) {
        let mut payload = [0; ws::CONTROL_BYTES_MAX];
        let len = (2 + reason.len()).min(payload.len());
        payload[..2].copy_from_slice(&code.to_be_bytes());
        payload[2..len].copy_from_slice(&reason[..len - 2]);
        self.write_frame(at, Kind::Close, &payload[..len]);
        let deadline_ns = self.now_ns.saturating_add(self.outline.limits.close_timeout_ns);
        if let Some(socket) = self.socket(at) {
            socket.is_closing = true;
        }
        self.exchanges[at as usize].deadline_ns = deadline_ns;
        self.exchange_wheel.arm(at, deadline_ns);
    }

    /// Writes a frame, as far as the kernel takes it. The socket does not end in here, even if that fails.
    fn write_frame(&mut self, at: u32, kind: Kind, payload: &[u8]) {
        let mask = (self.masks.next_u64() as u32).to_ne_bytes();
        let mut frame = mem::take(&mut self.frame);
        frame.clear();
        let mut packing = mem::take(&mut self.packing);
        if let Some(socket) = self.socket(at) {
            socket.writer.write(kind, payload, mask, &mut packing, &mut frame);
        }
        self.packing = packing;
        let Exchange { request, link, .. } = self.exchanges[at as usize];
        let link = &self.links[link as usize];
        if link.session.is_multiplexed() {
            self.write_on_stream(at, &frame);
        } else {
            let way = link.way;
            self.tally.series(request).add(SeriesSum::BytesOut.id(), frame.len() as u64);
            match way {
                Way::Plain => self.write_plain(at, &frame),
                Way::Sealed => self.write_sealed(at, &frame),
            }
        }
        self.frame = frame;
        if self.unsent(at) > UNSENT_MAX {
            let sentence = "the server does not read: more than 16 MiB of messages wait to be sent";
            self.tell_of(request, Fault::ClientLimit, sentence);
            self.socket_broken(at, Fault::ClientLimit);
        }
    }

    fn write_plain(&mut self, at: u32, frame: &[u8]) {
        let exchange = &mut self.exchanges[at as usize];
        if let Some(held) = &mut exchange.out {
            // After what waits already.
            return held.extend_from_slice(frame);
        }
        let (id, socket) = (exchange.link, self.links[exchange.link as usize].socket);
        let mut sent = 0;
        while sent < frame.len() {
            match self.door.send(socket, &frame[sent..]) {
                Io::Done(n) => sent += n,
                Io::WouldBlock => {
                    let mut held = self.lend();
                    held.extend_from_slice(&frame[sent..]);
                    let exchange = &mut self.exchanges[at as usize];
                    (exchange.out, exchange.written, exchange.phase) = (Some(held), 0, Phase::Sending);
                    return;
                }
                Io::Failed(errno) => {
                    let fault = fault::of_transfer(errno);
                    if fault != Fault::ConnectionReset {
                        return self.socket_broken(at, fault);
                    }
                    // What explains it (a close frame) may be waiting to be read.
                    self.links[id as usize].peer = Peer::Reset;
                    return self.read_soon_of(id);
                }
            }
        }
    }

    /// Puts a link on the list of those to be read when no code is using its exchange.
    pub(super) fn read_soon_of(&mut self, id: u32) {
        let was_feeding = mem::replace(&mut self.is_feeding, true);
        self.read_soon(id);
        self.is_feeding = was_feeding;
    }

    fn write_sealed(&mut self, at: u32, frame: &[u8]) {
        let exchange = &self.exchanges[at as usize];
        let (id, request) = (exchange.link, exchange.request);
        let Some(secured) = &mut self.links[id as usize].tls else { return };
        self.sealed.clear();
        if let Err(refused) = secured.channel.seal(frame, &mut self.sealed) {
            self.tell_of(request, Fault::Tls, &refused.to_string());
            return self.socket_broken(at, Fault::Tls);
        }
        self.flush(id);
    }

    /// Notes that a socket has failed; it ends when no code is using it.
    pub(super) fn socket_broken(&mut self, at: u32, fault: Fault) {
        if let Some(socket) = self.socket(at) {
            socket.broken.get_or_insert(fault);
        }
        self.call_at_once(at);
    }

    /// Ends a socket that was canceled, or that is broken. Its slot may belong to another one by now, which is neither.
    pub(super) fn end_socket_if_due(&mut self, at: u32) {
        let is_cancelled = self.is_cancelled(at);
        // One that has been closed waits for the end of its stream.
        let is_due = |socket: &mut OpenSocket| is_cancelled && !socket.is_over || socket.broken.is_some();
        if self.socket(at).is_some_and(is_due) {
            self.end_socket(at);
        }
    }

    /// Ends a socket: as failed if it is broken, otherwise closed by the side that has closed it.
    pub(super) fn end_socket(&mut self, at: u32) {
        let answer = self.progress_of(at);
        self.end_socket_with(at, answer);
    }

    /// The same, with what has arrived of it.
    pub(super) fn end_socket_with(&mut self, at: u32, answer: Answer) {
        let Some(stream) = self.exchanges[at as usize].stream.as_deref() else { return };
        let broken = match &stream.reader {
            Reader::Socket(socket) => socket.broken,
            Reader::Events(_) | Reader::Nothing => None,
        };
        if let Some(fault) = broken {
            return self.failed(at, fault);
        }
        // Over HTTP/2, a stream that has just ended has no status any more.
        self.finished(at, Answer { status: stream.status, ..answer }, false);
    }

    /// Handles the end of a socket's connection, or of its stream; `why`, if that was not an ordinary end.
    pub(super) fn socket_lost(&mut self, at: u32, why: Option<(Fault, &str)>) {
        let request = self.exchanges[at as usize].request;
        let Some(socket) = self.socket(at) else { return };
        if let Some(fault) = socket.broken {
            return self.failed(at, fault);
        }
        if socket.is_over {
            return self.end_socket(at);
        }
        if socket.is_closing {
            // Many servers answer a close frame by closing the connection.
            self.exchanges[at as usize].cancelled = true;
            return self.end_socket(at);
        }
        self.tally.socket(request).add(WebSocketSum::Abnormal.id(), 1);
        let (fault, sentence) = why.unwrap_or((Fault::WebSocketClosed, ABNORMAL));
        self.tell_of(request, fault, sentence);
        self.failed(at, fault);
    }

    /// Handles the deadline of a socket: of the answer to its close frame, or of a message that has begun.
    pub(super) fn socket_due(&mut self, at: u32) {
        if self.socket(at).is_some_and(|socket| socket.is_over) {
            return self.end_socket(at);
        }
        if self.socket(at).is_some_and(|socket| socket.is_closing) {
            self.exchanges[at as usize].cancelled = true;
            return self.end_socket(at);
        }
        let request = self.exchanges[at as usize].request;
        self.tell_of(request, Fault::StreamIdleTimeout, "a message began and did not end in time");
        self.failed(at, Fault::StreamIdleTimeout);
    }

    fn socket_malformed(&mut self, at: u32, malformed: Malformed) {
        let request = self.exchanges[at as usize].request;
        if self.socket(at).is_some_and(|socket| !socket.is_closing) {
            self.write_frame(at, Kind::Close, &malformed.code().to_be_bytes());
            self.push_rest(at);
        }
        let limit = self.outline.limits.message_bytes;
        if malformed == Malformed::TooLong && fault::is_lowered("message_bytes", limit) {
            return self.cut_by(at, "message_bytes", limit);
        }
        let fault = match malformed {
            Malformed::TooLong => Fault::UnsafeResponse,
            _ => Fault::MalformedResponse,
        };
        self.tell_of(request, fault, malformed.sentence());
        self.failed(at, fault);
    }

    /// Tells the server that the client leaves at the end of the run. Failing to deliver that is not a separate error.
    pub(super) fn take_leave(&mut self, at: u32) {
        if self.socket(at).is_some_and(|socket| !socket.is_closing) {
            self.write_frame(at, Kind::Close, &close::GOING_AWAY.to_be_bytes());
            if self.push_rest(at) {
                self.send_last(self.exchanges[at as usize].link);
            }
        }
    }

    /// Returns the memory of a socket's readers.
    pub(super) fn forget_reader(&mut self, stream: &mut OpenStream) {
        match &mut stream.reader {
            Reader::Events(parser) => parser.reset(&mut self.event_spares),
            Reader::Socket(socket) => socket.reader.reset(&mut self.sockets),
            Reader::Nothing => {}
        }
    }
}

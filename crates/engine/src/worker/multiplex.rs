//! Requests over HTTP/2: each begins on a stream of its link, and the frames of a link are sent together.
//!
//! A request is begun whenever it is due, and its frames wait in the link's buffer until the current event is handled.
//! Then all of them are stamped as sent with one reading of the clock, and sent with one call.

use super::exchange::{Bytes, End};
use super::{Here, Post, Worker};
use crate::driver::Door;
use crate::exchange::Phase;
use crate::link::{Multiplex, Session, State, Way};
use plimsoll_plan::Fault;
use plimsoll_plan::link::Window;
use plimsoll_plan::metric::{RunSum, SeriesSum};
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::outline::Outline;
use plimsoll_plan::program::BodyUse;
use plimsoll_wire::h1::{self, Answer};
use plimsoll_wire::h2::{self, Ask, Config, Request, code};

/// Streams on one connection for the parallel requests of a program.
const PARALLEL: u32 = 24;

/// Returns the session of a new link to a place.
pub(super) fn new_session(outline: &Outline, place: &Here) -> Session {
    let link = &outline.link;
    match (place.is_http2, link.is_pipelined) {
        (true, _) => Session::H2(Box::new(Multiplex::new())),
        (false, true) => Session::H2(Box::new(Multiplex::pipelined(link.streams))),
        (false, false) => Session::H1(h1::Session::new()),
    }
}

/// Returns the properties of a new connection over HTTP/2.
fn config_of(outline: &Outline, is_table: bool) -> Config {
    let link = &outline.link;
    let windows = match link.window {
        Window::Large => Config::default(),
        Window::Browser => Config::browser(),
        Window::Bytes(bytes) => {
            Config { stream_window: bytes, connection_window: bytes, ..Config::default() }
        }
    };
    // Streams that stay open leave room for the requests of each user.
    let stays_open = outline.requests.iter().any(|one| one.is_websocket);
    let streams = match is_table {
        true => link.streams,
        false if stays_open => link.streams.saturating_mul(PARALLEL),
        false => link.streams.max(PARALLEL),
    };
    Config { streams, ..windows }
}

impl<D: Door, P: Post> Worker<D, P> {
    /// Returns a link that another user may share, the one used last; or a new one.
    pub(super) fn shared_link(&mut self, origin: OriginId) -> u32 {
        let users = self.outline.link.streams;
        while let Some(&id) = self.spare[usize::from(origin)].last() {
            let Some(multiplex) = self.links[id as usize].session.multiplex() else { break };
            let is_shareable = multiplex.is_shareable(users);
            if !is_shareable || multiplex.assigned + 1 >= users {
                multiplex.is_listed = false;
                self.spare[usize::from(origin)].pop();
            }
            if is_shareable {
                return id;
            }
        }
        let id = self.unused_link(origin);
        if users > 1 {
            self.list_unused(id);
        }
        id
    }

    /// Begins an exchange: on a stream if there is one, otherwise as soon as there is.
    pub(super) fn begin_stream(&mut self, id: u32, bytes: Bytes<'_>) {
        self.hold_fresh(id, bytes);
        let at = self.exchanges[id as usize].link;
        let link = &mut self.links[at as usize];
        let (state, generation) = (link.state, link.generation);
        let Some(multiplex) = link.session.multiplex() else { return };
        if state == State::Open && self.exchanges[id as usize].body == BodyUse::WebSocket {
            match multiplex.opens_sockets() {
                Some(true) => {}
                Some(false) => return self.socket_unsupported(id),
                None => {
                    multiplex.wait(id);
                    return self.openings.add(at, generation);
                }
            }
        }
        let Some(multiplex) = self.links[at as usize].session.multiplex() else { return };
        if state == State::Open && !multiplex.has_waiting() && multiplex.room() > 0 {
            return self.open_stream(id);
        }
        multiplex.wait(id);
        let is_limited = state == State::Open && multiplex.is_limited_by_server();
        self.tally.add(RunSum::StreamWaits, u64::from(is_limited));
        if state == State::Closed {
            self.open(at);
        }
    }

    /// Greets the server on a link that has just opened, and sends the request that waits for it. The others wait for
    /// the server's settings, which say how many streams it accepts.
    pub(super) fn start_session(&mut self, at: u32) {
        self.mark_dirty(at);
        let config = config_of(&self.outline, self.programs.is_empty());
        if let Some(multiplex) = self.links[at as usize].session.multiplex() {
            multiplex.start(config);
        }
        self.start_waiting(at);
        // Before anything is read: if the server closes at once, a request that was never sent would have no end, and
        // would try one connection after the other. After a failed send, what is there is read later.
        let was_feeding = std::mem::replace(&mut self.is_feeding, true);
        self.flush_frames(at);
        self.is_feeding = was_feeding;
    }

    /// Notes the server's settings: waiting exchanges may begin. Those that still wait and began to before its first
    /// settings wait because of them.
    pub(super) fn on_settings(&mut self, at: u32) {
        self.start_waiting(at);
        let Some(multiplex) = self.links[at as usize].session.multiplex() else { return };
        let is_first = !std::mem::replace(&mut multiplex.is_settled, true);
        if is_first && multiplex.is_limited_by_server() {
            let waiting = multiplex.all_waiting().count() as u64;
            self.tally.add(RunSum::StreamWaits, waiting);
        }
        multiplex.free_queues();
    }

    /// Opens streams for exchanges that wait, as far as there is room.
    pub(super) fn start_waiting(&mut self, at: u32) {
        loop {
            let link = &mut self.links[at as usize];
            let is_open = link.state == State::Open;
            let Some(multiplex) = link.session.multiplex() else { return };
            if !multiplex.has_waiting() || !is_open || multiplex.room() == 0 {
                return;
            }
            let Some(id) = multiplex.next_waiting() else { return };
            let opens_sockets = multiplex.opens_sockets();
            let is_socket =
                self.exchanges[id as usize].body == BodyUse::WebSocket && !self.outline.link.is_pipelined;
            if is_socket && opens_sockets.is_none() {
                // The settings say whether it may be opened (RFC 8441 section 3).
                return multiplex.wait_first(id);
            }
            if is_socket && opens_sockets == Some(false) {
                self.socket_unsupported(id);
                continue;
            }
            self.open_stream(id);
        }
    }

    fn open_stream(&mut self, id: u32) {
        let exchange = &mut self.exchanges[id as usize];
        let at = exchange.link;
        self.mark_dirty(at);
        if self.outline.link.is_pipelined && self.queue_request(id) {
            return;
        }
        let exchange = &mut self.exchanges[id as usize];
        let link = &mut self.links[at as usize];
        let scheme = if link.way == Way::Sealed { "https" } else { "http" };
        let Session::H2(multiplex) = &mut link.session else { return };
        let Some((wire, out)) = multiplex.wire_and_out() else { return };
        let before = out.len();
        let mut ask = Ask {
            tag: id,
            head_only: exchange.head_only,
            has_body: false,
            reads_head: exchange.kept.is_some() || self.seeks_location,
            reads_body: exchange.body == BodyUse::Keep || exchange.is_read_in_pieces(),
            is_tunnel: exchange.body == BodyUse::WebSocket,
        };
        // gRPC ends such a request with a DATA frame, even if nothing was sent.
        let has_parts =
            self.outline.requests.get(exchange.request as usize).is_some_and(|one| one.is_websocket);
        let prepared = &self.compiled.requests;
        let (opened, body_at) = match (&exchange.out, prepared.get(exchange.request as usize)) {
            (Some(held), _) => {
                self.block.clear();
                let converted = match ask.is_tunnel {
                    true => h2::connect_from_http1(held, scheme, "websocket", &mut self.block),
                    false => h2::from_http1(held, scheme, &mut self.block),
                };
                let Some(body) = converted else { return self.unsendable(id) };
                ask.has_body = has_parts || !body.is_empty();
                (wire.open(ask, Request::Block(&self.block), out), held.len() - body.len())
            }
            (None, Some(request)) => {
                let Some(head) = &request.h2 else { return self.unsendable(id) };
                ask.has_body = request.body_bytes > 0;
                let body_at = request.bytes.len() - request.body_bytes;
                (wire.open(ask, Request::Prepared(head, &self.compiled.fields), out), body_at)
            }
            (None, None) => return self.unsendable(id),
        };
        let bytes = (out.len() - before) as u64;
        let Some(stream) = opened else { return multiplex.wait_first(id) };
        exchange.place = stream;
        exchange.written = body_at as u32;
        exchange.phase = if ask.has_body { Phase::Sending } else { Phase::Waiting };
        let body = exchange.out.as_deref().filter(|_| ask.has_body).map_or(0..0, |held| body_at..held.len());
        self.tally.series(exchange.request).add(SeriesSum::BytesOut.id(), bytes);
        multiplex.begin(id, before);
        link.served += 1;
        let is_last = self.requests_per_connection.is_some_and(|most| link.served >= most);
        multiplex.is_closing |= is_last;
        if ask.has_body && !(self.courier.is_some() && self.deliver_stream(id, body)) {
            let Some(multiplex) = self.links[at as usize].session.multiplex() else { return };
            multiplex.uploads().push(id);
        }
        if self.is_draining(at) {
            self.replace(at);
        }
    }

    /// Ends an exchange whose request HTTP/2 cannot express; the load generator is at fault.
    fn unsendable(&mut self, id: u32) {
        let request = self.exchanges[id as usize].request;
        self.tell_of(request, Fault::ClientSendRefused, "the request cannot be sent over HTTP/2");
        self.attempt_failed(id, Fault::ClientSendRefused);
    }

    fn is_draining(&mut self, at: u32) -> bool {
        self.links[at as usize].session.multiplex().is_some_and(|multiplex| multiplex.is_draining())
    }

    /// Handles a complete response on a stream, or one that the client ends.
    pub(super) fn stream_finished(&mut self, id: u32, answer: Answer) -> bool {
        let exchange = &self.exchanges[id as usize];
        if exchange.short && exchange.kept_head == 0 {
            // Without the head, checks and extractions would fail and blame the server.
            self.failed(id, Fault::ClientOutOfMemory);
            return false;
        }
        let at = exchange.link;
        let end = self.end_of(id, answer);
        self.reset_stream(id);
        self.count_answer(id, answer, true);
        self.outstanding -= 1;
        self.start_waiting(at);
        // Before the user continues, or it would open its next connection while this one is still open.
        self.close_if_drained(at);
        self.ended(id, end);
        true
    }

    /// Ends a sent exchange with a fault; the link lives on.
    pub(super) fn stream_failed(&mut self, id: u32, fault: Fault) {
        let at = self.exchanges[id as usize].link;
        self.reset_stream(id);
        self.count_failure(id, fault);
        self.outstanding -= 1;
        self.start_waiting(at);
        self.close_if_drained(at);
        self.ended(id, End::Failed(fault));
    }

    /// Resets the stream of an exchange, unless it has ended; what is left of its upload is dropped.
    pub(super) fn reset_stream(&mut self, id: u32) {
        let exchange = &self.exchanges[id as usize];
        let (at, stream) = (exchange.link, exchange.place);
        if self.outline.link.is_pipelined {
            return self.abandon_response(id);
        }
        let Session::H2(multiplex) = &mut self.links[at as usize].session else { return };
        multiplex.drop_upload(id);
        if multiplex.wire.as_ref().and_then(|wire| wire.progress(stream)).is_none() {
            return;
        }
        self.mark_dirty(at);
        let Session::H2(multiplex) = &mut self.links[at as usize].session else { return };
        let Some((wire, out)) = multiplex.wire_and_out() else { return };
        if wire.cancel(stream, code::CANCEL, out).is_some() {
            self.tally.add(RunSum::StreamsReset, 1);
        }
    }
}

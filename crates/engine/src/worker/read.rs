//! Reads from a link, feeds the session, and ends exchanges.

use super::keep::{Keep, Streaming};
use super::socket::ABNORMAL;
use super::unasked::{is_dangerous, is_looked_at};
use super::{Here, Post, Worker};
use crate::driver::{Door, Io};
use crate::fault;
use crate::link::{Peer, State, Way};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, RunSum};
use plimsoll_plan::program::BodyUse;
use plimsoll_wire::h1::Eof;

/// Above this size, a low-water mark saves more wake-ups than its two system calls cost.
pub(super) const LOW_WATER_FROM: u64 = 131_072;
/// Size of the first read if the last response to the same request had a large body: enough for a head, and little of a
/// body is copied before the rest can be discarded.
const HEAD_READ_BYTES: usize = 2_048;
/// Highest mark: below half of the receive buffer's usual limit (6 MB); the kernel would reduce a higher one.
const LOW_WATER_MAX: u64 = 2_000_000;

impl<D: Door, P: Post> Worker<D, P> {
    #[inline]
    pub(super) fn read(&mut self, id: u32) {
        if self.courier.is_some() && self.read_slowly(id) {
            return;
        }
        match self.links[id as usize].way {
            Way::Plain => self.read_plain(id),
            Way::Sealed => self.read_sealed(id),
        }
    }

    /// Reads after a failed send: now, or after the bytes that are being fed, which are in the buffer.
    pub(super) fn read_soon(&mut self, id: u32) {
        if !self.is_feeding {
            return self.read(id);
        }
        let link = &mut self.links[id as usize];
        if !std::mem::replace(&mut link.unread, true) {
            self.unread.push_back(link.token(id));
        }
    }

    /// Returns whether a program reads the body of the link's exchange.
    fn keeps_body(&self, id: u32) -> bool {
        let exchange = self.links[id as usize].exchange;
        // An idle link keeps nothing, and has nothing to skip.
        self.exchanges.get(exchange as usize).is_some_and(|exchange| exchange.keeps_body())
    }

    fn read_plain(&mut self, id: u32) {
        let reads = self.outline.read_bodies;
        let mut share = self.share();
        loop {
            let seen = reads || self.keeps_body(id);
            let link = &mut self.links[id as usize];
            let skippable = if seen { 0 } else { link.session.skippable() };
            if skippable > 0 {
                match self.door.discard(link.socket, skippable.min(1 << 30) as usize) {
                    Io::Done(0) => return self.on_eof(id),
                    Io::Done(n) => {
                        let n = n as u64;
                        self.tell_time();
                        let link = &mut self.links[id as usize];
                        if let Some(answer) = link.session.skip(n) {
                            let exchange = link.exchange;
                            if !self.finished(exchange, answer, false) {
                                return;
                            }
                        } else if n < skippable && !link.is_peer_closed() {
                            // Less than requested: the queue is empty, and the next edge will be reported.
                            self.move_low_water(id, skippable - n);
                            return;
                        }
                    }
                    Io::WouldBlock => return,
                    Io::Failed(errno) => return self.transfer_failed(id, fault::of_transfer(errno)),
                }
                continue;
            }
            let room = if !seen
                && self.large.get(link.request as usize).is_some_and(|large| *large)
                && !link.session.started()
            {
                HEAD_READ_BYTES
            } else {
                self.room(id)
            };
            let socket = self.links[id as usize].socket;
            match self.door.recv(socket, &mut self.buffer[..room]) {
                Io::Done(0) => return self.on_eof(id),
                Io::Done(n) => {
                    // A short read has emptied the queue: no second call is needed to find that out.
                    let drained = n < room;
                    if !self.feed(id, n, false) {
                        return;
                    }
                    let link = &self.links[id as usize];
                    let left = link.session.skippable();
                    let (peer_closed, marked) = (link.is_peer_closed(), link.low_water > 0);
                    if left > 0 {
                        let skips = !reads && !self.keeps_body(id);
                        // Wait for a large body as a whole. The kernel checks its queue when the mark is set
                        // (tcp_set_rcvlowat), so data that arrived earlier is not missed. That of a Unix domain socket
                        // does not, nor does TLS with a proxy, so there only what is not in the queue yet is awaited.
                        let may_wait = |worker: &Self| drained || worker.may_discard(id);
                        if left >= LOW_WATER_FROM
                            && !self.is_stream(id)
                            && !marked
                            && !peer_closed
                            && may_wait(self)
                        {
                            self.move_low_water(id, left);
                            return;
                        }
                        // The mark must never exceed the remaining bytes.
                        if marked {
                            self.move_low_water(id, left);
                        }
                        // Skip a small rest of a body immediately; anything else has its own edge.
                        if drained && !peer_closed && !skips {
                            return self.drained(id);
                        }
                    } else if drained && !peer_closed {
                        return self.drained(id);
                    }
                    if share.is_used_up(n, self.now_ns) {
                        return self.put_off(id, &share);
                    }
                }
                Io::WouldBlock => return self.drained(id),
                Io::Failed(errno) => return self.transfer_failed(id, fault::of_transfer(errno)),
            }
        }
    }

    /// Returns whether the kernel has received bytes as the server sent them.
    fn may_discard(&self, id: u32) -> bool {
        let origin = usize::from(self.links[id as usize].origin);
        self.places.get(origin).is_none_or(Here::may_discard)
    }

    /// Returns whether the link's exchange is a stream: each event is awaited separately.
    fn is_stream(&self, id: u32) -> bool {
        let exchange = self.links[id as usize].exchange;
        let is_stream = |body: BodyUse| body.is_stream() || body == BodyUse::WebSocket;
        self.exchanges.get(exchange as usize).is_some_and(|exchange| is_stream(exchange.body))
    }

    /// Feeds `n` bytes of the buffer, or of the data opened by TLS, to the session. Returns false if the socket is
    /// closed or has begun another exchange, whose own edges will be reported.
    #[inline]
    pub(super) fn feed(&mut self, id: u32, n: usize, opened: bool) -> bool {
        self.tell_time();
        let link = &mut self.links[id as usize];
        if link.session.is_multiplexed() {
            return self.feed_frames(id, n, opened);
        }
        if link.session.is_idle() {
            if self.is_socket(self.links[id as usize].exchange) {
                return self.feed_socket(id, 0..n, opened);
            }
            self.unasked(id, n, opened);
            return false;
        }
        // A session that waits for a response has an exchange.
        let at = link.exchange;
        let exchange = &mut self.exchanges[at as usize];
        if exchange.first_ns == 0 {
            exchange.first_ns = self.now_ns;
            if (link.early || is_looked_at(link.served)) && self.is_early(id, n, opened) {
                return false;
            }
        }
        let Some(session) = self.links[id as usize].session.http1() else { return false };
        let exchange = &mut self.exchanges[at as usize];
        let bytes = if opened { &self.opened[..n] } else { &self.buffer[..n] };
        let fed = match (exchange.body, &mut exchange.kept) {
            (BodyUse::Stream | BodyUse::Duplex | BodyUse::WebSocket, kept) => {
                let (head, head_bytes) = (kept.as_deref_mut(), &mut exchange.kept_head);
                let (payload, lent) = (&mut self.payload, &mut self.lent);
                let mut sink = Streaming { head, head_bytes, payload, lent };
                session.feed(bytes, &mut self.shared, &mut sink)
            }
            (BodyUse::Discard, _) | (_, None) => session.feed(bytes, &mut self.shared, &mut ()),
            (body, Some(kept)) => {
                let most = if body == BodyUse::HeadOnly { 0 } else { self.outline.limits.kept_body_bytes };
                let (head_bytes, short) = (&mut exchange.kept_head, &mut exchange.short);
                let lent = &mut self.lent;
                let mut sink = Keep { into: kept, head_bytes, most: most as usize, lent, short };
                session.feed(bytes, &mut self.shared, &mut sink)
            }
        };
        let dangerous = match &fed {
            Ok(fed) => {
                fed.done.is_some()
                    && is_dangerous(&bytes[fed.consumed..])
                    // The bytes of a socket follow its response.
                    && exchange.body != BodyUse::WebSocket
            }
            Err(_) => false,
        };
        let looked_at = exchange.is_looked_at();
        if self.courier.is_some() && matches!(&fed, Ok(fed) if fed.done.is_none()) && self.is_continued(at) {
            let generation = self.links[id as usize].generation;
            self.continue_body(at);
            if self.links[id as usize].generation != generation {
                return false;
            }
        }
        let exchange = &self.exchanges[at as usize];
        match fed {
            // It is chance whether they arrive with the response or a segment later; neither can be distinguished from
            // the next response.
            Ok(_) if dangerous => {
                if !looked_at || self.describe(at, None, false) {
                    self.tally.add(RunSum::UnexpectedBytes, 1);
                    self.failed(at, Fault::UnsafeResponse);
                }
                false
            }
            Ok(fed) if looked_at => match exchange.body {
                BodyUse::WebSocket => self.handshake_fed(at, fed, n, opened),
                _ => self.describe(at, fed.done, fed.consumed < n),
            },
            Ok(fed) => match fed.done {
                Some(answer) => {
                    if answer.status / 100 == 3 && !self.redirect_noted {
                        let request = exchange.request;
                        self.seek_redirect(request, answer.status, n, opened);
                    }
                    self.finished(at, answer, fed.consumed < n)
                }
                None => {
                    self.time_part(at);
                    true
                }
            },
            Err(malformed) => {
                // The program sees the bytes before the damage, however the segments were split.
                if !looked_at || self.describe(at, None, false) {
                    self.refused(at, malformed);
                }
                false
            }
        }
    }

    /// Sets the mark once for a large body, and lowers it when less than that remains: with a mark above the remaining
    /// bytes, the kernel would never wake the worker.
    fn move_low_water(&mut self, id: u32, left: u64) {
        let link = &mut self.links[id as usize];
        let wanted = left.min(LOW_WATER_MAX) as u32;
        let raise = link.low_water == 0 && left >= LOW_WATER_FROM;
        if raise || wanted < link.low_water {
            link.low_water = wanted;
            self.door.set_low_water(link.socket, wanted as usize);
        }
    }

    pub(super) fn on_eof(&mut self, id: u32) {
        self.tell_time();
        let link = &mut self.links[id as usize];
        link.peer_closes();
        if link.state == State::Handshaking {
            return self.handshake_failed(
                id,
                Fault::Tls,
                "the server closed the connection during the TLS handshake",
            );
        }
        let (reused, reset) = (link.served > 1, link.peer == Peer::Reset);
        let Some(session) = link.session.http1() else {
            if self.outline.link.is_pipelined && self.pipe_ends(id) {
                return;
            }
            return self.link_lost(id, if reset { Some(Fault::ConnectionReset) } else { None });
        };
        let eof = session.eof();
        let cut = link.tls.as_ref().is_some_and(|secured| !secured.channel.is_closed());
        let exchange = link.exchange;
        match eof {
            Eof::Idle if self.is_socket(exchange) => {
                self.socket_lost(exchange, reset.then_some((Fault::ConnectionReset, ABNORMAL)));
            }
            Eof::Idle => {
                self.tally.add(RunSum::ClosedByServer, 1);
                self.close_socket(id);
            }
            // Only the server's own end of TLS proves that a body without a length is complete: any party on the path
            // can cut TCP (RFC 9112, section 9.8).
            Eof::Complete(_) if cut => self.failed(exchange, Fault::ClosedMidResponse),
            Eof::Complete(answer) => {
                self.finished(exchange, answer, false);
            }
            Eof::BeforeHead if reused && !self.is_slow(exchange) => self.stale(exchange),
            Eof::BeforeHead | Eof::InHead | Eof::InBody if reset => {
                self.failed(exchange, Fault::ConnectionReset)
            }
            Eof::BeforeHead => self.failed(exchange, Fault::ClosedBeforeResponse),
            Eof::InHead | Eof::InBody => self.failed(exchange, Fault::ClosedMidResponse),
        }
    }

    pub(super) fn transfer_failed(&mut self, id: u32, fault: Fault) {
        self.tell_time();
        let link = &self.links[id as usize];
        if link.state == State::Handshaking {
            self.close_socket(id);
            return self.connect_failed(id, fault);
        }
        if link.session.is_multiplexed() {
            return self.link_lost(id, Some(fault));
        }
        if link.session.is_idle() {
            if self.is_socket(self.links[id as usize].exchange) {
                let exchange = self.links[id as usize].exchange;
                return self.socket_lost(exchange, Some((fault, ABNORMAL)));
            }
            self.tally.add(RunSum::ClosedByServer, 1);
            return self.close_socket(id);
        }
        let (exchange, reused) = (link.exchange, link.served > 1);
        if fault == Fault::ConnectionReset && !link.session.started() && reused && !self.is_slow(exchange) {
            return self.stale(exchange);
        }
        self.failed(exchange, fault);
    }

    /// Handles a server that closed an idle link while a request was being sent.
    pub(super) fn stale(&mut self, exchange: u32) {
        let sent = &self.exchanges[exchange as usize];
        let idle_ns = sent.sent_ns.saturating_sub(self.links[sent.link as usize].since_ns);
        self.tally.record(RunHist::IdleBeforeClose, idle_ns);
        self.failed(exchange, Fault::StaleConnection);
    }
}

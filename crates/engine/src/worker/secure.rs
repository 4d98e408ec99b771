//! Connections with TLS: the handshake before the first request, bytes sealed before sending and opened after reading.

use super::exchange::Bytes;
use super::link::units;
use super::{Post, Worker};
use crate::driver::{Door, Io};
use crate::exchange::Phase;
use crate::fault;
use crate::link::tls::{Channel, TlsFault};
use crate::link::{NONE, Peer, Secured, Session, State};
use plimsoll_plan::Fault;
use plimsoll_plan::failure_example::{EXAMPLES_MAX, FailureExample};
use plimsoll_plan::metric::{RunHist, RunSum};
use plimsoll_plan::program::RequestId;

/// The reason of [`Fault::ProtocolChanged`].
const NOT_CHOSEN: &str = "the server did not choose HTTP/2 (ALPN), although it did before the load";

impl<D: Door, P: Post> Worker<D, P> {
    /// Begins the handshake on an established TCP connection; the connect timeout continues.
    pub(super) fn begin_handshake(&mut self, id: u32) {
        let origin = self.links[id as usize].origin;
        let client = self.client_of(id);
        let Some(setup) = &self.places[usize::from(origin)].tls else { return };
        self.sealed.clear();
        let made = Channel::of_client(setup, client, &mut self.sealed);
        let link = &mut self.links[id as usize];
        link.state = State::Handshaking;
        match made {
            Ok(channel) => {
                let secured = Secured { channel, unsent: Vec::new(), begun_ns: self.now_ns };
                link.tls = Some(Box::new(secured));
                self.flush(id);
            }
            Err(refused) => self.handshake_failed(id, refused.class(), &refused.to_string()),
        }
    }

    /// Returns the number of the client certificate for a connection: that of its user, or else the next in rotation.
    fn client_of(&mut self, id: u32) -> usize {
        let link = &self.links[id as usize];
        let place = &mut self.places[usize::from(link.origin)];
        if place.tls.as_ref().is_none_or(|setup| setup.clients() == 1) {
            return 0;
        }
        if self.has_own_clients {
            let exchange = match &link.session {
                Session::H1(_) => Some(link.exchange),
                Session::H2(multiplex) => multiplex.all_waiting().next().copied(),
            };
            if let Some(exchange) = exchange.and_then(|at| self.exchanges.get(at as usize)) {
                return self.number_of(exchange.user) as usize;
            }
        }
        let client = place.client;
        place.client = client.wrapping_add(1);
        client
    }

    /// Returns the number of a user among those of its workload in all workers, as its program knows it.
    fn number_of(&self, user: u32) -> u64 {
        let first = self.workloads[usize::from(self.users[user as usize].workload)].first;
        self.seat.offset + u64::from(user - first) * self.seat.stride
    }

    /// Records the reason why a handshake failed: the fault number does not say which certificate.
    pub(super) fn handshake_failed(&mut self, id: u32, fault: Fault, sentence: &str) {
        self.tell_of(self.links[id as usize].request, fault, sentence);
        self.close_socket(id);
        self.connect_failed(id, fault);
    }

    pub(super) fn tell_of(&mut self, request: RequestId, fault: Fault, sentence: &str) {
        if self.own_samples >= EXAMPLES_MAX {
            // Enough examples are kept; the rest are only counted.
            return;
        }
        self.own_samples += 1;
        self.samples.push(FailureExample {
            at_ns: self.now_ns.saturating_sub(self.begin_ns),
            request: self.outline.requests.get(request as usize).map(|r| r.name.clone()).unwrap_or_default(),
            check: fault.name().to_owned(),
            observed: sentence.to_owned(),
            status: 0,
            excerpt: String::new(),
        });
    }

    /// Seals a request and sends it.
    pub(super) fn send_sealed(&mut self, id: u32, bytes: Bytes<'_>) {
        let exchange = &mut self.exchanges[id as usize];
        let (link, request) = (exchange.link, exchange.request);
        let plain: &[u8] = match (bytes, &exchange.out) {
            (Bytes::Fresh(bytes), _) => bytes,
            (_, Some(held)) => held,
            _ => &self.compiled.requests[request as usize].bytes,
        };
        let Some(secured) = &mut self.links[link as usize].tls else { return };
        self.sealed.clear();
        exchange.written = plain.len().try_into().unwrap_or(u32::MAX);
        if let Err(refused) = secured.channel.seal(plain, &mut self.sealed) {
            self.tell_of(request, refused.class(), &refused.to_string());
            return self.failed(id, refused.class());
        }
        self.let_go(id);
        self.flush(link);
    }

    /// Sends unsent bytes, then those just sealed; bytes that the kernel does not take wait with the connection.
    pub(super) fn flush(&mut self, id: u32) {
        let link = &self.links[id as usize];
        if link.tls.is_none() {
            return;
        }
        let exchange = link.exchange;
        let is_socket = self.is_socket(exchange);
        let link = &mut self.links[id as usize];
        let has_frames = (link.session.is_multiplexed() || is_socket) && link.state == State::Open;
        let Some(secured) = &mut link.tls else { return };
        let held = !secured.unsent.is_empty();
        if held {
            secured.unsent.append(&mut self.sealed);
        }
        let mut at = 0;
        loop {
            let bytes = if held { &secured.unsent[at..] } else { &self.sealed[at..] };
            if bytes.is_empty() {
                break;
            }
            match self.door.send(link.socket, bytes) {
                Io::Done(n) => at += n,
                Io::WouldBlock => {
                    if held {
                        secured.unsent.drain(..at);
                    } else {
                        secured.unsent.extend_from_slice(&self.sealed[at..]);
                        self.sealed.clear();
                    }
                    return;
                }
                Io::Failed(errno) => {
                    let fault = fault::of_transfer(errno);
                    self.sealed.clear();
                    let is_sending = self.is_sending(exchange);
                    if fault == Fault::ConnectionReset && (is_sending || has_frames) {
                        // The response that explains it, or GOAWAY, may be waiting to be read.
                        if is_sending {
                            self.exchanges[exchange as usize].phase = Phase::Waiting;
                        }
                        self.links[id as usize].peer = Peer::Reset;
                        return match is_socket {
                            true => self.read_soon_of(id),
                            false => self.read_soon(id),
                        };
                    }
                    if is_socket {
                        return self.socket_broken(exchange, fault);
                    }
                    return self.transfer_failed(id, fault);
                }
            }
        }
        self.sealed.clear();
        secured.unsent = Vec::new();
        if self.is_sending(exchange) && !(self.courier.is_some() && self.is_in_pieces(exchange)) {
            let exchange = &mut self.exchanges[exchange as usize];
            exchange.phase = Phase::Waiting;
            if held {
                let stall_ns = self.now_ns.saturating_sub(exchange.sent_ns);
                self.tally.record(RunHist::SendBlocked, stall_ns);
            }
        }
    }

    #[inline]
    pub(super) fn is_sending(&self, exchange: u32) -> bool {
        exchange != NONE && self.exchanges[exchange as usize].phase == Phase::Sending
    }

    pub(super) fn read_sealed(&mut self, id: u32) {
        let mut share = self.share();
        loop {
            let room = self.room(id);
            let link = &mut self.links[id as usize];
            let n = match self.door.recv(link.socket, &mut self.buffer[..room]) {
                Io::Done(0) => return self.on_eof(id),
                Io::Done(n) => n,
                Io::WouldBlock => return self.drained(id),
                Io::Failed(errno) => return self.transfer_failed(id, fault::of_transfer(errno)),
            };
            let (generation, peer_closed) = (link.generation, link.is_peer_closed());
            if !self.take_in(id, n) {
                return;
            }
            // A short read has emptied the queue, unless an end follows.
            if self.links[id as usize].generation != generation {
                return;
            }
            if n < room && !peer_closed {
                return self.drained(id);
            }
            if share.is_used_up(n, self.now_ns) {
                return self.put_off(id, &share);
            }
        }
    }

    /// Opens `n` bytes of the buffer. Returns false if the worker no longer owns the socket.
    pub(super) fn take_in(&mut self, id: u32, n: usize) -> bool {
        let link = &mut self.links[id as usize];
        let Some(secured) = &mut link.tls else { return false };
        self.opened.clear();
        self.sealed.clear();
        let fed = secured.channel.feed(&mut self.buffer[..n], &mut self.opened, &mut self.sealed);
        let (ready, closed) = (secured.channel.is_ready(), secured.channel.is_closed());
        // No more requests are possible here, whenever TCP ends.
        if closed || fed.is_err() {
            link.peer_closes();
        }
        let generation = link.generation;
        if let Err(refused) = fed {
            self.broken(id, &refused);
            return false;
        }
        // A failed send must not read over the bytes just opened.
        let was_feeding = std::mem::replace(&mut self.is_feeding, true);
        if !self.sealed.is_empty() {
            self.flush(id);
        }
        let link = &self.links[id as usize];
        if ready && link.generation == generation && link.state == State::Handshaking {
            self.links[id as usize].early = !self.opened.is_empty();
            self.handshake_done(id);
        }
        self.is_feeding = was_feeding;
        if self.links[id as usize].generation != generation {
            return false;
        }
        let opened = self.opened.len();
        if opened > 0 && !self.feed(id, opened, true) {
            return false;
        }
        if closed && self.links[id as usize].tls.is_some() {
            self.on_eof(id);
            return false;
        }
        true
    }

    /// Handles a link that failed; bytes opened before the failure count, however the segments were split.
    fn broken(&mut self, id: u32, refused: &TlsFault) {
        self.tell_time();
        let (fault, sentence) = (refused.class(), refused.to_string());
        let link = &self.links[id as usize];
        if link.tls.as_ref().is_some_and(|secured| secured.unsent.is_empty()) && !self.sealed.is_empty() {
            // An alert; failing to deliver it is not a separate error.
            let _ = self.door.send(link.socket, &self.sealed);
        }
        self.sealed.clear();
        if link.state == State::Handshaking {
            let is_version = refused.is_unknown_protocol() && link.session.required_alpn().is_some();
            return match is_version {
                true => self.handshake_failed(id, Fault::ProtocolChanged, NOT_CHOSEN),
                false => self.handshake_failed(id, fault, &sentence),
            };
        }
        self.tell_of(self.links[id as usize].request, fault, &sentence);
        let opened = self.opened.len();
        if opened == 0 || self.feed(id, opened, true) {
            self.transfer_failed(id, fault);
        }
    }

    fn handshake_done(&mut self, id: u32) {
        self.tell_time();
        let Some(secured) = &self.links[id as usize].tls else { return };
        let took_ns = self.now_ns.saturating_sub(secured.begun_ns);
        let facts = secured.channel.facts();
        let resumed = facts.as_ref().is_some_and(|facts| facts.resumed);
        let required = self.links[id as usize].session.required_alpn();
        if required.is_some() && facts.and_then(|facts| facts.alpn) != required {
            return self.handshake_failed(id, Fault::ProtocolChanged, NOT_CHOSEN);
        }
        self.tally.add(RunSum::Handshakes, 1);
        self.tally.add(RunSum::HandshakesResumed, u64::from(resumed));
        self.tally.record(RunHist::Handshake, took_ns);
        self.for_waiting(id, |exchange| exchange.tls_units = units(took_ns));
        self.opened(id);
    }
}

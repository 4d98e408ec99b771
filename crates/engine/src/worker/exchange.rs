//! A request over a link: created, begun, sent, and ended when it times out.

use super::{Post, Worker, duplex};
use crate::driver::{Door, Errno, Io};
use crate::exchange::{Exchange, Phase};
use crate::fault;
use crate::link::{NONE, Peer, Session, State, Way};
use plimsoll_plan::Fault;
use plimsoll_plan::link::Http;
use plimsoll_plan::metric::{RunHist, SeriesSum};
use plimsoll_plan::program::{BodyUse, Ended, Payload, Step};
use plimsoll_wire::h1::{Answer, Ask};

/// How an exchange ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Answered(Answer),
    Streamed { status: u16, body_bytes: u64, by: Ended },
    Failed(Fault),
}

/// The bytes to send.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bytes<'a> {
    /// The plan's own bytes, or those that the exchange holds already.
    Prepared,
    /// Bytes just rendered; gone when the caller returns.
    Fresh(&'a [u8]),
}

impl<D: Door, P: Post> Worker<D, P> {
    /// Takes an exchange, the one used last, for a user's step over an idle link.
    #[inline]
    pub(super) fn take_exchange(&mut self, link: u32, user: u32, step: &Step, intended_ns: u64) -> u32 {
        self.outstanding += 1;
        let kept = if step.body == BodyUse::Discard { None } else { Some(self.lend()) };
        let (head_only, close) = match step.payload {
            Payload::Prepared => {
                let ask = self.compiled.requests[step.request as usize].ask;
                (ask.head_only, ask.close)
            }
            Payload::Rendered { .. } => (step.head_only, step.close),
        };
        let id = self.free_exchanges.pop().unwrap_or_else(|| {
            self.exchanges.push(Exchange::FREE);
            self.exchange_wheel.grow(self.exchanges.len());
            self.exchanges.len() as u32 - 1
        });
        self.exchanges[id as usize] = Exchange {
            intended_ns,
            deadline_ns: match step.timeout_ns {
                0 if step.body == BodyUse::Duplex => duplex::UNTIMED,
                0 => self.outline.timeout_ns,
                timeout_ns => timeout_ns,
            },
            kept,
            link,
            user,
            request: step.request,
            step: step.id,
            head_only,
            close,
            body: step.body,
            judged: step.judged,
            ..Exchange::FREE
        };
        self.assign(id, link);
        id
    }

    /// Notes that an exchange uses a link.
    #[inline]
    pub(super) fn assign(&mut self, id: u32, link: u32) {
        let exchange = &mut self.exchanges[id as usize];
        exchange.link = link;
        let link = &mut self.links[link as usize];
        link.request = exchange.request;
        match &mut link.session {
            Session::H1(_) => link.exchange = id,
            Session::H2(multiplex) => multiplex.assigned += 1,
        }
    }

    /// Frees an exchange that has ended and holds nothing any more.
    #[inline]
    pub(super) fn free_exchange(&mut self, id: u32) {
        let exchange = &mut self.exchanges[id as usize];
        exchange.user = NONE;
        // The wheel may check it once more.
        exchange.deadline_ns = 0;
        exchange.part_until_ns = 0;
        let link = &mut self.links[exchange.link as usize];
        match &mut link.session {
            Session::H1(_) => link.exchange = NONE,
            Session::H2(multiplex) => multiplex.assigned -= 1,
        }
        self.free_exchanges.push(id);
    }

    /// Begins the exchange: now if the link is open, otherwise as soon as it is.
    #[inline]
    pub(super) fn begin(&mut self, id: u32, bytes: Bytes<'_>) {
        match bytes {
            Bytes::Fresh(bytes) if self.is_forwarded => self.begin_forwarded(id, bytes),
            _ => self.begin_as_is(id, bytes),
        }
    }

    /// Begins an exchange whose rendered request may go to a proxy that forwards it; prepared ones have that form.
    #[cold]
    fn begin_forwarded(&mut self, id: u32, bytes: &[u8]) {
        let link = self.exchanges[id as usize].link;
        let place = &self.places[usize::from(self.links[link as usize].origin)];
        let Some(forward) = place.route.as_ref().and_then(|route| route.forward.as_ref()) else {
            return self.begin_as_is(id, Bytes::Fresh(bytes));
        };
        let mut forwarded = std::mem::take(&mut self.forwarded);
        forwarded.clear();
        forward.put(bytes, &mut forwarded);
        self.begin_as_is(id, Bytes::Fresh(&forwarded));
        self.forwarded = forwarded;
    }

    #[inline]
    fn begin_as_is(&mut self, id: u32, bytes: Bytes<'_>) {
        let link = self.exchanges[id as usize].link;
        if self.links[link as usize].session.is_multiplexed() {
            return self.begin_stream(id, bytes);
        }
        match self.links[link as usize].state {
            State::Open => self.send(id, bytes),
            State::Closed => {
                self.hold_fresh(id, bytes);
                self.open(link);
            }
            State::Resolving | State::Connecting | State::Tunneling | State::Handshaking => {
                self.hold_fresh(id, bytes);
            }
        }
    }

    #[inline]
    pub(super) fn send(&mut self, id: u32, bytes: Bytes<'_>) {
        if self.courier.is_some() && self.is_delivered(id) {
            return self.send_delivered(id, bytes);
        }
        let exchange = &self.exchanges[id as usize];
        let len = match (bytes, &exchange.out) {
            (Bytes::Fresh(bytes), _) => bytes.len(),
            (_, Some(held)) => held.len(),
            _ => self.compiled.requests[exchange.request as usize].bytes.len(),
        };
        match self.stamp_sending(id, len) {
            Way::Plain => self.send_rest(id, bytes),
            Way::Sealed => self.send_sealed(id, bytes),
        }
    }

    /// Notes that a request over HTTP/1 is sent now, and that `len` bytes of it are; returns how.
    #[inline]
    pub(super) fn stamp_sending(&mut self, id: u32, len: usize) -> Way {
        let exchange = &mut self.exchanges[id as usize];
        let link = &mut self.links[exchange.link as usize];
        if let Some(session) = link.session.http1() {
            let http10 = self.outline.link.http == Http::V10;
            session.submit(Ask { head_only: exchange.head_only, http10, close: exchange.close });
        }
        exchange.sent_ns = self.now_ns;
        exchange.phase = Phase::Sending;
        exchange.deadline_ns += self.now_ns;
        let reused = link.served > 0;
        link.served += 1;
        let way = link.way;
        self.exchange_wheel.arm(id, exchange.deadline_ns);
        self.tally.sent(exchange.request, len, reused, self.now_ns);
        if let Some(series) = self.address_series
            && link.address != NONE
        {
            self.tally.series(series + link.address).add(SeriesSum::Sent.id(), 1);
        }
        way
    }

    pub(super) fn send_rest(&mut self, id: u32, fresh: Bytes<'_>) {
        let exchange = &mut self.exchanges[id as usize];
        let link = &mut self.links[exchange.link as usize];
        let bytes: &[u8] = match (fresh, &exchange.out) {
            (Bytes::Fresh(bytes), _) => bytes,
            (_, Some(held)) => held,
            _ => &self.compiled.requests[exchange.request as usize].bytes,
        };
        let was_partial = exchange.written > 0;
        loop {
            match self.door.send(link.socket, &bytes[exchange.written as usize..]) {
                Io::Done(n) => {
                    exchange.written += n as u32;
                    if exchange.written as usize == bytes.len() {
                        exchange.phase = Phase::Waiting;
                        // A usual request fits at once and is not blocked; only the others are recorded.
                        // What a socket sends later is not its request.
                        if was_partial && exchange.stream.is_none() {
                            let stall_ns = self.now_ns - exchange.sent_ns;
                            self.tally.record(RunHist::SendBlocked, stall_ns);
                        }
                        return self.let_go(id);
                    }
                }
                Io::WouldBlock => {
                    return self.hold_fresh(id, fresh);
                }
                Io::Failed(errno) => return self.send_failed(id, errno),
            }
        }
    }

    /// Handles a failed send. After a reset, the response that explains it (413, say) may be waiting to be read.
    #[cold]
    pub(super) fn send_failed(&mut self, id: u32, errno: Errno) {
        let exchange = &mut self.exchanges[id as usize];
        exchange.phase = Phase::Waiting;
        let at = exchange.link;
        let link = &mut self.links[at as usize];
        let fault = fault::of_transfer(errno);
        if fault != Fault::ConnectionReset {
            link.peer_closes();
            return self.failed(id, fault);
        }
        link.peer = Peer::Reset;
        self.read_soon(at);
    }

    /// Handles an exchange whose deadline has passed.
    pub(super) fn exchange_due(&mut self, id: u32) {
        let exchange = &self.exchanges[id as usize];
        match exchange.phase {
            Phase::Sending | Phase::Waiting if exchange.is_socket() => self.socket_due(id),
            // The request was sent long ago; the stream that it opened has stalled.
            Phase::Sending | Phase::Waiting if exchange.is_streaming() => {
                self.failed(id, Fault::StreamIdleTimeout)
            }
            Phase::Sending | Phase::Waiting => self.timed_out(id),
            Phase::Failed(fault) => self.failure_over(id, fault),
            Phase::SentBack | Phase::Owed => self.pause_over(id),
            // The link has the deadline of an attempt to connect.
            Phase::Queued => {}
        }
    }
}

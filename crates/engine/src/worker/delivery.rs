//! Requests that are sent in pieces, after `100 Continue`, or byte by byte, and responses that are read slowly.
//!
//! The request is rendered as a whole and held; a [`Transfer`] says how much of it may be sent by now. Every entry from
//! another file first asks whether the worker has a courier, so that other loads pay one comparison.

use super::exchange::Bytes;
use super::{Post, Worker};
use crate::delivery::{Part, Transfer};
use crate::driver::{Door, Io};
use crate::exchange::Phase;
use crate::fault;
use crate::link::{NONE, State, Way};
use plimsoll_plan::Fault;
use plimsoll_plan::delivery::{Delivery, piece_of};
use plimsoll_plan::metric::{RunSum, SeriesSum};
use plimsoll_wire::h1;
use std::ops::Range;

/// Smallest receive buffer of a connection whose first response is read slowly; the kernel doubles it. With its usual
/// buffer of megabytes, a server would seldom notice that its client is slow.
const SLOW_BUFFER_BYTES: u32 = 4_096;
/// Pieces that fit into the buffer: with fewer, the window would be the limit instead of the rate.
const PIECES_BUFFERED: u32 = 4;

impl<D: Door, P: Post> Worker<D, P> {
    /// Returns how an exchange is delivered, if not at once.
    fn delivery(&self, id: u32) -> Option<Delivery> {
        let exchange = self.exchanges.get(id as usize)?;
        self.courier.as_ref()?.of(exchange.request)
    }

    pub(super) fn is_delivered(&self, id: u32) -> bool {
        self.delivery(id).is_some()
    }

    fn transfer(&self, id: u32) -> Transfer {
        self.courier.as_ref().map(|courier| courier.get(id)).unwrap_or_default()
    }

    fn set_transfer(&mut self, id: u32, transfer: Transfer) {
        if let Some(courier) = &mut self.courier {
            courier.set(id, transfer);
        }
    }

    /// Returns whether more of a request will be sent.
    pub(super) fn is_in_pieces(&self, id: u32) -> bool {
        self.is_delivered(id) && self.exchanges[id as usize].written < self.transfer(id).len
    }

    /// Returns whether the client is slow on purpose: an end of the connection is the server's response to that, not a
    /// race, and no part of the response has a time limit.
    pub(super) fn is_slow(&self, id: u32) -> bool {
        self.courier.is_some()
            && id != NONE
            && self.delivery(id).is_some_and(|of| {
                of.read_bytes_per_s.is_some() || self.exchanges[id as usize].phase == Phase::Sending
            })
    }

    /// Limits the receive buffer of a link that is about to be opened, if its exchange reads slowly.
    pub(super) fn limit_receive_buffer(&mut self, link: u32) {
        let exchange = self.links[link as usize].exchange;
        let rate = self.delivery(exchange).and_then(|of| of.read_bytes_per_s);
        let bytes = rate.map(|rate| (PIECES_BUFFERED * piece_of(rate)).max(SLOW_BUFFER_BYTES));
        self.door.limit_receive_buffers(bytes);
    }

    // ---- sending --------------------------------------------------------------------------------------------

    /// Begins to send a request over HTTP/1.
    pub(super) fn send_delivered(&mut self, id: u32, bytes: Bytes<'_>) {
        let Some(of) = self.delivery(id) else { return };
        self.hold_fresh(id, bytes);
        let exchange = &self.exchanges[id as usize];
        let prepared = self.compiled.requests.get(exchange.request as usize);
        let whole: &[u8] = match (&exchange.out, prepared) {
            (Some(held), _) => held,
            (None, Some(prepared)) => &prepared.bytes,
            (None, None) => return,
        };
        let body_at = h1::body_at(whole);
        // A redirect may have dropped the body, and with it these fields.
        let (head, body) = whole.split_at(body_at);
        let expects = h1::has_line(head, "Expect: 100-continue");
        let is_framed = of.is_chunked && h1::has_line(head, "Transfer-Encoding: chunked");
        let mut framed = Vec::new();
        if is_framed || exchange.out.is_none() {
            framed.extend_from_slice(head);
            match of.piece_bytes().filter(|_| is_framed) {
                Some(piece) => h1::put_chunks(body, piece as usize, &mut framed),
                None => framed.extend_from_slice(body),
            }
        }
        let expects = expects && !body.is_empty();
        if !framed.is_empty() {
            self.let_go(id);
            self.hold_fresh(id, Bytes::Fresh(&framed));
        }
        let len = self.exchanges[id as usize].out.as_ref().map_or(0, |held| held.len());
        let transfer = Transfer {
            expects,
            is_framed,
            body_at: body_at as u32,
            len: len.try_into().unwrap_or(u32::MAX),
            ..Transfer::default()
        };
        self.stamp_sending(id, 0);
        self.set_transfer(id, transfer.begin(&of, self.now_ns));
        self.arm_delivery(id);
        self.send_granted(id);
    }

    /// Begins the body of a request over HTTP/2, whose bytes are those of the held request. Returns false if it is sent
    /// as any other.
    pub(super) fn deliver_stream(&mut self, id: u32, body: Range<usize>) -> bool {
        let Some(of) = self.delivery(id).filter(|_| !body.is_empty()) else { return false };
        let exchange = &self.exchanges[id as usize];
        let head = exchange.out.as_deref().and_then(|held| held.get(..body.start)).unwrap_or_default();
        let transfer = Transfer {
            expects: h1::has_line(head, "Expect: 100-continue"),
            body_at: body.start as u32,
            len: body.end as u32,
            ..Transfer::default()
        };
        self.set_transfer(id, transfer.begin_body(&of, self.now_ns));
        self.arm_delivery(id);
        self.send_granted(id);
        true
    }

    /// Sends what may be sent by now.
    pub(super) fn send_granted(&mut self, id: u32) {
        let exchange = &self.exchanges[id as usize];
        let (at, granted) = (exchange.link, self.transfer(id).granted);
        if exchange.written >= granted || exchange.phase != Phase::Sending {
            return;
        }
        let link = &mut self.links[at as usize];
        if let Some(multiplex) = link.session.multiplex() {
            if !multiplex.uploads().contains(&id) {
                multiplex.uploads().push(id);
            }
            return self.mark_dirty(at);
        }
        match link.way {
            Way::Plain => self.send_granted_plain(id, granted),
            Way::Sealed => self.send_granted_sealed(id, granted),
        }
    }

    fn send_granted_plain(&mut self, id: u32, granted: u32) {
        let exchange = &mut self.exchanges[id as usize];
        let link = &mut self.links[exchange.link as usize];
        let Some(held) = &exchange.out else { return };
        while let Some(bytes) = held.get(exchange.written as usize..granted as usize)
            && !bytes.is_empty()
        {
            match self.door.send(link.socket, bytes) {
                Io::Done(n) => {
                    exchange.written += n as u32;
                    self.tally.series(exchange.request).add(SeriesSum::BytesOut.id(), n as u64);
                }
                Io::WouldBlock => return,
                Io::Failed(errno) => return self.send_failed(id, errno),
            }
        }
        if exchange.written as usize >= held.len() {
            exchange.phase = Phase::Waiting;
            self.let_go(id);
        }
    }

    fn send_granted_sealed(&mut self, id: u32, granted: u32) {
        let exchange = &mut self.exchanges[id as usize];
        let (at, request) = (exchange.link, exchange.request);
        let (Some(held), Some(secured)) = (&exchange.out, &mut self.links[at as usize].tls) else { return };
        if !secured.unsent.is_empty() {
            // The kernel takes no more; the piece is sealed when there is room.
            return;
        }
        let bytes = held.get(exchange.written as usize..granted as usize).unwrap_or_default();
        self.sealed.clear();
        if let Err(refused) = secured.channel.seal(bytes, &mut self.sealed) {
            self.tell_of(request, Fault::Tls, &refused.to_string());
            return self.failed(id, Fault::Tls);
        }
        exchange.written = granted;
        let (sent, is_whole) = (bytes.len() as u64, granted as usize >= held.len());
        self.tally.series(request).add(SeriesSum::BytesOut.id(), sent);
        if is_whole {
            self.let_go(id);
        }
        self.flush(at);
    }

    /// Continues to send over a link that has room again.
    pub(super) fn send_more(&mut self, link: u32) {
        let link = &self.links[link as usize];
        let exchange = link.exchange;
        if link.state == State::Open && self.is_sending(exchange) && self.is_delivered(exchange) {
            self.send_granted(exchange);
        }
    }

    // ---- `100 Continue` -------------------------------------------------------------------------------------

    /// Returns whether the server has asked for the body that waits.
    pub(super) fn is_continued(&mut self, id: u32) -> bool {
        let at = self.exchanges[id as usize].link;
        self.links[at as usize].session.http1().is_some_and(|session| session.is_continued())
    }

    /// Sends the body that waits for `100 Continue`.
    pub(super) fn continue_body(&mut self, id: u32) {
        let Some(of) = self.delivery(id) else { return };
        let mut transfer = self.transfer(id);
        if transfer.part != Part::Continue || self.exchanges[id as usize].phase != Phase::Sending {
            return;
        }
        self.tally.add(RunSum::RequestsContinued, 1);
        transfer.start_body(&of, self.now_ns);
        self.set_transfer(id, transfer);
        self.arm_delivery(id);
        // What was read is being handled: nothing may be read over it.
        let was_feeding = std::mem::replace(&mut self.is_feeding, true);
        self.send_granted(id);
        self.is_feeding = was_feeding;
    }

    /// Counts a request that got its response before its body was sent.
    pub(super) fn is_refused(&mut self, id: u32) -> bool {
        let transfer = self.transfer(id);
        let is_waiting = transfer.expects && matches!(transfer.part, Part::Head | Part::Continue);
        let is_refused =
            is_waiting && self.exchanges[id as usize].phase == Phase::Sending && self.is_delivered(id);
        self.tally.add(RunSum::RequestsRefusedEarly, u64::from(is_refused));
        is_refused
    }

    // ---- timers ---------------------------------------------------------------------------------------------

    /// Arms the timer of an exchange for its next piece.
    fn arm_delivery(&mut self, id: u32) {
        let Some(courier) = &mut self.courier else { return };
        let transfer = courier.get(id);
        if transfer.part != Part::Whole {
            courier.wheel.arm(id, transfer.next_ns);
        }
    }

    /// Sends and reads what is due.
    pub(super) fn deliver_due(&mut self) {
        let mut due = std::mem::take(&mut self.due_timers);
        due.clear();
        if let Some(courier) = &mut self.courier {
            courier.wheel.expire(self.now_ns, &mut due);
        }
        for id in due.drain(..) {
            let exchange = &self.exchanges[id as usize];
            // Its number may be that of another exchange by now.
            if exchange.user == NONE || !exchange.is_in_flight() || !self.is_delivered(id) {
                continue;
            }
            let at = exchange.link;
            if exchange.phase == Phase::Sending {
                self.piece_due(id);
            }
            let exchange = &self.exchanges[id as usize];
            if exchange.link == at && exchange.is_in_flight() && self.delivery(id).is_some_and(reads_slowly) {
                self.read(at);
            }
        }
        self.due_timers = due;
    }

    fn piece_due(&mut self, id: u32) {
        let Some(of) = self.delivery(id) else { return };
        let mut transfer = self.transfer(id);
        if transfer.part == Part::Whole {
            return;
        }
        if transfer.next_ns > self.now_ns {
            return self.arm_delivery(id);
        }
        let exchange = &self.exchanges[id as usize];
        if transfer.part == Part::Continue {
            // With the head of a final response, the server has decided; the rest of that response is awaited.
            if self.progress_of(id).status > 0 {
                return;
            }
            self.tally.add(RunSum::RequestsNotContinued, 1);
            transfer.advance(&of, self.now_ns);
        } else if exchange.written < transfer.granted || self.is_blocked(exchange.link) {
            transfer.put_off(&of, self.now_ns);
        } else {
            transfer.advance(&of, self.now_ns);
        }
        self.set_transfer(id, transfer);
        self.arm_delivery(id);
        self.send_granted(id);
    }

    /// Returns whether the kernel has not taken what was sealed.
    fn is_blocked(&self, link: u32) -> bool {
        self.links[link as usize].tls.as_ref().is_some_and(|secured| !secured.unsent.is_empty())
    }

    // ---- reading --------------------------------------------------------------------------------------------

    /// Reads the next piece of a response that is read slowly, or waits for its time. Returns false for any other.
    pub(super) fn read_slowly(&mut self, at: u32) -> bool {
        let link = &self.links[at as usize];
        let id = link.exchange;
        let is_here = link.state == State::Open && !link.session.is_multiplexed() && !link.session.is_idle();
        let Some(rate) = self.delivery(id).filter(|_| is_here).and_then(|of| of.read_bytes_per_s) else {
            return false;
        };
        self.tell_time();
        let mut transfer = self.transfer(id);
        let piece = transfer.take_read(rate, self.now_ns);
        self.set_transfer(id, transfer);
        if let Some(courier) = &mut self.courier {
            courier.wheel.arm(id, transfer.read_ns);
        }
        if piece == 0 {
            return true;
        }
        let room = (piece as usize).min(self.buffer.len());
        let link = &self.links[at as usize];
        match (self.door.recv(link.socket, &mut self.buffer[..room]), link.way) {
            (Io::Done(0), _) => self.on_eof(at),
            (Io::Done(n), Way::Plain) => {
                self.feed(at, n, false);
            }
            (Io::Done(n), Way::Sealed) => {
                self.take_in(at, n);
            }
            (Io::WouldBlock, _) => self.drained(at),
            (Io::Failed(errno), _) => self.transfer_failed(at, fault::of_transfer(errno)),
        }
        true
    }
}

fn reads_slowly(of: Delivery) -> bool {
    of.read_bytes_per_s.is_some()
}

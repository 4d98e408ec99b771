//! A request over a connection: open, send, read, and one of two ends: an answer or a fault.

use super::keep::{Keep, Streaming};
use super::unasked::{is_dangerous, is_looked_at};
use super::{Post, Worker};
use crate::conn::State;
use crate::driver::{Door, ERR, Flags, HUP, IN, Io, OUT, RDHUP};
use crate::fault;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunFloor, RunHist, RunPeak, RunSum, SeriesSum};
use plimsoll_plan::program::{BodyUse, Ended, Step};
use plimsoll_wire::h1::{Answer, Ask, Eof};

/// From this many bytes on, a low-water mark saves more wake-ups than its two system calls cost.
pub(super) const LOW_WATER_FROM: u64 = 131_072;
/// First read where the last answer to the same request had a large body: enough for a head, and little of a body is
/// copied before the rest can be thrown away.
const HEAD_READ_BYTES: usize = 2_048;
/// Highest mark: below half of the receive buffer's usual ceiling (6 MB), above which the kernel would cut it down.
const LOW_WATER_MAX: u64 = 2_000_000;

/// How an exchange ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Answered(Answer),
    Streamed { status: u16, body_bytes: u64, by: Ended },
    Failed(Fault),
}

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bytes<'a> {
    /// The plan's own, or what the connection holds already.
    Prepared,
    /// Rendered just now; gone when the caller returns.
    Fresh(&'a [u8]),
}

impl<D: Door, P: Post> Worker<D, P> {
    /// Begins an exchange for a user: now when the connection stands, else as soon as it does.
    #[inline]
    pub(super) fn begin(&mut self, id: u32, user: u32, step: Step, bytes: Bytes<'_>, intended_ns: u64) {
        self.outstanding += 1;
        let kept = if step.body == BodyUse::Discard { None } else { Some(self.lend()) };
        let conn = &mut self.conns[id as usize];
        conn.user = user;
        conn.request = step.request;
        conn.step = step.id;
        conn.intended_ns = intended_ns;
        conn.sent_ns = 0;
        conn.body = step.body;
        conn.judged = step.judged;
        conn.timeout_ns = step.timeout_ns;
        conn.kept = kept;
        conn.short = false;
        conn.kept_head = 0;
        conn.head_shown = false;
        conn.cancelled = false;
        conn.ask = match bytes {
            Bytes::Prepared => self.compiled.requests[step.request as usize].ask,
            Bytes::Fresh(_) => {
                let http10 = self.outline.link.http10;
                Ask { head_only: step.head_only, http10, close: step.close }
            }
        };
        match conn.state {
            State::Idle => self.send(id, bytes),
            _ => {
                if let Bytes::Fresh(bytes) = bytes {
                    self.hold(id, bytes);
                }
                self.open(id);
            }
        }
    }

    fn open(&mut self, id: u32) {
        let token = self.conns[id as usize].token(id);
        self.tally.add(RunSum::ConnAttempts, 1);
        let turn = self.turn;
        self.turn = turn.wrapping_add(1);
        let address = self.addresses[turn % self.addresses.len()];
        let source = match self.sources.len() {
            0 => None,
            // Each address is met from each source: two turns in step would always meet the same pairs.
            count => Some(self.sources[turn / self.addresses.len() % count]),
        };
        match self.door.open(address, source, token) {
            Ok(socket) => {
                let conn = &mut self.conns[id as usize];
                conn.socket = socket;
                conn.address = (turn % self.addresses.len()) as u32;
                conn.state = State::Connecting;
                conn.since_ns = self.now_ns;
                conn.served = 0;
                conn.retransmits_seen = 0;
                conn.peer_closed = false;
                conn.reset = false;
                conn.low_water = 0;
                conn.read_shift = 0;
                conn.deadline_ns = self.now_ns + self.outline.limits.connect_timeout_ns;
                let deadline_ns = conn.deadline_ns;
                self.wheel.arm(id, deadline_ns);
                self.open_sockets += 1;
                self.tally.peak(RunPeak::Connections, self.open_sockets);
            }
            Err(errno) => self.refused_at_once(id, fault::of_connect(errno)),
        }
    }

    /// Everything that the kernel reports on a socket comes in here.
    pub(super) fn on_ready(&mut self, token: u64, flags: Flags) {
        let id = token as u32;
        let Some(conn) = self.conns.get_mut(id as usize) else { return };
        // An event of a socket that was closed earlier in this batch.
        if conn.token(id) != token || conn.socket < 0 {
            return;
        }
        if flags & (RDHUP | HUP | ERR) != 0 {
            conn.peer_closed = true;
        }
        if conn.state == State::Connecting {
            self.on_connecting(id, flags);
            // The edge is spent: what came with it (a greeting, an end) would otherwise be waited for in vain.
            let conn = &self.conns[id as usize];
            let speaks = conn.in_flight() || conn.state == State::Handshaking;
            if flags & (IN | RDHUP | HUP | ERR) != 0 && conn.token(id) == token && speaks {
                self.read(id);
            }
            return;
        }
        if flags & OUT != 0 && conn.tls.as_ref().is_some_and(|tls| !tls.unsent.is_empty()) {
            self.tell_time();
            self.flush(id);
        } else if flags & OUT != 0 && conn.state == State::Sending {
            self.tell_time();
            self.send_rest(id, Bytes::Prepared);
        }
        // One that waits for its share has its turn when those before it have had theirs.
        let conn = &self.conns[id as usize];
        if flags & (IN | RDHUP | HUP | ERR) != 0 && conn.token(id) == token && !conn.unread {
            self.read(id);
        }
    }

    fn on_connecting(&mut self, id: u32, flags: Flags) {
        self.tell_time();
        if flags & (ERR | HUP) != 0 {
            let socket = self.conns[id as usize].socket;
            if let Err(errno) = self.door.connect_result(socket) {
                self.close_socket(id);
                return self.connect_failed(id, fault::of_connect(errno));
            }
        }
        if flags & OUT == 0 {
            return;
        }
        let conn = &mut self.conns[id as usize];
        let took_ns = self.now_ns - conn.since_ns;
        conn.state = State::Idle;
        conn.failures = 0;
        conn.early = flags & IN != 0;
        self.tally.add(RunSum::ConnOpened, 1);
        self.tally.record(RunHist::Connect, took_ns);
        self.tally.floor(RunFloor::ConnectNs, took_ns);
        // A server may speak or close before it was asked; reading shows it before a request is wasted on it, but the
        // request is due now and is sent all the same: what the server then does to it is what a user would see.
        match &self.tls {
            None => self.send(id, Bytes::Prepared),
            Some(_) => self.begin_handshake(id),
        }
    }

    #[inline]
    pub(super) fn send(&mut self, id: u32, bytes: Bytes<'_>) {
        let conn = &mut self.conns[id as usize];
        let len = match (bytes, &conn.out) {
            (Bytes::Fresh(bytes), _) => bytes.len(),
            (_, Some(held)) => held.len(),
            _ => self.compiled.requests[conn.request as usize].bytes.len(),
        };
        conn.session.submit(conn.ask);
        conn.sent_ns = self.now_ns;
        conn.first_ns = 0;
        conn.written = 0;
        conn.state = State::Sending;
        let reused = conn.served > 0;
        conn.served += 1;
        let timeout_ns = if conn.timeout_ns > 0 { conn.timeout_ns } else { self.outline.timeout_ns };
        conn.deadline_ns = self.now_ns + timeout_ns;
        conn.part_until_ns = 0;
        let (request, deadline_ns, secured) = (conn.request, conn.deadline_ns, conn.tls.is_some());
        self.wheel.arm(id, deadline_ns);
        self.tally.sent(request, len, reused, self.now_ns);
        if let Some(address) = self.address_of(id) {
            self.tally.series(address).add(SeriesSum::Sent.id(), 1);
        }
        if secured {
            return self.send_sealed(id, bytes);
        }
        self.send_rest(id, bytes);
    }

    fn send_rest(&mut self, id: u32, fresh: Bytes<'_>) {
        let conn = &mut self.conns[id as usize];
        let bytes: &[u8] = match (fresh, &conn.out) {
            (Bytes::Fresh(bytes), _) => bytes,
            (_, Some(held)) => held,
            _ => &self.compiled.requests[conn.request as usize].bytes,
        };
        let was_partial = conn.written > 0;
        loop {
            match self.door.send(conn.socket, &bytes[conn.written as usize..]) {
                Io::Done(n) => {
                    conn.written += n as u32;
                    if conn.written as usize == bytes.len() {
                        conn.state = State::Waiting;
                        // The usual request fits at once and stalls for nothing; only the others are of interest.
                        if was_partial {
                            let stall_ns = self.now_ns - conn.sent_ns;
                            self.tally.record(RunHist::SendStall, stall_ns);
                        }
                        return self.let_go(id);
                    }
                }
                Io::WouldBlock => {
                    if let Bytes::Fresh(bytes) = fresh {
                        self.hold(id, bytes);
                    }
                    return;
                }
                Io::Failed(errno) => {
                    // The answer that explains it (413, say) may be waiting to be read.
                    let fault = fault::of_transfer(errno);
                    conn.state = State::Waiting;
                    conn.peer_closed = true;
                    conn.reset = fault == Fault::Reset;
                    if !conn.reset {
                        return self.failed(id, fault);
                    }
                    return self.read(id);
                }
            }
        }
    }

    pub(super) fn read(&mut self, id: u32) {
        if self.conns[id as usize].tls.is_some() {
            return self.read_sealed(id);
        }
        let reads = self.outline.read_bodies;
        let mut share = self.share();
        loop {
            let conn = &mut self.conns[id as usize];
            let skippable = if reads || conn.keeps_body() { 0 } else { conn.session.skippable() };
            if skippable > 0 {
                match self.door.discard(conn.socket, skippable.min(1 << 30) as usize) {
                    Io::Done(0) => return self.on_eof(id),
                    Io::Done(n) => {
                        let n = n as u64;
                        self.tell_time();
                        let conn = &mut self.conns[id as usize];
                        let (answer, peer_closed) = (conn.session.skip(n), conn.peer_closed);
                        if let Some(answer) = answer {
                            if !self.finished(id, answer, false) {
                                return;
                            }
                        } else if n < skippable && !peer_closed {
                            // Less than asked for: the queue is empty, the next edge will come.
                            self.move_low_water(id, skippable - n);
                            return;
                        }
                    }
                    Io::WouldBlock => return,
                    Io::Failed(errno) => return self.transfer_failed(id, fault::of_transfer(errno)),
                }
                continue;
            }
            let seen = reads || conn.keeps_body();
            let room = if !seen && self.large[conn.request as usize] && !conn.session.started() {
                HEAD_READ_BYTES
            } else {
                self.room(id)
            };
            let conn = &self.conns[id as usize];
            match self.door.recv(conn.socket, &mut self.buffer[..room]) {
                Io::Done(0) => return self.on_eof(id),
                Io::Done(n) => {
                    // A short read has emptied the queue: no second call just to hear "nothing".
                    let drained = n < room;
                    if !self.feed(id, n, false) {
                        return;
                    }
                    let conn = &self.conns[id as usize];
                    let left = conn.session.skippable();
                    let skips = !reads && !conn.keeps_body();
                    // Each event of a stream is waited for by itself.
                    let whole = conn.body != BodyUse::Stream;
                    let (peer_closed, marked) = (conn.peer_closed, conn.low_water > 0);
                    // A large body is waited for as a whole. The kernel looks at what it holds when the mark is set
                    // (tcp_set_rcvlowat), so data that came before is not forgotten.
                    if left >= LOW_WATER_FROM && whole && !marked && !peer_closed {
                        self.move_low_water(id, left);
                        return;
                    }
                    // The mark must never stand above what is still to come.
                    if marked && left > 0 {
                        self.move_low_water(id, left);
                    }
                    // A small rest of a body is skipped at once; anything else comes with its own edge.
                    if drained && !peer_closed && !(skips && left > 0) {
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

    /// Hands `n` bytes of the buffer, or of what TLS has opened, to the session. False: the socket is closed or has
    /// begun another exchange, and its own edges will come.
    #[inline]
    pub(super) fn feed(&mut self, id: u32, n: usize, opened: bool) -> bool {
        self.tell_time();
        let conn = &mut self.conns[id as usize];
        if conn.session.is_idle() {
            self.unasked(id, n, opened);
            return false;
        }
        if conn.first_ns == 0 {
            conn.first_ns = self.now_ns;
            if (conn.early || is_looked_at(conn.served)) && self.is_early(id, n, opened) {
                return false;
            }
        }
        let conn = &mut self.conns[id as usize];
        let bytes = if opened { &self.opened[..n] } else { &self.buffer[..n] };
        let fed = match (conn.body, &mut conn.kept) {
            (BodyUse::Stream, kept) => {
                let (head, head_bytes) = (kept.as_deref_mut(), &mut conn.kept_head);
                let (payload, lent) = (&mut self.payload, &mut self.lent);
                let mut sink = Streaming { head, head_bytes, payload, lent };
                conn.session.feed(bytes, &mut self.shared, &mut sink)
            }
            (BodyUse::Discard, _) | (_, None) => conn.session.feed(bytes, &mut self.shared, &mut ()),
            (body, Some(kept)) => {
                let most = if body == BodyUse::HeadOnly { 0 } else { self.outline.limits.kept_body_bytes };
                let (head_bytes, short) = (&mut conn.kept_head, &mut conn.short);
                let lent = &mut self.lent;
                let mut sink = Keep { into: kept, head_bytes, most: most as usize, lent, short };
                conn.session.feed(bytes, &mut self.shared, &mut sink)
            }
        };
        let dangerous = match &fed {
            Ok(fed) => fed.done.is_some() && is_dangerous(&bytes[fed.consumed..]),
            Err(_) => false,
        };
        match fed {
            // Whether they come with the answer or a segment later is chance; none of it can be told from the next.
            Ok(_) if dangerous => {
                let looked_at = matches!(conn.body, BodyUse::Stream | BodyUse::Decide);
                if !looked_at || self.shown(id, None, false) {
                    self.tally.add(RunSum::Surplus, 1);
                    self.failed(id, Fault::Dangerous);
                }
                false
            }
            Ok(fed) if matches!(conn.body, BodyUse::Stream | BodyUse::Decide) => {
                self.shown(id, fed.done, fed.consumed < n)
            }
            Ok(fed) => match fed.done {
                Some(answer) => {
                    if answer.status / 100 == 3 && !self.redirect_noted {
                        self.note_redirect(id, answer.status, n, opened);
                    }
                    self.finished(id, answer, fed.consumed < n)
                }
                None => {
                    self.time_part(id);
                    true
                }
            },
            Err(malformed) => {
                // What came in front of the damage is shown, wherever the bytes were cut.
                let looked_at = matches!(conn.body, BodyUse::Stream | BodyUse::Decide);
                if !looked_at || self.shown(id, None, false) {
                    self.refused(id, malformed);
                }
                false
            }
        }
    }

    /// Sets the mark once for a large body, and lowers it when less than that is still to come: a mark above the end
    /// of the body would wake nobody.
    fn move_low_water(&mut self, id: u32, left: u64) {
        let conn = &mut self.conns[id as usize];
        let wanted = left.min(LOW_WATER_MAX) as u32;
        let raise = conn.low_water == 0 && left >= LOW_WATER_FROM;
        if raise || wanted < conn.low_water {
            conn.low_water = wanted;
            self.door.set_low_water(conn.socket, wanted as usize);
        }
    }

    pub(super) fn on_eof(&mut self, id: u32) {
        self.tell_time();
        let conn = &mut self.conns[id as usize];
        conn.peer_closed = true;
        if conn.state == State::Handshaking {
            return self.handshake_failed(id, Fault::Tls, "the server closed in the middle of the handshake");
        }
        let (reused, reset) = (conn.served > 1, conn.reset);
        let cut = conn.tls.as_ref().is_some_and(|secured| !secured.link.is_closed());
        match conn.session.eof() {
            Eof::Idle => {
                self.tally.add(RunSum::ClosedByServer, 1);
                self.close_socket(id);
            }
            // Only the server's own end of TLS says that a body without a length is whole: anybody on the way can cut
            // TCP (RFC 9112, section 9.8).
            Eof::Complete(_) if cut => self.failed(id, Fault::ClosedMidResponse),
            Eof::Complete(answer) => {
                self.finished(id, answer, false);
            }
            Eof::BeforeHead if reused => self.stale(id),
            Eof::BeforeHead | Eof::InHead | Eof::InBody if reset => self.failed(id, Fault::Reset),
            Eof::BeforeHead => self.failed(id, Fault::ClosedBeforeResponse),
            Eof::InHead | Eof::InBody => self.failed(id, Fault::ClosedMidResponse),
        }
    }

    pub(super) fn transfer_failed(&mut self, id: u32, fault: Fault) {
        self.tell_time();
        let conn = &self.conns[id as usize];
        if conn.state == State::Handshaking {
            self.close_socket(id);
            return self.connect_failed(id, fault);
        }
        if conn.session.is_idle() {
            self.tally.add(RunSum::ClosedByServer, 1);
            return self.close_socket(id);
        }
        if fault == Fault::Reset && !conn.session.started() && conn.served > 1 {
            return self.stale(id);
        }
        self.failed(id, fault);
    }

    /// The server gave up an idle connection while a request was on its way.
    pub(super) fn stale(&mut self, id: u32) {
        let conn = &self.conns[id as usize];
        let idle_ns = conn.sent_ns.saturating_sub(conn.since_ns);
        self.tally.record(RunHist::Stale, idle_ns);
        self.failed(id, Fault::StaleConnection);
    }

    pub(super) fn on_deadline(&mut self, id: u32) {
        match self.conns[id as usize].state {
            State::Connecting => {
                self.close_socket(id);
                self.connect_failed(id, Fault::ConnectTimeout);
            }
            State::Handshaking => {
                self.close_socket(id);
                self.connect_failed(id, Fault::TlsTimeout);
            }
            // The request was sent long ago; the stream it opened does not come on.
            State::Waiting if self.conns[id as usize].is_streaming() => self.failed(id, Fault::StreamIdle),
            State::Sending | State::Waiting => self.timed_out(id),
            State::Pausing => self.pause_over(id),
            State::Idle | State::Closed => {}
        }
    }
}

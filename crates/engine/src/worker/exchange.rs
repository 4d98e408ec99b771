//! A request over a connection: open, send, read, and one of two ends: an answer or a fault.

use super::{Post, Worker};
use crate::conn::{Conn, State};
use crate::driver::{Door, ERR, Flags, HUP, IN, Io, OUT, RDHUP};
use crate::fault;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunFloor, RunHist, RunPeak, RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::program::{BodyUse, Step};
use plimsoll_wire::h1::{Answer, Eof, Sink};

/// From this many bytes on, a low-water mark saves more wake-ups than its two system calls cost.
const LOW_WATER_FROM: u64 = 131_072;
/// First read where the last answer to the same request had a large body: enough for a head, and little of a body is
/// copied before the rest can be thrown away.
const HEAD_READ_BYTES: usize = 2_048;
/// Highest mark: below half of the receive buffer's usual ceiling (6 MB), above which the kernel would cut it down.
const LOW_WATER_MAX: u64 = 2_000_000;

/// How an exchange ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Answered(Answer),
    Failed(Fault),
}

/// Keeps a body for somebody who reads it, up to a limit.
struct Keep<'a> {
    into: &'a mut Vec<u8>,
    most: usize,
}

impl Sink for Keep<'_> {
    const READS: bool = true;

    fn body(&mut self, bytes: &[u8]) {
        let room = self.most.saturating_sub(self.into.len());
        self.into.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl<D: Door, P: Post> Worker<D, P> {
    /// Begins an exchange for a user: now when the connection stands, else as soon as it does.
    pub(super) fn begin(&mut self, id: u32, user: u32, step: Step, intended_ns: u64) {
        self.outstanding += 1;
        let conn = &mut self.conns[id as usize];
        conn.user = user;
        conn.request = step.request;
        conn.step = step.id;
        conn.intended_ns = intended_ns;
        conn.sent_ns = 0;
        conn.kept = match step.body {
            BodyUse::Discard => None,
            BodyUse::Keep => Some(self.bodies.pop().unwrap_or_default()),
        };
        match conn.state {
            State::Idle => self.send(id),
            _ => self.open(id),
        }
    }

    fn open(&mut self, id: u32) {
        let token = self.conns[id as usize].token(id);
        self.tally.add(RunSum::ConnAttempts, 1);
        match self.door.open(self.address, token) {
            Ok(socket) => {
                let conn = &mut self.conns[id as usize];
                conn.socket = socket;
                conn.state = State::Connecting;
                conn.since_ns = self.now_ns;
                conn.served = 0;
                conn.retransmits_seen = 0;
                conn.peer_closed = false;
                conn.reset = false;
                conn.low_water = 0;
                conn.deadline_ns = self.now_ns + self.outline.limits.connect_timeout_ns;
                let deadline_ns = conn.deadline_ns;
                self.wheel.arm(id, deadline_ns);
                self.open_sockets += 1;
                self.tally.peak(RunPeak::Connections, self.open_sockets);
            }
            Err(errno) => self.connect_failed(id, fault::of_connect(errno)),
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
            if flags & (IN | RDHUP | HUP | ERR) != 0 && conn.token(id) == token && conn.in_flight() {
                self.read(id);
            }
            return;
        }
        if flags & OUT != 0 && conn.state == State::Sending {
            self.tell_time();
            self.send_rest(id);
        }
        if flags & (IN | RDHUP | HUP | ERR) != 0 && self.conns[id as usize].token(id) == token {
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
        self.tally.add(RunSum::ConnOpened, 1);
        self.tally.record(RunHist::Connect, took_ns);
        self.tally.floor(RunFloor::ConnectNs, took_ns);
        // A server may speak or close before it was asked; reading shows it before a request is wasted on it, but the
        // request is due now and is sent all the same: what the server then does to it is what a user would see.
        self.send(id);
    }

    #[inline]
    pub(super) fn send(&mut self, id: u32) {
        let conn = &mut self.conns[id as usize];
        let prepared = &self.compiled.requests[conn.request as usize];
        conn.session.submit(prepared.ask);
        conn.sent_ns = self.now_ns;
        conn.first_ns = 0;
        conn.written = 0;
        conn.state = State::Sending;
        let reused = conn.served > 0;
        conn.served += 1;
        conn.deadline_ns = self.now_ns + self.outline.timeout_ns;
        let (request, deadline_ns) = (conn.request, conn.deadline_ns);
        self.wheel.arm(id, deadline_ns);
        self.tally.sent(request, prepared.bytes.len(), reused, self.now_ns);
        self.send_rest(id);
    }

    fn send_rest(&mut self, id: u32) {
        let conn = &mut self.conns[id as usize];
        let bytes = &self.compiled.requests[conn.request as usize].bytes;
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
                        return;
                    }
                }
                Io::WouldBlock => return,
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

    fn read(&mut self, id: u32) {
        let reads = self.outline.read_bodies;
        loop {
            let conn = &mut self.conns[id as usize];
            let skippable = if reads || conn.kept.is_some() { 0 } else { conn.session.skippable() };
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
            let room = if !reads && self.large[conn.request as usize] && !conn.session.started() {
                HEAD_READ_BYTES
            } else {
                self.buffer.len()
            };
            match self.door.recv(conn.socket, &mut self.buffer[..room]) {
                Io::Done(0) => return self.on_eof(id),
                Io::Done(n) => {
                    // A short read has emptied the queue: no second call just to hear "nothing".
                    let drained = n < room;
                    if !self.feed(id, n) {
                        return;
                    }
                    let conn = &self.conns[id as usize];
                    let left = conn.session.skippable();
                    let skips = !reads && conn.kept.is_none();
                    let (peer_closed, marked) = (conn.peer_closed, conn.low_water > 0);
                    // A large body is waited for as a whole. The kernel looks at what it holds when the mark is set
                    // (tcp_set_rcvlowat), so data that came before is not forgotten.
                    if left >= LOW_WATER_FROM && !marked && !peer_closed {
                        self.move_low_water(id, left);
                        return;
                    }
                    // The mark must never stand above what is still to come.
                    if marked && left > 0 {
                        self.move_low_water(id, left);
                    }
                    // A small rest of a body is skipped at once; anything else comes with its own edge.
                    if drained && !peer_closed && !(skips && left > 0) {
                        return;
                    }
                }
                Io::WouldBlock => return,
                Io::Failed(errno) => return self.transfer_failed(id, fault::of_transfer(errno)),
            }
        }
    }

    /// Hands `n` bytes of the buffer to the session. False: the socket is closed or has begun another exchange, and
    /// its own edges will come.
    #[inline]
    fn feed(&mut self, id: u32, n: usize) -> bool {
        self.tell_time();
        let conn = &mut self.conns[id as usize];
        if conn.session.is_idle() {
            // Bytes that nobody asked for on an idle connection: with a close behind them a time-out notice, as a rule;
            // alone, the surplus of the last answer.
            self.tally.add(RunSum::Surplus, u64::from(!conn.peer_closed));
            self.tally.add(RunSum::ClosedByServer, 1);
            self.close_socket(id);
            return false;
        }
        if conn.first_ns == 0 {
            conn.first_ns = self.now_ns;
        }
        let bytes = &self.buffer[..n];
        let fed = match &mut conn.kept {
            None => conn.session.feed(bytes, &mut self.shared, &mut ()),
            Some(kept) => {
                let most = self.outline.limits.kept_body_bytes as usize;
                conn.session.feed(bytes, &mut self.shared, &mut Keep { into: kept, most })
            }
        };
        match fed {
            Ok(fed) => match fed.done {
                Some(answer) => self.finished(id, answer, fed.consumed < n),
                None => true,
            },
            Err(malformed) => {
                self.failed(id, fault::of_answer(malformed));
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

    fn on_eof(&mut self, id: u32) {
        self.tell_time();
        let conn = &mut self.conns[id as usize];
        conn.peer_closed = true;
        let (reused, reset) = (conn.served > 1, conn.reset);
        match conn.session.eof() {
            Eof::Idle => {
                self.tally.add(RunSum::ClosedByServer, 1);
                self.close_socket(id);
            }
            Eof::Complete(answer) => {
                self.finished(id, answer, false);
            }
            Eof::BeforeHead if reused => self.stale(id),
            Eof::BeforeHead | Eof::InHead | Eof::InBody if reset => self.failed(id, Fault::Reset),
            Eof::BeforeHead => self.failed(id, Fault::ClosedBeforeResponse),
            Eof::InHead | Eof::InBody => self.failed(id, Fault::ClosedMidResponse),
        }
    }

    fn transfer_failed(&mut self, id: u32, fault: Fault) {
        self.tell_time();
        let conn = &self.conns[id as usize];
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
    fn stale(&mut self, id: u32) {
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
            State::Sending | State::Waiting => self.timed_out(id),
            State::Pausing => self.pause_over(id),
            State::Idle | State::Closed => {}
        }
    }

    /// A time-out cuts the measurement off: the true time is only known to be longer.
    fn timed_out(&mut self, id: u32) {
        let conn = &self.conns[id as usize];
        let (request, now_ns) = (conn.request, self.now_ns);
        let (intended_ns, sent_ns) = (conn.intended_ns, conn.sent_ns);
        let series = self.tally.series(request);
        series.record(SeriesHist::ResponseCensored.id(), now_ns - intended_ns);
        series.record(SeriesHist::ServiceCensored.id(), now_ns - sent_ns);
        self.failed(id, Fault::Timeout);
    }

    /// A whole answer. Returns whether the socket is still at rest in our hands.
    #[inline]
    fn finished(&mut self, id: u32, answer: Answer, unasked_bytes: bool) -> bool {
        let now_ns = self.now_ns;
        self.tally.landed(now_ns);
        let conn = &mut self.conns[id as usize];
        let (request, first_ns) = (conn.request, if conn.first_ns == 0 { now_ns } else { conn.first_ns });
        let (intended_ns, sent_ns) = (conn.intended_ns, conn.sent_ns);
        conn.deadline_ns = 0;
        conn.since_ns = now_ns;
        let keep = answer.reusable && !unasked_bytes && !conn.peer_closed && conn.state == State::Waiting;
        if conn.low_water > 0 {
            conn.low_water = 0;
            if keep {
                self.door.set_low_water(conn.socket, 1);
            }
        }
        conn.state = State::Idle;
        let series = self.tally.series(request);
        self.large[request as usize] = answer.body_bytes >= LOW_WATER_FROM;
        series.add(SeriesSum::BytesIn.id(), answer.wire_bytes);
        series.add(SeriesSum::BodyBytes.id(), answer.body_bytes);
        series.record(SeriesHist::Response.id(), now_ns - intended_ns);
        series.record(SeriesHist::Service.id(), now_ns - sent_ns);
        series.record(SeriesHist::FirstByte.id(), first_ns - sent_ns);
        series.record(SeriesHist::Body.id(), now_ns - first_ns);
        series.record(SeriesHist::BodySize.id(), answer.body_bytes);
        self.tally.status(request, answer.status);
        // Whether surplus bytes come with the answer or a segment later is chance: the answer counts either way, and
        // the connection is given up, because the next answer could not be told from them.
        if unasked_bytes {
            self.tally.add(RunSum::Surplus, 1);
        }
        if !keep {
            let who = if unasked_bytes {
                RunSum::ClosedByFault
            } else if !self.outline.keep_alive {
                // Who sends the first FIN after `Connection: close` is chance; who wanted it is not.
                RunSum::ClosedByUs
            } else {
                RunSum::ClosedByServer
            };
            self.tally.add(who, 1);
            self.close_socket(id);
        }
        self.outstanding -= 1;
        self.ended(id, End::Answered(answer));
        keep && self.conns[id as usize].state == State::Idle
    }

    /// An exchange that was sent ends in a fault; the connection goes with it.
    pub(super) fn failed(&mut self, id: u32, fault: Fault) {
        self.tally.landed(self.now_ns);
        let conn = &self.conns[id as usize];
        let (request, took_ns) = (conn.request, self.now_ns.saturating_sub(conn.sent_ns));
        self.tally.fault(request, fault);
        // A time-out has put its time among the censored ones; any other failure ends at a known instant.
        if fault != Fault::Timeout {
            self.tally.series(request).record(SeriesHist::FailedService.id(), took_ns);
        }
        self.tally.add(RunSum::ClosedByFault, 1);
        self.close_socket(id);
        self.outstanding -= 1;
        self.ended(id, End::Failed(fault));
    }

    /// Closes and forgets the socket; its last account is read first.
    pub(super) fn close_socket(&mut self, id: u32) {
        let conn = &self.conns[id as usize];
        if conn.state != State::Connecting {
            let served = u64::from(conn.served);
            let rtt_ns = self.read_facts(id);
            self.tally.record(RunHist::ConnRequests, served);
            if rtt_ns > 0 {
                self.tally.record(RunHist::Rtt, rtt_ns);
            }
        } else {
            // SYNs sent again count too.
            self.read_facts(id);
        }
        let conn: &mut Conn = &mut self.conns[id as usize];
        self.door.close(conn.socket);
        self.open_sockets -= 1;
        conn.socket = -1;
        conn.generation = conn.generation.wrapping_add(1);
        conn.state = State::Closed;
        conn.deadline_ns = 0;
        conn.session.reset(&mut self.shared);
    }
}

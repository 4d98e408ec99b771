//! The ends of an exchange that was sent: a whole answer, or a failure; counted, and the connection kept or closed.

use super::exchange::{End, LOW_WATER_FROM};
use super::{Post, Worker};
use crate::conn::{Conn, State};
use crate::driver::Door;
use crate::fault;
use plimsoll_plan::Fault;
use plimsoll_plan::answer::Statuses;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::program::{BodyUse, Ended};
use plimsoll_wire::h1::{Answer, Malformed};

impl<D: Door, P: Post> Worker<D, P> {
    /// A time-out cuts the measurement off: the true time is only known to be longer.
    pub(super) fn timed_out(&mut self, id: u32) {
        let conn = &self.conns[id as usize];
        let (request, now_ns) = (conn.request, self.now_ns);
        let (intended_ns, sent_ns) = (conn.intended_ns, conn.sent_ns);
        self.cut_phases(id, now_ns);
        let series = self.tally.series(request);
        series.record(SeriesHist::ResponseCensored.id(), now_ns - intended_ns);
        series.record(SeriesHist::ServiceCensored.id(), now_ns - sent_ns);
        self.failed(id, Fault::Timeout);
    }

    /// Where the time of a request went that is cut off at `end_ns`.
    pub(super) fn cut_phases(&mut self, id: u32, end_ns: u64) {
        let conn = &self.conns[id as usize];
        let first_ns = if conn.first_ns == 0 { end_ns } else { conn.first_ns };
        let instants_ns = [conn.intended_ns, conn.sent_ns, first_ns, end_ns];
        self.count_phases(conn.request, instants_ns);
    }

    /// The same for a request that was due, sent, first answered and over at these instants. The length of a stream was
    /// somebody's choice: beside those of requests it would be the tail of them all.
    #[inline]
    pub(super) fn count_phases(&mut self, request: u32, instants_ns: [u64; 4]) {
        if !self.outline.requests.get(request as usize).is_some_and(|request| request.stream) {
            self.tally.phases(instants_ns);
        }
    }

    /// A whole answer. Returns whether the socket is still at rest in our hands.
    #[inline]
    pub(super) fn finished(&mut self, id: u32, answer: Answer, unasked_bytes: bool) -> bool {
        let conn = &self.conns[id as usize];
        if conn.short && conn.kept_head == 0 {
            // Without the head, checks and extractions would fail and the server would be blamed.
            self.failed(id, Fault::ClientMemory);
            return false;
        }
        let conn = &mut self.conns[id as usize];
        let mut end = End::Answered(answer);
        let mut keep = answer.reusable && !unasked_bytes && !conn.peer_closed && conn.state == State::Waiting;
        // By whom, if it is not kept.
        let mut by_us = !self.outline.keep_alive;
        if conn.body == BodyUse::Stream
            && let Some(mut stream) = conn.stream.take()
        {
            let by = if conn.cancelled { Ended::Client } else { Ended::Server };
            (keep, by_us) = (keep && !conn.cancelled, by_us || conn.cancelled);
            let request = conn.request;
            end = End::Streamed { status: stream.status, body_bytes: answer.body_bytes, by };
            self.forget_stream(&mut stream);
            let sum = if by == Ended::Client { SeriesSum::StreamsByUs } else { SeriesSum::StreamsByServer };
            // What was never counted as opened is not counted as closed.
            self.tally.series(request).add(sum.id(), u64::from(stream.is_accepted()));
        }
        let conn = &mut self.conns[id as usize];
        if keep && self.requests_per_connection.is_some_and(|most| conn.served >= most) {
            (keep, by_us) = (false, true);
        }
        self.count_answer(id, answer, keep);
        // An empty line, or a notice that the server gives up the connection: the answer counts, nothing else is asked.
        if unasked_bytes {
            self.tally.add(RunSum::Surplus, 1);
        }
        if !keep {
            let who = if unasked_bytes {
                RunSum::ClosedByFault
            } else if by_us {
                // Who sends the first FIN after `Connection: close` is chance; who wanted it is not.
                RunSum::ClosedByUs
            } else {
                RunSum::ClosedByServer
            };
            self.tally.add(who, 1);
            self.close_socket(id);
        }
        self.outstanding -= 1;
        self.ended(id, end);
        keep && self.conns[id as usize].state == State::Idle
    }

    /// Of several addresses, the one that was asked counts, too.
    #[inline]
    fn land(&mut self, id: u32) {
        self.tally.landed(self.conns[id as usize].request, self.now_ns);
        if let Some(address) = self.address_of(id) {
            self.tally.series(address).add(SeriesSum::Ended.id(), 1);
        }
    }

    #[inline]
    fn count_answer(&mut self, id: u32, answer: Answer, keep: bool) {
        let now_ns = self.now_ns;
        self.land(id);
        let conn = &mut self.conns[id as usize];
        let (request, first_ns) = (conn.request, if conn.first_ns == 0 { now_ns } else { conn.first_ns });
        let (intended_ns, sent_ns, judged) = (conn.intended_ns, conn.sent_ns, conn.judged);
        conn.deadline_ns = 0;
        conn.part_until_ns = 0;
        conn.since_ns = now_ns;
        if conn.low_water > 0 {
            conn.low_water = 0;
            if keep {
                self.door.set_low_water(conn.socket, 1);
            }
        }
        conn.state = State::Idle;
        conn.failed = !judged && !Statuses::usual(answer.status);
        self.count_phases(request, [intended_ns, sent_ns, first_ns, now_ns]);
        let series = self.tally.series(request);
        self.large[request as usize] = answer.body_bytes >= LOW_WATER_FROM;
        series.add(SeriesSum::BytesIn.id(), answer.wire_bytes);
        series.add(SeriesSum::BodyBytes.id(), answer.body_bytes);
        series.record(SeriesHist::Response.id(), now_ns - intended_ns);
        series.record(SeriesHist::Service.id(), now_ns - sent_ns);
        series.record(SeriesHist::FirstByte.id(), first_ns - sent_ns);
        series.record(SeriesHist::Body.id(), now_ns - first_ns);
        series.record(SeriesHist::BodySize.id(), answer.body_bytes);
        self.tally.status(request, answer.status, judged, now_ns);
    }

    /// An exchange that was sent ends in a fault; the connection goes with it.
    pub(super) fn failed(&mut self, id: u32, fault: Fault) {
        self.land(id);
        let conn = &self.conns[id as usize];
        let (request, took_ns) = (conn.request, self.now_ns.saturating_sub(conn.sent_ns));
        self.tally.fault(request, fault, self.now_ns);
        // A time-out has put its time among the censored ones; any other failure ends at a known instant.
        if fault != Fault::Timeout {
            self.tally.series(request).record(SeriesHist::FailedService.id(), took_ns);
        }
        self.tally.add(RunSum::ClosedByFault, 1);
        if let Some(mut stream) = self.conns[id as usize].stream.take() {
            self.forget_stream(&mut stream);
        }
        self.close_socket(id);
        self.outstanding -= 1;
        self.ended(id, End::Failed(fault));
    }

    /// An answer is refused: for what it is, or for a limit that the plan has lowered.
    pub(super) fn refused(&mut self, id: u32, malformed: Malformed) {
        match fault::lowered(malformed, &self.outline.limits) {
            Some((name, value)) => self.cut_by(id, name, value),
            None => self.failed(id, fault::of_answer(malformed)),
        }
    }

    /// A limit of ours has ended an exchange. The number of the fault does not say which one.
    pub(super) fn cut_by(&mut self, id: u32, name: &str, value: u64) {
        self.tell_of(
            id,
            Fault::ClientLimit,
            &format!("the limit `{name}` is `{value}`, less than its default"),
        );
        self.failed(id, Fault::ClientLimit);
    }

    /// Closes and forgets the socket; its last account is read first.
    pub(super) fn close_socket(&mut self, id: u32) {
        let conn = &self.conns[id as usize];
        if !matches!(conn.state, State::Connecting | State::Handshaking) {
            let served = u64::from(conn.served);
            let facts = self.read_facts(id);
            self.tally.record(RunHist::ConnRequests, served);
            self.tally.add(RunSum::Disordered, u64::from(facts.disordered));
            if facts.rtt_ns > 0 {
                self.tally.record(RunHist::Rtt, facts.rtt_ns);
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
        conn.part_until_ns = 0;
        conn.unread = false;
        conn.tls = None;
        conn.session.reset(&mut self.shared);
    }
}

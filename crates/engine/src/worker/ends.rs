//! The ends of a sent exchange: a complete response, or a failure. It is counted, and the connection is kept or closed.

use super::exchange::End;
use super::read::LOW_WATER_FROM;
use super::{Post, Source, Worker};
use crate::driver::Door;
use crate::exchange::Phase;
use crate::fault;
use crate::link::NONE;
use plimsoll_plan::Fault;
use plimsoll_plan::answer::Statuses;
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum, StreamSum};
use plimsoll_plan::program::{BodyUse, Ended};
use plimsoll_wire::h1::{Answer, Malformed};

impl<D: Door, P: Post> Worker<D, P> {
    /// Ends a request that timed out: its true response time is longer, so the measured one is a lower bound.
    pub(super) fn timed_out(&mut self, id: u32) {
        let exchange = &self.exchanges[id as usize];
        let (request, now_ns) = (exchange.request, self.now_ns);
        let (intended_ns, sent_ns) = (exchange.intended_ns, exchange.sent_ns);
        self.cut_phases(id, now_ns);
        let series = self.tally.series(request);
        series.record(SeriesHist::ResponseCensored.id(), now_ns - intended_ns);
        series.record(SeriesHist::ServiceCensored.id(), now_ns - sent_ns);
        self.failed(id, Fault::Timeout);
    }

    /// Ends an exchange at the end of the run: a request in flight has neither a response nor a failure.
    pub(super) fn cut_off(&mut self, id: u32, end_ns: u64) {
        let exchange = &self.exchanges[id as usize];
        if exchange.user == NONE {
            return;
        }
        let (request, intended_ns, sent_ns) = (exchange.request, exchange.intended_ns, exchange.sent_ns);
        if exchange.stream.is_some() {
            self.tally.rested(end_ns);
            return self.stop_stream(id);
        }
        match exchange.phase {
            Phase::Queued if exchange.is_resent => {
                // It was sent, and waits for its retry.
                self.tally.rested(end_ns);
                self.tally.add(RunSum::InFlightAtEnd, 1);
                self.count_phases(request, [intended_ns, end_ns, end_ns, end_ns]);
                let series = self.tally.series(request);
                series.record(SeriesHist::ResponseCensored.id(), end_ns.saturating_sub(intended_ns));
            }
            Phase::Sending | Phase::Waiting => {
                self.tally.rested(end_ns);
                self.tally.add(RunSum::InFlightAtEnd, 1);
                self.cut_phases(id, end_ns);
                let series = self.tally.series(request);
                series.record(SeriesHist::ResponseCensored.id(), end_ns.saturating_sub(intended_ns));
                series.record(SeriesHist::ServiceCensored.id(), end_ns.saturating_sub(sent_ns));
            }
            Phase::Queued => {
                if self.is_arrival(id) || matches!(self.source_of(exchange.user), Source::Closed { .. }) {
                    // A user may still wait for a connection: without this, a service that accepts no more connections
                    // would leave no trace.
                    self.tally.add(RunSum::ArrivalsNotStarted, 1);
                    self.count_phases(request, [intended_ns, end_ns, end_ns, end_ns]);
                    let series = self.tally.series(request);
                    series.record(SeriesHist::ResponseCensored.id(), end_ns.saturating_sub(intended_ns));
                }
            }
            // Counted when it happened.
            Phase::Failed(_) | Phase::SentBack | Phase::Owed => {}
        }
    }

    /// Records the latency breakdown of a request that is cut off at `end_ns`.
    pub(super) fn cut_phases(&mut self, id: u32, end_ns: u64) {
        let exchange = &self.exchanges[id as usize];
        let first_ns = if exchange.first_ns == 0 { end_ns } else { exchange.first_ns };
        let instants_ns = [exchange.intended_ns, exchange.sent_ns, first_ns, end_ns];
        self.count_phases(exchange.request, instants_ns);
    }

    /// Records the latency breakdown of a request by its intended start time, send time, time of the first byte, and
    /// end time. Streams are excluded: their length was chosen, and among requests they would be the whole tail.
    #[inline]
    pub(super) fn count_phases(&mut self, request: u32, instants_ns: [u64; 4]) {
        if !self.outline.requests.get(request as usize).is_some_and(|request| request.is_stream) {
            self.tally.phases(instants_ns);
        }
    }

    /// Handles a complete response. Returns whether the socket is idle and still owned by the worker.
    #[inline]
    pub(super) fn finished(&mut self, id: u32, answer: Answer, unasked_bytes: bool) -> bool {
        let is_refused = self.courier.is_some() && self.is_refused(id);
        let exchange = &self.exchanges[id as usize];
        if self.links[exchange.link as usize].session.is_multiplexed() {
            return self.stream_finished(id, answer);
        }
        if exchange.short && exchange.kept_head == 0 {
            // Without the head, checks and extractions would fail and blame the server.
            self.failed(id, Fault::ClientOutOfMemory);
            return false;
        }
        let exchange = &mut self.exchanges[id as usize];
        let at = exchange.link;
        let link = &self.links[at as usize];
        let whole = exchange.phase == Phase::Waiting;
        let mut keep = answer.reusable && !unasked_bytes && !link.is_peer_closed() && whole;
        // Whether the client closes the connection, if it is not kept.
        let mut by_us = !self.outline.keep_alive || is_refused;
        let cancelled = exchange.cancelled && exchange.stream.is_some();
        (keep, by_us) = (keep && !cancelled, by_us || cancelled);
        let end = self.end_of(id, answer);
        let served = self.links[at as usize].served;
        if keep && self.requests_per_connection.is_some_and(|most| served >= most) {
            (keep, by_us) = (false, true);
        }
        self.count_answer(id, answer, keep);
        // An empty line, or a notice that the server closes the connection: the response counts, and the connection is
        // not used again.
        if unasked_bytes {
            self.tally.add(RunSum::UnexpectedBytes, 1);
        }
        if !keep {
            let who = if unasked_bytes {
                RunSum::ClosedAfterError
            } else if by_us {
                // It is chance which side sends the first FIN after `Connection: close`; it is not chance which side
                // wanted it.
                RunSum::ClosedByClient
            } else {
                RunSum::ClosedByServer
            };
            self.tally.add(who, 1);
            self.close_socket(at);
        }
        self.outstanding -= 1;
        self.ended(id, end);
        keep && self.links[at as usize].is_at_rest()
    }

    /// Returns how a complete response ended; one that is a stream of events is counted as closed.
    #[inline]
    pub(super) fn end_of(&mut self, id: u32, answer: Answer) -> End {
        let exchange = &mut self.exchanges[id as usize];
        if !exchange.body.is_stream() && exchange.body != BodyUse::WebSocket {
            return End::Answered(answer);
        }
        let Some(mut stream) = exchange.stream.take() else { return End::Answered(answer) };
        let by = if exchange.cancelled { Ended::Client } else { Ended::Server };
        let request = exchange.request;
        self.forget_stream(&mut stream);
        let sum = if by == Ended::Client { StreamSum::ClosedByClient } else { StreamSum::ClosedByServer };
        // A stream that was not counted as opened is not counted as closed.
        self.tally.series(request).add(sum.id(), u64::from(stream.is_accepted()));
        End::Streamed { status: stream.status, body_bytes: answer.body_bytes, by }
    }

    /// Notes the end of an exchange, also for the address it used if an origin has several.
    #[inline]
    pub(super) fn land(&mut self, id: u32) {
        let exchange = &self.exchanges[id as usize];
        self.tally.landed(exchange.request, self.now_ns);
        if let Some(address) = self.address_of(exchange.link) {
            self.tally.series(address).add(SeriesSum::Ended.id(), 1);
        }
    }

    #[inline]
    pub(super) fn count_answer(&mut self, id: u32, answer: Answer, keep: bool) {
        let now_ns = self.now_ns;
        self.land(id);
        let exchange = &self.exchanges[id as usize];
        let request = exchange.request;
        let first_ns = if exchange.first_ns == 0 { now_ns } else { exchange.first_ns };
        let (intended_ns, sent_ns, judged) = (exchange.intended_ns, exchange.sent_ns, exchange.judged);
        let link = &mut self.links[exchange.link as usize];
        if link.low_water > 0 {
            link.low_water = 0;
            if keep {
                self.door.set_low_water(link.socket, 1);
            }
        }
        link.failed = !judged && !Statuses::usual(answer.status);
        self.count_phases(request, [intended_ns, sent_ns, first_ns, now_ns]);
        let series = self.tally.series(request);
        // Series opened during the run have no entry: their bodies are read as they arrive.
        if let Some(large) = self.large.get_mut(request as usize) {
            *large = answer.body_bytes >= LOW_WATER_FROM;
        }
        series.add(SeriesSum::BytesIn.id(), answer.wire_bytes);
        series.add(SeriesSum::BodyBytes.id(), answer.body_bytes);
        series.record(SeriesHist::Response.id(), now_ns - intended_ns);
        series.record(SeriesHist::Service.id(), now_ns - sent_ns);
        series.record(SeriesHist::FirstByte.id(), first_ns - sent_ns);
        series.record(SeriesHist::Body.id(), now_ns - first_ns);
        series.record(SeriesHist::BodySize.id(), answer.body_bytes);
        self.tally.status(request, answer.status, judged, now_ns);
    }

    /// Ends a sent exchange with a fault; a connection of HTTP/1 is closed with it.
    pub(super) fn failed(&mut self, id: u32, fault: Fault) {
        let link = self.exchanges[id as usize].link;
        if self.links[link as usize].session.is_multiplexed() {
            return self.stream_failed(id, fault);
        }
        self.count_failure(id, fault);
        self.tally.add(RunSum::ClosedAfterError, 1);
        self.close_socket(link);
        self.outstanding -= 1;
        self.ended(id, End::Failed(fault));
    }

    /// Counts the failure of a sent exchange.
    pub(super) fn count_failure(&mut self, id: u32, fault: Fault) {
        self.land(id);
        let exchange = &mut self.exchanges[id as usize];
        let request = exchange.request;
        let took_ns = self.now_ns.saturating_sub(exchange.sent_ns);
        let stream = exchange.stream.take();
        self.tally.fault(request, fault, self.now_ns);
        // The time of a timeout is recorded among the lower bounds; any other failure ends at a known time.
        if fault != Fault::Timeout {
            self.tally.series(request).record(SeriesHist::FailedService.id(), took_ns);
        }
        if let Some(mut stream) = stream {
            self.forget_stream(&mut stream);
        }
    }

    /// Refuses a response because it is invalid, or because of a limit that the plan has lowered.
    pub(super) fn refused(&mut self, id: u32, malformed: Malformed) {
        match fault::lowered(malformed, &self.outline.limits) {
            Some((name, value)) => self.cut_by(id, name, value),
            None => self.failed(id, fault::of_answer(malformed)),
        }
    }

    /// Ends an exchange because of a client limit, and notes which one: the number of the fault does not say.
    pub(super) fn cut_by(&mut self, id: u32, name: &str, value: u64) {
        self.tell_of(
            self.exchanges[id as usize].request,
            Fault::ClientLimit,
            &format!("the limit `{name}` is `{value}`, less than its default"),
        );
        self.failed(id, Fault::ClientLimit);
    }
}

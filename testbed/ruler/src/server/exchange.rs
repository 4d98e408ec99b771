//! The life of one request: counted, decided, served by a worker, answered, recorded.

use super::Server;
use super::slots::{Connection, Exchange, Stage};
use crate::answer::{compose, compose_stream_head};
use crate::control::PREFIX;
use crate::error::Error;
use crate::fault::Fault;
use crate::kept::{Complete, Keep};
use crate::observed::Origin;
use crate::outgoing::{End, push_text};
use crate::pages::Page;
use crate::record::{Mark, Recorder};
use crate::settings::{Behavior, Overflow};
use crate::station::Admission;
use crate::timers::{Key, Task, Ticket};
use rustix::net::getpeername;
use std::net::SocketAddr;

impl Server {
    /// Handles a complete request in the connection's parser.
    pub(super) fn begin(&mut self, key: Key) -> Result<(), Error> {
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        if connection.reader.target().starts_with(PREFIX) {
            return self.command(key);
        }
        // A pipelined request waits for the previous one on its connection.
        let (arrive_ns, begin_ns) = (connection.read_ns, connection.read_ns.max(connection.free_since_ns));
        let behavior = match connection.reader.target().iter().position(|&byte| byte == b'?') {
            Some(at) => self.settings.for_request(&connection.reader.target()[at + 1..]),
            None => Ok(self.settings.behavior.clone()),
        };
        let wanted = behavior.and_then(|behavior| Ok((self.page(key, &behavior)?, behavior)));
        let Some(mark) = self.count(key) else { return Ok(()) };
        let ((page, behavior), refusal) = match wanted {
            Ok(wanted) => (wanted, None),
            Err(sentence) => ((None, self.settings.behavior.clone()), Some(sentence)),
        };
        let (status, fault) = match &refusal {
            None => self.decide(key, &behavior, page.as_deref()),
            Some(_) => (400, None),
        };
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        let head = &connection.reader.head;
        let status = if head.is_refused && refusal.is_none() { 417 } else { status };
        let limit = self.settings.service.keep_alive_requests;
        connection.exchange = Some(Exchange {
            mark,
            behavior,
            status,
            fault,
            page,
            overflowed: false,
            arrive_ns,
            head_only: head.asks_head_only,
            to_http10: head.http10,
            keep_alive: head.keep_alive && (limit == 0 || u64::from(connection.turn) < limit),
            asks_keep_alive: head.asks_keep_alive,
        });
        connection.stage = Stage::Waiting;
        let ticket = Ticket { key, turn: connection.turn };
        match refusal {
            None => self.admit(ticket, begin_ns),
            Some(sentence) => self.reply(key, 400, "text/plain", "", format!("{sentence}\n").as_bytes()),
        }
    }

    /// Counts and logs the request in the parser, keeps its bytes, and restarts the parser.
    fn count(&mut self, key: Key) -> Option<Mark> {
        let connection = self.slots.get(key)?;
        connection.turn = connection.turn.wrapping_add(1);
        let target = connection.reader.target();
        let path = target.split(|&byte| byte == b'?').next().unwrap_or(target);
        let mark = self.recorder.arrived(path, connection.read_ns, connection.number);
        if self.settings.service.keep != Keep::None {
            let origin = origin(connection, connection.turn);
            let reader = &connection.reader;
            let request = Complete {
                raw: &reader.raw,
                is_cut: reader.raw_is_cut,
                arrive_ns: connection.read_ns,
                arrival: reader.arrival,
                origin,
            };
            self.recorder.kept.add(self.settings.service.keep, request);
        }
        self.recorder.last_request_is_cut = connection.reader.raw_is_cut;
        // Swapping the buffers keeps the bytes without copying them.
        std::mem::swap(&mut self.recorder.last_request, &mut connection.reader.raw);
        connection.reader.restart();
        Some(mark)
    }

    /// Counts a request in the input of a connection that has failed.
    pub(super) fn count_unanswerable(&mut self, key: Key) {
        let control = self.slots.get(key).is_some_and(|connection| {
            let control = connection.reader.target().starts_with(PREFIX);
            if control {
                connection.reader.restart();
            }
            control
        });
        if !control && self.count(key).is_some() {
            self.recorder.counters.abandoned += 1;
        }
    }

    pub(super) fn decide(
        &mut self,
        key: Key,
        behavior: &Behavior,
        page: Option<&Page>,
    ) -> (u16, Option<Fault>) {
        let failing = self.streams.error.hits(behavior.error_rate);
        let status = match page {
            _ if failing => behavior.error_status,
            Some(Page::Socket(_)) if behavior.status == 200 => 101,
            // A configured status overrides that of the endpoint.
            Some(Page::Body(body)) if behavior.status == 200 => body.status,
            _ => behavior.status,
        };
        if let Some(connection) = self.slots.get(key)
            && connection.doomed
        {
            return (status, Some(Fault::ResetBefore));
        }
        let fault = (behavior.fault)
            .filter(|&fault| fault != Fault::AcceptThenReset)
            .filter(|_| self.streams.fault.hits(behavior.fault_rate));
        (status, fault)
    }

    /// Offers the request to the station, if there is one, at `begin_ns`.
    pub(super) fn admit(&mut self, ticket: Ticket, begin_ns: u64) -> Result<(), Error> {
        let service = &self.settings.service;
        if service.workers == 0 {
            self.note_begin(ticket, begin_ns);
            return self.schedule(ticket, begin_ns);
        }
        match self.station.offer(ticket, begin_ns, service.workers, service.queue) {
            Admission::Begins(instant_ns) => {
                self.serve(ticket, instant_ns);
                Ok(())
            }
            Admission::Waits => Ok(()),
            Admission::Overflows => {
                let overflow = service.overflow;
                let Some(exchange) = self.exchange(ticket) else { return Ok(()) };
                exchange.overflowed = true;
                exchange.status = 503;
                exchange.fault = match overflow {
                    Overflow::Status503 => None,
                    Overflow::Reset if ticket.key.is_stream() => Some(Fault::Refused),
                    Overflow::Reset => Some(Fault::ResetBefore),
                    Overflow::Close => Some(Fault::CloseBefore),
                };
                let mark = exchange.mark;
                if self.recorder.remembers(mark) {
                    self.recorder.counters.overflowed += 1;
                }
                let due_ns = self.held(begin_ns);
                self.answer_at(ticket, due_ns)
            }
        }
    }

    /// Starts the service of the request at `begin_ns`. The worker is busy until the response may be sent, even if the
    /// client leaves before that, as a real one is.
    fn serve(&mut self, ticket: Ticket, begin_ns: u64) {
        self.note_begin(ticket, begin_ns);
        let service_ns = self.settings.service.service.draw(&mut self.streams.service);
        let end_ns = self.held(begin_ns + service_ns);
        self.timers.push(end_ns, Task::EndService(ticket));
    }

    pub(super) fn service_ends(&mut self, ticket: Ticket, end_ns: u64) -> Result<(), Error> {
        // A pause that was set in the meantime applies, too.
        let held_ns = self.held(end_ns);
        if held_ns > end_ns {
            self.timers.push(held_ns, Task::EndService(ticket));
            return Ok(());
        }
        self.station.release(end_ns);
        self.take_waiting();
        self.schedule(ticket, end_ns)?;
        self.pump(ticket.key)
    }

    /// Assigns waiting requests to idle workers.
    pub(super) fn take_waiting(&mut self) {
        // Without a queue model, no request waits.
        let workers = match self.settings.service.workers {
            0 => u64::MAX,
            workers => workers,
        };
        while let Some((ticket, begin_ns)) = self.station.take_next(workers) {
            self.serve(ticket, begin_ns);
        }
    }

    /// Schedules the response after `ready_ns`, the configured delay, and a pause.
    fn schedule(&mut self, ticket: Ticket, ready_ns: u64) -> Result<(), Error> {
        let Some(exchange) = self.exchange(ticket) else { return Ok(()) };
        let delay = exchange.behavior.delay;
        let delay_ns = delay.draw(&mut self.streams.delay);
        let due_ns = self.held(ready_ns + delay_ns);
        // A response that is due at its own arrival is late already, so there is no need to read the clock.
        if delay_ns == 0 && due_ns == ready_ns {
            self.answer(ticket, due_ns)
        } else {
            self.answer_at(ticket, due_ns)
        }
    }

    fn answer_at(&mut self, ticket: Ticket, due_ns: u64) -> Result<(), Error> {
        if due_ns <= crate::clock::now_ns() {
            return self.answer(ticket, due_ns);
        }
        self.timers.push(due_ns, Task::Answer(ticket));
        Ok(())
    }

    pub(super) fn answer_due(&mut self, ticket: Ticket, due_ns: u64) -> Result<(), Error> {
        let held_ns = self.held(due_ns);
        if held_ns > due_ns {
            self.timers.push(held_ns, Task::Answer(ticket));
            return Ok(());
        }
        self.answer(ticket, due_ns)?;
        // The next request of a pipeline may wait.
        self.pump(ticket.key)
    }

    /// Returns the end of the pause that contains `due_ns`, or `due_ns`.
    pub(super) fn held(&self, due_ns: u64) -> u64 {
        match &self.settings.service.pause {
            Some(pause) => pause.hold(self.pause_from_ns, due_ns),
            None => due_ns,
        }
    }

    fn note_begin(&mut self, ticket: Ticket, begin_ns: u64) {
        if let Some(mark) = self.exchange(ticket).map(|exchange| exchange.mark)
            && let Some(entry) = self.recorder.entry(mark)
        {
            entry.begin_service_ns = begin_ns;
        }
    }

    /// Starts the response, which was due at `due_ns`.
    fn answer(&mut self, ticket: Ticket, due_ns: u64) -> Result<(), Error> {
        if ticket.key.is_stream() {
            return self.answer_stream(ticket, due_ns);
        }
        let content = match self.content(ticket)? {
            Ok(content) => content,
            Err(sentence) => {
                return self.reply(ticket.key, 500, "text/plain", "", format!("{sentence}\n").as_bytes());
            }
        };
        let Some(connection) = self.slots.at(ticket) else { return Ok(()) };
        let Some(exchange) = &connection.exchange else { return Ok(()) };
        if connection.stage != Stage::Waiting {
            return Ok(());
        }
        if exchange.opens_socket() {
            note_answer(&mut self.recorder, exchange, due_ns, connection.doomed);
            return self.open_socket(ticket);
        }
        let order = exchange.order(content);
        let chunked = match exchange.opens_feed() {
            true => Some(compose_stream_head(&order, &mut connection.out)),
            false => {
                compose(&order, &mut connection.out);
                None
            }
        };
        note_answer(&mut self.recorder, exchange, due_ns, connection.doomed);
        connection.doomed = exchange.fault == Some(Fault::ResetIdleRace);
        if let Some(chunked) = chunked {
            return self.open_feed(ticket, chunked);
        }
        connection.stage = Stage::Writing;
        self.flush(ticket.key)
    }

    /// Ends the exchange after the last byte of its response, or after the last byte that its fault allows.
    pub(super) fn conclude(&mut self, key: Key, now: u64) {
        let Some(exchange) = self.slots.get(key).and_then(|connection| connection.exchange.take()) else {
            return;
        };
        conclude(&mut self.recorder, &exchange, now);
    }

    /// Counts the request, if there is one, of a client that has left. A request that was already counted by a fault or
    /// an overflow is not counted twice.
    pub(super) fn abandon(&mut self, key: Key) {
        let Some(connection) = self.slots.get(key) else { return };
        let begun = connection.stage == Stage::Writing;
        let Some(exchange) = connection.exchange.take() else { return };
        self.abandoned(&exchange, begun);
    }

    pub(super) fn abandoned(&mut self, exchange: &Exchange, begun: bool) {
        let unanswerable = !exchange.fault.is_none_or(Fault::answers_in_full);
        let counted_elsewhere = unanswerable && (begun || exchange.overflowed);
        if !counted_elsewhere && self.recorder.remembers(exchange.mark) {
            self.recorder.counters.abandoned += 1;
        }
    }

    /// Rejects input that is not HTTP: 400, and the end of the connection.
    pub(super) fn refuse(&mut self, key: Key, reason: &str) -> Result<(), Error> {
        if self.becomes_http2(key) {
            return Ok(());
        }
        self.recorder.counters.malformed += 1;
        if let Some(connection) = self.slots.get(key) {
            connection.reader.head.keep_alive = false;
            connection.turn = connection.turn.wrapping_add(1);
        }
        self.reply(key, 400, "text/plain", "", format!("{reason}\n").as_bytes())
    }

    /// Sends a plain response that does not depend on the settings. `lines` are additional header lines.
    pub(super) fn reply(
        &mut self,
        key: Key,
        status: u16,
        kind: &str,
        lines: &str,
        body: &[u8],
    ) -> Result<(), Error> {
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        let (keep_alive, head_only) = match &connection.exchange {
            Some(exchange) => (exchange.keep_alive, exchange.head_only),
            None => (connection.reader.head.keep_alive, connection.reader.head.asks_head_only),
        };
        let out = &mut connection.out;
        out.clear();
        let reason = match status {
            200 => "OK",
            500 => "Internal Server Error",
            _ => "Bad Request",
        };
        let life = if keep_alive { "keep-alive" } else { "close" };
        push_text(
            out.bytes(),
            format_args!(
                "HTTP/1.1 {status} {reason}\r\nServer: ruler\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
                 Connection: {life}\r\n{lines}\r\n",
                body.len()
            ),
        );
        if !head_only {
            out.bytes().extend_from_slice(body);
        }
        out.end = if keep_alive { End::KeepAlive } else { End::Close };
        if let Some(exchange) = &connection.exchange
            && let Some(entry) = self.recorder.entry(exchange.mark)
        {
            entry.status = u32::from(status);
            entry.begin_service_ns = exchange.arrive_ns;
        }
        connection.stage = Stage::Writing;
        self.flush(key)
    }
}

/// Records the start of a response that was due at `due_ns`, and counts its fault.
pub(super) fn note_answer(recorder: &mut Recorder, exchange: &Exchange, due_ns: u64, doomed: bool) {
    if let Some(entry) = recorder.entry(exchange.mark) {
        let silent = [Fault::ResetBefore, Fault::CloseBefore, Fault::Refused, Fault::NoResponse].map(Some);
        entry.status = if silent.contains(&exchange.fault) { 0 } else { u32::from(exchange.status) };
        entry.commanded_ns = due_ns.saturating_sub(exchange.arrive_ns);
    }
    if let Some(fault) = exchange.fault
        && !exchange.overflowed
        && recorder.remembers(exchange.mark)
    {
        let fault = if doomed { Fault::ResetIdleRace } else { fault };
        // The race is counted when it happens, not when it is prepared.
        if fault != Fault::ResetIdleRace || doomed {
            recorder.counters.by_fault[fault.index()] += 1;
        }
    }
}

/// Records that the last byte of a response is written, or the last one that its fault allows.
pub(super) fn conclude(recorder: &mut Recorder, exchange: &Exchange, now: u64) {
    if !exchange.fault.is_none_or(Fault::answers_in_full) || !recorder.remembers(exchange.mark) {
        return;
    }
    recorder.counters.responses += 1;
    recorder.by_status[usize::from(exchange.status)] += 1;
    if let Some(entry) = recorder.entry(exchange.mark) {
        entry.last_byte_written_ns = now;
    }
}

/// Returns the origin of the connection's `turn`-th request.
pub(super) fn origin(connection: &Connection, turn: u32) -> Origin {
    // This fails if the peer has already reset the connection.
    let peer = getpeername(&connection.socket).ok().flatten();
    let peer = peer.and_then(|peer| SocketAddr::try_from(peer).ok());
    Origin { connection: connection.number, turn, peer }
}

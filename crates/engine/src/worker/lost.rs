//! Links of HTTP/2 that end: what becomes of their exchanges. The server may say which requests it has not processed;
//! those are retried once, with their intended start times.

use super::exchange::Bytes;
use super::socket::ABNORMAL;
use super::{Post, Worker};
use crate::driver::Door;
use crate::exchange::Phase;
use crate::fault;
use crate::link::{NONE, Pipe, Session};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesSum};
use plimsoll_plan::origin::FIRST;
use plimsoll_wire::h2::{Eof, Malformed, Session as Wire, Unfinished, code};

/// How the exchanges of a lost link fail.
#[derive(Clone, Copy)]
enum Loss {
    /// The server closed the connection, or reset it.
    Closed { is_reset: bool },
    /// All for this reason.
    All(Fault),
    /// The same; and it was the client that closed the connection.
    Broken(Fault),
}

impl Loss {
    /// Returns the fault of an open WebSocket, if it is not that of a connection that just ends.
    fn of_socket(self) -> Option<(Fault, &'static str)> {
        match self {
            Loss::Closed { is_reset: false } => None,
            Loss::Closed { is_reset: true } => Some((Fault::ConnectionReset, ABNORMAL)),
            Loss::All(fault) | Loss::Broken(fault) => Some((fault, ABNORMAL)),
        }
    }
}

/// Takes the requests of a pipelined link that have no response; only the first may have a part of one.
fn unanswered(pipe: &mut Pipe) -> Vec<Unfinished> {
    let answer = pipe.session.progress();
    let has_begun = pipe.session.started();
    let all = pipe.queue.drain(..).enumerate().filter(|(_, (id, _))| *id != NONE);
    all.map(|(at, (tag, _))| Unfinished { stream: 0, tag, started: at == 0 && has_begun, answer }).collect()
}

/// Returns an error code as text.
fn describe(code: u32) -> String {
    code::name(code).map_or_else(|| format!("code {code}"), str::to_owned)
}

/// Returns what a reset of a stream says.
pub(super) fn sentence_of_reset(code: u32) -> String {
    format!("the server reset the stream with {}", describe(code))
}

impl<D: Door, P: Post> Worker<D, P> {
    /// Handles a link whose connection has ended; `fault`: how, if not by an ordinary end.
    pub(super) fn link_lost(&mut self, at: u32, fault: Option<Fault>) {
        let loss = match fault {
            None => Loss::Closed { is_reset: false },
            Some(Fault::ConnectionReset) => Loss::Closed { is_reset: true },
            Some(fault) => Loss::All(fault),
        };
        self.lose(at, loss);
    }

    /// Handles a frame that the server must not send: nothing on the link can be trusted any more.
    pub(super) fn connection_broken(&mut self, at: u32, why: Malformed) {
        self.break_off(at, fault::of_frames(why), why.code(), why.sentence());
    }

    /// Handles a response to a request that was not sent yet: the server has guessed the number of its stream.
    pub(super) fn on_unsent_answered(&mut self, at: u32) {
        self.tally.add(RunSum::UnexpectedBytes, 1);
        let sentence = "the server responded on a stream before the request was sent";
        self.break_off(at, Fault::UnsafeResponse, code::PROTOCOL_ERROR, sentence);
    }

    pub(super) fn break_off(&mut self, at: u32, fault: Fault, code: u32, sentence: &str) {
        self.payload.clear();
        let Session::H2(multiplex) = &mut self.links[at as usize].session else { return };
        // What was begun will be sent elsewhere.
        let first = multiplex.begun().iter().map(|id| self.exchanges[*id as usize].place).min();
        multiplex.withdraw_from(first.unwrap_or(u32::MAX));
        self.send_goaway(at, code);
        self.tell_of(self.links[at as usize].request, fault, sentence);
        self.lose(at, Loss::Broken(fault));
    }

    fn lose(&mut self, at: u32, loss: Loss) {
        self.tell_time();
        let link = &mut self.links[at as usize];
        let (served, idle_since_ns) = (link.served as usize, link.since_ns);
        let Session::H2(multiplex) = &mut link.session else { return };
        let begun = multiplex.take_begun();
        let waiting = multiplex.take_waiting();
        let eof = multiplex.wire.as_ref().map_or(Eof::Idle, Wire::eof);
        let mut open: Vec<Unfinished> =
            multiplex.pipe.as_mut().map(|pipe| unanswered(pipe)).unwrap_or_default();
        let is_pipe = multiplex.pipe.is_some();
        while let Some(stream) = multiplex.wire.as_mut().and_then(Wire::take_open) {
            open.push(stream);
        }
        let is_reused = served > open.len();
        let is_idle = open.is_empty() && !matches!(loss, Loss::Broken(_));
        let sum = if is_idle { RunSum::ClosedByServer } else { RunSum::ClosedAfterError };
        self.tally.add(sum, 1);
        self.close_socket(at);
        for Unfinished { tag, started, .. } in open {
            if begun.contains(&tag) {
                continue;
            }
            if self.is_socket(tag) {
                self.socket_lost(tag, loss.of_socket());
                continue;
            }
            match loss {
                Loss::All(fault) | Loss::Broken(fault) => self.failed(tag, fault),
                // Without a GOAWAY, the server closed an idle connection as the request arrived.
                Loss::Closed { .. } if !started && is_reused && eof != Eof::Cut && !is_pipe => {
                    let sent_ns = self.exchanges[tag as usize].sent_ns;
                    self.tally.record(RunHist::IdleBeforeClose, sent_ns.saturating_sub(idle_since_ns));
                    self.failed(tag, Fault::StaleConnection);
                }
                Loss::Closed { is_reset: true } => self.failed(tag, Fault::ConnectionReset),
                Loss::Closed { .. } if started => self.failed(tag, Fault::ClosedMidResponse),
                Loss::Closed { .. } => self.failed(tag, Fault::ClosedBeforeResponse),
            }
        }
        // These were never sent.
        for id in begun.into_iter().chain(waiting) {
            self.send_elsewhere(id);
        }
        self.list_replaced(at);
    }

    /// Handles GOAWAY: no more streams. With an error, the server has given up on all of them; otherwise it completes
    /// those that it has begun to process.
    pub(super) fn goaway(&mut self, at: u32, code: u32, last_stream: u32) {
        self.tally.add(RunSum::GoAways, 1);
        if code != code::NO_ERROR {
            let request = self.links[at as usize].request;
            let sentence = format!("the server closed the connection with {} (GOAWAY)", describe(code));
            self.tell_of(request, Fault::StreamRefused, &sentence);
            return self.lose(at, Loss::All(Fault::StreamRefused));
        }
        let Session::H2(multiplex) = &mut self.links[at as usize].session else { return };
        let mut unprocessed: Vec<u32> = Vec::new();
        while let Some(stream) = multiplex.wire.as_mut().and_then(Wire::take_unprocessed) {
            unprocessed.push(stream.tag);
        }
        multiplex.withdraw_from(last_stream.saturating_add(1));
        if let Some(outgoing) = &mut multiplex.outgoing {
            outgoing.begun.retain(|id| !unprocessed.contains(id));
        }
        self.replace(at);
        for id in unprocessed {
            self.send_again(id);
        }
        self.close_if_drained(at);
    }

    /// Handles REFUSED_STREAM: the request may be retried when another stream has ended.
    pub(super) fn stream_refused(&mut self, at: u32, id: u32) {
        let Session::H2(multiplex) = &mut self.links[at as usize].session else { return };
        if self.exchanges[id as usize].is_final() || multiplex.is_draining() {
            self.send_again(id);
            return self.close_if_drained(at);
        }
        let is_alone = multiplex.open_streams() == 0;
        self.take_back(id);
        let Session::H2(multiplex) = &mut self.links[at as usize].session else { return };
        multiplex.wait(id);
        if is_alone {
            self.start_waiting(at);
        }
    }

    /// Sends a request again that the server has not processed; the second time, it has failed.
    fn send_again(&mut self, id: u32) {
        if self.exchanges[id as usize].is_final() {
            self.tell_of_reset(id, Fault::StreamRefused, code::REFUSED_STREAM);
            return self.failed(id, Fault::StreamRefused);
        }
        self.take_back(id);
        self.send_elsewhere(id);
    }

    /// Makes an exchange as it was before it was sent.
    fn take_back(&mut self, id: u32) {
        let exchange = &mut self.exchanges[id as usize];
        if exchange.sent_ns > 0 {
            exchange.deadline_ns = exchange.deadline_ns.saturating_sub(exchange.sent_ns);
            exchange.is_resent = true;
            self.tally.add(RunSum::RequestsUnprocessed, 1);
            // Each address counts what was sent to it.
            if let Some(address) = self.address_of(self.exchanges[id as usize].link) {
                self.tally.series(address).add(SeriesSum::Ended.id(), 1);
            }
        }
        let exchange = &mut self.exchanges[id as usize];
        if let Some(kept) = &mut exchange.kept {
            kept.clear();
        }
        (exchange.kept_head, exchange.short) = (0, false);
        let at = exchange.link;
        (exchange.sent_ns, exchange.first_ns) = (0, 0);
        (exchange.place, exchange.written) = (0, 0);
        exchange.phase = Phase::Queued;
        if let Session::H2(multiplex) = &mut self.links[at as usize].session {
            multiplex.drop_upload(id);
        }
    }

    /// Begins an exchange that was not sent, on another link of its user. A link that the user holds for this request
    /// alone keeps it, and is opened again.
    fn send_elsewhere(&mut self, id: u32) {
        self.take_back(id);
        let exchange = &self.exchanges[id as usize];
        let (user, from) = (exchange.user, exchange.link);
        let link = &mut self.links[from as usize];
        let (origin, is_closed) = (link.origin, link.socket < 0);
        let Session::H2(multiplex) = &mut link.session else { return };
        if !self.pooled && !multiplex.is_replaced && self.users[user as usize].link != from {
            multiplex.wait(id);
            if is_closed {
                self.open(from);
            }
            return;
        }
        multiplex.assigned -= 1;
        if self.pooled && !multiplex.is_replaced {
            self.list_unused(from);
        }
        let to = self.link_for(user, origin);
        self.assign(id, to);
        self.begin(id, Bytes::Prepared);
    }

    /// Gives the users of a link that opens no more streams another one. A link that one user holds for its current
    /// request alone is closed after it.
    pub(super) fn replace(&mut self, at: u32) {
        let origin = self.links[at as usize].origin;
        let is_own = |link: u32| link == at && origin == FIRST;
        let has_users = self.users.iter().any(|user| is_own(user.link));
        let Session::H2(multiplex) = &mut self.links[at as usize].session else { return };
        if multiplex.is_replaced || !has_users && !self.pooled {
            return;
        }
        multiplex.is_replaced = true;
        let waiting = multiplex.take_waiting();
        if has_users {
            let new = self.unused_link(origin);
            self.users.iter_mut().filter(|user| is_own(user.link)).for_each(|user| user.link = new);
        }
        for id in waiting {
            self.send_elsewhere(id);
        }
    }

    /// Closes a link that opens no more streams, once the last one has ended.
    pub(super) fn close_if_drained(&mut self, at: u32) {
        let link = &self.links[at as usize];
        let Session::H2(multiplex) = &link.session else { return };
        let is_closing = multiplex.is_closing;
        if link.socket < 0 || link.is_opening() || !multiplex.is_draining() || multiplex.open_streams() > 0 {
            return;
        }
        if is_closing {
            self.send_goaway(at, code::NO_ERROR);
        }
        self.tally.add(if is_closing { RunSum::ClosedByClient } else { RunSum::ClosedByServer }, 1);
        self.close_socket(at);
        self.list_replaced(at);
        // The next request of the only user of such a link.
        let Session::H2(multiplex) = &self.links[at as usize].session else { return };
        if multiplex.has_waiting() {
            self.open(at);
        }
    }

    /// Lists a closed link that has lost its users as unused.
    fn list_replaced(&mut self, at: u32) {
        let link = &mut self.links[at as usize];
        let Session::H2(multiplex) = &mut link.session else { return };
        if std::mem::take(&mut multiplex.is_replaced) {
            self.list_unused(at);
        }
    }

    /// Keeps the code of a reset as a failure example: the number of the fault does not say it.
    pub(super) fn tell_of_reset(&mut self, id: u32, fault: Fault, code: u32) {
        self.tell_of(self.exchanges[id as usize].request, fault, &sentence_of_reset(code));
    }
}

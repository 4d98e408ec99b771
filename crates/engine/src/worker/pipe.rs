//! Pipelining over HTTP/1.1 (RFC 9112 section 9.3.2): requests are sent without waiting for the responses to those
//! before them, and responses come in the order of the requests.
//!
//! A pipelined link has the session of HTTP/2 with a queue instead of streams, so that requests begin, are stamped, and
//! are sent together as there. What is here is the queue.

use super::{Post, Worker};
use crate::driver::Door;
use crate::exchange::Phase;
use crate::fault;
use crate::link::{Multiplex, NONE, Session};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunSum, SeriesSum};
use plimsoll_wire::h1::{Answer, Eof};

/// What a part of the bytes was.
enum Part {
    /// A part of the response to this exchange; [`NONE`]: it was abandoned.
    Of(u32),
    Answer(u32, Answer),
}

impl<D: Door, P: Post> Worker<D, P> {
    /// Appends a request to what its link sends next, and itself to the queue. Returns false for a link with streams.
    pub(super) fn queue_request(&mut self, id: u32) -> bool {
        let exchange = &mut self.exchanges[id as usize];
        let link = &mut self.links[exchange.link as usize];
        let Session::H2(multiplex) = &mut link.session else { return false };
        let Multiplex { pipe: Some(pipe), outgoing, .. } = &mut **multiplex else { return false };
        let out = &mut outgoing.get_or_insert_default().out;
        let before = out.len();
        let Some(prepared) = self.compiled.requests.get(exchange.request as usize) else { return false };
        out.extend_from_slice(&prepared.bytes);
        pipe.queue.push_back((id, prepared.ask));
        link.served += 1;
        // As the number of a stream: above 1, the connection was used before.
        exchange.place = link.served;
        exchange.written = prepared.bytes.len() as u32;
        exchange.phase = Phase::Waiting;
        let bytes = (out.len() - before) as u64;
        self.tally.series(exchange.request).add(SeriesSum::BytesOut.id(), bytes);
        multiplex.begin(id, before);
        multiplex.is_closing |= self.requests_per_connection.is_some_and(|most| link.served >= most);
        if multiplex.is_draining() {
            let at = self.exchanges[id as usize].link;
            self.replace(at);
        }
        true
    }

    /// Feeds `n` bytes of the buffer, or of the data opened by TLS, to the requests of the queue, in their order.
    /// Returns false if the socket is closed.
    pub(super) fn feed_pipe(&mut self, at: u32, n: usize, opened: bool) -> bool {
        let generation = self.links[at as usize].generation;
        self.mark_dirty(at);
        // What is begun in the meantime must not read into the buffer that is being fed.
        self.is_feeding = true;
        let mut fed = 0;
        while fed < n && self.links[at as usize].generation == generation {
            match self.feed_first(at, fed..n, opened) {
                Ok((taken, part)) => {
                    fed += taken;
                    self.note_part(at, part);
                }
                Err((fault, sentence)) => {
                    if fault == Fault::UnsafeResponse {
                        self.tally.add(RunSum::UnexpectedBytes, 1);
                    }
                    self.break_off(at, fault, 0, sentence);
                }
            }
        }
        self.is_feeding = false;
        self.links[at as usize].generation == generation
    }

    /// Feeds bytes to the response to the first request of the queue; returns how many it took.
    fn feed_first(
        &mut self,
        at: u32,
        range: std::ops::Range<usize>,
        opened: bool,
    ) -> Result<(usize, Part), (Fault, &'static str)> {
        const UNASKED: (Fault, &str) =
            (Fault::UnsafeResponse, "the server sent bytes that no request asked for");
        let pipe = self.links[at as usize].session.multiplex().and_then(|multiplex| multiplex.pipe.as_mut());
        let Some(pipe) = pipe else { return Err(UNASKED) };
        let Some(&(id, ask)) = pipe.queue.front() else { return Err(UNASKED) };
        if id != NONE && self.exchanges[id as usize].sent_ns == 0 {
            return Err(UNASKED);
        }
        if pipe.session.is_idle() {
            pipe.session.submit(ask);
        }
        let bytes = if opened { &self.opened[range] } else { &self.buffer[range] };
        match pipe.session.feed(bytes, &mut self.shared, &mut ()) {
            Ok(fed) => {
                let Some(answer) = fed.done else { return Ok((fed.consumed, Part::Of(id))) };
                pipe.queue.pop_front();
                Ok((fed.consumed, Part::Answer(id, answer)))
            }
            Err(malformed) => {
                Err((fault::of_answer(malformed), "the response to a pipelined request is invalid"))
            }
        }
    }

    fn note_part(&mut self, at: u32, part: Part) {
        let (Part::Of(id) | Part::Answer(id, _)) = part;
        if id != NONE && self.exchanges[id as usize].first_ns == 0 {
            self.exchanges[id as usize].first_ns = self.now_ns;
        }
        let Part::Answer(id, answer) = part else { return };
        let generation = self.links[at as usize].generation;
        if !answer.reusable {
            // Those after it will get no response; what is not sent yet is sent elsewhere.
            self.links[at as usize].peer_closes();
        }
        if id != NONE {
            self.finished(id, answer, false);
        }
        if !answer.reusable && self.links[at as usize].generation == generation {
            self.link_lost(at, None);
        }
    }

    /// Handles the end of a pipelined connection that ends the body of a response. Returns false if the response to the
    /// first request is not complete.
    pub(super) fn pipe_ends(&mut self, at: u32) -> bool {
        let is_cut = self.links[at as usize].tls.as_ref().is_some_and(|secured| !secured.channel.is_closed());
        let pipe = self.links[at as usize].session.multiplex().and_then(|multiplex| multiplex.pipe.as_mut());
        let Some(pipe) = pipe.filter(|pipe| !is_cut && pipe.session.ends_at_close()) else { return false };
        let (Eof::Complete(answer), Some((id, _))) = (pipe.session.eof(), pipe.queue.pop_front()) else {
            return false;
        };
        self.note_part(at, Part::Answer(id, answer));
        true
    }

    /// Forgets a request of a pipelined link, if its response has not come: it will be discarded.
    pub(super) fn abandon_response(&mut self, id: u32) {
        let at = self.exchanges[id as usize].link;
        let pipe = self.links[at as usize].session.multiplex().and_then(|multiplex| multiplex.pipe.as_mut());
        if pipe.is_some_and(|pipe| pipe.abandon(id)) {
            // All have timed out: the server is not expected to answer any of them.
            self.break_off(at, Fault::Timeout, 0, "all requests of a pipelined connection have timed out");
        }
    }
}

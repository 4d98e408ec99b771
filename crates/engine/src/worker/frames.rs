//! Received frames of HTTP/2: what they mean for the exchanges of a link.

use super::keep::{Keep, Lent, Streaming};
use super::lost::sentence_of_reset;
use super::{Post, Worker};
use crate::driver::Door;
use crate::exchange::{Exchange, Phase};
use crate::fault;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::program::BodyUse;
use plimsoll_wire::h2::{Event, Head, Malformed, Sink, code};

/// Passes heads and bodies to the exchanges that asked for them.
struct Responses<'a> {
    exchanges: &'a mut [Exchange],
    payload: &'a mut Vec<u8>,
    lent: &'a mut Lent,
    /// Limit for kept bodies.
    most: usize,
    /// The target of a redirect, while one is sought.
    location: Option<&'a mut Vec<u8>>,
    trailers: &'a mut Vec<u8>,
    trailers_of: &'a mut u32,
}

impl Responses<'_> {
    fn keep<'k>(exchange: &'k mut Exchange, lent: &'k mut Lent, most: usize) -> Option<Keep<'k>> {
        let most = if exchange.body == BodyUse::HeadOnly { 0 } else { most };
        let into = exchange.kept.as_deref_mut()?;
        Some(Keep { into, head_bytes: &mut exchange.kept_head, most, lent, short: &mut exchange.short })
    }
}

impl Sink for Responses<'_> {
    fn head(&mut self, tag: u32, head: &Head<'_>) {
        if let (Some(location), 3) = (&mut self.location, head.status / 100) {
            location.clear();
            location.extend_from_slice(head.raw());
        }
        let exchange = &mut self.exchanges[tag as usize];
        if exchange.is_read_in_pieces() {
            let (into, head_bytes) = (exchange.kept.as_deref_mut(), &mut exchange.kept_head);
            let mut sink = Streaming { head: into, head_bytes, payload: self.payload, lent: self.lent };
            return sink.take_head(head.raw());
        }
        if let Some(mut keep) = Responses::keep(exchange, self.lent, self.most) {
            keep.take_head(head.raw());
        }
    }

    fn body(&mut self, tag: u32, bytes: &[u8]) {
        let exchange = &mut self.exchanges[tag as usize];
        if exchange.is_read_in_pieces() {
            return self.payload.extend_from_slice(bytes);
        }
        if let Some(mut keep) = Responses::keep(exchange, self.lent, self.most) {
            keep.take_body(bytes);
        }
    }

    fn trailers(&mut self, tag: u32, trailers: &Head<'_>) {
        let exchange = &self.exchanges[tag as usize];
        if exchange.kept.is_some() || exchange.body.is_stream() {
            *self.trailers_of = tag;
            self.trailers.clear();
            // `plan::head::Head` looks for fields after line ends.
            self.trailers.extend_from_slice(b"\r\n");
            self.trailers.extend_from_slice(trailers.raw());
        }
    }
}

/// Returns the exchange of an event.
#[inline]
fn tag_of(event: Event) -> Option<u32> {
    match event {
        Event::Interim { tag, .. }
        | Event::Head { tag, .. }
        | Event::Data { tag, .. }
        | Event::Done { tag, .. }
        | Event::HalfClosed { tag, .. }
        | Event::Reset { tag, .. }
        | Event::Refused { tag, .. } => Some(tag),
        Event::Settings | Event::GoAway { .. } | Event::Writable => None,
    }
}

impl<D: Door, P: Post> Worker<D, P> {
    /// Feeds `n` bytes of the buffer, or of the data opened by TLS, to the session of a link. Returns false if the
    /// socket is closed.
    pub(super) fn feed_frames(&mut self, at: u32, n: usize, opened: bool) -> bool {
        if self.outline.link.is_pipelined {
            return self.feed_pipe(at, n, opened);
        }
        let generation = self.links[at as usize].generation;
        self.mark_dirty(at);
        // What is begun in the meantime must not read into the buffer that is being fed.
        self.is_feeding = true;
        let mut fed = 0;
        let mut is_open = true;
        while fed < n && is_open {
            let Some(multiplex) = self.links[at as usize].session.multiplex() else { break };
            let Some((wire, out)) = multiplex.wire_and_out() else {
                is_open = false;
                break;
            };
            let bytes = if opened { &self.opened[fed..n] } else { &self.buffer[fed..n] };
            let mut sink = Responses {
                exchanges: &mut self.exchanges,
                payload: &mut self.payload,
                lent: &mut self.lent,
                most: self.outline.limits.kept_body_bytes as usize,
                location: self.seeks_location.then_some(&mut self.location),
                trailers: &mut self.trailers,
                trailers_of: &mut self.trailers_of,
            };
            match wire.feed(bytes, &mut self.frames, &mut sink, out) {
                Ok(part) => {
                    fed += part.consumed;
                    if let Some(event) = part.event {
                        match tag_of(event) {
                            Some(tag) if self.exchanges[tag as usize].sent_ns == 0 => {
                                self.on_unsent_answered(at)
                            }
                            _ => self.on_event(at, event),
                        }
                        is_open = self.links[at as usize].generation == generation;
                    }
                }
                Err(why) => {
                    self.connection_broken(at, why);
                    is_open = false;
                }
            }
        }
        self.is_feeding = false;
        is_open
    }

    fn on_event(&mut self, at: u32, event: Event) {
        match event {
            Event::Settings => self.on_settings(at),
            // The flush after this batch continues the bodies, with all that the batch has opened: otherwise, a server
            // that returns each frame's bytes would get ever smaller frames.
            Event::Writable => {}
            Event::Interim { tag, status, .. } => {
                self.first_byte(tag);
                if status == 100 && self.courier.is_some() {
                    self.continue_body(tag);
                }
            }
            Event::Head { tag, status, stream } => {
                self.first_byte(tag);
                self.note_location(tag, status);
                if self.exchanges[tag as usize].body == BodyUse::WebSocket {
                    self.socket_came(tag, status);
                } else if self.exchanges[tag as usize].is_looked_at() {
                    self.describe(tag, None, false);
                    self.read_as_decided(at, tag, stream);
                }
            }
            Event::Data { tag, .. } => match self.exchanges[tag as usize].body {
                BodyUse::WebSocket => {
                    let status = self.progress_of(tag).status;
                    self.socket_came(tag, status);
                }
                body if body.is_stream() => {
                    self.describe(tag, None, false);
                }
                _ => {}
            },
            Event::HalfClosed { tag, answer, .. } => {
                self.first_byte(tag);
                self.socket_half_closed(tag, answer);
            }
            Event::Done { tag, answer, .. } if self.exchanges[tag as usize].body == BodyUse::WebSocket => {
                self.first_byte(tag);
                self.note_location(tag, answer.status);
                self.socket_done(tag, answer);
            }
            Event::Done { tag, answer, .. } => {
                self.first_byte(tag);
                // The session has reset the stream if the body of the request was not complete.
                let is_cut = self.exchanges[tag as usize].phase == Phase::Sending;
                self.tally.add(RunSum::StreamsReset, u64::from(is_cut));
                self.note_location(tag, answer.status);
                if self.exchanges[tag as usize].is_looked_at() {
                    self.describe(tag, Some(answer), false);
                } else {
                    self.finished(tag, answer, false);
                }
            }
            Event::Reset { tag, code, .. } => self.stream_was_reset(at, tag, code),
            Event::Refused { tag, why, answer, .. }
                if self.exchanges[tag as usize].body == BodyUse::WebSocket =>
            {
                self.tally.add(RunSum::StreamsReset, 1);
                self.socket_refused(tag, why, answer);
            }
            Event::Refused { tag, why, .. } => {
                self.tally.add(RunSum::StreamsReset, 1);
                // The program sees the events before the damage, however the frames were split.
                if self.payload.is_empty() || self.describe(tag, None, false) {
                    self.stream_malformed(tag, why);
                }
            }
            Event::GoAway { code, last_stream } => self.goaway(at, code, last_stream),
        }
    }

    #[inline]
    fn first_byte(&mut self, id: u32) {
        let exchange = &mut self.exchanges[id as usize];
        if exchange.first_ns == 0 {
            exchange.first_ns = self.now_ns;
        }
    }

    /// Lets a body follow its head to the program, if the program has decided so.
    fn read_as_decided(&mut self, at: u32, id: u32, stream: u32) {
        let exchange = &self.exchanges[id as usize];
        let is_same = exchange.place == stream && exchange.link == at;
        if is_same
            && exchange.body == BodyUse::Keep
            && let Some(multiplex) = self.links[at as usize].session.multiplex()
            && let Some(wire) = &mut multiplex.wire
        {
            wire.read_body(stream, true);
        }
    }

    /// Looks for the target of a redirect, as HTTP/1 does. Heads are read only after the first redirect, so the target
    /// is that of a later one.
    fn note_location(&mut self, id: u32, status: u16) {
        if status / 100 != 3 || self.redirect_noted {
            return;
        }
        if !self.seeks_location {
            self.seeks_location = true;
            return;
        }
        let location = std::mem::take(&mut self.location);
        if !location.is_empty() {
            self.seek_redirect_in(self.exchanges[id as usize].request, status, &location);
            self.seeks_location = !self.redirect_noted;
        }
    }

    fn stream_was_reset(&mut self, at: u32, id: u32, code: u32) {
        if code == code::REFUSED_STREAM && !self.is_socket(id) {
            return self.stream_refused(at, id);
        }
        if self.is_socket(id) {
            let sentence = sentence_of_reset(code);
            return self.socket_lost(id, Some((Fault::StreamReset, &sentence)));
        }
        self.tell_of_reset(id, Fault::StreamReset, code);
        self.failed(id, Fault::StreamReset);
    }

    /// Ends an exchange whose response is invalid.
    pub(super) fn stream_malformed(&mut self, id: u32, why: Malformed) {
        match fault::frames_lowered(why, &self.outline.limits) {
            Some((name, value)) => self.cut_by(id, name, value),
            None => {
                let (request, fault) = (self.exchanges[id as usize].request, fault::of_frames(why));
                self.tell_of(request, fault, why.sentence());
                self.failed(id, fault);
            }
        }
    }
}

//! Frames on their way out: bodies as far as windows and buffers allow, and everything that has come together on a link
//! since the last flush in one call, stamped as sent with one reading of the clock.

use super::{Post, Worker, duplex};
use crate::driver::{Door, Io};
use crate::exchange::Phase;
use crate::fault;
use crate::link::{OUT_MAX, Peer, Session, State, Way};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, SeriesSum};

/// Most empty buffers for frames that are kept.
const BUFFERS_MAX: usize = 64;

impl<D: Door, P: Post> Worker<D, P> {
    /// Adds as much of the bodies of requests as windows and buffer allow.
    pub(super) fn upload(&mut self, at: u32) {
        let Session::H2(multiplex) = &mut self.links[at as usize].session else { return };
        if multiplex.wire.is_none() {
            return;
        }
        // Taken out, because it is changed while frames are added.
        let mut uploads = std::mem::take(multiplex.uploads());
        let Some((wire, out)) = multiplex.wire_and_out() else { return };
        let mut next = 0;
        while let Some(&id) = uploads.get(next)
            && out.len() < OUT_MAX
        {
            let exchange = &mut self.exchanges[id as usize];
            let bytes: &[u8] = match &exchange.out {
                Some(held) => held,
                None => &self.compiled.requests[exchange.request as usize].bytes,
            };
            let (end, piece_bytes) = match &self.courier {
                Some(courier) => courier.granted(id, exchange.request, bytes.len()),
                None => (bytes.len(), usize::MAX),
            };
            let is_whole = end == bytes.len();
            let rest = bytes.get(exchange.written as usize..end).unwrap_or_default();
            let part = rest.len().min(OUT_MAX - out.len());
            let before = out.len();
            let stays_open = exchange.stays_open();
            let ends = |sent: usize| is_whole && !stays_open && sent == rest.len();
            let mut taken = 0;
            // Nothing is left where only the end of the stream is: an empty frame says so.
            while taken < part || (taken == 0 && ends(0)) {
                let piece = &rest[taken..part.min(taken.saturating_add(piece_bytes))];
                let written = wire.write(exchange.place, piece, ends(taken + piece.len()), out);
                taken += written;
                if written < piece.len() || piece.is_empty() {
                    break;
                }
            }
            exchange.written += taken as u32;
            let is_complete = taken == rest.len();
            let sent = (out.len() - before) as u64;
            self.tally.series(exchange.request).add(SeriesSum::BytesOut.id(), sent);
            if !is_complete {
                next += 1;
                continue;
            }
            uploads.swap_remove(next);
            if !is_whole {
                // The next piece has its own time.
                continue;
            }
            if stays_open {
                duplex::let_go_sent(exchange, &mut self.lent);
                continue;
            }
            exchange.phase = Phase::Waiting;
            // What a stream sends later is not its request.
            let is_stream =
                self.outline.requests.get(exchange.request as usize).is_some_and(|one| one.is_stream);
            if exchange.sent_ns > 0 && !is_stream && piece_bytes == usize::MAX {
                self.tally.record(RunHist::SendBlocked, self.now_ns.saturating_sub(exchange.sent_ns));
            }
        }
        *multiplex.uploads() = uploads;
    }

    /// Notes that a link may have frames to send, and gives it a buffer for them.
    #[inline]
    pub(super) fn mark_dirty(&mut self, at: u32) {
        let Some(multiplex) = self.links[at as usize].session.multiplex() else { return };
        if !std::mem::replace(&mut multiplex.is_dirty, true) {
            if multiplex.outgoing.is_none() {
                multiplex.outgoing = self.outs.pop();
            }
            self.dirty.push(at);
        }
    }

    /// Sends the frames that have come together since the last call.
    #[inline]
    pub(super) fn flush_dirty(&mut self) {
        while let Some(at) = self.dirty.pop() {
            self.flush_frames(at);
        }
    }

    pub(super) fn flush_frames(&mut self, at: u32) {
        let link = &mut self.links[at as usize];
        let (state, way) = (link.state, link.way);
        let Some(multiplex) = link.session.multiplex() else { return };
        multiplex.is_dirty = false;
        if state != State::Open || !multiplex.is_started() {
            return self.put_back_out(at);
        }
        // A server that floods and does not read is granted no more frames, or the replies would grow without end.
        if let Some((wire, out)) = multiplex.wire_and_out().filter(|(_, out)| out.len() <= 2 * OUT_MAX) {
            wire.settle(out);
        }
        let has_begun = multiplex.has_begun();
        if multiplex.has_uploads() {
            self.upload(at);
        }
        if has_begun {
            self.stamp(at);
        }
        let Some(multiplex) = self.links[at as usize].session.multiplex() else { return };
        if multiplex.has_out() {
            match way {
                Way::Plain => self.send_frames(at),
                Way::Sealed => self.seal_frames(at),
            }
        }
        let Some(multiplex) = self.links[at as usize].session.multiplex() else { return };
        if multiplex.has_out() || multiplex.is_dirty {
            return;
        }
        if multiplex.has_uploads() {
            self.upload(at);
            let Some(multiplex) = self.links[at as usize].session.multiplex() else { return };
            if multiplex.has_out() {
                return self.mark_dirty(at);
            }
        }
        self.put_back_out(at);
    }

    /// Takes the empty buffers of a link: at rest, it holds none.
    fn put_back_out(&mut self, at: u32) {
        let Some(multiplex) = self.links[at as usize].session.multiplex() else { return };
        if multiplex.has_begun() {
            return;
        }
        let Some(mut outgoing) = multiplex.outgoing.take() else { return };
        if self.outs.len() < BUFFERS_MAX && outgoing.out.capacity() <= 2 * OUT_MAX {
            outgoing.out.clear();
            self.outs.push(outgoing);
        }
    }

    /// Stamps the requests that have begun on a link as sent now.
    fn stamp(&mut self, at: u32) {
        self.tell_time();
        let now_ns = self.now_ns;
        let Some(multiplex) = self.links[at as usize].session.multiplex() else { return };
        let mut begun = multiplex.take_begun();
        for id in begun.drain(..) {
            let exchange = &mut self.exchanges[id as usize];
            exchange.sent_ns = now_ns;
            exchange.deadline_ns = exchange.deadline_ns.saturating_add(now_ns);
            let (deadline_ns, request) = (exchange.deadline_ns, exchange.request);
            // A retried request was counted, and has been in flight since.
            let (is_first, is_reused) = (!exchange.is_resent, exchange.place > 1);
            self.exchange_wheel.arm(id, deadline_ns);
            if is_first {
                self.tally.sent(request, 0, is_reused, now_ns);
            }
            if let Some(series) = self.address_of(at) {
                self.tally.series(series).add(SeriesSum::Sent.id(), 1);
            }
        }
        if let Some(multiplex) = self.links[at as usize].session.multiplex()
            && let Some(outgoing) = &mut multiplex.outgoing
        {
            outgoing.begun = begun;
        }
    }

    fn send_frames(&mut self, at: u32) {
        let link = &mut self.links[at as usize];
        let Session::H2(multiplex) = &mut link.session else { return };
        let out = multiplex.out();
        let mut sent = 0;
        while sent < out.len() {
            match self.door.send(link.socket, &out[sent..]) {
                Io::Done(n) => sent += n,
                Io::WouldBlock => break,
                Io::Failed(errno) => {
                    let fault = fault::of_transfer(errno);
                    out.clear();
                    if fault == Fault::ConnectionReset {
                        // What explains it (GOAWAY, a response) may be waiting to be read.
                        link.peer = Peer::Reset;
                        return self.read_soon(at);
                    }
                    return self.link_lost(at, Some(fault));
                }
            }
        }
        out.drain(..sent);
    }

    fn seal_frames(&mut self, at: u32) {
        let link = &mut self.links[at as usize];
        let (Session::H2(multiplex), Some(secured)) = (&mut link.session, &mut link.tls) else { return };
        if !secured.unsent.is_empty() {
            // The kernel takes no more; the frames wait, and are sealed when there is room.
            return;
        }
        self.sealed.clear();
        if let Err(refused) = secured.channel.seal(multiplex.out(), &mut self.sealed) {
            let request = link.request;
            self.tell_of(request, Fault::Tls, &refused.to_string());
            return self.link_lost(at, Some(Fault::Tls));
        }
        multiplex.out().clear();
        self.flush(at);
    }

    /// Handles room in the send buffer of a link.
    pub(super) fn on_room_for_frames(&mut self, at: u32) {
        let link = &mut self.links[at as usize];
        let is_held = link.tls.as_ref().is_some_and(|secured| !secured.unsent.is_empty());
        let generation = link.generation;
        if is_held {
            self.tell_time();
            self.sealed.clear();
            self.flush(at);
        }
        let link = &mut self.links[at as usize];
        let Some(multiplex) = link.session.multiplex() else { return };
        if multiplex.has_out() {
            self.tell_time();
            if self.links[at as usize].generation == generation {
                self.mark_dirty(at);
            }
        }
    }

    /// Tells the server that the client closes a link. Failing to deliver that is not a separate error.
    pub(super) fn send_goaway(&mut self, at: u32, code: u32) {
        let link = &mut self.links[at as usize];
        let Session::H2(multiplex) = &mut link.session else { return };
        let Some((wire, out)) = multiplex.wire_and_out() else { return };
        wire.close(code, out);
        self.send_last(at);
    }

    /// Sends the frames of a link that is about to be closed, as far as the kernel takes them.
    pub(super) fn send_last(&mut self, at: u32) {
        let link = &mut self.links[at as usize];
        let Session::H2(multiplex) = &mut link.session else { return };
        let Some((_, out)) = multiplex.wire_and_out() else { return };
        match &mut link.tls {
            None => {
                if let Io::Done(n) = self.door.send(link.socket, out) {
                    out.drain(..n.min(out.len()));
                }
            }
            Some(secured) if secured.unsent.is_empty() => {
                self.sealed.clear();
                if secured.channel.seal(out, &mut self.sealed).is_ok() {
                    let sent = self.door.send(link.socket, &self.sealed);
                    let sent = if let Io::Done(n) = sent { n } else { 0 };
                    // What follows must not overtake it.
                    secured.unsent.extend_from_slice(&self.sealed[sent.min(self.sealed.len())..]);
                }
                out.clear();
                self.sealed.clear();
            }
            Some(_) => {}
        }
    }
}

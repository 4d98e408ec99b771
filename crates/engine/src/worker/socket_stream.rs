//! WebSockets over HTTP/2 (RFC 8441): an extended CONNECT opens one on a stream, whose DATA frames carry its bytes in
//! both directions. END_STREAM is what the end of a TCP connection is over HTTP/1.1: after both close frames, each side
//! ends its direction, so that an ordinary end costs no RST_STREAM, which servers limit.

use super::duplex::HELD_MAX;
use super::{Post, Worker};
use crate::driver::Door;
use crate::link::Session;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{SeriesSum, WebSocketSum};
use plimsoll_plan::program::BodyUse;
use plimsoll_wire::h1::Answer;
use plimsoll_wire::h2::{Malformed, code};
use std::mem;

/// Returns what arrived for a socket besides its frames, which were counted as they came.
pub(super) fn socket_answer(answer: Answer) -> Answer {
    Answer { wire_bytes: answer.wire_bytes.saturating_sub(answer.body_bytes), body_bytes: 0, ..answer }
}

impl<D: Door, P: Post> Worker<D, P> {
    /// Handles a part of a response that may open a socket, or of one that is open. Returns whether its exchange
    /// continues.
    pub(super) fn socket_came(&mut self, at: u32, status: u16) -> bool {
        let exchange = &self.exchanges[at as usize];
        if exchange.kept_head > 0 && exchange.stream.is_none() {
            self.show_head(at, status);
            if self.is_socket(at) {
                self.socket_opened(at);
            }
        }
        let exchange = &self.exchanges[at as usize];
        let is_cancelled = exchange.cancelled && exchange.stream.is_some();
        let is_over = self.socket(at).is_none_or(|socket| socket.is_over);
        if is_cancelled && !(self.is_socket(at) && is_over) {
            self.payload.clear();
            self.end_socket(at);
            return false;
        }
        let mut payload = mem::take(&mut self.payload);
        let is_open = is_over || payload.is_empty() || {
            let read = self.read_socket(at, &payload);
            self.socket_read(at, read)
        };
        payload.clear();
        self.payload = payload;
        is_open
    }

    /// Handles the end of the server's direction, before that of the client's.
    pub(super) fn socket_half_closed(&mut self, at: u32, answer: Answer) {
        if !self.socket_came(at, answer.status) {
            return;
        }
        self.push_rest(at);
        match self.socket(at).map(|socket| socket.is_over) {
            Some(true) => self.end_socket_with(at, socket_answer(answer)),
            Some(false) => self.socket_lost(at, None),
            // There was no memory for its head.
            None => {
                self.finished(at, answer, false);
            }
        }
    }

    /// Handles the end of a stream: after that of the client's direction, or that of a refusal.
    pub(super) fn socket_done(&mut self, at: u32, answer: Answer) {
        if !self.socket_came(at, answer.status) {
            return;
        }
        match self.is_socket(at) {
            true => self.end_socket_with(at, socket_answer(answer)),
            false => {
                self.finished(at, answer, false);
            }
        }
    }

    /// Handles a frame that the server must not send on the stream.
    pub(super) fn socket_refused(&mut self, at: u32, why: Malformed, answer: Answer) {
        // The program sees the messages before the damage, however the frames were split.
        if !self.payload.is_empty() && !self.socket_came(at, answer.status) {
            return;
        }
        let request = self.exchanges[at as usize].request;
        if self.is_socket(at) {
            self.tally.socket(request).add(WebSocketSum::Abnormal.id(), 1);
        }
        self.stream_malformed(at, why);
    }

    /// After both close frames, ends the client's direction and waits for the end of the server's. Returns false for a
    /// socket that has its connection for itself, or that ends otherwise.
    pub(super) fn parts(&mut self, at: u32) -> bool {
        let link = self.exchanges[at as usize].link;
        let is_stream = self.links[link as usize].session.is_multiplexed();
        if !is_stream || self.socket(at).is_none_or(|socket| !socket.is_over || socket.broken.is_some()) {
            return false;
        }
        let deadline_ns = self.now_ns.saturating_add(self.outline.limits.close_timeout_ns);
        self.exchanges[at as usize].deadline_ns = deadline_ns;
        self.exchange_wheel.arm(at, deadline_ns);
        self.continue_upload(at);
        true
    }

    /// Sends a frame of a socket with the next flush, as far as the windows allow.
    pub(super) fn write_on_stream(&mut self, at: u32, frame: &[u8]) {
        if self.exchanges[at as usize].out.is_none() {
            let held = self.lend();
            let exchange = &mut self.exchanges[at as usize];
            (exchange.out, exchange.written) = (Some(held), 0);
        }
        let exchange = &mut self.exchanges[at as usize];
        let written = exchange.written as usize;
        let Some(held) = &mut exchange.out else { return };
        if written > HELD_MAX && exchange.first_ns > 0 {
            // A slow server may never take all that waits.
            held.drain(..written);
            exchange.written = 0;
        }
        let before = held.capacity();
        held.extend_from_slice(frame);
        self.lent.out_grew(held.capacity() - before);
        self.continue_upload(at);
    }

    /// Adds the last frames of a socket to those of its link, with the end of its direction, because its exchange is
    /// about to end. Returns false if it has its connection for itself.
    pub(super) fn push_rest(&mut self, at: u32) -> bool {
        let link = self.exchanges[at as usize].link;
        if !self.links[link as usize].session.is_multiplexed() {
            return false;
        }
        self.mark_dirty(link);
        let exchange = &mut self.exchanges[at as usize];
        let Session::H2(multiplex) = &mut self.links[link as usize].session else { return false };
        let Some((wire, out)) = multiplex.wire_and_out() else { return true };
        let rest = exchange.out.as_deref().and_then(|held| held.get(exchange.written as usize..));
        let before = out.len();
        let taken = wire.write(exchange.place, rest.unwrap_or_default(), true, out);
        exchange.written += taken as u32;
        let bytes = (out.len() - before) as u64;
        self.tally.series(exchange.request).add(SeriesSum::BytesOut.id(), bytes);
        true
    }

    /// Ends the attempt to open a socket on a connection whose server does not support that.
    pub(super) fn socket_unsupported(&mut self, id: u32) {
        let request = self.exchanges[id as usize].request;
        let sentence =
            "the server does not announce WebSocket over HTTP/2 (SETTINGS_ENABLE_CONNECT_PROTOCOL, RFC 8441)";
        self.tell_of(request, Fault::ProtocolChanged, sentence);
        self.attempt_refused(id, Fault::ProtocolChanged);
    }

    /// Handles a connection whose server has not sent its settings in the time of a connection attempt. Requests do not
    /// need them, but sockets wait for them.
    pub(super) fn unsettled_too_long(&mut self, at: u32) {
        let Some(multiplex) = self.links[at as usize].session.multiplex() else { return };
        let waiting = multiplex.take_waiting();
        let is_socket = |id: &u32| self.exchanges[*id as usize].body == BodyUse::WebSocket;
        let (sockets, others): (Vec<u32>, Vec<u32>) = waiting.into_iter().partition(is_socket);
        if let Some(multiplex) = self.links[at as usize].session.multiplex() {
            others.into_iter().for_each(|id| multiplex.wait(id));
        }
        if sockets.is_empty() {
            return;
        }
        self.tell_time();
        let sentence = "the server sent no SETTINGS, which say whether it supports WebSocket over HTTP/2";
        for id in sockets {
            self.tell_of(self.exchanges[id as usize].request, Fault::ProtocolChanged, sentence);
            self.attempt_refused(id, Fault::ProtocolChanged);
        }
        self.break_off(at, Fault::ProtocolChanged, code::SETTINGS_TIMEOUT, sentence);
    }
}

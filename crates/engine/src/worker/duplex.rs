//! Requests that stay open over HTTP/2: their program sends the body piece by piece, while the response arrives or
//! before it does. What the stream's window does not take waits in the buffer of the request.

use super::exchange::Bytes;
use super::keep::Lent;
use super::{Post, Worker};
use crate::driver::Door;
use crate::exchange::{Exchange, Phase};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::WebSocketSum;
use plimsoll_plan::program::{BodyUse, MessageKind, Outbox};

/// The timeout of a request that may stay open as long as its program wants.
pub(super) const UNTIMED: u64 = u64::MAX;
/// Bytes that wait to be sent, above which a request has failed: a server that does not read must not fill the memory.
const UNSENT_MAX: usize = 16 << 20;
/// Bytes of a request above which those that were sent are no longer held for a retry.
pub(super) const HELD_MAX: usize = 64 << 10;

/// Forgets what was sent if the request cannot be retried, because its response has begun, or if it is long.
pub(super) fn let_go_sent(exchange: &mut Exchange, lent: &mut Lent) {
    if let Some(held) = &mut exchange.out
        && (exchange.first_ns > 0 || held.len() > HELD_MAX)
    {
        held.clear();
        if held.capacity() > HELD_MAX {
            // One long message must not hold its memory as long as the stream is open.
            lent.out_shrank(held.capacity());
            **held = Vec::new();
        }
        exchange.written = 0;
        exchange.is_resent = true;
    }
}

impl<D: Door, P: Post> Worker<D, P> {
    /// Begins an exchange with the parts of its body that its program has sent in the same wake.
    pub(super) fn begin_duplex(&mut self, id: u32, bytes: Bytes<'_>, out: &Outbox) {
        let exchange = &self.exchanges[id as usize];
        let (step, request) = (exchange.step, exchange.request);
        if !self.links[exchange.link as usize].session.is_multiplexed() {
            let sentence = "a request that stays open requires HTTP/2";
            self.tell_of(request, Fault::ClientSendRefused, sentence);
            return self.attempt_failed(id, Fault::ClientSendRefused);
        }
        self.hold_fresh(id, bytes);
        for sending in out.messages.iter().filter(|sending| sending.id == step) {
            let payload = out.arena.get(sending.begin as usize..sending.end as usize).unwrap_or_default();
            self.send_part(id, sending.kind, payload);
        }
        self.begin(id, Bytes::Prepared);
    }

    /// Sends a part of the body of a request that stays open, or completes it.
    pub(super) fn send_part(&mut self, id: u32, kind: MessageKind, payload: &[u8]) {
        match kind {
            MessageKind::Text | MessageKind::Binary => {
                let exchange = &mut self.exchanges[id as usize];
                let Some(held) = &mut exchange.out else { return };
                let before = held.capacity();
                held.extend_from_slice(payload);
                self.lent.out_grew(held.capacity() - before);
                let is_clogged = held.len() - exchange.written as usize > UNSENT_MAX;
                let request = exchange.request;
                self.tally.socket(request).add(WebSocketSum::MessagesSent.id(), 1);
                if is_clogged {
                    self.call_at_once(id);
                }
            }
            MessageKind::Close(_) => self.complete(id),
            MessageKind::Ping | MessageKind::Pong => return,
        }
        self.continue_upload(id);
    }

    /// Lets the rest of a body, or its end, follow with the next flush.
    pub(super) fn continue_upload(&mut self, id: u32) {
        let exchange = &self.exchanges[id as usize];
        // Before that, its stream is not open, and takes everything with it.
        if exchange.phase != Phase::Sending {
            return;
        }
        let at = exchange.link;
        let Some(multiplex) = self.links[at as usize].session.multiplex() else { return };
        if !multiplex.uploads().contains(&id) {
            multiplex.uploads().push(id);
        }
        self.mark_dirty(at);
    }

    /// Ends the body of a request. The server must then begin to respond in time.
    fn complete(&mut self, id: u32) {
        let timeout_ns = self.outline.timeout_ns;
        let exchange = &mut self.exchanges[id as usize];
        exchange.body = BodyUse::Stream;
        // A request that is retried was untimed for a shorter time.
        if exchange.deadline_ns > UNTIMED / 2 {
            self.time_out_after(id, timeout_ns);
        }
    }

    /// Sets the timeout of a request to a time from now, or from its send.
    fn time_out_after(&mut self, id: u32, ns: u64) {
        let exchange = &mut self.exchanges[id as usize];
        exchange.deadline_ns = if exchange.sent_ns > 0 { self.now_ns.saturating_add(ns) } else { ns };
        if exchange.sent_ns > 0 {
            let deadline_ns = exchange.deadline_ns;
            self.exchange_wheel.arm(id, deadline_ns);
        }
    }

    /// Completes a request whose program has canceled it. Without a head by now, it has a short time left to get one.
    pub(super) fn give_up_duplex(&mut self, id: u32) {
        self.complete(id);
        self.continue_upload(id);
        if self.exchanges[id as usize].stream.is_none() {
            self.time_out_after(id, self.outline.limits.close_timeout_ns);
        }
    }

    /// Ends a request whose server does not read.
    pub(super) fn end_duplex_if_clogged(&mut self, id: u32) {
        let exchange = &self.exchanges[id as usize];
        let unsent = exchange.out.as_ref().map_or(0, |held| held.len() - exchange.written as usize);
        let is_open =
            exchange.body == BodyUse::Duplex && exchange.phase == Phase::Sending && exchange.sent_ns > 0;
        if is_open && unsent > UNSENT_MAX {
            let request = exchange.request;
            self.tell_time();
            let sentence = "the server does not read: more than 16 MiB of messages wait to be sent";
            self.tell_of(request, Fault::ClientLimit, sentence);
            self.failed(id, Fault::ClientLimit);
        }
    }
}

//! Fair shares of an event-loop iteration: a server that sends faster than its bytes can be read must not keep the
//! worker from its other connections, from the clock, or from a stop.
//!
//! Sockets report by edges, so bytes left in the kernel are not reported again: the worker keeps a list of those
//! sockets and continues reading in the next event-loop iteration. As long as each read empties its socket, as almost
//! all do, the list stays empty and costs a comparison of two numbers per iteration.

use super::{Post, Worker};
use crate::driver::Door;
use plimsoll_wire::h1::Part;

/// One socket's share of an event-loop iteration. This many bytes take about 0.4 ms if bodies are not kept, so neither
/// limit interrupts large bodies.
const SHARE_BYTES: usize = 2_097_152;
const SHARE_NS: u64 = 2_000_000;
/// Time for the events of an event-loop iteration, after which the remaining ones wait for the next; and time for
/// sockets with unread bytes after that.
const EVENTS_NS: u64 = 20_000_000;
const READ_ON_NS: u64 = 10_000_000;
/// Most bytes that a socket reads in an event-loop iteration that is late: with many floods, each socket gets little
/// before the next one is read.
const BRIEF_BYTES: usize = 16_384;
/// Smallest read, and the shift of the largest buffer that leads to it. Even a read of tiny events then takes about one
/// share.
const READ_LEAST_BYTES: usize = 8_192;
const SHIFT_MAX: u8 = 7;

/// The part of its share that a socket has used.
pub(super) struct Share {
    begun_ns: u64,
    bytes: usize,
    most: usize,
    reads: u32,
    is_slow: bool,
}

impl Share {
    /// Counts a read of `n` bytes that has been handled; returns whether the share is used up.
    #[inline]
    pub(super) fn is_used_up(&mut self, n: usize, now_ns: u64) -> bool {
        self.bytes += n;
        self.reads += 1;
        self.is_slow = now_ns.saturating_sub(self.begun_ns) >= SHARE_NS;
        self.is_slow || self.bytes >= self.most
    }
}

impl<D: Door, P: Post> Worker<D, P> {
    #[inline]
    pub(super) fn share(&self) -> Share {
        let most = if self.is_brief { BRIEF_BYTES } else { SHARE_BYTES };
        Share { begun_ns: self.now_ns, bytes: 0, most, reads: 0, is_slow: false }
    }

    /// Returns how much to read from a socket in one call.
    #[inline]
    pub(super) fn room(&self, id: u32) -> usize {
        let len = self.buffer.len();
        let room = (len >> self.links[id as usize].read_shift).max(READ_LEAST_BYTES.min(len));
        if self.is_brief { room.min(BRIEF_BYTES) } else { room }
    }

    /// Returns whether work is waiting that no event will report.
    #[inline]
    pub(super) fn is_behind(&self) -> bool {
        !self.unread.is_empty() || !self.late.is_empty() || self.reaches.has_ready()
    }

    /// Handles the waiting events, then `ready` new ones, in order, until their time is over; returns when the oldest
    /// of them was reported.
    pub(super) fn take_events_of(&mut self, ready: usize, since_ns: u64) -> u64 {
        let begin_ns = self.now_ns;
        let oldest_ns = if self.late.is_empty() { begin_ns } else { self.late_since_ns };
        let until_ns = begin_ns + EVENTS_NS;
        self.is_brief = !self.late.is_empty();
        while self.now_ns < until_ns
            && let Some((token, flags)) = self.late.pop_front()
        {
            self.on_ready(token, flags);
            self.start_due(since_ns);
            self.flush_dirty();
        }
        self.late_since_ns = if self.late.is_empty() { begin_ns } else { oldest_ns };
        for i in 0..ready {
            let (token, flags) = self.door.event(i);
            if token == D::WAKE {
                self.door.clear_wake();
            } else if self.now_ns < until_ns {
                self.on_ready(token, flags);
                // After every response: a due arrival does not wait for the rest of the batch.
                self.start_due(since_ns);
                self.flush_dirty();
            } else {
                self.late.push_back((token, flags));
            }
        }
        self.is_brief = false;
        oldest_ns
    }

    /// Continues reading sockets whose share was used up, the one that has waited longest first; each at most once.
    pub(super) fn read_on(&mut self, since_ns: u64) {
        let until_ns = self.now_ns + READ_ON_NS;
        for _ in 0..self.unread.len() {
            let Some(token) = self.unread.pop_front() else { break };
            let id = token as u32;
            // Closed since then, or reused for another socket.
            if !self.links.get(id as usize).is_some_and(|link| link.token(id) == token && link.unread) {
                continue;
            }
            self.links[id as usize].unread = false;
            self.tell_time();
            self.read(id);
            self.start_due(since_ns);
            self.flush_dirty();
            if self.now_ns >= until_ns {
                break;
            }
        }
    }

    /// Puts a socket with a used-up share last: it continues after the others have had theirs.
    pub(super) fn put_off(&mut self, id: u32, share: &Share) {
        let link = &mut self.links[id as usize];
        if share.is_slow && share.reads == 1 {
            link.read_shift = (link.read_shift + 1).min(SHIFT_MAX);
        } else if !share.is_slow && !self.is_brief {
            link.read_shift = link.read_shift.saturating_sub(1);
        }
        if !std::mem::replace(&mut link.unread, true) {
            self.unread.push_back(link.token(id));
        }
    }

    /// Notes that the socket is empty: its next edge will be reported.
    #[inline]
    pub(super) fn drained(&mut self, id: u32) {
        self.links[id as usize].read_shift = 0;
    }

    /// Handles a read that ended in the middle of a response: if the current part must be complete in time, its timer
    /// runs.
    pub(super) fn time_part(&mut self, id: u32) {
        if self.is_slow(id) {
            return self.exchanges[id as usize].part_until_ns = 0;
        }
        let limits = &self.outline.limits;
        let exchange = &mut self.exchanges[id as usize];
        let (at, limit_ns) = match self.links[exchange.link as usize].session.part() {
            Part::Head(at) => (at as u32, limits.head_timeout_ns),
            Part::ChunkLine(at) => (at as u32, limits.chunk_line_timeout_ns),
            Part::Body => (0, 0),
        };
        if limit_ns == 0 {
            exchange.part_until_ns = 0;
        } else if exchange.part_until_ns == 0 || exchange.place != at {
            (exchange.place, exchange.part_until_ns) = (at, self.now_ns.saturating_add(limit_ns));
            self.exchange_wheel.arm(id, exchange.part_until_ns);
        }
    }
}

//! Fair shares of a turn: a server that sends faster than its bytes can be read must not keep the worker from its other
//! connections, from the clock, or from a stop.
//!
//! Sockets report by edges, so what is left in the kernel is not reported again: the worker keeps a list of those
//! sockets and reads on in the next turn. As long as each read empties its socket, as nearly all do, the list stays
//! empty and costs a comparison of two numbers a turn.

use super::{Post, Worker};
use crate::driver::Door;
use plimsoll_wire::h1::Part;

/// What one socket may take of a turn. So much takes about 0.4 ms when bodies are only passed on, so that large bodies
/// are stopped by neither.
const SHARE_BYTES: usize = 2_097_152;
const SHARE_NS: u64 = 2_000_000;
/// What the events of a turn may take before those behind them wait for the next one, and what the sockets that are
/// behind may take after them.
const EVENTS_NS: u64 = 20_000_000;
const READ_ON_NS: u64 = 10_000_000;
/// What a socket may read of a turn that is behind: among many floods each has little before the next is asked.
const BRIEF_BYTES: usize = 16_384;
/// Smallest read, and the shift of the largest buffer that leads to it. Even one of tiny events then takes about a
/// share.
const READ_LEAST_BYTES: usize = 8_192;
const SHIFT_MAX: u8 = 7;

/// What one socket has taken.
pub(super) struct Share {
    begun_ns: u64,
    bytes: usize,
    most: usize,
    reads: u32,
    is_slow: bool,
}

impl Share {
    /// Counts a read of `n` bytes that was handled by now.
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

    /// How much is read of a socket in one call.
    #[inline]
    pub(super) fn room(&self, id: u32) -> usize {
        let len = self.buffer.len();
        let room = (len >> self.links[id as usize].read_shift).max(READ_LEAST_BYTES.min(len));
        if self.is_brief { room.min(BRIEF_BYTES) } else { room }
    }

    /// Something waits that no event will report.
    #[inline]
    pub(super) fn is_behind(&self) -> bool {
        !self.unread.is_empty() || !self.late.is_empty()
    }

    /// Takes the events that wait, then `ready` new ones, in their order, until the time for it is over; returns when
    /// the oldest of them was reported.
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
        }
        self.late_since_ns = if self.late.is_empty() { begin_ns } else { oldest_ns };
        for i in 0..ready {
            let (token, flags) = self.door.event(i);
            if token == D::WAKE {
                self.door.clear_wake();
            } else if self.now_ns < until_ns {
                self.on_ready(token, flags);
                // Between any two answers: an arrival that came due is not kept waiting by the batch.
                self.start_due(since_ns);
            } else {
                self.late.push_back((token, flags));
            }
        }
        self.is_brief = false;
        oldest_ns
    }

    /// Reads on where a share was used up, the one that waits longest first; each at most once.
    pub(super) fn read_on(&mut self, since_ns: u64) {
        let until_ns = self.now_ns + READ_ON_NS;
        for _ in 0..self.unread.len() {
            let Some(token) = self.unread.pop_front() else { break };
            let id = token as u32;
            // Closed since then, or given to another socket.
            if !self.links.get(id as usize).is_some_and(|link| link.token(id) == token && link.unread) {
                continue;
            }
            self.links[id as usize].unread = false;
            self.tell_time();
            self.read(id);
            self.start_due(since_ns);
            if self.now_ns >= until_ns {
                break;
            }
        }
    }

    /// The socket's share is used up: it goes on when the others have had theirs.
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

    /// The socket is empty: its next edge will come.
    #[inline]
    pub(super) fn drained(&mut self, id: u32) {
        self.links[id as usize].read_shift = 0;
    }

    /// A read has ended in the middle of an answer. Where that is a part which must be complete in time, its clock
    /// runs.
    pub(super) fn time_part(&mut self, id: u32) {
        let limits = &self.outline.limits;
        let exchange = &mut self.exchanges[id as usize];
        let (at, limit_ns) = match self.links[exchange.link as usize].session.part() {
            Part::Head(at) => (at as u32, limits.head_timeout_ns),
            Part::ChunkLine(at) => (at as u32, limits.chunk_line_timeout_ns),
            Part::Body => (0, 0),
        };
        if limit_ns == 0 {
            exchange.part_until_ns = 0;
        } else if exchange.part_until_ns == 0 || exchange.part_at != at {
            (exchange.part_at, exchange.part_until_ns) = (at, self.now_ns.saturating_add(limit_ns));
            self.exchange_wheel.arm(id, exchange.part_until_ns);
        }
    }
}

//! What is to happen later: a heap of instants, earliest first.
//!
//! Nothing is ever taken out of the middle. An entry that has lost its point (its connection is gone,
//! its request is over) is recognised by the connection's key and turn when it comes up.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Names a connection for ever: the slot it lives in, and which tenant of the slot it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) slot: u32,
    pub(crate) tenant: u32,
}

impl Key {
    /// Tenants count in 31 bits, which keeps packed keys apart from the loop's own tokens.
    pub(crate) const TENANT_MASK: u32 = u32::MAX >> 1;

    /// Set in the slot of a stream of HTTP/2; connections never have as many slots.
    pub(crate) const STREAM: u32 = 1 << 31;

    /// Names a stream, not a connection.
    pub(crate) fn is_stream(self) -> bool {
        self.slot & Key::STREAM != 0
    }

    /// The slot among the streams.
    pub(crate) fn stream_slot(self) -> Option<usize> {
        self.is_stream().then_some((self.slot & !Key::STREAM) as usize)
    }

    pub(crate) fn pack(self) -> u64 {
        u64::from(self.tenant) << 32 | u64::from(self.slot)
    }

    pub(crate) fn unpack(packed: u64) -> Self {
        Key { slot: packed as u32, tenant: (packed >> 32) as u32 }
    }
}

/// One request of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) key: Key,
    /// How many requests the connection had seen when this one came.
    pub(crate) turn: u32,
}

/// What a timer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// The answer to this request is due.
    Answer(Ticket),
    /// A worker of the station is done with this request.
    EndService(Ticket),
    /// The next byte of a dripping answer, or the next block of an endless one, is due.
    WriteOn(Ticket),
    /// The next event of a stream is due by its plan.
    Event(Ticket),
    /// It is due in fact, after jitter and the turns of the streams before it.
    Emit(Ticket),
    /// A stream's comment is due.
    Comment(Ticket),
    /// Look whether the connection has been idle for too long.
    Idle(Key),
    /// More is to be read than one turn of the loop allowed.
    ReadOn(Key),
    /// Accepting failed for want of descriptors; try again.
    AcceptAgain,
}

struct Entry {
    due_ns: u64,
    /// Entries due at the same instant keep the order in which they were made.
    serial: u64,
    task: Task,
}

#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<Entry>>,
    serial: u64,
}

impl Timers {
    pub(crate) fn push(&mut self, due_ns: u64, task: Task) {
        self.serial += 1;
        self.heap.push(Reverse(Entry { due_ns, serial: self.serial, task }));
    }

    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        self.heap.peek().map(|entry| entry.0.due_ns)
    }

    /// The earliest entry that is due at `now_ns`, with the instant at which it was due.
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<(u64, Task)> {
        if self.next_due_ns()? > now_ns {
            return None;
        }
        self.heap.pop().map(|entry| (entry.0.due_ns, entry.0.task))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due_ns, self.serial).cmp(&(other.due_ns, other.serial))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

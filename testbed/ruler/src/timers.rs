//! Timers: a heap of due times, earliest first.
//!
//! Entries are never removed from the middle. When an entry is due, the connection's key and turn show whether it
//! is obsolete (the connection is closed, or the request has ended).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A unique name of a connection: its slot, and its number among the tenants of the slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) slot: u32,
    pub(crate) tenant: u32,
}

impl Key {
    /// The tenant number has 31 bits, so packed keys differ from the loop's own tokens.
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
    /// Number of requests on the connection when this one arrived.
    pub(crate) turn: u32,
}

/// The action of a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// The response to this request is due.
    Answer(Ticket),
    /// A worker has finished this request.
    EndService(Ticket),
    /// The next byte of a dripping response, or the next block of an endless one, is due.
    WriteOn(Ticket),
    /// The planned time of a stream's next event.
    Event(Ticket),
    /// The actual time of the event, after jitter and the streams before it.
    Emit(Ticket),
    /// The planned time of a WebSocket's next message, the time of an echo, and the time of a ping.
    Message(Ticket),
    Echo(Ticket),
    Ping(Ticket),
    /// A stream's comment is due.
    Comment(Ticket),
    /// Check whether the connection has been idle for too long.
    Idle(Key),
    /// There was more to read than one event-loop iteration allows.
    ReadOn(Key),
    /// Accepting failed for lack of file descriptors; try again.
    AcceptAgain,
}

struct Entry {
    due_ns: u64,
    /// Entries that are due at the same time keep the order of their creation.
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

    /// Returns the earliest entry that is due at `now_ns`, with its due time.
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

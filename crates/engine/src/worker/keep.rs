//! Buffers for response bodies that programs read and for requests that wait: they are lent and returned.
//!
//! The network determines their sizes, so all lent memory counts towards a limit, and refused memory costs the body of
//! the response instead of the process.

use super::exchange::Bytes;
use super::{BUFFER_KEPT_BYTES, BUFFERS_MAX, POOL_BYTES, Post, Worker};
use crate::driver::Door;
use plimsoll_wire::h1::{Head, Sink};

/// The memory of one worker's buffers, bytes.
#[derive(Debug)]
pub(super) struct Lent {
    /// Capacity of the lent buffers, and of the idle ones.
    out: usize,
    rest: usize,
    /// The limit of both together.
    most: usize,
}

impl Lent {
    pub(super) fn new(most: usize) -> Lent {
        Lent { out: 0, rest: 0, most }
    }

    /// Notes that a lent buffer has grown.
    pub(super) fn out_grew(&mut self, bytes: usize) {
        self.out += bytes;
    }

    /// Notes that a lent buffer has given memory back.
    pub(super) fn out_shrank(&mut self, bytes: usize) {
        self.out = self.out.saturating_sub(bytes);
    }

    /// Makes room for `more` bytes in a buffer that will not exceed `longest`. Returns false if there is no memory.
    #[inline]
    fn grow(&mut self, buffer: &mut Vec<u8>, more: usize, longest: usize) -> bool {
        let (held, wanted) = (buffer.capacity(), buffer.len().saturating_add(more));
        if wanted <= held {
            return true;
        }
        // Double the size, so that a body in many pieces is not moved for each of them, but not beyond the largest
        // possible size.
        let roomy = wanted.max(held.saturating_mul(2).min(longest));
        [roomy, wanted].into_iter().any(|size| {
            let fits = self.out.saturating_add(self.rest).saturating_add(size - held) <= self.most;
            let grown = fits && buffer.try_reserve_exact(size - buffer.len()).is_ok();
            self.out += if grown { buffer.capacity() - held } else { 0 };
            grown
        })
    }
}

/// Keeps the head, and the body up to a limit, for a program.
pub(super) struct Keep<'a> {
    pub(super) into: &'a mut Vec<u8>,
    pub(super) head_bytes: &'a mut u32,
    /// Limit for the body.
    pub(super) most: usize,
    pub(super) lent: &'a mut Lent,
    /// There was no memory for the rest.
    pub(super) short: &'a mut bool,
}

impl Keep<'_> {
    fn take(&mut self, bytes: &[u8]) {
        let longest = (*self.head_bytes as usize).saturating_add(self.most);
        *self.short |= !self.lent.grow(self.into, bytes.len(), longest);
        // A body with a hole would be a different body.
        if !*self.short {
            self.into.extend_from_slice(bytes);
        }
    }
}

impl Keep<'_> {
    pub(super) fn take_head(&mut self, raw: &[u8]) {
        self.take(raw);
        if !*self.short {
            *self.head_bytes = raw.len() as u32;
        }
    }

    pub(super) fn take_body(&mut self, bytes: &[u8]) {
        let room = (*self.head_bytes as usize).saturating_add(self.most).saturating_sub(self.into.len());
        self.take(&bytes[..bytes.len().min(room)]);
    }
}

impl Sink for Keep<'_> {
    const READS: bool = true;

    fn head(&mut self, head: &Head<'_>) {
        self.take_head(head.raw());
    }

    fn body(&mut self, bytes: &[u8]) {
        self.take_body(bytes);
    }
}

/// Keeps the head, and collects the payload for the event parser. Neither is longer than one read.
pub(super) struct Streaming<'a> {
    pub(super) head: Option<&'a mut Vec<u8>>,
    pub(super) head_bytes: &'a mut u32,
    pub(super) payload: &'a mut Vec<u8>,
    pub(super) lent: &'a mut Lent,
}

impl Streaming<'_> {
    pub(super) fn take_head(&mut self, raw: &[u8]) {
        if let Some(into) = &mut self.head
            && self.lent.grow(into, raw.len(), 0)
        {
            into.extend_from_slice(raw);
        }
        *self.head_bytes = raw.len() as u32;
    }
}

impl Sink for Streaming<'_> {
    const READS: bool = true;

    fn head(&mut self, head: &Head<'_>) {
        self.take_head(head.raw());
    }

    fn body(&mut self, bytes: &[u8]) {
        self.payload.extend_from_slice(bytes);
    }
}

impl<D: Door, P: Post> Worker<D, P> {
    /// Lends an empty buffer, which must be returned.
    #[allow(clippy::box_collection)]
    pub(super) fn lend(&mut self) -> Box<Vec<u8>> {
        let buffer = self.bodies.pop().unwrap_or_default();
        self.lent.rest -= buffer.capacity();
        self.lent.out += buffer.capacity();
        buffer
    }

    /// Takes a buffer back for reuse.
    #[allow(clippy::box_collection)]
    pub(super) fn give_back(&mut self, mut buffer: Box<Vec<u8>>) {
        let bytes = buffer.capacity();
        self.lent.out = self.lent.out.saturating_sub(bytes);
        let room = self.lent.rest + bytes <= POOL_BYTES.min(self.lent.most / 4);
        if self.bodies.len() < BUFFERS_MAX && bytes <= BUFFER_KEPT_BYTES && room {
            buffer.clear();
            self.lent.rest += bytes;
            self.bodies.push(buffer);
        }
    }

    /// Keeps the bytes of a request that was just rendered until the kernel takes them.
    pub(super) fn hold_fresh(&mut self, exchange: u32, bytes: Bytes<'_>) {
        let Bytes::Fresh(bytes) = bytes else { return };
        let mut held = self.lend();
        let before = held.capacity();
        held.extend_from_slice(bytes);
        self.lent.out += held.capacity() - before;
        self.exchanges[exchange as usize].out = Some(held);
    }

    /// Returns the buffer of a request that was sent.
    #[inline]
    pub(super) fn let_go(&mut self, exchange: u32) {
        if let Some(held) = self.exchanges[exchange as usize].out.take() {
            self.give_back(held);
        }
    }
}

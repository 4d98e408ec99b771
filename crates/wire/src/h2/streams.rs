//! The open streams of a connection, without a map: the slot of a stream follows from its number.

use super::{Answer, Ask, Malformed, Unfinished};

/// Largest number of a stream (RFC 9113 section 5.1.1).
const ID_MAX: u32 = 0x7fff_ffff;

/// Most streams at a time: their slots are allocated together.
pub(super) const STREAMS_MAX: u32 = 1 << 20;

/// Largest window (section 6.9.1).
pub(super) const WINDOW_MAX: i64 = 0x7fff_ffff;

/// A body of unknown length.
pub(super) const NO_LENGTH: u64 = u64::MAX;

/// The state of one stream: 48 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub body_bytes: u64,
    /// Content-Length, or [`NO_LENGTH`].
    pub declared: u64,
    /// 0 if the slot is free.
    pub id: u32,
    pub tag: u32,
    /// Bytes that the server allows the client to send; negative after a smaller SETTINGS_INITIAL_WINDOW_SIZE.
    pub send_window: i32,
    /// Bytes received and not returned to the server's window.
    pub owed: u32,
    /// Received bytes that are not body.
    pub overhead: u32,
    pub head_bytes: u32,
    pub status: u16,
    pub flags: u8,
    pub informational: u8,
}

/// Bits of [`Stream::flags`].
pub(super) mod is {
    pub const HEAD_ONLY: u8 = 1;
    pub const READS_HEAD: u8 = 1 << 1;
    pub const READS_BODY: u8 = 1 << 2;
    /// The body of the request is not complete.
    pub const SENDING: u8 = 1 << 3;
    /// A window was too small for a part of the body.
    pub const BLOCKED: u8 = 1 << 4;
    /// The final head was received.
    pub const HEADED: u8 = 1 << 5;
    /// Bytes in both directions; see [`Ask::is_tunnel`](super::Ask::is_tunnel).
    pub const TUNNEL: u8 = 1 << 6;
    /// The server has ended its direction of a tunnel.
    pub const ENDED: u8 = 1 << 7;
}

const FREE: Stream = Stream {
    body_bytes: 0,
    declared: NO_LENGTH,
    id: 0,
    tag: 0,
    send_window: 0,
    owed: 0,
    overhead: 0,
    head_bytes: 0,
    status: 0,
    flags: 0,
    informational: 0,
};

impl Stream {
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub fn answer(&self, reusable: bool) -> Answer {
        Answer {
            status: self.status,
            head_bytes: self.head_bytes,
            body_bytes: self.body_bytes,
            wire_bytes: self.body_bytes + u64::from(self.overhead),
            reusable,
        }
    }

    /// Returns whether this many more bytes make the body longer than declared.
    #[inline]
    pub fn exceeds(&self, bytes: u32) -> bool {
        self.body_bytes + u64::from(bytes) > self.declared
    }

    /// Returns whether the body is as long as declared.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.declared == NO_LENGTH || self.body_bytes == self.declared
    }

    pub fn unfinished(&self) -> Unfinished {
        let started = self.overhead > 0;
        Unfinished { stream: self.id, tag: self.tag, started, answer: self.answer(false) }
    }

    #[inline]
    pub fn add_overhead(&mut self, bytes: u32) {
        self.overhead = self.overhead.saturating_add(bytes);
    }

    /// Applies WINDOW_UPDATE.
    pub fn widen(&mut self, bytes: u32) -> Result<(), Malformed> {
        if bytes == 0 {
            return Err(Malformed::StreamUpdate);
        }
        let window = i64::from(self.send_window) + i64::from(bytes);
        self.send_window = i32::try_from(window).map_err(|_| Malformed::StreamWindow)?;
        Ok(())
    }
}

/// A table with a power of two of slots, about a quarter more than streams; a single stream has one.
#[derive(Debug)]
pub(super) struct Streams {
    slots: Box<[Stream]>,
    /// Number of the next stream; above [`ID_MAX`] if there is none.
    next: u32,
    open: u32,
    /// Where the search for a writable stream continues.
    cursor: u32,
}

impl Streams {
    pub fn new(streams: u32, first: u32) -> Streams {
        let spare = if streams == 1 { 0 } else { (streams / 4).max(1) };
        let slots = (streams + spare).next_power_of_two();
        Streams { slots: vec![FREE; slots as usize].into(), next: first | 1, open: 0, cursor: 0 }
    }

    #[inline]
    fn slot(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.slots.len() - 1)
    }

    #[inline]
    pub fn get(&mut self, id: u32) -> Option<&mut Stream> {
        let slot = self.slot(id);
        // proof: the mask keeps the slot below the length
        let stream = &mut self.slots[slot];
        (stream.id == id && id != 0).then_some(stream)
    }

    #[inline]
    pub fn peek(&self, id: u32) -> Option<&Stream> {
        let stream = &self.slots[self.slot(id)];
        (stream.id == id && id != 0).then_some(stream)
    }

    /// Returns the slot of a stream that is open, or that has just been closed: it keeps its values until it is used
    /// again.
    #[inline]
    pub fn last(&self, id: u32) -> &Stream {
        // proof: the mask keeps the slot below the length
        &self.slots[self.slot(id)]
    }

    #[inline]
    pub fn open(&self) -> u32 {
        self.open
    }

    pub fn is_exhausted(&self) -> bool {
        self.next > ID_MAX
    }

    /// Returns whether a stream with this number was opened, or skipped (section 5.1.1), at any time.
    #[inline]
    pub fn was_opened(&self, id: u32) -> bool {
        id & 1 == 1 && id < self.next
    }

    /// Opens the next stream whose slot is free; numbers between may be skipped.
    #[inline]
    pub fn take(&mut self, ask: Ask, send_window: i32) -> Option<u32> {
        if self.open as usize >= self.slots.len() {
            return None;
        }
        let mut id = self.next;
        while self.slots[self.slot(id)].id != 0 {
            id += 2;
        }
        if id > ID_MAX {
            self.next = id;
            return None;
        }
        let bit = |set: bool, flag: u8| if set { flag } else { 0 };
        let flags = bit(ask.head_only, is::HEAD_ONLY)
            | bit(ask.reads_head, is::READS_HEAD)
            | bit(ask.reads_body, is::READS_BODY)
            | bit(ask.has_body, is::SENDING)
            | bit(ask.is_tunnel, is::TUNNEL);
        let slot = self.slot(id);
        self.slots[slot] = Stream { id, tag: ask.tag, send_window, flags, ..FREE };
        self.next = id + 2;
        self.open += 1;
        Some(id)
    }

    #[inline]
    pub fn free(&mut self, id: u32) {
        let slot = self.slot(id);
        if self.slots[slot].id == id {
            self.slots[slot].id = 0;
            self.open -= 1;
        }
    }

    /// Returns an open stream that satisfies `wanted`.
    pub fn find(&self, wanted: impl Fn(&Stream) -> bool) -> Option<Stream> {
        if self.open == 0 {
            return None;
        }
        self.slots.iter().find(|stream| stream.id != 0 && wanted(stream)).copied()
    }

    /// Returns a blocked stream with a window, in rotation, and marks it as not blocked.
    pub fn unblock(&mut self) -> Option<(u32, u32)> {
        let len = self.slots.len();
        for step in 0..len {
            let at = (self.cursor as usize + step) & (len - 1);
            let stream = &mut self.slots[at];
            if stream.id != 0 && stream.has(is::BLOCKED) && stream.send_window > 0 {
                stream.flags &= !is::BLOCKED;
                self.cursor = at as u32 + 1;
                return Some((stream.id, stream.tag));
            }
        }
        None
    }

    pub fn has_blocked(&self) -> bool {
        self.slots.iter().any(|stream| stream.id != 0 && stream.has(is::BLOCKED))
    }

    /// Applies a new SETTINGS_INITIAL_WINDOW_SIZE to the open streams (section 6.9.2).
    pub fn shift_windows(&mut self, by: i64) -> Result<(), Malformed> {
        for stream in self.slots.iter_mut().filter(|stream| stream.id != 0) {
            let window = i64::from(stream.send_window) + by;
            // Both bounds fit: the smallest window is 0 less the largest.
            stream.send_window = i32::try_from(window).map_err(|_| Malformed::SettingWindow)?;
        }
        Ok(())
    }
}

//! Output of a connection: a buffer for small data, and a tail that is generated while it is sent.
//!
//! A body without its own content repeats the 64 KiB pattern below, so byte i is the same in every framing, and a
//! body of any size needs no memory. 64 KiB stay in the cache while the kernel copies from them.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, send, sendmsg};
use std::io::IoSlice;
use std::rc::Rc;

const PATTERN_BYTES: usize = 64 << 10;

/// Lines of 63 letters and a line feed.
static PATTERN: [u8; PATTERN_BYTES] = {
    let mut bytes = [b'\n'; PATTERN_BYTES];
    let mut at = 0;
    while at < PATTERN_BYTES {
        if at % 64 != 63 {
            bytes[at] = b'a' + ((at % 64 + at / 64) % 26) as u8;
        }
        at += 1;
    }
    bytes
};

/// Bodies up to this size are copied into the buffer after their head, which saves a gathering write.
const INLINE_MOST: u64 = 16 << 10;
/// Slices in one gathering write: 1 MiB.
const SLICES: usize = 16;
/// Bytes that one connection may write before the loop serves others.
const TURN_BYTES: usize = 4 << 20;
/// Time between two blocks of `PATTERN_BYTES` of an endless head.
const ENDLESS_EVERY_NS: u64 = 1_000_000;

/// The data that follows the buffer.
#[derive(Clone, Copy)]
pub(crate) enum Tail {
    Nothing,
    /// The pattern, starting at `offset`.
    Body {
        offset: u64,
        left: u64,
    },
    /// The same in chunks. `finish` is false for an incomplete body.
    Chunks {
        offset: u64,
        left: u64,
        chunk: u64,
        finish: bool,
        trailers: bool,
    },
    /// Header lines without end.
    Headers,
}

/// The state of the connection after everything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The next request may come.
    KeepAlive,
    /// FIN.
    Close,
    /// RST.
    Reset,
    /// FIN of the ruler's side only; it continues to read.
    HalfClose,
    /// Nothing, until the peer closes the connection.
    Hold,
}

/// The result of a write.
pub(crate) enum Wrote {
    All,
    /// The socket is full; epoll reports when it is writable.
    Blocked,
    /// Write more after this time.
    Later(u64),
}

/// The output of one connection.
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    position: usize,
    tail: Tail,
    /// The content of bodies in the tail; None: the pattern.
    content: Option<Rc<[u8]>>,
    /// Bytes after the tail.
    after: Vec<u8>,
    /// Writes one byte at a time, with this time between two.
    pub(crate) drip_every_ns: Option<u64>,
    pub(crate) end: End,
}

impl Outgoing {
    pub(crate) fn new() -> Self {
        Outgoing {
            bytes: Vec::new(),
            position: 0,
            tail: Tail::Nothing,
            content: None,
            after: Vec::new(),
            drip_every_ns: None,
            end: End::KeepAlive,
        }
    }

    /// Clears it for the next response; keeps the buffer's memory, unless it has grown large.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(256 << 10);
        self.after.clear();
        self.position = 0;
        self.tail = Tail::Nothing;
        self.content = None;
        self.drip_every_ns = None;
        self.end = End::KeepAlive;
    }

    /// Returns the buffer, to append a head or a small body.
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Returns the buffer of a response that is written piece by piece, without the bytes that were sent.
    pub(crate) fn pieces(&mut self) -> &mut Vec<u8> {
        if self.position == self.bytes.len() {
            self.bytes.clear();
            self.position = 0;
        }
        &mut self.bytes
    }

    /// Returns the number of bytes in the buffer that the socket has not accepted yet.
    pub(crate) fn unsent(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Sets the content of bodies; a tail must not exceed it.
    pub(crate) fn made_of(&mut self, content: Option<Rc<[u8]>>) {
        self.content = content;
    }

    /// Sets the data that follows the buffer; small data is copied into the buffer immediately.
    pub(crate) fn follow_with(&mut self, tail: Tail) {
        self.tail = tail;
        match tail {
            Tail::Body { offset, left } if left <= INLINE_MOST => {
                push_body(&mut self.bytes, self.content.as_deref(), offset, left);
                self.tail = Tail::Nothing;
            }
            Tail::Chunks { .. } => self.refill(),
            _ => {}
        }
    }

    /// Appends bytes after everything else.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        match self.tail {
            Tail::Nothing => self.bytes.extend_from_slice(bytes),
            _ => self.after.extend_from_slice(bytes),
        }
    }

    /// Writes as much as the socket accepts.
    pub(crate) fn write(&mut self, socket: &OwnedFd) -> Result<Wrote, Errno> {
        let mut turn = 0;
        loop {
            if self.is_empty() {
                return Ok(Wrote::All);
            }
            let (wanted, sent) = self.send(socket);
            match sent {
                Ok(sent) => {
                    self.consume(sent);
                    turn += sent;
                    let (drip_every_ns, done) = (self.drip_every_ns, self.is_empty());
                    match drip_every_ns {
                        Some(every_ns) if !done => return Ok(Wrote::Later(every_ns)),
                        // A short write means that the socket is full; another call would only confirm it.
                        None if sent < wanted => return Ok(Wrote::Blocked),
                        _ if matches!(self.tail, Tail::Headers) => return Ok(Wrote::Later(ENDLESS_EVERY_NS)),
                        _ if turn >= TURN_BYTES => return Ok(Wrote::Later(0)),
                        _ => {}
                    }
                }
                Err(Errno::AGAIN) => return Ok(Wrote::Blocked),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    /// Returns true if nothing is left; generates the next piece of a tail if necessary.
    fn is_empty(&mut self) -> bool {
        while self.position == self.bytes.len() {
            match self.tail {
                Tail::Body { left, .. } if left > 0 => return false,
                Tail::Body { .. } | Tail::Nothing if self.after.is_empty() => return true,
                Tail::Body { .. } | Tail::Nothing => {
                    self.tail = Tail::Nothing;
                    self.position = 0;
                    self.bytes.clear();
                    std::mem::swap(&mut self.bytes, &mut self.after);
                }
                Tail::Chunks { .. } | Tail::Headers => {
                    self.position = 0;
                    self.bytes.clear();
                    self.refill();
                }
            }
        }
        false
    }

    /// Sends once; returns how much was offered, and how much the socket accepted.
    fn send(&self, socket: &OwnedFd) -> (usize, Result<usize, Errno>) {
        let front = &self.bytes[self.position..];
        let Tail::Body { mut offset, mut left } = self.tail else {
            let offered = if self.drip_every_ns.is_some() { &front[..1] } else { front };
            return (offered.len(), send(socket, offered, SendFlags::NOSIGNAL));
        };
        let mut slices = [IoSlice::new(&[]); SLICES];
        let mut wanted = front.len();
        slices[0] = IoSlice::new(front);
        for slice in &mut slices[1..] {
            let piece = body_at(self.content.as_deref(), offset, left);
            *slice = IoSlice::new(piece);
            offset += piece.len() as u64;
            left -= piece.len() as u64;
            wanted += piece.len();
        }
        if self.drip_every_ns.is_some() {
            let first: &[u8] = slices.iter().find(|slice| !slice.is_empty()).map_or(&[], |slice| &slice[..1]);
            return (1, send(socket, first, SendFlags::NOSIGNAL));
        }
        let sent = sendmsg(socket, &slices, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL);
        (wanted, sent)
    }

    fn consume(&mut self, sent: usize) {
        let from_buffer = sent.min(self.bytes.len() - self.position);
        self.position += from_buffer;
        if let Tail::Body { offset, left } = &mut self.tail {
            // The other bytes are from the body, which `send` limits to `left`.
            let from_body = (sent - from_buffer) as u64;
            *offset += from_body;
            *left -= from_body;
        }
    }

    /// Appends the next block of a generated tail.
    fn refill(&mut self) {
        match &mut self.tail {
            Tail::Chunks { offset, left, chunk, finish, trailers } => {
                while *left > 0 && self.bytes.len() < PATTERN_BYTES {
                    let size = (*left).min(*chunk);
                    push_text(&mut self.bytes, format_args!("{size:x}\r\n"));
                    push_body(&mut self.bytes, self.content.as_deref(), *offset, size);
                    self.bytes.extend_from_slice(b"\r\n");
                    *offset += size;
                    *left -= size;
                }
                if *left == 0 {
                    if *finish {
                        let trailer: &[u8] = if *trailers { b"X-Ruler-Trailer: the end\r\n" } else { b"" };
                        self.bytes.extend_from_slice(b"0\r\n");
                        self.bytes.extend_from_slice(trailer);
                        self.bytes.extend_from_slice(b"\r\n");
                    }
                    self.tail = Tail::Nothing;
                }
            }
            Tail::Headers => {
                while self.bytes.len() < PATTERN_BYTES {
                    self.bytes.extend_from_slice(b"X-Endless: ");
                    push_body(&mut self.bytes, None, 0, 63);
                    self.bytes.extend_from_slice(b"\r\n");
                }
            }
            Tail::Body { .. } | Tail::Nothing => {}
        }
    }
}

/// Returns the part of a body at `offset`, up to the end of its piece or `most` bytes.
fn body_at(content: Option<&[u8]>, offset: u64, most: u64) -> &[u8] {
    let most_here = usize::try_from(most).unwrap_or(usize::MAX);
    if let Some(content) = content {
        let rest = usize::try_from(offset).ok().and_then(|start| content.get(start..)).unwrap_or_default();
        return &rest[..rest.len().min(most_here)];
    }
    pattern_at(offset, most)
}

/// The pattern from `offset` to the end of its piece, at most `most` bytes.
pub(crate) fn pattern_at(offset: u64, most: u64) -> &'static [u8] {
    let start = (offset % PATTERN_BYTES as u64) as usize;
    let length = (PATTERN_BYTES - start).min(usize::try_from(most).unwrap_or(usize::MAX));
    &PATTERN[start..start + length]
}

/// Returns `length` bytes of the pattern, for bodies that must be complete before they are sent.
pub(crate) fn pattern(length: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_body(&mut bytes, None, 0, length);
    bytes
}

fn push_body(to: &mut Vec<u8>, content: Option<&[u8]>, mut offset: u64, mut left: u64) {
    while left > 0 {
        let piece = body_at(content, offset, left);
        to.extend_from_slice(piece);
        offset += piece.len() as u64;
        left -= piece.len() as u64;
    }
}

/// Formats into a byte buffer; writing to a Vec cannot fail.
pub(crate) fn push_text(to: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    let _ = std::io::Write::write_fmt(to, text);
}

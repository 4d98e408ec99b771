//! Server-sent events (`text/event-stream`, HTML standard section 9.2): splits the payload of an endless response into
//! events.
//!
//! ```
//! use plimsoll_wire::sse::{Parser, Spares};
//!
//! let (mut parser, mut spares) = (Parser::new(), Spares::new());
//! let mut seen = Vec::new();
//! parser.feed(b": ping\n\ndata: hel", &mut spares, 1024, &mut |event| seen.push(event.data.to_vec()))?;
//! parser.feed(b"lo\n\n", &mut spares, 1024, &mut |event| seen.push(event.data.to_vec()))?;
//! assert_eq!(seen, [b"hello"]);
//! # Ok::<(), plimsoll_wire::sse::TooLong>(())
//! ```
//!
//! An event that arrives in one piece is read in place. Only a partial event is copied, into a buffer that returns to
//! the [`Spares`] at the end of the event: ten thousand quiet streams hold ten thousand small structs and nothing else.
//! The bytes are not decoded: where a browser would show a replacement character for invalid UTF-8, the original bytes
//! are kept.

mod fields;

use std::{fmt, mem};

use fields::{Fields, Line, texts};

/// The state of one stream.
#[derive(Debug)]
pub struct Parser {
    /// The lines of an unfinished event, without comments. Each but the last ends in LF; the last may be unfinished. It
    /// has no memory between events, which is the usual state of most streams.
    held: Vec<u8>,
    /// Position in `held` at which the unfinished line begins.
    line_start: usize,
    last_retry_ms: Option<u64>,
    /// Bytes of the byte order mark seen so far; its full length once the stream is past its start.
    mark: u8,
    in_comment: bool,
    /// One of the complete lines in `held` is a data line.
    has_data: bool,
    /// Blocks that have ended, with or without an event.
    blocks: u64,
    /// The last line ended in CR: an LF that follows belongs to that line end, even in the next piece.
    after_cr: bool,
}

/// One event, valid during the call that receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `event` field; empty if there is none, which the standard calls `message`.
    pub name: &'a [u8],
    /// The `data` fields, joined by LF.
    pub data: &'a [u8],
    /// The `id` field of this event itself; an id also applies to later events without one.
    pub id: Option<&'a [u8]>,
    /// The `retry` field of this event itself, in milliseconds.
    pub retry_ms: Option<u64>,
}

/// An event that does not end within the limit. The stream cannot be read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a server-sent event does not end within the limit")
    }
}

impl std::error::Error for TooLong {}

/// Unused buffers, shared by all streams of one worker.
#[derive(Debug, Default)]
pub struct Spares(Vec<Vec<u8>>);

impl Spares {
    /// Most buffers kept, and the longest kept, in bytes: a burst of split or huge events must not hold its memory for
    /// the rest of a run.
    const KEPT_MAX: usize = 16;
    const KEPT_BYTES_MAX: usize = 64 * 1024;

    /// Creates it without buffers or memory.
    pub const fn new() -> Spares {
        Spares(Vec::new())
    }

    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    pub(crate) fn give_back(&mut self, mut buffer: Vec<u8>) {
        let fits = (1..=Spares::KEPT_BYTES_MAX).contains(&buffer.capacity());
        if fits && self.0.len() < Spares::KEPT_MAX {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Parser {
    /// Creates a parser at the start of a stream.
    pub const fn new() -> Parser {
        Parser {
            held: Vec::new(),
            line_start: 0,
            last_retry_ms: None,
            mark: 0,
            in_comment: false,
            has_data: false,
            blocks: 0,
            after_cr: false,
        }
    }

    /// Reads `bytes` and calls `event` for each event that ends in them. An event without an end is never reported, as
    /// the standard requires.
    ///
    /// The length of an event is that of its lines, with each line end but the last counted as one byte. Comments are
    /// not kept and have no length, even within an event.
    ///
    /// # Errors
    /// Returns [`TooLong`] as soon as an event has more than `limit_bytes`, wherever the bytes are split; the parser is
    /// then [`reset`](Parser::reset).
    pub fn feed(
        &mut self,
        bytes: &[u8],
        spares: &mut Spares,
        limit_bytes: usize,
        event: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        let mut rest = self.past_mark(bytes, spares);
        while !rest.is_empty() {
            if mem::take(&mut self.after_cr) {
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                continue;
            }
            let fresh = self.held.is_empty() && !self.in_comment;
            let step = if fresh {
                self.feed_block(rest, spares, limit_bytes, event)
            } else {
                self.feed_line(rest, spares, limit_bytes, event)
            };
            match step {
                Ok(taken) => rest = &rest[taken..],
                Err(too_long) => {
                    self.reset(spares);
                    return Err(too_long);
                }
            }
        }
        Ok(())
    }

    /// Returns to the start of a stream and gives back the buffer of an unfinished event. The reconnection time stays,
    /// because it is for the next connection.
    pub fn reset(&mut self, spares: &mut Spares) {
        spares.give_back(mem::take(&mut self.held));
        *self = Parser { last_retry_ms: self.last_retry_ms, ..Parser::new() };
    }

    /// Returns the reconnection time that the server last requested, in milliseconds. A block without data, which is
    /// not an event, may also set it. A number above 64 bits counts as the largest.
    pub fn last_retry_ms(&self) -> Option<u64> {
        self.last_retry_ms
    }

    /// Returns the number of blocks before the unfinished one, if a line or an event with data has begun and not ended;
    /// the number distinguishes it from the next block. Complete lines that may precede any event (`retry: 1000`) do
    /// not count.
    #[inline]
    pub fn unfinished(&self) -> Option<u64> {
        let in_line = self.in_comment || self.line_start < self.held.len();
        (in_line || self.has_data).then_some(self.blocks)
    }

    /// Skips one byte order mark at the very start. The start of an incomplete mark belongs to the first line.
    fn past_mark<'b>(&mut self, bytes: &'b [u8], spares: &mut Spares) -> &'b [u8] {
        let seen = usize::from(self.mark);
        let due = &BYTE_ORDER_MARK[seen..];
        let same = bytes.iter().zip(due).take_while(|(byte, due)| byte == due).count();
        if same == due.len() || same == bytes.len() {
            self.mark += same as u8;
            return &bytes[same..];
        }
        self.mark = BYTE_ORDER_MARK.len() as u8;
        if seen > 0 {
            self.held = spares.take();
            self.held.extend_from_slice(&BYTE_ORDER_MARK[..seen]);
        }
        bytes
    }

    /// Reads from the start of a block: up to its end, and reports it without a copy, or all of `bytes`, whose lines
    /// are then held.
    fn feed_block(
        &mut self,
        bytes: &[u8],
        spares: &mut Spares,
        limit_bytes: usize,
        event: &mut dyn FnMut(Event<'_>),
    ) -> Result<usize, TooLong> {
        let (mut at, mut len, mut fields) = (0, 0, Fields::default());
        while let Some(line) = Line::first(&bytes[at..]) {
            at += line.taken;
            self.after_cr = line.open;
            match line.text {
                [] => {
                    self.blocks += 1;
                    fields.dispatch(&bytes[..at], spares, event);
                    return Ok(at);
                }
                [b':', ..] => {}
                text if len + text.len() > limit_bytes => return Err(TooLong),
                text => {
                    len += text.len() + 1;
                    self.last_retry_ms = fields.add(text).or(self.last_retry_ms);
                }
            }
        }
        let (lines, tail) = bytes.split_at(at);
        self.in_comment = tail.first() == Some(&b':');
        let tail = if self.in_comment { &[] } else { tail };
        if !tail.is_empty() && len + tail.len() > limit_bytes {
            return Err(TooLong);
        }
        // Comments alone need no memory, so a stream of keep-alives never takes a buffer.
        if len + tail.len() > 0 {
            self.held = spares.take();
            for text in texts(lines).filter(|text| text[0] != b':') {
                self.held.extend_from_slice(text);
                self.held.push(b'\n');
            }
            self.line_start = self.held.len();
            self.has_data = fields.has_data();
            self.held.extend_from_slice(tail);
        }
        Ok(bytes.len())
    }

    /// Reads up to the end of a line that began in an earlier piece, or that follows such a line.
    fn feed_line(
        &mut self,
        bytes: &[u8],
        spares: &mut Spares,
        limit_bytes: usize,
        event: &mut dyn FnMut(Event<'_>),
    ) -> Result<usize, TooLong> {
        let line = Line::first(bytes);
        let (text, taken) = line.as_ref().map_or((bytes, bytes.len()), |line| (line.text, line.taken));
        self.after_cr = line.as_ref().is_some_and(|line| line.open);
        let line_ended = line.is_some();
        if self.in_comment || (self.line_start == self.held.len() && bytes.first() == Some(&b':')) {
            self.in_comment = !line_ended;
            return Ok(taken);
        }
        let empty_line = text.is_empty() && self.line_start == self.held.len();
        if !empty_line && self.held.len() + text.len() > limit_bytes {
            return Err(TooLong);
        }
        self.held.extend_from_slice(text);
        if empty_line {
            let held = mem::take(&mut self.held);
            self.has_data = false;
            self.blocks += 1;
            let mut fields = Fields::default();
            for text in texts(&held) {
                // A reconnection time in it was stored when the line ended.
                fields.add(text);
            }
            fields.dispatch(&held, spares, event);
            spares.give_back(held);
        } else if line_ended {
            let mut fields = Fields::default();
            let retry_ms = fields.add(&self.held[self.line_start..]);
            self.has_data |= fields.has_data();
            self.last_retry_ms = retry_ms.or(self.last_retry_ms);
            self.held.push(b'\n');
            self.line_start = self.held.len();
        }
        Ok(taken)
    }
}

impl Default for Parser {
    fn default() -> Parser {
        Parser::new()
    }
}

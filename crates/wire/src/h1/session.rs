//! The client's state of one connection: which response is expected, how much of it has arrived, and whether it is
//! complete.

use std::mem;

use super::framing::Framing;
use super::head::Parsed;
use super::{Answer, Ask, Eof, Fed, Malformed, Part, Shared, Sink};

/// The state of one connection: 64 bytes, one cache line, because ten thousand of them are visited in random order.
///
/// An exchange is [`submit`](Session::submit), then [`feed`](Session::feed) (or [`skip`](Session::skip)) until it
/// returns an [`Answer`], or until [`eof`](Session::eof) or [`reset`](Session::reset). After a [`Malformed`], the
/// session is idle again, but the connection is lost.
#[derive(Debug)]
pub struct Session {
    /// A head that arrived in pieces; empty and without memory at all other times.
    gathered: Vec<u8>,
    pub(super) body_bytes: u64,
    /// Remaining payload bytes of the body or of the chunk.
    pub(super) left: u64,
    wire_bytes: u64,
    head_bytes: u32,
    /// Bytes so far of a part with its own limit: blank lines before a head, a chunk-size line, trailers; in a gathered
    /// head, the length at which it was last parsed.
    pub(super) count: u32,
    status: u16,
    pub(super) phase: Phase,
    informational: u8,
    ask: Ask,
    state: Reuse,
}

/// Whether another request may be sent on the connection, once the final head has said so; until then, whether the
/// server has asked for the body of this one. One byte, because the session has no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reuse {
    No,
    Yes,
    /// `100 Continue` arrived, and the final head has not.
    Continued,
}

/// The meaning of the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Head,
    Length,
    UntilClose,
    ChunkSize,
    ChunkPad,
    ChunkExtension,
    ChunkSizeLf,
    ChunkData,
    ChunkDataCr,
    ChunkDataLf,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    TrailerEndLf,
}

/// Bytes taken, and whether the response ended with them.
pub(super) type Step = (usize, bool);

/// Up to this length, a head in pieces is parsed with every piece, to find faults early; after that, at each doubling
/// and at its end: the work stays linear, however small the pieces are.
const EAGER_BYTES: usize = 1024;

impl Session {
    /// Creates an idle session on a new connection.
    pub const fn new() -> Session {
        Session {
            gathered: Vec::new(),
            body_bytes: 0,
            left: 0,
            wire_bytes: 0,
            head_bytes: 0,
            count: 0,
            status: 0,
            phase: Phase::Idle,
            informational: 0,
            ask: Ask { head_only: false, http10: false, close: false },
            state: Reuse::No,
        }
    }

    /// Starts to wait for the response to `ask`. The session must be idle; an unfinished exchange is forgotten.
    #[inline]
    pub fn submit(&mut self, ask: Ask) {
        debug_assert!(self.is_idle(), "one request at a time on a connection");
        self.gathered.clear();
        (self.body_bytes, self.left, self.wire_bytes) = (0, 0, 0);
        (self.head_bytes, self.count, self.status) = (0, 0, 0);
        (self.phase, self.informational, self.ask, self.state) = (Phase::Head, 0, ask, Reuse::No);
    }

    /// Consumes the part of `bytes` that belongs to the current response and stops after its last byte. A small
    /// response that arrived complete takes one call.
    ///
    /// # Errors
    /// Returns a [`Malformed`] for the first fault in byte order, however the bytes are split.
    #[inline]
    pub fn feed<S: Sink>(
        &mut self,
        bytes: &[u8],
        shared: &mut Shared,
        sink: &mut S,
    ) -> Result<Fed, Malformed> {
        let mut consumed = 0;
        while consumed < bytes.len() {
            let rest = &bytes[consumed..];
            let step = match self.phase {
                Phase::Idle => Err(Malformed::Unasked),
                Phase::Head => self.feed_head(rest, shared, sink),
                Phase::Length => Ok(self.feed_length(rest, sink)),
                Phase::UntilClose => Ok(self.feed_until_close(rest, sink)),
                _ => self.feed_chunked(rest, &shared.limits, sink),
            };
            let (taken, ended) = match step {
                Ok(step) => step,
                Err(malformed) => {
                    self.reset(shared);
                    return Err(malformed);
                }
            };
            consumed += taken;
            self.wire_bytes += taken as u64;
            if ended {
                return Ok(Fed { consumed, done: Some(self.finish()) });
            }
        }
        Ok(Fed { consumed, done: None })
    }

    /// Returns the number of remaining body bytes if it is known and the bytes are not needed: the owner may let the
    /// kernel discard them and report them with [`skip`](Session::skip). Returns 0 if the body is chunked or ends at
    /// the close, without a response in progress, or if its head is incomplete.
    #[inline]
    pub fn skippable(&self) -> u64 {
        if self.phase == Phase::Length { self.left } else { 0 }
    }

    /// Counts `bytes` as received and discarded; at most [`skippable`](Session::skippable), more is ignored.
    #[inline]
    pub fn skip(&mut self, bytes: u64) -> Option<Answer> {
        debug_assert!(bytes <= self.skippable(), "only the body of the current response may be skipped");
        let bytes = bytes.min(self.skippable());
        self.left -= bytes;
        self.body_bytes += bytes;
        self.wire_bytes += bytes;
        (self.phase == Phase::Length && self.left == 0).then(|| self.finish())
    }

    /// Handles a close by the peer. The exchange is over in any case; [`reset`](Session::reset) returns the memory of a
    /// half-received head.
    pub fn eof(&mut self) -> Eof {
        let eof = match self.phase {
            Phase::Idle => Eof::Idle,
            Phase::Head if self.wire_bytes == 0 => Eof::BeforeHead,
            Phase::Head => Eof::InHead,
            Phase::UntilClose => Eof::Complete(self.finish()),
            _ => Eof::InBody,
        };
        self.phase = Phase::Idle;
        eof
    }

    /// Returns the part of the response received so far, for a caller that abandons it: the connection cannot be
    /// reused.
    pub fn progress(&self) -> Answer {
        Answer {
            status: self.status,
            head_bytes: self.head_bytes,
            body_bytes: self.body_bytes,
            wire_bytes: self.wire_bytes,
            reusable: false,
        }
    }

    /// Returns the part of the response that has begun and is not complete, and where in the response it began.
    #[inline]
    pub fn part(&self) -> Part {
        match self.phase {
            Phase::Idle | Phase::Length | Phase::UntilClose | Phase::ChunkData => Part::Body,
            Phase::Head if self.wire_bytes == 0 => Part::Body,
            // Blank lines before a head and repeated interim responses do not begin a new part: the final head has not
            // arrived.
            Phase::Head => Part::Head(0),
            Phase::ChunkDataCr | Phase::ChunkDataLf => Part::Body,
            // The line has not begun: a pause before a chunk is part of the body.
            Phase::ChunkSize if self.count == 0 => Part::Body,
            // All bytes of a line except its CR are counted, and nothing before it is.
            _ => Part::ChunkLine(self.wire_bytes.saturating_sub(u64::from(self.count))),
        }
    }

    /// Returns whether the server has sent `100 Continue` for the current request, and no final head.
    #[inline]
    pub fn is_continued(&self) -> bool {
        self.state == Reuse::Continued && self.phase == Phase::Head
    }

    /// Returns whether the body of the current response ends with the connection.
    pub fn ends_at_close(&self) -> bool {
        self.phase == Phase::UntilClose
    }

    /// Returns whether no response is expected.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Returns whether a response is expected and at least one byte of it was received.
    #[inline]
    pub fn started(&self) -> bool {
        self.wire_bytes > 0 && !self.is_idle()
    }

    /// Abandons the current exchange (a timeout, a lost connection) and returns the buffer of a half-received head. The
    /// session is idle afterwards.
    pub fn reset(&mut self, shared: &mut Shared) {
        shared.give_back(mem::take(&mut self.gathered));
        self.phase = Phase::Idle;
    }

    #[inline]
    fn finish(&mut self) -> Answer {
        self.phase = Phase::Idle;
        Answer {
            status: self.status,
            head_bytes: self.head_bytes,
            body_bytes: self.body_bytes,
            wire_bytes: self.wire_bytes,
            reusable: self.state == Reuse::Yes,
        }
    }

    #[inline]
    fn feed_head<S: Sink>(
        &mut self,
        rest: &[u8],
        shared: &mut Shared,
        sink: &mut S,
    ) -> Result<Step, Malformed> {
        if !self.gathered.is_empty() {
            return self.gather(rest, shared, sink);
        }
        match shared.heads.recognise(rest) {
            Some(parsed) => {
                let ended = self.accept(parsed, shared.limits.informational_max, sink)?;
                Ok((parsed.bytes.len(), ended))
            }
            None => self.parse_head(rest, shared, sink),
        }
    }

    /// Parses a head without a template, at its first byte.
    #[inline(never)]
    fn parse_head<S: Sink>(
        &mut self,
        rest: &[u8],
        shared: &mut Shared,
        sink: &mut S,
    ) -> Result<Step, Malformed> {
        let head_bytes_max = shared.limits.head_bytes_max;
        // Empty lines before a status line: some servers end a body with a CRLF that they did not count.
        let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        if blank > 0 {
            self.count = self.count.saturating_add(u32::try_from(blank).unwrap_or(u32::MAX));
            let endless = self.count as usize > head_bytes_max;
            return if endless { Err(Malformed::HeadTooLarge) } else { Ok((blank, false)) };
        }
        let window = &rest[..rest.len().min(head_bytes_max)];
        match shared.heads.learn(window, &shared.limits)? {
            Some(parsed) => {
                let ended = self.accept(parsed, shared.limits.informational_max, sink)?;
                Ok((parsed.bytes.len(), ended))
            }
            None if window.len() == head_bytes_max => Err(Malformed::HeadTooLarge),
            None => {
                self.gathered = shared.spares.pop().unwrap_or_default();
                self.gathered.extend_from_slice(rest);
                self.count = rest.len() as u32;
                Ok((rest.len(), false))
            }
        }
    }

    /// Adds the next piece of a head whose first piece is in `gathered`.
    #[inline(never)]
    fn gather<S: Sink>(&mut self, rest: &[u8], shared: &mut Shared, sink: &mut S) -> Result<Step, Malformed> {
        let room = shared.limits.head_bytes_max - self.gathered.len();
        let end = head_end(&self.gathered, rest);
        let taken = end.unwrap_or(rest.len()).min(room);
        self.gathered.extend_from_slice(&rest[..taken]);
        let full = taken == room;
        let len = self.gathered.len();
        let due = len <= EAGER_BYTES || len >= 2 * self.count as usize;
        if end.is_none() && !full && !due {
            return Ok((taken, false));
        }
        self.count = len as u32;
        let parsed = match shared.heads.recognise(&self.gathered) {
            // Look it up again, because the borrow of a found template may not outlive the branch that learns.
            Some(_) => shared.heads.recognise(&self.gathered),
            None => shared.heads.learn(&self.gathered, &shared.limits)?,
        };
        match parsed {
            Some(parsed) => {
                let ended = self.accept(parsed, shared.limits.informational_max, sink)?;
                shared.give_back(mem::take(&mut self.gathered));
                Ok((taken, ended))
            }
            None if full => Err(Malformed::HeadTooLarge),
            None => Ok((taken, false)),
        }
    }

    /// Continues with the body, or with the next head after an interim response. Returns true if the response has no
    /// body.
    #[inline]
    fn accept<S: Sink>(
        &mut self,
        parsed: &Parsed,
        informational_max: u8,
        sink: &mut S,
    ) -> Result<bool, Malformed> {
        let facts = &parsed.facts;
        if facts.status < 200 && facts.status != 101 {
            if self.informational >= informational_max {
                return Err(Malformed::TooManyInformational);
            }
            if facts.status == 100 {
                self.state = Reuse::Continued;
            }
            self.informational += 1;
            self.count = 0;
            return Ok(false);
        }
        self.status = facts.status;
        self.head_bytes = parsed.bytes.len() as u32;
        // After a request in HTTP/1.0, a server closes unless it says otherwise, even if it responds in HTTP/1.1.
        let reusable = facts.persists && !self.ask.close && (!self.ask.http10 || facts.keep_alive);
        self.state = if reusable { Reuse::Yes } else { Reuse::No };
        let ended = if self.ask.head_only || facts.bodiless {
            true
        } else {
            match facts.framing {
                Framing::Length(bytes) => {
                    (self.phase, self.left) = (Phase::Length, bytes);
                    bytes == 0
                }
                Framing::Chunked => {
                    (self.phase, self.left, self.count) = (Phase::ChunkSize, 0, 0);
                    false
                }
                Framing::UntilClose => {
                    (self.phase, self.state) = (Phase::UntilClose, Reuse::No);
                    false
                }
                Framing::Refused(malformed) => return Err(malformed),
            }
        };
        if S::READS {
            sink.head(&parsed.head());
        }
        Ok(ended)
    }
}

impl Default for Session {
    fn default() -> Session {
        Session::new()
    }
}

/// Returns where in `rest` the head formed by `before` and `rest` ends: after a line end that follows a line end.
/// `before` starts with neither, so this is exactly where the parser ends it too.
fn head_end(before: &[u8], rest: &[u8]) -> Option<usize> {
    // Whether the last byte, ignoring a CR directly before the current byte, was LF; folding over it makes the split
    // between pieces irrelevant.
    let mut line_start = matches!(before, [.., b'\n'] | [.., b'\n', b'\r']);
    rest.iter()
        .position(|&byte| {
            let end = byte == b'\n' && line_start;
            line_start = byte == b'\n' || (byte == b'\r' && line_start);
            end
        })
        .map(|at| at + 1)
}

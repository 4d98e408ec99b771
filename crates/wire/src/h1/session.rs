//! One connection's side of the conversation: what is awaited, how far it has come, when it is whole.

use std::mem;

use super::framing::Framing;
use super::head::Parsed;
use super::{Answer, Ask, Eof, Fed, Malformed, Part, Shared, Sink};

/// The state of one connection: 64 bytes, one cache line, because ten thousand of them are walked in random
/// order.
///
/// The life of an exchange: [`submit`](Session::submit), then [`feed`](Session::feed) (or
/// [`skip`](Session::skip)) until an [`Answer`] comes out, [`eof`](Session::eof) or
/// [`reset`](Session::reset). After a [`Malformed`] the session is idle again, but the connection is lost.
#[derive(Debug)]
pub struct Session {
    /// A head that arrived in pieces; empty and without memory at all other times.
    gathered: Vec<u8>,
    pub(super) body_bytes: u64,
    /// Payload bytes still to come, of the body or of the chunk.
    pub(super) left: u64,
    wire_bytes: u64,
    head_bytes: u32,
    /// Bytes so far of what has a limit of its own: blank lines before a head, a chunk-size line, trailers;
    /// in a gathered head the length at which it was last parsed.
    pub(super) count: u32,
    status: u16,
    pub(super) phase: Phase,
    informational: u8,
    ask: Ask,
    reusable: bool,
}

/// What the next byte is.
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

/// Bytes taken, and whether the answer ended with them.
pub(super) type Step = (usize, bool);

/// A head in pieces is parsed on every piece up to this length, to find faults early, and from there on at
/// each doubling and at its end: the work stays linear however small the pieces are.
const EAGER_BYTES: usize = 1024;

impl Session {
    /// An idle session on a fresh connection.
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
            reusable: false,
        }
    }

    /// Starts to await the answer to `ask`. The session must be idle; an exchange still open is forgotten.
    #[inline]
    pub fn submit(&mut self, ask: Ask) {
        debug_assert!(self.is_idle(), "one request at a time on a connection");
        self.gathered.clear();
        (self.body_bytes, self.left, self.wire_bytes) = (0, 0, 0);
        (self.head_bytes, self.count, self.status) = (0, 0, 0);
        (self.phase, self.informational, self.ask, self.reusable) = (Phase::Head, 0, ask, false);
    }

    /// Consumes as much of `bytes` as belongs to the current answer and stops after its last byte. A small
    /// answer that arrived whole is done in one call.
    ///
    /// # Errors
    /// A [`Malformed`] for the first fault in byte order, however the bytes are cut.
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

    /// Body bytes still to come whose number is known and that nobody needs to see: the owner may let the
    /// kernel throw them away and report them with [`skip`](Session::skip). 0 if chunked, until close,
    /// without an answer in progress, or with its head incomplete.
    #[inline]
    pub fn skippable(&self) -> u64 {
        if self.phase == Phase::Length { self.left } else { 0 }
    }

    /// Counts `bytes` as received and thrown away; at most [`skippable`](Session::skippable), more is
    /// ignored.
    #[inline]
    pub fn skip(&mut self, bytes: u64) -> Option<Answer> {
        debug_assert!(bytes <= self.skippable(), "only the body of the current answer may be skipped");
        let bytes = bytes.min(self.skippable());
        self.left -= bytes;
        self.body_bytes += bytes;
        self.wire_bytes += bytes;
        (self.phase == Phase::Length && self.left == 0).then(|| self.finish())
    }

    /// The other side closed. The exchange is over either way; [`reset`](Session::reset) gives the memory of
    /// a half-received head back.
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

    /// The answer as far as it has come, for whoever leaves it in its middle: nothing more can be asked behind it.
    pub fn progress(&self) -> Answer {
        Answer {
            status: self.status,
            head_bytes: self.head_bytes,
            body_bytes: self.body_bytes,
            wire_bytes: self.wire_bytes,
            reusable: false,
        }
    }

    /// The part of the answer that has begun and is not complete, and where in the answer it began.
    #[inline]
    pub fn part(&self) -> Part {
        match self.phase {
            Phase::Idle | Phase::Length | Phase::UntilClose | Phase::ChunkData => Part::Body,
            Phase::Head if self.wire_bytes == 0 => Part::Body,
            // Blank lines in front of a head, and interim answers that keep coming, are no beginning of their own: the
            // head that counts has not come.
            Phase::Head => Part::Head(0),
            Phase::ChunkDataCr | Phase::ChunkDataLf => Part::Body,
            // The line has not begun: a pause before a chunk is part of the body.
            Phase::ChunkSize if self.count == 0 => Part::Body,
            // All bytes of a line but its CR are counted, and nothing is counted in front of it.
            _ => Part::ChunkLine(self.wire_bytes.saturating_sub(u64::from(self.count))),
        }
    }

    /// No answer is awaited.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// An answer is awaited and at least one byte of it was seen.
    #[inline]
    pub fn started(&self) -> bool {
        self.wire_bytes > 0 && !self.is_idle()
    }

    /// Forgets the current exchange (a timeout, a lost connection) and gives the buffer of a half-received
    /// head back. The session is idle afterwards.
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
            reusable: self.reusable,
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

    /// A head without a template, at its first byte.
    #[inline(never)]
    fn parse_head<S: Sink>(
        &mut self,
        rest: &[u8],
        shared: &mut Shared,
        sink: &mut S,
    ) -> Result<Step, Malformed> {
        let head_bytes_max = shared.limits.head_bytes_max;
        // Empty lines before a status line: some servers end a body with a CRLF they did not count.
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

    /// The next piece of a head whose first piece is in `gathered`.
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
            // Asked again because the borrow of a found template may not outlive the branch that learns.
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

    /// Turns to the body, or to the next head after an interim answer. True if the answer has no body.
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
            self.informational += 1;
            self.count = 0;
            return Ok(false);
        }
        self.status = facts.status;
        self.head_bytes = parsed.bytes.len() as u32;
        // A server that was asked in HTTP/1.0 closes unless it says otherwise, even if it answers in
        // HTTP/1.1.
        self.reusable = facts.persists && !self.ask.close && (!self.ask.http10 || facts.keep_alive);
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
                    (self.phase, self.reusable) = (Phase::UntilClose, false);
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

/// Where in `rest` the head that `before` and `rest` form together ends: after a line end that follows a line
/// end. `before` starts with neither, so this is exactly where the parser ends it too.
fn head_end(before: &[u8], rest: &[u8]) -> Option<usize> {
    // The last byte but a CR in front of the byte at hand; folding over it makes the cut between pieces
    // vanish.
    let mut line_start = matches!(before, [.., b'\n'] | [.., b'\n', b'\r']);
    rest.iter()
        .position(|&byte| {
            let end = byte == b'\n' && line_start;
            line_start = byte == b'\n' || (byte == b'\r' && line_start);
            end
        })
        .map(|at| at + 1)
}

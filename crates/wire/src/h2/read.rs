//! Reads frames in any pieces (RFC 9113 sections 4 and 6). DATA is walked and not gathered; other frames are gathered
//! only if they arrive in pieces.
//!
//! Inside, an event is one byte: its parts are in the state of the frame and of the stream, and are put together once,
//! at the end of [`Session::feed`]. Passing the whole event through five functions took half of the time of a response.

use super::frame::{self, HEAD_BYTES, flag, kind};
use super::session::{Phase, Session};
use super::settings::SETTING_BYTES;
use super::{Event, Fed, Malformed, Shared, Sink};
use std::mem;

/// The kind of an [`Event`] of the current frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    None,
    Settings,
    Interim,
    Head,
    Data,
    Done,
    HalfClosed,
    Reset,
    Refused,
    GoAway,
    Writable,
}

/// The result of a part of a frame.
pub(super) type Step = Result<Outcome, Malformed>;

/// The length and the type of a frame as which `HTTP/1.1` reads.
const HTTP1: (u32, u8, u8) = (0x48_5454, b'P', b'/');

/// The type of a frame that clients ignore (section 6.3).
const PRIORITY: u8 = 2;

impl Session {
    /// Takes bytes up to the next event; without one, all of them. Replies to SETTINGS and PING, and resets of refused
    /// streams, are appended to `out`. Call it until all bytes are taken.
    ///
    /// # Errors
    /// Returns a [`Malformed`] for the first fault in byte order, however the bytes are split, and the same one from
    /// then on.
    #[inline]
    pub fn feed<S: Sink>(
        &mut self,
        bytes: &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let step = match self.reading.phase {
                Phase::FrameHead => self.frame_head(&mut rest, shared, sink, out),
                Phase::Whole => self.gather(&mut rest, shared, sink, out),
                Phase::Skip => Ok(self.skip(&mut rest)),
                Phase::PaddingLength | Phase::Data => self.data(&mut rest, sink, out),
            };
            match step {
                Ok(Outcome::None) => {}
                Ok(outcome) => {
                    return Ok(Fed { consumed: bytes.len() - rest.len(), event: self.event(outcome) });
                }
                Err(malformed) => {
                    self.failed = Some(malformed);
                    return Err(malformed);
                }
            }
        }
        Ok(Fed { consumed: bytes.len(), event: None })
    }

    /// Puts the event of the current frame together. The slot of a stream that has just ended still has its values.
    #[inline]
    fn event(&self, outcome: Outcome) -> Option<Event> {
        let stream = self.reading.frame.stream;
        let of = self.streams.last(stream);
        let tag = of.tag;
        let code = self.reading.code;
        Some(match outcome {
            Outcome::None => return None,
            Outcome::Done => Event::Done { stream, tag, answer: of.answer(!self.is_draining()) },
            Outcome::HalfClosed => Event::HalfClosed { stream, tag, answer: of.answer(!self.is_draining()) },
            Outcome::Head => Event::Head { stream, tag, status: of.status },
            Outcome::Data => Event::Data { stream, tag },
            Outcome::Interim => Event::Interim { stream, tag, status: self.reading.code as u16 },
            Outcome::Reset => Event::Reset { stream, tag, code, answer: of.answer(!self.is_draining()) },
            Outcome::Refused => {
                let (why, answer) = (self.reading.why, of.answer(!self.is_draining()));
                Event::Refused { stream, tag, why, answer }
            }
            Outcome::Settings => Event::Settings,
            Outcome::GoAway => Event::GoAway { last_stream: self.server.last_stream, code },
            Outcome::Writable => Event::Writable,
        })
    }

    #[inline]
    fn frame_head<S: Sink>(
        &mut self,
        rest: &mut &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Step {
        let reading = &mut self.reading;
        match rest.split_first_chunk() {
            Some((head, after)) if reading.have == 0 => {
                reading.frame.read(head);
                *rest = after;
            }
            _ => {
                let have = usize::from(reading.have);
                let (piece, after) = rest.split_at(rest.len().min(HEAD_BYTES - have));
                *rest = after;
                reading.head[have..have + piece.len()].copy_from_slice(piece);
                reading.have += piece.len() as u8;
                if usize::from(reading.have) < HEAD_BYTES {
                    return Ok(Outcome::None);
                }
                reading.have = 0;
                reading.frame.read(&reading.head);
            }
        }
        self.reading.left = self.reading.frame.len;
        self.check_head(shared)?;
        match self.reading.frame.kind {
            kind::DATA => self.begin_data(rest, shared, sink, out),
            PRIORITY | kind::UNKNOWN.. => {
                self.charge(&shared.limits)?;
                self.reading.phase = if self.reading.left > 0 { Phase::Skip } else { Phase::FrameHead };
                Ok(Outcome::None)
            }
            _ => match rest.split_at_checked(self.reading.left as usize) {
                Some((payload, after)) => {
                    *rest = after;
                    self.whole(payload, shared, sink, out)
                }
                None => {
                    self.reading.phase = Phase::Whole;
                    Ok(Outcome::None)
                }
            },
        }
    }

    /// Checks the head of the current frame.
    #[inline]
    fn check_head(&self, shared: &Shared) -> Result<(), Malformed> {
        let frame = &self.reading.frame;
        if self.server.has_settings
            && self.reading.block_stream == 0
            && frame.len <= frame::PAYLOAD_MAX as u32
        {
            // The two kinds of nearly all frames.
            let fits = match frame.kind {
                kind::DATA => frame.len > 0 || !frame.has(flag::PADDED),
                kind::HEADERS => true,
                _ => false,
            };
            if fits && self.streams.was_opened(frame.stream) {
                return Ok(());
            }
        }
        self.check_any_head(shared)
    }

    #[inline(never)]
    fn check_any_head(&self, shared: &Shared) -> Result<(), Malformed> {
        let frame = &self.reading.frame;
        let (stream, len, kind) = (frame.stream, frame.len, frame.kind);
        if !self.server.has_settings && (kind != kind::SETTINGS || frame.has(flag::ACK)) {
            let is_http1 = (len, kind, frame.flags) == HTTP1;
            return Err(if is_http1 { Malformed::Http1 } else { Malformed::Preface });
        }
        if len > self.config.frame_bytes_max {
            return Err(Malformed::FrameTooLarge);
        }
        let block = self.reading.block_stream;
        if block != 0 && (kind != kind::CONTINUATION || stream != block) {
            return Err(Malformed::BlockInterrupted);
        }
        let (on_stream, on_connection, fits) = match kind {
            kind::DATA => (true, false, len > 0 || !frame.has(flag::PADDED)),
            kind::HEADERS | kind::CONTINUATION => {
                if kind == kind::CONTINUATION && block == 0 {
                    return Err(Malformed::StrayContinuation);
                }
                let coded_max = shared.limits.head_bytes_max.max(frame::PAYLOAD_MAX);
                if self.reading.block_len(self.gathered.len()) + len as usize > coded_max {
                    return Err(Malformed::HeadBomb);
                }
                (true, false, true)
            }
            kind::RST_STREAM => (true, false, len == 4),
            kind::SETTINGS if frame.has(flag::ACK) => (false, true, len == 0),
            kind::SETTINGS => (false, true, len.is_multiple_of(SETTING_BYTES as u32)),
            kind::PUSH_PROMISE => return Err(Malformed::Push),
            kind::PING => (false, true, len == 8),
            kind::GOAWAY => (false, true, len >= 8),
            kind::WINDOW_UPDATE => (true, true, len == 4),
            _ => return Ok(()),
        };
        if !(if stream == 0 { on_connection } else { on_stream }) {
            return Err(Malformed::FrameStream);
        }
        if stream != 0 && !self.streams.was_opened(stream) {
            return Err(Malformed::UnknownStream);
        }
        if fits { Ok(()) } else { Err(Malformed::FrameLength) }
    }

    /// Adds the next piece of a frame.
    #[inline(never)]
    fn gather<S: Sink>(
        &mut self,
        rest: &mut &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Step {
        let (piece, after) = rest.split_at(rest.len().min(self.reading.left as usize));
        *rest = after;
        self.add_gathered(piece, shared);
        self.reading.left -= piece.len() as u32;
        if self.reading.left > 0 {
            return Ok(Outcome::None);
        }
        self.reading.phase = Phase::FrameHead;
        if self.reading.frame.kind == kind::CONTINUATION {
            return self.continued(shared, sink, out);
        }
        let payload = mem::take(&mut self.gathered);
        let step = self.whole(&payload, shared, sink, out);
        shared.give_back(payload);
        step
    }

    pub(super) fn add_gathered(&mut self, bytes: &[u8], shared: &mut Shared) {
        if self.gathered.capacity() == 0 {
            self.gathered = shared.spares.pop().unwrap_or_default();
        }
        self.gathered.extend_from_slice(bytes);
    }

    fn skip(&mut self, rest: &mut &[u8]) -> Outcome {
        let skipped = rest.len().min(self.reading.left as usize);
        *rest = &rest[skipped..];
        self.reading.left -= skipped as u32;
        if self.reading.left == 0 {
            self.reading.phase = Phase::FrameHead;
        }
        Outcome::None
    }

    /// Reads the current frame, which is complete and not DATA; its length and its stream are checked.
    #[inline]
    fn whole<S: Sink>(
        &mut self,
        payload: &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Step {
        match self.reading.frame.kind {
            kind::HEADERS => self.headers(payload, shared, sink, out),
            kind::CONTINUATION => {
                self.add_gathered(payload, shared);
                self.continued(shared, sink, out)
            }
            _ => self.control(payload, shared, out),
        }
    }

    #[inline(never)]
    fn control(&mut self, payload: &[u8], shared: &mut Shared, out: &mut Vec<u8>) -> Step {
        let (stream, kind) = (self.reading.frame.stream, self.reading.frame.kind);
        let is_ack = self.reading.frame.has(flag::ACK);
        if kind == kind::RST_STREAM && self.streams.get(stream).is_some() {
            self.streams.free(stream);
            self.reading.code = frame::number(payload);
            return Ok(Outcome::Reset);
        }
        self.charge(&shared.limits)?;
        match kind {
            kind::SETTINGS if is_ack => self.settings_acknowledged(),
            kind::SETTINGS => return self.apply_settings(payload, out),
            kind::PING if !is_ack => {
                out.extend_from_slice(&frame::head(payload.len(), kind::PING, flag::ACK, 0));
                out.extend_from_slice(payload);
            }
            kind::GOAWAY => {
                // A server must not raise the number: the streams above it may have been retried already.
                let last_stream = (frame::number(payload) & 0x7fff_ffff).min(self.server.last_stream);
                (self.server.last_stream, self.server.is_leaving) = (last_stream, true);
                self.reading.code = frame::number(&payload[4..]);
                return Ok(Outcome::GoAway);
            }
            // The highest bit is reserved.
            kind::WINDOW_UPDATE => {
                return self.window_update(stream, frame::number(payload) & 0x7fff_ffff, out);
            }
            _ => {}
        }
        Ok(Outcome::None)
    }
}

//! Reads frames in any pieces (RFC 9113 sections 4 and 6). DATA is walked and not gathered; other frames are gathered
//! only if they arrive in pieces.

use super::frame::{self, Frame, HEAD_BYTES, flag, kind};
use super::session::{Phase, Session};
use super::settings::SETTING_BYTES;
use super::{Event, Fed, Malformed, Shared, Sink};
use std::mem;

/// Bytes taken, and the event that the last one completed.
pub(super) type Step = (usize, Option<Event>);

/// The head of a frame as which the beginning of `HTTP/1.1 400` reads.
const HTTP1: Frame = Frame { stream: 0, len: 0x48_5454, kind: b'P', flags: b'/' };

impl Session {
    /// Takes bytes up to the next event; without one, all of them. What must be answered (SETTINGS, PING) or refused is
    /// appended to `out`. Call it until all bytes are taken.
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
        let mut consumed = 0;
        while consumed < bytes.len() {
            let rest = &bytes[consumed..];
            let step = match self.reading.phase {
                Phase::FrameHead => self.frame_head(rest, shared, sink, out),
                Phase::Whole => self.gather(rest, shared, sink, out),
                Phase::Skip => Ok((self.skip(rest), None)),
                _ => self.data(rest, sink, out),
            };
            match step {
                Ok((taken, event)) => {
                    consumed += taken;
                    if event.is_some() {
                        return Ok(Fed { consumed, event });
                    }
                }
                Err(malformed) => {
                    self.failed = Some(malformed);
                    return Err(malformed);
                }
            }
        }
        Ok(Fed { consumed, event: None })
    }

    #[inline]
    fn frame_head<S: Sink>(
        &mut self,
        rest: &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<Step, Malformed> {
        let reading = &mut self.reading;
        let (frame, taken) = match rest.first_chunk() {
            Some(head) if reading.have == 0 => (Frame::read(head), HEAD_BYTES),
            _ => {
                let have = usize::from(reading.have);
                let taken = rest.len().min(HEAD_BYTES - have);
                reading.head[have..have + taken].copy_from_slice(&rest[..taken]);
                reading.have += taken as u8;
                if usize::from(reading.have) < HEAD_BYTES {
                    return Ok((taken, None));
                }
                reading.have = 0;
                (Frame::read(&reading.head), taken)
            }
        };
        let (more, event) = self.begin(frame, &rest[taken..], shared, sink, out)?;
        Ok((taken + more, event))
    }

    /// Checks the head of a frame, and reads the frame if it is complete. `after` are the bytes after the head.
    #[inline]
    fn begin<S: Sink>(
        &mut self,
        frame: Frame,
        after: &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<Step, Malformed> {
        self.check_head(frame, shared)?;
        self.reading.frame = frame;
        self.reading.left = frame.len;
        match frame.kind {
            kind::DATA => self.begin_data(after, shared, sink, out),
            kind::HEADERS..=kind::CONTINUATION if frame.kind != PRIORITY => {
                match after.get(..frame.len as usize) {
                    Some(payload) => Ok((payload.len(), self.whole(frame, payload, shared, sink, out)?)),
                    None => {
                        self.reading.phase = Phase::Whole;
                        Ok((0, None))
                    }
                }
            }
            _ => {
                self.charge(&shared.limits)?;
                self.reading.phase = if frame.len > 0 { Phase::Skip } else { Phase::FrameHead };
                Ok((0, None))
            }
        }
    }

    #[inline]
    fn check_head(&self, frame: Frame, shared: &Shared) -> Result<(), Malformed> {
        let Frame { stream, len, kind, .. } = frame;
        if !self.server.has_settings && (kind != kind::SETTINGS || frame.has(flag::ACK)) {
            let is_http1 = Frame { stream: 0, ..frame } == HTTP1;
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
        rest: &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<Step, Malformed> {
        let taken = rest.len().min(self.reading.left as usize);
        self.add_gathered(&rest[..taken], shared);
        self.reading.left -= taken as u32;
        if self.reading.left > 0 {
            return Ok((taken, None));
        }
        self.reading.phase = Phase::FrameHead;
        let frame = self.reading.frame;
        if frame.kind == kind::CONTINUATION {
            return Ok((taken, self.continued(frame, shared, sink, out)?));
        }
        let payload = mem::take(&mut self.gathered);
        let event = self.whole(frame, &payload, shared, sink, out);
        shared.give_back(payload);
        Ok((taken, event?))
    }

    pub(super) fn add_gathered(&mut self, bytes: &[u8], shared: &mut Shared) {
        if self.gathered.capacity() == 0 {
            self.gathered = shared.spares.pop().unwrap_or_default();
        }
        self.gathered.extend_from_slice(bytes);
    }

    fn skip(&mut self, rest: &[u8]) -> usize {
        let taken = rest.len().min(self.reading.left as usize);
        self.reading.left -= taken as u32;
        if self.reading.left == 0 {
            self.reading.phase = Phase::FrameHead;
        }
        taken
    }

    /// Reads a complete frame other than DATA; its length and its stream are checked.
    #[inline]
    fn whole<S: Sink>(
        &mut self,
        frame: Frame,
        payload: &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event>, Malformed> {
        match frame.kind {
            kind::HEADERS => self.headers(frame, payload, shared, sink, out),
            kind::CONTINUATION => {
                self.add_gathered(payload, shared);
                self.continued(frame, shared, sink, out)
            }
            _ => self.control(frame, payload, shared, out),
        }
    }

    #[inline(never)]
    fn control(
        &mut self,
        frame: Frame,
        payload: &[u8],
        shared: &mut Shared,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event>, Malformed> {
        if frame.kind == kind::RST_STREAM && self.streams.peek(frame.stream).is_some() {
            return Ok(self.reset_by_server(frame.stream, frame::number(payload)));
        }
        self.charge(&shared.limits)?;
        match frame.kind {
            kind::SETTINGS if frame.has(flag::ACK) => self.settings_acknowledged(),
            kind::SETTINGS => return self.apply_settings(payload, out).map(Some),
            kind::PING if !frame.has(flag::ACK) => {
                out.extend_from_slice(&frame::head(payload.len(), kind::PING, flag::ACK, 0));
                out.extend_from_slice(payload);
            }
            kind::GOAWAY => {
                // A server must not raise the number: the streams above it may have been sent again already.
                let last_stream = (frame::number(payload) & 0x7fff_ffff).min(self.server.last_stream);
                (self.server.last_stream, self.server.is_leaving) = (last_stream, true);
                return Ok(Some(Event::GoAway { last_stream, code: frame::number(&payload[4..]) }));
            }
            kind::WINDOW_UPDATE => {
                // The highest bit is reserved.
                return self.window_update(frame.stream, frame::number(payload) & 0x7fff_ffff, out);
            }
            _ => {}
        }
        Ok(None)
    }

    fn reset_by_server(&mut self, stream: u32, code: u32) -> Option<Event> {
        let of = *self.streams.peek(stream)?;
        self.streams.free(stream);
        Some(Event::Reset { stream, tag: of.tag, code, answer: of.answer(!self.is_draining()) })
    }
}

/// The type of a frame that clients ignore (RFC 9113 section 6.3).
const PRIORITY: u8 = 2;

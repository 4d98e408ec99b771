//! Responses from frames: header blocks, DATA, and their ends (RFC 9113 sections 6.1, 6.2, and 8.1).

use super::frame::{self, Frame, flag, kind};
use super::head::{Facts, Head, Place, Reader};
use super::read::Step;
use super::session::{Phase, Session};
use super::streams::is;
use super::{Event, Malformed, Shared, Sink, code};
use std::mem;

/// Longest header block that is remembered.
const MEMO_BYTES_MAX: usize = 1024;

/// Dependency and weight, which clients ignore.
const PRIORITY_BYTES: usize = 5;

/// The largest window that a server may assume before it receives the client's SETTINGS.
const WINDOW_BEFORE_SETTINGS: u32 = 65_535;

impl Session {
    /// Reads a complete HEADERS frame.
    #[inline]
    pub(super) fn headers<S: Sink>(
        &mut self,
        frame: Frame,
        payload: &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event>, Malformed> {
        let mut block = payload;
        if frame.flags & (flag::PADDED | flag::PRIORITY) != 0 {
            block = strip(frame, payload)?;
        }
        let (ends, bytes) = (frame.has(flag::END_STREAM), frame::HEAD_BYTES as u32 + frame.len);
        if frame.has(flag::END_HEADERS) {
            return self.block(frame.stream, ends, bytes, block, shared, sink, out);
        }
        self.add_gathered(block, shared);
        let reading = &mut self.reading;
        (reading.block_stream, reading.block_ends, reading.block_bytes) = (frame.stream, ends, bytes);
        Ok(None)
    }

    /// Continues after a CONTINUATION frame, whose payload is gathered.
    pub(super) fn continued<S: Sink>(
        &mut self,
        frame: Frame,
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event>, Malformed> {
        self.charge(&shared.limits)?;
        self.reading.block_bytes += frame::HEAD_BYTES as u32 + frame.len;
        if !frame.has(flag::END_HEADERS) {
            return Ok(None);
        }
        self.reading.block_stream = 0;
        let block = mem::take(&mut self.gathered);
        let (ends, bytes) = (self.reading.block_ends, self.reading.block_bytes);
        let event = self.block(frame.stream, ends, bytes, &block, shared, sink, out);
        shared.give_back(block);
        event
    }

    /// Reads a complete header block, which took `bytes` with the heads of its frames.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    fn block<S: Sink>(
        &mut self,
        id: u32,
        ends: bool,
        bytes: u32,
        block: &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event>, Malformed> {
        let (place, reads) = match self.streams.get(id) {
            Some(stream) => {
                stream.add_overhead(bytes);
                let place = if stream.has(is::HEADED) { Place::Trailers } else { Place::Head };
                (place, stream.has(is::READS_HEAD))
            }
            None => (Place::Closed, false),
        };
        let memo = &self.memo;
        let is_known = memo.changes == self.decoder.changes()
            && !block.is_empty()
            && *memo.block == *block
            && !self.decoder.must_shrink();
        let facts = match place {
            Place::Head if is_known && !reads => memo.facts,
            _ => self.decode(block, place, reads, shared)?,
        };
        match place {
            Place::Head => Ok(self.head(id, ends, facts, shared, sink, out)),
            Place::Trailers => Ok(self.trailers(id, ends, facts, shared, sink, out)),
            Place::Closed => self.charge(&shared.limits).map(|()| None),
        }
    }

    #[inline(never)]
    fn decode(
        &mut self,
        block: &[u8],
        place: Place,
        reads: bool,
        shared: &mut Shared,
    ) -> Result<Facts, Malformed> {
        let before = self.decoder.changes();
        let mut reader = Reader::new(place, &shared.limits, reads.then_some(&mut shared.text));
        self.decoder.decode(block, &mut shared.scratch, |name, value| reader.field(name, value))?;
        let facts = reader.finish();
        let is_final = place == Place::Head && facts.status >= 200 && facts.fault.is_none();
        if is_final && self.decoder.changes() == before && block.len() <= MEMO_BYTES_MAX {
            self.memo.block.clear();
            self.memo.block.extend_from_slice(block);
            (self.memo.facts, self.memo.changes) = (facts, before);
        }
        Ok(facts)
    }

    #[inline]
    fn head<S: Sink>(
        &mut self,
        id: u32,
        ends: bool,
        facts: Facts,
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Option<Event> {
        if let Some(fault) = facts.fault {
            return self.refuse(id, fault, out);
        }
        let stream = self.streams.get(id)?;
        let (tag, status) = (stream.tag, facts.status);
        if status < 200 {
            stream.informational = stream.informational.saturating_add(1);
            if ends {
                return self.refuse(id, Malformed::NoHead, out);
            }
            if stream.informational > shared.limits.informational_max {
                return self.refuse(id, Malformed::TooManyInformational, out);
            }
            return Some(Event::Interim { stream: id, tag, status });
        }
        (stream.status, stream.head_bytes) = (status, facts.bytes);
        stream.flags |= is::HEADED;
        let is_bodiless = stream.has(is::HEAD_ONLY) || matches!(status, 204 | 304);
        stream.declared = if is_bodiless { 0 } else { facts.declared };
        if stream.has(is::READS_HEAD) && !(ends && !stream.is_complete()) {
            sink.head(tag, &Head::new(status, &shared.text));
        }
        if ends { self.finish(id, out) } else { Some(Event::Head { stream: id, tag, status }) }
    }

    fn trailers<S: Sink>(
        &mut self,
        id: u32,
        ends: bool,
        facts: Facts,
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Option<Event> {
        let fault = if ends { facts.fault } else { Some(Malformed::SecondHead) };
        if let Some(fault) = fault {
            return self.refuse(id, fault, out);
        }
        let stream = self.streams.get(id)?;
        if stream.is_complete() && stream.has(is::READS_HEAD) {
            sink.trailers(stream.tag, &Head::new(0, &shared.text));
        }
        self.finish(id, out)
    }

    /// Begins a DATA frame, whose length is checked, and reads what has arrived of it.
    #[inline]
    pub(super) fn begin_data<S: Sink>(
        &mut self,
        after: &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<Step, Malformed> {
        let Frame { stream: id, len, .. } = self.reading.frame;
        // Padding counts, and so do frames of closed streams (section 6.9.1).
        self.flow.owed += len;
        if self.flow.owed > self.config.connection_window {
            return Err(Malformed::ConnectionFlow);
        }
        let is_padded = self.reading.frame.has(flag::PADDED);
        self.reading.padding = 0;
        self.reading.phase = if is_padded { Phase::PaddingLength } else { Phase::Data };
        let Some(stream) = self.streams.get(id) else {
            self.charge(&shared.limits)?;
            return self.data(after, sink, out);
        };
        stream.add_overhead(frame::HEAD_BYTES as u32);
        stream.owed += len;
        let window = self.config.stream_window;
        let most = if self.server.has_acknowledged { window } else { window.max(WINDOW_BEFORE_SETTINGS) };
        let fault = if stream.owed > most {
            Some(Malformed::StreamFlow)
        } else if !stream.has(is::HEADED) {
            Some(Malformed::NoHead)
        } else if !is_padded && stream.exceeds(len) {
            Some(Malformed::WrongLength)
        } else {
            None
        };
        if let Some(fault) = fault {
            let event = self.refuse(id, fault, out);
            // The rest of the frame is walked without a stream.
            if len == 0 {
                self.reading.phase = Phase::FrameHead;
            }
            return Ok((0, event));
        }
        if len > 0 {
            self.credit(1);
        } else if !self.reading.frame.has(flag::END_STREAM) {
            self.charge(&shared.limits)?;
        }
        self.data(after, sink, out)
    }

    /// Walks the next bytes of a DATA frame; a body goes to the sink if its stream reads it.
    #[inline]
    pub(super) fn data<S: Sink>(
        &mut self,
        rest: &[u8],
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<Step, Malformed> {
        let id = self.reading.frame.stream;
        let mut taken = 0;
        if self.reading.phase == Phase::PaddingLength {
            let Some(&padding) = rest.first() else { return Ok((0, None)) };
            if let Some(refused) = self.padded(padding, out)? {
                return Ok((1, Some(refused)));
            }
            taken = 1;
        }
        let reading = &mut self.reading;
        let padding = u32::from(reading.padding);
        let body_left = reading.left.saturating_sub(padding) as usize;
        let body = &rest[taken..][..body_left.min(rest.len() - taken)];
        taken += body.len();
        reading.left -= body.len() as u32;
        let mut event = None;
        if !body.is_empty()
            && let Some(stream) = self.streams.get(id)
        {
            stream.body_bytes += body.len() as u64;
            if stream.has(is::READS_BODY) {
                sink.body(stream.tag, body);
                event = Some(Event::Data { stream: id, tag: stream.tag });
            }
        }
        let reading = &mut self.reading;
        if event.is_none() && reading.left <= padding {
            let walked = (rest.len() - taken).min(reading.left as usize);
            taken += walked;
            reading.left -= walked as u32;
        }
        if reading.left > 0 {
            return Ok((taken, event));
        }
        reading.phase = Phase::FrameHead;
        Ok((taken, self.end_data(id, out).or(event)))
    }

    /// Reads the length of the padding. Returns an event if the stream is refused.
    fn padded(&mut self, padding: u8, out: &mut Vec<u8>) -> Result<Option<Event>, Malformed> {
        let reading = &mut self.reading;
        let Frame { stream: id, .. } = reading.frame;
        reading.left -= 1;
        let body = reading.left.checked_sub(u32::from(padding)).ok_or(Malformed::FramePadding)?;
        (reading.padding, reading.phase) = (padding, Phase::Data);
        let Some(stream) = self.streams.get(id) else { return Ok(None) };
        stream.add_overhead(1 + u32::from(padding));
        if !stream.exceeds(body) {
            return Ok(None);
        }
        if self.reading.left == 0 {
            self.reading.phase = Phase::FrameHead;
        }
        Ok(self.refuse(id, Malformed::WrongLength, out))
    }

    /// The frame is complete: ends the stream, or returns the window that it used.
    #[inline]
    fn end_data(&mut self, id: u32, out: &mut Vec<u8>) -> Option<Event> {
        if self.reading.frame.has(flag::END_STREAM) {
            return self.finish(id, out);
        }
        let half = (self.config.stream_window / 2).max(1);
        let stream = self.streams.get(id)?;
        if stream.owed >= half {
            frame::put_number(out, kind::WINDOW_UPDATE, id, stream.owed);
            stream.owed = 0;
        }
        None
    }

    /// Ends a stream whose last frame arrived.
    #[inline]
    fn finish(&mut self, id: u32, out: &mut Vec<u8>) -> Option<Event> {
        let stream = self.streams.peek(id)?;
        if !stream.is_complete() {
            return self.refuse(id, Malformed::WrongLength, out);
        }
        let (tag, answer) = (stream.tag, stream.answer(!self.is_draining()));
        if stream.has(is::SENDING) {
            // The server does not need the rest of the request (section 8.1).
            frame::put_number(out, kind::RST_STREAM, id, code::CANCEL);
        }
        self.streams.free(id);
        self.credit(2);
        Some(Event::Done { stream: id, tag, answer })
    }

    /// Resets a stream whose response is invalid.
    #[inline(never)]
    pub(super) fn refuse(&mut self, id: u32, why: Malformed, out: &mut Vec<u8>) -> Option<Event> {
        let stream = self.streams.peek(id)?;
        let (tag, answer) = (stream.tag, stream.answer(!self.is_draining()));
        frame::put_number(out, kind::RST_STREAM, id, why.code());
        self.streams.free(id);
        Some(Event::Refused { stream: id, tag, why, answer })
    }
}

/// Removes padding and priority from the payload of a HEADERS frame.
fn strip(frame: Frame, payload: &[u8]) -> Result<&[u8], Malformed> {
    let mut block = payload;
    if frame.has(flag::PADDED) {
        let (&padding, rest) = block.split_first().ok_or(Malformed::FrameLength)?;
        let len = rest.len().checked_sub(usize::from(padding)).ok_or(Malformed::FramePadding)?;
        block = &rest[..len];
    }
    if frame.has(flag::PRIORITY) {
        block = block.get(PRIORITY_BYTES..).ok_or(Malformed::FrameLength)?;
    }
    Ok(block)
}

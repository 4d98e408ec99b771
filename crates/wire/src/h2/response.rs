//! Responses from frames: header blocks, DATA, and their ends (RFC 9113 sections 6.1, 6.2, and 8.1).

use super::frame::{self, Frame, flag, kind};
use super::head::{Facts, Head, Place, Reader};
use super::memo::BLOCK_BYTES_MAX;
use super::read::{Outcome, Step};
use super::session::{Memo, Phase, Session};
use super::streams::{NO_LENGTH, is};
use super::{Malformed, Shared, Sink, code};
use std::mem;

/// Dependency and weight, which clients ignore.
const PRIORITY_BYTES: usize = 5;

/// The largest window that a server may assume before it receives the client's SETTINGS.
const WINDOW_BEFORE_SETTINGS: u32 = 65_535;

impl Session {
    /// Reads a complete HEADERS frame.
    #[inline]
    pub(super) fn headers<S: Sink>(
        &mut self,
        payload: &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Step {
        let reading = &mut self.reading;
        reading.block_ends = reading.frame.has(flag::END_STREAM);
        reading.block_bytes = frame::HEAD_BYTES as u32 + reading.frame.len;
        let mut block = payload;
        if reading.frame.flags & (flag::PADDED | flag::PRIORITY) != 0 {
            block = strip(&reading.frame, payload)?;
        }
        if reading.frame.has(flag::END_HEADERS) {
            return self.block(block, shared, sink, out);
        }
        reading.block_stream = reading.frame.stream;
        self.add_gathered(block, shared);
        Ok(Outcome::None)
    }

    /// Continues after a CONTINUATION frame, whose payload is gathered.
    pub(super) fn continued<S: Sink>(
        &mut self,
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Step {
        self.charge(&shared.limits)?;
        let reading = &mut self.reading;
        reading.block_bytes += frame::HEAD_BYTES as u32 + reading.frame.len;
        if !reading.frame.has(flag::END_HEADERS) {
            return Ok(Outcome::None);
        }
        reading.block_stream = 0;
        let block = mem::take(&mut self.gathered);
        let step = self.block(&block, shared, sink, out);
        shared.give_back(block);
        step
    }

    /// Reads a complete header block.
    #[inline]
    fn block<S: Sink>(&mut self, block: &[u8], shared: &mut Shared, sink: &mut S, out: &mut Vec<u8>) -> Step {
        let bytes = self.reading.block_bytes;
        let (place, reads) = match self.streams.get(self.reading.frame.stream) {
            Some(stream) if !stream.has(is::ENDED) => {
                stream.add_overhead(bytes);
                let place = if stream.has(is::HEADED) { Place::Trailers } else { Place::Head };
                (place, stream.has(is::READS_HEAD))
            }
            Some(_) | None => (Place::Closed, false),
        };
        if place == Place::Head
            && !reads
            && let Some(facts) = self.known(block, shared)
        {
            return Ok(self.head(&facts, shared, sink, out));
        }
        let facts = self.decode(block, place, reads, shared)?;
        match place {
            Place::Head => Ok(self.head(&facts, shared, sink, out)),
            Place::Trailers => Ok(self.trailers(&facts, shared, sink, out)),
            Place::Closed => self.charge(&shared.limits).map(|()| Outcome::None),
        }
    }

    /// Returns the meaning of the block, if an equal one is remembered that means the same.
    #[inline]
    fn known(&mut self, block: &[u8], shared: &Shared) -> Option<Facts> {
        if self.decoder.must_shrink() {
            return None;
        }
        if let Some(memo) = &self.memo
            && memo.changes == self.decoder.changes()
            && *memo.block == *block
        {
            return Some(memo.facts);
        }
        shared.memo.read(block, &mut self.decoder).copied()
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
        if is_final && block.len() <= BLOCK_BYTES_MAX {
            self.remember(block, facts, before, shared);
        }
        Ok(facts)
    }

    /// Remembers the meaning of a block, if it does not use the table, or has left it as it was.
    fn remember(&mut self, block: &[u8], facts: Facts, before: u64, shared: &mut Shared) {
        let traits = shared.scratch.traits();
        if !traits.uses_table {
            return shared.memo.put(block, facts, traits.inserted_bytes);
        }
        if self.decoder.changes() != before {
            return;
        }
        let none = || Box::new(Memo { block: Vec::new(), facts, changes: 0 });
        let memo = self.memo.get_or_insert_with(none);
        memo.block.clear();
        memo.block.extend_from_slice(block);
        (memo.facts, memo.changes) = (facts, self.decoder.changes());
    }

    #[inline]
    fn head<S: Sink>(
        &mut self,
        facts: &Facts,
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Outcome {
        let (id, ends) = (self.reading.frame.stream, self.reading.block_ends);
        if let Some(fault) = facts.fault {
            return self.refuse(id, fault, out);
        }
        let Some(stream) = self.streams.get(id) else { return Outcome::None };
        let status = facts.status;
        if status < 200 {
            stream.informational = stream.informational.saturating_add(1);
            if ends {
                return self.refuse(id, Malformed::NoHead, out);
            }
            if stream.informational > shared.limits.informational_max {
                return self.refuse(id, Malformed::TooManyInformational, out);
            }
            self.reading.code = u32::from(status);
            return Outcome::Interim;
        }
        (stream.status, stream.head_bytes) = (status, facts.bytes);
        stream.flags |= is::HEADED;
        let is_bodiless = stream.has(is::HEAD_ONLY) || matches!(status, 204 | 304);
        stream.declared = if is_bodiless { 0 } else { facts.declared };
        if stream.has(is::TUNNEL) {
            if status < 300 {
                // The length of a successful CONNECT has no meaning (RFC 9110 section 9.3.6).
                stream.declared = NO_LENGTH;
            } else {
                stream.flags &= !is::TUNNEL;
                if stream.has(is::SENDING) {
                    // There is nothing left to send.
                    stream.flags &= !(is::SENDING | is::BLOCKED);
                    out.extend_from_slice(&frame::head(0, kind::DATA, flag::END_STREAM, id));
                }
            }
        }
        if stream.has(is::READS_HEAD) && (!ends || stream.is_complete()) {
            sink.head(stream.tag, &Head::new(status, &shared.text));
        }
        if ends { self.finish(out) } else { Outcome::Head }
    }

    fn trailers<S: Sink>(
        &mut self,
        facts: &Facts,
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Outcome {
        let id = self.reading.frame.stream;
        let fault = if self.reading.block_ends { facts.fault } else { Some(Malformed::SecondHead) };
        if let Some(fault) = fault {
            return self.refuse(id, fault, out);
        }
        if let Some(stream) = self.streams.get(id)
            && stream.is_complete()
            && stream.has(is::READS_HEAD)
        {
            sink.trailers(stream.tag, &Head::new(0, &shared.text));
        }
        self.finish(out)
    }

    /// Begins a DATA frame, whose length is checked, and reads what has arrived of it.
    #[inline]
    pub(super) fn begin_data<S: Sink>(
        &mut self,
        rest: &mut &[u8],
        shared: &mut Shared,
        sink: &mut S,
        out: &mut Vec<u8>,
    ) -> Step {
        let (id, len) = (self.reading.frame.stream, self.reading.frame.len);
        // Padding counts, and so do frames of closed streams (section 6.9.1).
        self.flow.owed += len;
        if self.flow.owed > self.config.connection_window {
            return Err(Malformed::ConnectionFlow);
        }
        let is_padded = self.reading.frame.has(flag::PADDED);
        self.reading.padding = 0;
        self.reading.phase = if is_padded { Phase::PaddingLength } else { Phase::Data };
        let Some(stream) = self.streams.get(id).filter(|stream| !stream.has(is::ENDED)) else {
            self.charge(&shared.limits)?;
            return self.data(rest, sink, out);
        };
        stream.add_overhead(frame::HEAD_BYTES as u32);
        stream.owed += len;
        let window = self.config.stream_window;
        let fault = if stream.owed > window
            && (self.server.has_acknowledged || stream.owed > WINDOW_BEFORE_SETTINGS)
        {
            Malformed::StreamFlow
        } else if !stream.has(is::HEADED) {
            Malformed::NoHead
        } else if !is_padded && stream.exceeds(len) {
            Malformed::WrongLength
        } else {
            if len > 0 {
                self.credit(1);
            } else if !self.reading.frame.has(flag::END_STREAM) {
                self.charge(&shared.limits)?;
            }
            return self.data(rest, sink, out);
        };
        // The rest of the frame is walked without a stream.
        Ok(self.refuse(id, fault, out))
    }

    /// Walks the next bytes of a DATA frame; a body goes to the sink if its stream reads it.
    #[inline]
    pub(super) fn data<S: Sink>(&mut self, rest: &mut &[u8], sink: &mut S, out: &mut Vec<u8>) -> Step {
        if self.reading.phase == Phase::PaddingLength {
            let Some((&padding, after)) = rest.split_first() else { return Ok(Outcome::None) };
            *rest = after;
            if self.padded(padding, out)? == Outcome::Refused {
                return Ok(Outcome::Refused);
            }
        }
        let reading = &mut self.reading;
        let padding = u32::from(reading.padding);
        let body_left = reading.left.saturating_sub(padding) as usize;
        let (body, after) = rest.split_at(body_left.min(rest.len()));
        *rest = after;
        reading.left -= body.len() as u32;
        let mut outcome = Outcome::None;
        if !body.is_empty()
            && let Some(stream) = self.streams.get(reading.frame.stream)
            && !stream.has(is::ENDED)
        {
            stream.body_bytes += body.len() as u64;
            if stream.has(is::READS_BODY) {
                sink.body(stream.tag, body);
                outcome = Outcome::Data;
            }
        }
        if padding > 0 && reading.left <= padding {
            let (walked, after) = rest.split_at(rest.len().min(reading.left as usize));
            *rest = after;
            reading.left -= walked.len() as u32;
        }
        if reading.left > 0 {
            return Ok(outcome);
        }
        reading.phase = Phase::FrameHead;
        let end = self.end_data(out);
        Ok(if end == Outcome::None { outcome } else { end })
    }

    /// Reads the length of the padding.
    #[inline(never)]
    fn padded(&mut self, padding: u8, out: &mut Vec<u8>) -> Step {
        let reading = &mut self.reading;
        reading.left -= 1;
        let body = reading.left.checked_sub(u32::from(padding)).ok_or(Malformed::FramePadding)?;
        (reading.padding, reading.phase) = (padding, Phase::Data);
        let id = reading.frame.stream;
        let stream = self.streams.get(id).filter(|stream| !stream.has(is::ENDED));
        let Some(stream) = stream else { return Ok(Outcome::None) };
        stream.add_overhead(1 + u32::from(padding));
        if !stream.exceeds(body) {
            return Ok(Outcome::None);
        }
        Ok(self.refuse(id, Malformed::WrongLength, out))
    }

    /// The frame is complete: ends the stream, or returns the window that it used.
    #[inline]
    fn end_data(&mut self, out: &mut Vec<u8>) -> Outcome {
        if self.reading.frame.has(flag::END_STREAM) {
            return self.finish(out);
        }
        let id = self.reading.frame.stream;
        let half = (self.config.stream_window / 2).max(1);
        if let Some(stream) = self.streams.get(id)
            && stream.owed >= half
        {
            frame::put_number(out, kind::WINDOW_UPDATE, id, stream.owed);
            stream.owed = 0;
        }
        Outcome::None
    }

    /// Ends the stream of the current frame.
    #[inline]
    fn finish(&mut self, out: &mut Vec<u8>) -> Outcome {
        let id = self.reading.frame.stream;
        let stream = self.streams.get(id).filter(|stream| !stream.has(is::ENDED));
        let Some(stream) = stream else { return Outcome::None };
        if !stream.is_complete() {
            return self.refuse(id, Malformed::WrongLength, out);
        }
        if stream.has(is::SENDING) && stream.has(is::TUNNEL) {
            stream.flags |= is::ENDED;
            self.credit(2);
            return Outcome::HalfClosed;
        }
        if stream.has(is::SENDING) {
            // The server does not need the rest of the request (section 8.1).
            frame::put_number(out, kind::RST_STREAM, id, code::CANCEL);
        }
        self.streams.free(id);
        self.credit(2);
        Outcome::Done
    }

    /// Resets a stream whose response is invalid.
    #[inline(never)]
    pub(super) fn refuse(&mut self, id: u32, why: Malformed, out: &mut Vec<u8>) -> Outcome {
        if self.streams.get(id).is_none() {
            return Outcome::None;
        }
        frame::put_number(out, kind::RST_STREAM, id, why.code());
        self.streams.free(id);
        self.reading.why = why;
        Outcome::Refused
    }
}

/// Removes padding and priority from the payload of a HEADERS frame.
fn strip<'p>(frame: &Frame, payload: &'p [u8]) -> Result<&'p [u8], Malformed> {
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

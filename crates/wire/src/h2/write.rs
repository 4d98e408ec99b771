//! Frames that the client sends: requests, bodies within the windows, and the ends of streams and connections.

use super::frame::{self, HEAD_BYTES, PAYLOAD_MAX, flag, kind};
use super::read::{Outcome, Step};
use super::request::Request;
use super::session::Session;
use super::streams::{WINDOW_MAX, is};
use super::{Answer, Ask, Limits, Malformed};

impl Session {
    /// Opens a stream and appends its HEADERS; returns its number. `None` if there is no [`Session::room`].
    #[inline]
    pub fn open(&mut self, ask: Ask, request: Request<'_>, out: &mut Vec<u8>) -> Option<u32> {
        if self.room() == 0 {
            return None;
        }
        let id = self.streams.take(ask, self.flow.initial)?;
        self.credit(2);
        let begin = out.len();
        out.extend_from_slice(&[0; HEAD_BYTES]);
        match request {
            Request::Block(block) => {
                self.encoder.begin(out);
                out.extend_from_slice(block);
            }
            Request::Prepared(prepared, fields) => prepared.put(&mut self.encoder, fields, out),
        }
        let len = out.len() - begin - HEAD_BYTES;
        let ends = if ask.has_body { 0 } else { flag::END_STREAM };
        if len <= PAYLOAD_MAX {
            let head = frame::head(len, kind::HEADERS, flag::END_HEADERS | ends, id);
            out[begin..begin + HEAD_BYTES].copy_from_slice(&head);
        } else {
            split(out, begin, ends, id);
        }
        Some(id)
    }

    /// Appends as much of a body as the windows allow, and its end with the last byte if `ends`; returns the number of
    /// bytes taken. If that is less than all, [`Session::next_writable`] returns the stream once it may continue. A
    /// stream that is not open, or whose request is complete, takes everything and sends nothing. The end of a tunnel
    /// that the server has ended, too, closes its stream.
    pub fn write(&mut self, stream: u32, bytes: &[u8], ends: bool, out: &mut Vec<u8>) -> usize {
        let connection = self.flow.send_window;
        let Some(of) = self.streams.get(stream).filter(|of| of.has(is::SENDING)) else { return bytes.len() };
        let window = i64::from(of.send_window).min(connection).max(0);
        let taken = bytes.len().min(window as usize);
        let is_last = ends && taken == bytes.len();
        // At most the window, which has 31 bits.
        of.send_window -= taken as i32;
        if is_last {
            of.flags &= !(is::SENDING | is::BLOCKED);
        } else if taken < bytes.len() {
            of.flags |= is::BLOCKED;
        }
        let is_over = is_last && of.has(is::ENDED);
        self.flow.send_window -= taken as i64;
        let mut rest = &bytes[..taken];
        while !rest.is_empty() || is_last {
            let (part, after) = rest.split_at(rest.len().min(PAYLOAD_MAX));
            let flags = if is_last && after.is_empty() { flag::END_STREAM } else { 0 };
            out.extend_from_slice(&frame::head(part.len(), kind::DATA, flags, stream));
            out.extend_from_slice(part);
            rest = after;
            // The server answers each with two updates of windows.
            self.credit(2);
            if after.is_empty() {
                break;
            }
        }
        if is_over {
            self.streams.free(stream);
        }
        taken
    }

    /// Returns a stream that [`Session::write`] could not write completely and that may continue now; call it until it
    /// returns `None`.
    pub fn next_writable(&mut self) -> Option<(u32, u32)> {
        if self.flow.send_window > 0 { self.streams.unblock() } else { None }
    }

    /// Abandons a stream and tells the server; returns the part of the response received so far. Later frames of it are
    /// ignored.
    pub fn cancel(&mut self, stream: u32, code: u32, out: &mut Vec<u8>) -> Option<Answer> {
        let answer = self.streams.peek(stream)?.answer(false);
        self.streams.free(stream);
        frame::put_number(out, kind::RST_STREAM, stream, code);
        Some(answer)
    }

    /// Appends what a wake-up left to say: the connection's window, if half of it is used. Call it once before the
    /// bytes are sent.
    #[inline]
    pub fn settle(&mut self, out: &mut Vec<u8>) {
        self.credit(Limits::FREE_PER_SETTLE);
        if self.flow.owed >= self.config.connection_window / 2 {
            frame::put_number(out, kind::WINDOW_UPDATE, 0, self.flow.owed);
            self.flow.owed = 0;
        }
    }

    /// Appends GOAWAY before the owner closes the connection: with [`super::code::NO_ERROR`], or with
    /// [`Malformed::code`]. No stream can be opened afterwards.
    pub fn close(&mut self, code: u32, out: &mut Vec<u8>) {
        self.server.is_leaving = true;
        out.extend_from_slice(&frame::head(8, kind::GOAWAY, 0, 0));
        // The client accepts no streams of the server, so the last one is 0.
        out.extend_from_slice(&0u32.to_be_bytes());
        out.extend_from_slice(&code.to_be_bytes());
    }

    /// Reads WINDOW_UPDATE.
    pub(super) fn window_update(&mut self, stream: u32, bytes: u32, out: &mut Vec<u8>) -> Step {
        let is_writable = if stream == 0 {
            if bytes == 0 {
                return Err(Malformed::ConnectionUpdate);
            }
            let was_shut = self.flow.send_window <= 0;
            self.flow.send_window += i64::from(bytes);
            if self.flow.send_window > WINDOW_MAX {
                return Err(Malformed::ConnectionWindow);
            }
            was_shut && self.streams.has_blocked()
        } else {
            let Some(of) = self.streams.get(stream) else { return Ok(Outcome::None) };
            if let Err(fault) = of.widen(bytes) {
                return Ok(self.refuse(stream, fault, out));
            }
            of.has(is::BLOCKED) && of.send_window > 0
        };
        Ok(if is_writable { Outcome::Writable } else { Outcome::None })
    }
}

/// Splits a header block above the largest frame into HEADERS and CONTINUATION (RFC 9113 section 6.10). `out` ends with
/// the block, before which there is room for the head of a frame.
#[inline(never)]
fn split(out: &mut Vec<u8>, begin: usize, ends: u8, id: u32) {
    let block = out.split_off(begin + HEAD_BYTES);
    out.truncate(begin);
    let last = block.len().div_ceil(PAYLOAD_MAX) - 1;
    for (at, part) in block.chunks(PAYLOAD_MAX).enumerate() {
        let (kind, first) = if at == 0 { (kind::HEADERS, ends) } else { (kind::CONTINUATION, 0) };
        let flags = first | if at == last { flag::END_HEADERS } else { 0 };
        out.extend_from_slice(&frame::head(part.len(), kind, flags, id));
        out.extend_from_slice(part);
    }
}

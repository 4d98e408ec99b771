//! The client's state of one socket: which frame is being received, and which message it belongs to.

use super::deflate::Inflate;
use super::{CONTROL_BYTES_MAX, Malformed, Shared, Terms, close};
use std::mem;

/// A received message or control frame, valid during the call that receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incoming<'a> {
    /// Valid UTF-8.
    Text(&'a [u8]),
    Binary(&'a [u8]),
    Ping(&'a [u8]),
    Pong(&'a [u8]),
    Close(Closing<'a>),
}

/// The content of a close frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closing<'a> {
    /// The code, or [`close::NO_CODE`].
    pub code: u16,
    /// Valid UTF-8.
    pub reason: &'a [u8],
}

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// The reading half of one open socket. It holds memory only for a message that is incomplete, and for compression.
#[derive(Debug)]
pub struct Session {
    /// The unfinished message, or the unfinished frame of it.
    gathered: Vec<u8>,
    /// An unfinished control frame, which may interrupt a message; boxed, because almost no socket has one.
    #[allow(clippy::box_collection)]
    control: Option<Box<Vec<u8>>>,
    inflate: Option<Box<Inflate>>,
    /// Bytes of the current frame that have not arrived.
    left: u64,
    /// Bytes of the text in `gathered` that are known to be UTF-8.
    checked: usize,
    /// The head of the current frame, as far as it has arrived.
    head: [u8; 10],
    head_bytes: u8,
    /// The current frame has a complete head.
    in_payload: bool,
    /// The unfinished message: its opcode (0: none), and whether it is compressed.
    opcode: u8,
    is_compressed: bool,
    /// A close frame has arrived.
    is_closed: bool,
}

impl Session {
    /// Creates the reading half of a socket that has just opened, with the terms of compression, if it was agreed on.
    pub fn new(terms: Option<Terms>) -> Session {
        Session {
            gathered: Vec::new(),
            control: None,
            inflate: terms.map(|terms| Box::new(Inflate::new(terms))),
            left: 0,
            checked: 0,
            head: [0; 10],
            head_bytes: 0,
            in_payload: false,
            opcode: CONTINUATION,
            is_compressed: false,
            is_closed: false,
        }
    }

    /// Returns whether a message or a frame has begun and not ended.
    pub fn is_within_message(&self) -> bool {
        self.in_payload || self.head_bytes > 0 || self.opcode != CONTINUATION
    }

    /// Consumes all bytes and passes on every message that they complete; bytes after a close frame are ignored. A
    /// message that is passed on may be followed by an error for the bytes after it, however they are split.
    ///
    /// # Errors
    /// Returns a [`Malformed`] for the first fault in byte order.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        shared: &mut Shared,
        emit: &mut impl FnMut(Incoming<'_>),
    ) -> Result<(), Malformed> {
        loop {
            // Nothing after a close frame has a meaning (RFC 6455 section 5.5.1).
            if self.is_closed || (!self.in_payload && !self.take_head(&mut bytes, shared)?) {
                return Ok(());
            }
            let part = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
            let (part, rest) = bytes.split_at(part);
            bytes = rest;
            self.left -= part.len() as u64;
            match self.frame_opcode() >= CLOSE {
                true => self.take_control(part, emit)?,
                false => self.take_data(part, shared, emit)?,
            }
            if self.left > 0 {
                return Ok(());
            }
            (self.in_payload, self.head_bytes) = (false, 0);
        }
    }

    fn frame_opcode(&self) -> u8 {
        self.head[0] & 0x0f
    }

    fn is_final(&self) -> bool {
        self.head[0] & 0x80 != 0
    }

    /// Takes bytes of a head. Returns whether it is complete.
    fn take_head(&mut self, bytes: &mut &[u8], shared: &Shared) -> Result<bool, Malformed> {
        loop {
            let have = usize::from(self.head_bytes);
            let need = match (have, self.head[1]) {
                (0 | 1, _) => 2,
                (_, 126) => 4,
                (_, 127) => 10,
                _ => 2,
            };
            if have == need {
                break;
            }
            let taken = (need - have).min(bytes.len());
            if taken == 0 {
                return Ok(false);
            }
            self.head[have..have + taken].copy_from_slice(&bytes[..taken]);
            self.head_bytes += taken as u8;
            *bytes = &bytes[taken..];
            if have < 2 && self.head_bytes == 2 {
                self.check_head()?;
            }
        }
        let [_, short, a, b, c, d, e, f, g, h] = self.head;
        self.left = match short {
            126 => u64::from(u16::from_be_bytes([a, b])),
            127 => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
            short => u64::from(short),
        };
        if self.left > i64::MAX as u64 {
            return Err(Malformed::Length);
        }
        if self.frame_opcode() < CLOSE {
            // As soon as the head says so, not after the bytes have filled the memory.
            if self.left.saturating_add(self.gathered.len() as u64) > shared.message_bytes_max as u64 {
                return Err(Malformed::TooLong);
            }
            if self.frame_opcode() != CONTINUATION {
                (self.opcode, self.is_compressed) = (self.frame_opcode(), self.head[0] & 0x40 != 0);
            }
        }
        self.in_payload = true;
        Ok(true)
    }

    /// Checks the first two bytes of a head.
    fn check_head(&self) -> Result<(), Malformed> {
        let (first, second) = (self.head[0], self.head[1]);
        let opcode = first & 0x0f;
        let may_compress = self.inflate.is_some() && (1..CLOSE).contains(&opcode);
        if first & 0x30 != 0 || (first & 0x40 != 0 && !may_compress) {
            return Err(Malformed::ReservedBits);
        }
        if !matches!(opcode, 0..=2 | CLOSE..=PONG) {
            return Err(Malformed::Opcode);
        }
        if second & 0x80 != 0 {
            return Err(Malformed::Masked);
        }
        if opcode >= CLOSE {
            if !self.is_final() {
                return Err(Malformed::FragmentedControl);
            }
            if usize::from(second) > CONTROL_BYTES_MAX {
                return Err(Malformed::ControlTooLong);
            }
            return Ok(());
        }
        match (opcode, self.opcode) {
            (CONTINUATION, CONTINUATION) => Err(Malformed::StrayContinuation),
            (CONTINUATION, _) | (_, CONTINUATION) => Ok(()),
            _ => Err(Malformed::Interrupted),
        }
    }

    fn take_control(&mut self, part: &[u8], emit: &mut impl FnMut(Incoming<'_>)) -> Result<(), Malformed> {
        if self.left > 0 {
            self.control.get_or_insert_default().extend_from_slice(part);
            return Ok(());
        }
        let whole;
        let payload = match self.control.take() {
            None => part,
            Some(held) => {
                whole = [held.as_slice(), part].concat();
                &whole
            }
        };
        match self.frame_opcode() {
            PING => emit(Incoming::Ping(payload)),
            PONG => emit(Incoming::Pong(payload)),
            _ => {
                self.is_closed = true;
                emit(Incoming::Close(closing(payload)?));
            }
        }
        Ok(())
    }

    fn take_data(
        &mut self,
        part: &[u8],
        shared: &mut Shared,
        emit: &mut impl FnMut(Incoming<'_>),
    ) -> Result<(), Malformed> {
        let ends = self.left == 0 && self.is_final();
        if ends && self.gathered.is_empty() {
            return self.finish(part, shared, emit);
        }
        if self.gathered.capacity() == 0 {
            self.gathered = shared.lend();
        }
        self.gathered.extend_from_slice(part);
        if !ends {
            return self.check_text();
        }
        let gathered = mem::take(&mut self.gathered);
        let done = self.finish(&gathered, shared, emit);
        shared.give_back(gathered);
        done
    }

    /// Checks the text so far, so that invalid text is refused at its first invalid byte.
    fn check_text(&mut self) -> Result<(), Malformed> {
        if self.opcode == TEXT && !self.is_compressed {
            match std::str::from_utf8(&self.gathered[self.checked..]) {
                Ok(_) => self.checked = self.gathered.len(),
                Err(error) if error.error_len().is_none() => self.checked += error.valid_up_to(),
                Err(_) => return Err(Malformed::Utf8),
            }
        }
        Ok(())
    }

    /// Passes on a complete message.
    fn finish(
        &mut self,
        payload: &[u8],
        shared: &mut Shared,
        emit: &mut impl FnMut(Incoming<'_>),
    ) -> Result<(), Malformed> {
        let checked = mem::take(&mut self.checked);
        let opcode = mem::replace(&mut self.opcode, CONTINUATION);
        let (payload, checked) = match (&mut self.inflate, self.is_compressed) {
            (Some(inflate), true) => {
                inflate.inflate(payload, shared)?;
                (shared.plain.as_slice(), 0)
            }
            _ => (payload, checked),
        };
        if opcode != TEXT {
            emit(Incoming::Binary(payload));
            return Ok(());
        }
        std::str::from_utf8(&payload[checked..]).map_err(|_| Malformed::Utf8)?;
        emit(Incoming::Text(payload));
        Ok(())
    }

    /// Returns the memory of an unfinished message. The session must not be used afterwards.
    pub fn reset(&mut self, shared: &mut Shared) {
        shared.give_back(mem::take(&mut self.gathered));
        self.control = None;
        self.inflate = None;
    }
}

/// Reads the payload of a close frame (RFC 6455 section 5.5.1).
fn closing(payload: &[u8]) -> Result<Closing<'_>, Malformed> {
    match payload {
        [] => Ok(Closing { code: close::NO_CODE, reason: &[] }),
        [_] => Err(Malformed::ClosePayload),
        [high, low, reason @ ..] => {
            let code = u16::from_be_bytes([*high, *low]);
            if !close::is_sendable(code) {
                return Err(Malformed::CloseCode);
            }
            match std::str::from_utf8(reason) {
                Ok(_) => Ok(Closing { code, reason }),
                Err(_) => Err(Malformed::Utf8),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Session;

    #[test]
    fn a_quiet_socket_is_smaller_than_a_hundred_bytes() {
        assert_eq!(size_of::<Session>(), 72);
    }
}

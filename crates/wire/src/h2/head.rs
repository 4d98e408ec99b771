//! Heads and trailers: their rules (RFC 9113 section 8), their meaning, and their text.

use super::streams::NO_LENGTH;
use super::{Limits, Malformed};
use crate::h1::body::is_token;
use crate::h1::framing::{decimal, members};

/// A head as a [`super::Sink`] sees it: as text in the form of HTTP/1, which programs read for every version of HTTP.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// 200 and above; 0 for trailers.
    pub status: u16,
    text: &'a [u8],
    fields_at: usize,
}

impl<'a> Head<'a> {
    pub(super) fn new(status: u16, text: &'a [u8]) -> Head<'a> {
        Head { status, text, fields_at: if status == 0 { 0 } else { STATUS_LINE_BYTES } }
    }

    /// Returns the fields in the order of arrival. Names are in lower case.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> + use<'a> {
        let mut rest = &self.text[self.fields_at..];
        std::iter::from_fn(move || {
            // Neither names nor values contain a line end, and names contain no colon.
            let end = rest.iter().position(|&byte| byte == b'\r').filter(|&end| end > 0)?;
            let line = &rest[..end];
            rest = rest.get(end + 2..).unwrap_or_default();
            let colon = line.iter().position(|&byte| byte == b':')?;
            // Names are tokens, so they are ASCII: the default never occurs, and it avoids `unsafe`.
            Some((str::from_utf8(&line[..colon]).unwrap_or_default(), line.get(colon + 2..)?))
        })
    }

    /// Returns the first value of `name`, ignoring case.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the complete text: `HTTP/2 200`, a line for each field, and an empty line. Trailers have no first line.
    pub fn raw(&self) -> &'a [u8] {
        self.text
    }

    /// Returns the media type of the body without its parameters, as [`crate::h1::Head::content_type`].
    pub fn content_type(&self) -> Option<&'a [u8]> {
        let value = self.get("content-type")?;
        value.split(|&byte| byte == b';').next().map(<[u8]>::trim_ascii)
    }
}

/// `HTTP/2 200` and a line end.
const STATUS_LINE_BYTES: usize = 12;

/// How many times a limit a head may exceed before it costs the connection. Up to that, only its stream is refused: the
/// block must be decoded anyway, because the table of the connection depends on it.
const BOMB_FACTOR: usize = 16;

/// The meaning of a head for the session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Content-Length, or [`NO_LENGTH`].
    pub declared: u64,
    /// Length of the head as text.
    pub bytes: u32,
    pub status: u16,
    pub fault: Option<Malformed>,
}

impl Facts {
    pub const NONE: Facts = Facts { declared: NO_LENGTH, bytes: 0, status: 0, fault: None };
}

/// The place of a header block in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Head,
    Trailers,
    /// The stream is closed: the block is decoded for the table alone.
    Closed,
}

/// Reads the fields of one block.
pub(super) struct Reader<'t> {
    place: Place,
    limits: Limits,
    bytes_max: usize,
    text: Option<&'t mut Vec<u8>>,
    bytes: usize,
    fields: usize,
    facts: Facts,
}

impl<'t> Reader<'t> {
    pub fn new(place: Place, limits: &Limits, mut text: Option<&'t mut Vec<u8>>) -> Reader<'t> {
        if let Some(text) = &mut text {
            text.clear();
        }
        let is_trailers = place == Place::Trailers;
        let bytes_max = if is_trailers { limits.trailer_bytes_max } else { limits.head_bytes_max };
        let bytes = if is_trailers { 2 } else { STATUS_LINE_BYTES + 2 };
        Reader { place, limits: *limits, bytes_max, text, bytes, fields: 0, facts: Facts::NONE }
    }

    /// Reads a field. Returns false if the head is so large that decoding the rest is not worth its table.
    pub fn field(&mut self, name: &[u8], value: &[u8]) -> bool {
        if name.first() == Some(&b':') {
            // Pseudo-header fields are not part of the text, but repeated ones must not be free.
            self.fields += usize::from(self.facts.status != 0);
            if let Err(fault) = self.pseudo(name, value) {
                self.refuse(fault);
            }
        } else {
            self.fields += 1;
            self.bytes += name.len() + value.len() + 4;
            if self.bytes > self.bytes_max || self.fields > self.limits.fields_max {
                self.refuse(Malformed::HeadTooLarge);
            }
            if self.facts.fault.is_none()
                && let Err(fault) = self.regular(name, value)
            {
                self.refuse(fault);
            }
        }
        self.bytes <= self.bytes_max.max(4096).saturating_mul(BOMB_FACTOR)
            && self.fields <= self.limits.fields_max.max(128).saturating_mul(BOMB_FACTOR)
    }

    /// Returns the meaning of all fields.
    pub fn finish(mut self) -> Facts {
        if self.place == Place::Head && !matches!(self.facts.status, 100 | 102..=999) {
            self.refuse(Malformed::Status);
        }
        if let Some(text) = self.text {
            text.extend_from_slice(b"\r\n");
        }
        self.facts.bytes = self.bytes as u32;
        self.facts
    }

    /// Keeps the first fault.
    fn refuse(&mut self, fault: Malformed) {
        self.facts.fault.get_or_insert(fault);
    }

    fn pseudo(&mut self, name: &[u8], value: &[u8]) -> Result<(), Malformed> {
        if name != b":status" || self.place == Place::Trailers || self.bytes > STATUS_LINE_BYTES + 2 {
            return Err(Malformed::PseudoField);
        }
        let [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] = *value else {
            return Err(Malformed::Status);
        };
        if self.facts.status != 0 {
            return Err(Malformed::Status);
        }
        let digit = |digit: u8| u16::from(digit - b'0');
        self.facts.status = 100 * digit(a) + 10 * digit(b) + digit(c);
        if let Some(text) = &mut self.text {
            text.extend_from_slice(&[b'H', b'T', b'T', b'P', b'/', b'2', b' ', a, b, c, b'\r', b'\n']);
        }
        Ok(())
    }

    #[inline]
    fn regular(&mut self, name: &[u8], value: &[u8]) -> Result<(), Malformed> {
        let is_name = |byte: &u8| is_token(*byte) && !byte.is_ascii_uppercase();
        // Without an early exit, the compiler checks many bytes at a time.
        let breaks = value.iter().fold(false, |found, &byte| found | matches!(byte, 0 | b'\r' | b'\n'));
        if name.is_empty() || !name.iter().all(is_name) || breaks {
            return Err(Malformed::FieldBytes);
        }
        match name {
            b"content-length" if self.place == Place::Head => self.length(value)?,
            b"connection" | b"transfer-encoding" | b"keep-alive" | b"proxy-connection" | b"upgrade" => {
                return Err(Malformed::ConnectionField);
            }
            _ => {}
        }
        if let Some(text) = &mut self.text {
            text.extend_from_slice(name);
            text.extend_from_slice(b": ");
            text.extend_from_slice(value);
            text.extend_from_slice(b"\r\n");
        }
        Ok(())
    }

    /// Equal repetitions are one value.
    fn length(&mut self, value: &[u8]) -> Result<(), Malformed> {
        for member in members(value) {
            let bytes = decimal(member).ok_or(Malformed::BadLength)?;
            if self.facts.declared != NO_LENGTH && self.facts.declared != bytes {
                return Err(Malformed::BadLength);
            }
            self.facts.declared = bytes;
        }
        Ok(())
    }
}

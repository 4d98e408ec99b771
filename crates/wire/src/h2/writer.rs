//! Writes a request in parts, as [`crate::h1::Writer`]: the caller names the parts as in HTTP/1, and this module makes
//! a header block of them that fits any connection.

use crate::hpack::{literal, literal_name, set_length};
use std::convert::Infallible;
use std::ops::Range;

/// Appends one request to `out`: a header block for [`super::Request::Block`], and the body. First [`Writer::line`],
/// then any number of fields, then [`Writer::end`], which returns where the body begins. The parts must have passed
/// [`crate::h1::check_method`], [`crate::h1::check_target`], and [`crate::h1::check_header`].
///
/// Names become lower case. `Host` becomes `:authority`. Fields that HTTP/2 does not have are omitted (RFC 9113 section
/// 8.2.2): Connection and the fields that control it, Transfer-Encoding, Upgrade, and TE unless it is `trailers`.
#[derive(Debug)]
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
    scheme: &'static str,
    authority: &'o str,
    /// Where `:authority` belongs: after the other pseudo-header fields.
    place: usize,
    /// Length of `:authority`, once it is written.
    written: usize,
    /// It is part of made fields, and nothing replaces it.
    is_fixed: bool,
    /// A line was written, so `:authority` is needed.
    is_head: bool,
}

impl<'o> Writer<'o> {
    /// Creates a writer of a request. `scheme` is `http` or `https`; `authority` is the host with its port, unless it
    /// is the default port, and counts if no `Host` field is written.
    pub fn new(out: &'o mut Vec<u8>, scheme: &'static str, authority: &'o str) -> Self {
        Self { place: out.len(), out, scheme, authority, written: 0, is_fixed: false, is_head: false }
    }

    /// Creates a writer of fields alone, for [`Writer::fields_made`].
    pub fn of_fields(out: &'o mut Vec<u8>) -> Self {
        Writer::new(out, "", "")
    }

    /// Appends method, scheme, and target; returns the position of the target in the output. `target` appends path and
    /// query, or `*`.
    ///
    /// # Errors
    /// Returns the error of `target`; bytes appended before it stay.
    pub fn line<E>(
        &mut self,
        method: &str,
        target: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Range<usize>, E> {
        literal(self.out, b":method", method.as_bytes());
        let value_at = literal_name(self.out, b":path");
        target(self.out)?;
        let begin = set_length(self.out, value_at);
        let path = begin..self.out.len();
        literal(self.out, b":scheme", self.scheme.as_bytes());
        (self.place, self.is_head) = (self.out.len(), true);
        Ok(path)
    }

    /// Appends `:protocol`, directly after the line of an extended CONNECT (RFC 8441 section 4).
    pub fn protocol(&mut self, protocol: &str) {
        literal(self.out, b":protocol", protocol.as_bytes());
        self.place = self.out.len();
    }

    /// Appends one field; `value` appends its value.
    ///
    /// # Errors
    /// Returns the error of `value`; bytes appended before it stay.
    pub fn field_with<E>(
        &mut self,
        name: &str,
        value: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        if name.eq_ignore_ascii_case("host") {
            return self.host(value);
        }
        self.default_authority();
        let begin = self.out.len();
        let value_at = literal_name(self.out, name.as_bytes());
        value(self.out)?;
        if is_omitted(name, &self.out[value_at..]) {
            self.out.truncate(begin);
        } else {
            set_length(self.out, value_at);
        }
        Ok(())
    }

    /// Appends one field.
    pub fn field(&mut self, name: &str, value: &[u8]) {
        let Ok(()) = self.field_with(name, |out| {
            out.extend_from_slice(value);
            Ok::<(), Infallible>(())
        });
    }

    /// Appends a field, or nothing if `value` appends nothing.
    pub fn field_if_any(&mut self, name: &str, value: impl FnOnce(&mut Vec<u8>)) {
        /// The value is empty.
        struct Empty;
        let begin = self.out.len();
        let before = self.written;
        let written = self.field_with(name, |out| {
            let value_at = out.len();
            value(out);
            if out.len() == value_at { Err(Empty) } else { Ok(()) }
        });
        if written.is_err() {
            // The default `:authority` may have been written before the field, and stays.
            let kept = if before == 0 && self.written > 0 { self.written } else { 0 };
            self.out.truncate(begin + kept);
        }
    }

    /// Appends fields that another writer has created with [`Writer::of_fields`].
    pub fn fields_made(&mut self, bytes: &[u8]) {
        if bytes.first() == Some(&AUTHORITY) && self.written == 0 {
            self.is_fixed = true;
        }
        self.default_authority();
        self.out.extend_from_slice(bytes);
    }

    /// Appends the end of the head, and returns its position: the body follows.
    pub fn end(&mut self) -> usize {
        self.default_authority();
        self.out.len()
    }

    /// Appends the next bytes of the body unchanged.
    pub fn body(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }
}

/// First byte of `:authority` as a literal without indexing: the index of its name is 1.
const AUTHORITY: u8 = 0x01;

impl Writer<'_> {
    /// Writes `:authority` before the first field that is not `Host`.
    fn default_authority(&mut self) {
        if self.written == 0 && self.is_head && !self.is_fixed {
            let begin = self.out.len();
            literal(self.out, b":authority", self.authority.as_bytes());
            self.written = self.out.len() - begin;
        }
    }

    /// Writes `Host` as `:authority`, which it replaces if it is not the first field.
    fn host<E>(&mut self, value: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let begin = self.out.len();
        let value_at = literal_name(self.out, b":authority");
        value(self.out)?;
        if self.out.len() == value_at || self.is_fixed {
            self.out.truncate(begin);
            return Ok(());
        }
        set_length(self.out, value_at);
        if begin > self.place {
            let field = self.out.split_off(begin);
            self.out.splice(self.place..self.place + self.written, field.iter().copied());
            self.written = field.len();
        } else {
            self.written = self.out.len() - begin;
        }
        Ok(())
    }
}

/// Returns whether HTTP/2 does not have a field.
pub(super) fn is_omitted(name: &str, value: &[u8]) -> bool {
    let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
    match name.len() {
        2 => is("te") && !value.eq_ignore_ascii_case(b"trailers"),
        7 => is("upgrade"),
        10 => is("connection") || is("keep-alive"),
        14 => is("http2-settings"),
        16 => is("proxy-connection"),
        17 => is("transfer-encoding"),
        _ => false,
    }
}

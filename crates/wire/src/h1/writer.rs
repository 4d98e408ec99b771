//! Writes a request in parts: line, fields, end. The caller names the parts; only this module knows their wire format.

use std::convert::Infallible;
use std::ops::Range;

/// Appends the head of one request to `out`: first [`Writer::line`], then any number of fields, then [`Writer::end`]. A
/// body follows unchanged. The parts must have passed [`super::check_method`], [`super::check_target`], and
/// [`super::check_header`].
#[derive(Debug)]
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
}

impl<'o> Writer<'o> {
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Appends the request line; returns the position of the target in the output. `target` appends path and query, or
    /// `*`, or an absolute URL for a proxy.
    ///
    /// # Errors
    /// Returns the error of `target`; bytes appended before it stay.
    pub fn line<E>(
        &mut self,
        method: &str,
        http10: bool,
        target: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Range<usize>, E> {
        self.out.extend_from_slice(method.as_bytes());
        self.out.push(b' ');
        let begin = self.out.len();
        target(self.out)?;
        let end = self.out.len();
        self.out.extend_from_slice(if http10 { b" HTTP/1.0\r\n" } else { b" HTTP/1.1\r\n" });
        Ok(begin..end)
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
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b": ");
        value(self.out)?;
        self.out.extend_from_slice(b"\r\n");
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
        let begin = self.out.len();
        let value_begin = begin + name.len() + 2;
        let Ok(()) = self.field_with(name, |out| {
            value(out);
            Ok::<(), Infallible>(())
        });
        if self.out.len() == value_begin + 2 {
            self.out.truncate(begin);
        }
    }

    /// Appends fields that another writer has created.
    pub fn fields_made(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Appends the end of the head.
    pub fn end(&mut self) {
        self.out.extend_from_slice(b"\r\n");
    }

    /// Appends the next bytes of the body unchanged.
    pub fn body(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }
}

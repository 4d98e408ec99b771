//! A request in parts on its way out: line, fields, end. Whoever makes requests says the parts; how they look on the
//! wire is known here alone.

use std::convert::Infallible;
use std::ops::Range;

/// Appends the head of one request to `out`: first [`Writer::line`], then any number of fields, then [`Writer::end`].
/// A body follows as it is. The parts must have passed [`super::check_method`], [`super::check_target`] and
/// [`super::check_header`].
#[derive(Debug)]
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
}

impl<'o> Writer<'o> {
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out }
    }

    /// The request line; where the target stands in the output. `target` appends path and query, or `*`, or an absolute
    /// URL when a proxy is asked.
    ///
    /// # Errors
    /// Returns the error of `target`; what was appended until then stays.
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

    /// One field; `value` appends its value.
    ///
    /// # Errors
    /// Returns the error of `value`; what was appended until then stays.
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

    /// One field.
    pub fn field(&mut self, name: &str, value: &[u8]) {
        let Ok(()) = self.field_with(name, |out| {
            out.extend_from_slice(value);
            Ok::<(), Infallible>(())
        });
    }

    /// A field that is left out when `value` appends nothing.
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

    /// Fields that a writer has made before.
    pub fn fields_made(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// The end of the head.
    pub fn end(&mut self) {
        self.out.extend_from_slice(b"\r\n");
    }

    /// The next bytes of the body, as they are.
    pub fn body(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }
}

//! One parsed head: its bytes, and the position of each name and value.

use std::mem::MaybeUninit;

use super::framing::{self, Facts};
use super::{Limits, Malformed};

/// A final head as a [`super::Sink`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Three digits, 101 or 200 and above.
    pub status: u16,
    /// 0 for HTTP/1.0, 1 for HTTP/1.1.
    pub minor: u8,
    /// Free text after the status, often empty; any bytes but control bytes.
    pub reason: &'a [u8],
    bytes: &'a [u8],
    lines: &'a [Line],
}

impl<'a> Head<'a> {
    /// Returns the header lines in the order of arrival, with names as sent and trimmed values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a str, &'a [u8])> + use<'a> {
        let bytes = self.bytes;
        self.lines.iter().map(move |line| {
            // Names are tokens, so they are ASCII: the default never occurs, and it avoids `unsafe`.
            (str::from_utf8(line.name.of(bytes)).unwrap_or_default(), line.value.of(bytes))
        })
    }

    /// Returns the first value of `name`, ignoring case.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let line = self.lines.iter().find(|line| line.is(name, self.bytes))?;
        Some(line.value.of(self.bytes))
    }

    /// Returns the complete head as received, from the status line to the empty line with its line end.
    pub fn raw(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the media type of the body without its parameters: `text/event-stream` for `text/event-stream;
    /// charset=utf-8`. The sender's case is kept; names of media types ignore case (RFC 9110 section 8.3.1).
    pub fn content_type(&self) -> Option<&'a [u8]> {
        let value = self.get("content-type")?;
        value.split(|&byte| byte == b';').next().map(<[u8]>::trim_ascii)
    }
}

/// A part of a head. Offsets, not slices, so that a parsed head can outlive the buffer it arrived in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub at: u32,
    pub len: u32,
}

impl Span {
    /// Returns the position of `part` in `whole`; `part` is a slice of `whole`, which is at most `u32::MAX` long.
    fn locate(part: &[u8], whole: &[u8]) -> Span {
        Span { at: (part.as_ptr() as usize - whole.as_ptr() as usize) as u32, len: part.len() as u32 }
    }

    pub fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.at as usize..][..self.len as usize]
    }
}

#[derive(Clone, Copy, Debug)]
struct Line {
    name: Span,
    value: Span,
}

impl Line {
    fn is(&self, name: &str, bytes: &[u8]) -> bool {
        self.name.of(bytes).eq_ignore_ascii_case(name.as_bytes())
    }
}

/// A complete head with its meaning; refilled in place, so a warm one does not allocate.
#[derive(Debug)]
pub(super) struct Parsed {
    pub bytes: Vec<u8>,
    pub facts: Facts,
    /// The value of the first `Date` if it has the usual 29 bytes: the only part that changes between responses of most
    /// servers.
    pub date: Option<Span>,
    reason: Span,
    lines: Vec<Line>,
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
pub(super) const DATE_BYTES: usize = 29;

/// Headers up to this number are parsed on the stack.
const HEADERS_ON_STACK: usize = 128;

impl Parsed {
    pub const EMPTY: Parsed = Parsed {
        bytes: Vec::new(),
        facts: Facts::NONE,
        date: None,
        reason: Span { at: 0, len: 0 },
        lines: Vec::new(),
    };

    pub fn head(&self) -> Head<'_> {
        Head {
            status: self.facts.status,
            minor: self.facts.minor,
            reason: self.reason.of(&self.bytes),
            bytes: &self.bytes,
            lines: &self.lines,
        }
    }

    /// Parses the head that starts at `bytes[0]`, which is neither CR nor LF. Returns `false` and changes nothing if
    /// the head continues after `bytes`.
    ///
    /// The first fault in byte order wins, so the result does not depend on how the bytes were split.
    pub fn refill(&mut self, bytes: &[u8], limits: &Limits) -> Result<bool, Malformed> {
        if limits.headers_max <= HEADERS_ON_STACK {
            let mut room = [MaybeUninit::uninit(); HEADERS_ON_STACK];
            self.refill_with(bytes, &mut room[..limits.headers_max])
        } else {
            self.refill_with(bytes, &mut vec![MaybeUninit::uninit(); limits.headers_max])
        }
    }

    fn refill_with<'b>(
        &mut self,
        bytes: &'b [u8],
        room: &mut [MaybeUninit<httparse::Header<'b>>],
    ) -> Result<bool, Malformed> {
        let mut config = httparse::ParserConfig::default();
        // Folded lines are obsolete, but a user agent must accept them (RFC 9112 section 5.2).
        config.allow_obsolete_multiline_headers_in_responses(true);
        let mut response = httparse::Response::new(&mut []);
        let len = match config.parse_response_with_uninit_headers(&mut response, bytes, room) {
            Ok(httparse::Status::Complete(len)) => len,
            Ok(httparse::Status::Partial) => return Ok(false),
            Err(error) => return Err(refused(error, bytes)),
        };
        let status = response.code.unwrap_or_default();
        if status < 100 {
            return Err(Malformed::StatusLine);
        }
        let whole = &bytes[..len];
        self.facts = framing::read(status, response.version.unwrap_or_default(), response.headers);
        self.reason = reason(whole);
        self.lines.clear();
        self.lines.extend(response.headers.iter().map(|header| Line {
            name: Span::locate(header.name.as_bytes(), whole),
            value: Span::locate(header.value, whole),
        }));
        let date = self.lines.iter().find(|line| line.is("date", whole));
        self.date = date.map(|line| line.value).filter(|value| value.len as usize == DATE_BYTES);
        self.bytes.clear();
        self.bytes.extend_from_slice(whole);
        Ok(true)
    }
}

/// Returns the reason phrase of a valid head: the bytes after `HTTP/1.x NNN` and one space, up to the line end. It
/// reads the bytes because the parser blanks a phrase that is not ASCII.
fn reason(whole: &[u8]) -> Span {
    let at = if whole.get(12) == Some(&b' ') { 13 } else { 12 };
    let text = whole.get(at..).unwrap_or_default();
    let len = text.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(text.len());
    Span { at: at as u32, len: len as u32 }
}

fn refused(error: httparse::Error, bytes: &[u8]) -> Malformed {
    match error {
        // The parser reports any first line that does not start with HTTP/1 as a version, but SSH, for example, is not
        // a version of HTTP.
        httparse::Error::Version if bytes.starts_with(b"HTTP/") => Malformed::Version,
        httparse::Error::Version | httparse::Error::Status | httparse::Error::Token => Malformed::StatusLine,
        httparse::Error::TooManyHeaders => Malformed::TooManyHeaders,
        httparse::Error::HeaderName | httparse::Error::HeaderValue | httparse::Error::NewLine => {
            Malformed::HeaderLine
        }
    }
}

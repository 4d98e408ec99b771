//! The meaning of lines: the names and values of one block, and the event that they form at its end.

use super::{Event, Spares};

/// A line with its end.
pub(super) struct Line<'b> {
    pub text: &'b [u8],
    /// The length of the text and of the line end, as far as received.
    pub taken: usize,
    /// Ended by a CR at the very end of the bytes: an LF may still follow.
    pub open: bool,
}

impl<'b> Line<'b> {
    #[inline]
    pub fn first(bytes: &'b [u8]) -> Option<Line<'b>> {
        let len = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'))?;
        let (text, end) = bytes.split_at(len);
        let crlf = end.starts_with(b"\r\n");
        Some(Line { text, taken: len + 1 + usize::from(crlf), open: end == b"\r" })
    }
}

/// Returns the texts of the complete lines of a block, without the empty one at its end.
pub(super) fn texts(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let line = Line::first(bytes)?;
        bytes = &bytes[line.taken..];
        Some(line.text)
    })
    .filter(|text| !text.is_empty())
}

/// Returns name and value of a line that is neither empty nor a comment. One space after the colon is not part of the
/// value; a line without a colon is a name with an empty value.
fn field(text: &[u8]) -> (&[u8], &[u8]) {
    let Some(colon) = text.iter().position(|&byte| byte == b':') else { return (text, &[]) };
    let value = &text[colon + 1..];
    (&text[..colon], value.strip_prefix(b" ").unwrap_or(value))
}

/// The fields in the lines of one block so far.
#[derive(Default)]
pub(super) struct Fields<'b> {
    name: &'b [u8],
    id: Option<&'b [u8]>,
    retry_ms: Option<u64>,
    /// The last `data` line, and the number of them.
    data: &'b [u8],
    data_lines: usize,
}

impl<'b> Fields<'b> {
    /// Reads one line; returns the reconnection time if the line sets it. Comments and unknown names are ignored: a
    /// comment is a line with an empty name.
    #[inline]
    pub fn add(&mut self, text: &'b [u8]) -> Option<u64> {
        match field(text) {
            (b"data", value) => {
                self.data = value;
                self.data_lines += 1;
            }
            (b"event", value) => self.name = value,
            // The id may be sent back in a header later, and a header cannot contain NUL.
            (b"id", value) if !value.contains(&0) => self.id = Some(value),
            (b"retry", value) => {
                let retry_ms = decimal(value);
                self.retry_ms = retry_ms.or(self.retry_ms);
                return retry_ms;
            }
            _ => {}
        }
        None
    }

    /// Returns whether there is a data line, so that an event has begun.
    pub fn has_data(&self) -> bool {
        self.data_lines > 0
    }

    /// Reports the event of `block`. Without a data line there is no event, even if the block contains other fields.
    pub fn dispatch(&self, block: &[u8], spares: &mut Spares, event: &mut dyn FnMut(Event<'_>)) {
        let whole = Event { name: self.name, data: self.data, id: self.id, retry_ms: self.retry_ms };
        match self.data_lines {
            0 => return,
            1 => return event(whole),
            _ => {}
        }
        let mut joined = spares.take();
        for (_, value) in texts(block).map(field).filter(|(name, _)| name == b"data") {
            joined.extend_from_slice(value);
            joined.push(b'\n');
        }
        joined.pop();
        event(Event { data: &joined, ..whole });
        spares.give_back(joined);
    }
}

/// Parses ASCII digits and nothing else. The standard sets no limit, so a number above 64 bits saturates.
fn decimal(digits: &[u8]) -> Option<u64> {
    let all = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let push = |number: u64, digit: &u8| number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    all.then(|| digits.iter().fold(0, push))
}

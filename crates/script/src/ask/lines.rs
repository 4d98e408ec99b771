//! The lines of a sent request, read in place without allocation.

/// One header line.
pub(crate) struct Line<'a> {
    /// The line with its line end, and with folded lines (RFC 9112 section 5.2).
    pub whole: &'a [u8],
    pub name: &'a [u8],
    /// The trimmed value; it still contains the line ends of folded lines.
    pub value: &'a [u8],
}

impl Line<'_> {
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }
}

/// An iterator over header lines; see [`lines`].
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
}

/// Returns the lines between the first line and the empty one.
pub(crate) fn lines(head: &[u8]) -> Lines<'_> {
    let (_, rest) = split_line(head);
    Lines { rest }
}

/// Returns the first line without its line end.
pub(crate) fn first_line(head: &[u8]) -> &[u8] {
    split_line(head).0.trim_ascii_end()
}

impl<'a> Lines<'a> {
    /// Returns the bytes after the empty line; valid after the iteration.
    pub fn body(&self) -> &'a [u8] {
        split_line(self.rest).1
    }

    /// Returns the number of bytes after the current line.
    pub fn left(&self) -> usize {
        self.rest.len()
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let (line, mut rest) = split_line(self.rest);
        if line.trim_ascii_end().is_empty() {
            return None;
        }
        while let [b' ' | b'\t', ..] = rest {
            rest = split_line(rest).1;
        }
        let whole = &self.rest[..self.rest.len() - rest.len()];
        self.rest = rest;
        let colon = memchr::memchr(b':', whole).unwrap_or(whole.len());
        let value = whole.get(colon + 1..).unwrap_or_default();
        Some(Line { whole, name: whole[..colon].trim_ascii(), value: value.trim_ascii() })
    }
}

/// Splits off the first line with its line end.
fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
    bytes.split_at(end)
}

/// Returns the names and values of the cookies in a `Cookie` header. A part without `=` has an empty name.
pub(crate) fn pairs(value: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    value.split(|byte| *byte == b';').map(<[u8]>::trim_ascii).filter(|pair| !pair.is_empty()).map(|pair| {
        match pair.iter().position(|byte| *byte == b'=') {
            Some(at) => (pair[..at].trim_ascii_end(), pair[at + 1..].trim_ascii_start()),
            None => (&pair[..0], pair),
        }
    })
}

//! The lines of a request that was sent, as they stand on the wire; nothing is kept and nothing allocated.

/// One header line.
pub(super) struct Line<'a> {
    /// With its line end, and with the lines that are folded into it (RFC 9112 section 5.2).
    pub whole: &'a [u8],
    pub name: &'a [u8],
    /// Without the space around it; line ends of folded lines are still in it.
    pub value: &'a [u8],
}

impl Line<'_> {
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }
}

/// See [`lines`].
pub(super) struct Lines<'a> {
    rest: &'a [u8],
}

/// The lines between the first one and the empty one.
pub(super) fn lines(head: &[u8]) -> Lines<'_> {
    let (_, rest) = split_line(head);
    Lines { rest }
}

/// The first line without its end.
pub(super) fn first_line(head: &[u8]) -> &[u8] {
    split_line(head).0.trim_ascii_end()
}

impl<'a> Lines<'a> {
    /// What stands behind the empty line; right once the iteration is through.
    pub fn body(&self) -> &'a [u8] {
        split_line(self.rest).1
    }

    /// How many bytes follow the line given last.
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

/// The first line with its end, and what follows.
fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
    bytes.split_at(end)
}

/// Names and values of the cookies in a `Cookie` header; a part without `=` has an empty name.
pub(super) fn pairs(value: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    value.split(|byte| *byte == b';').map(<[u8]>::trim_ascii).filter(|pair| !pair.is_empty()).map(|pair| {
        match pair.iter().position(|byte| *byte == b'=') {
            Some(at) => (pair[..at].trim_ascii_end(), pair[at + 1..].trim_ascii_start()),
            None => (&pair[..0], pair),
        }
    })
}

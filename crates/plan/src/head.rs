//! The head of a response, with access to its fields by name.

/// The final head of a response, read in place. Its text has the format of HTTP/1.1 (RFC 9112), from the status line to
/// the empty line, for every protocol, so that fields have one reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head<'a> {
    text: &'a [u8],
}

impl<'a> Head<'a> {
    /// `text` is empty if there is no head, or if it was not requested.
    pub const fn new(text: &'a [u8]) -> Self {
        Self { text }
    }

    pub const fn text(self) -> &'a [u8] {
        self.text
    }

    /// Returns whether the response came over HTTP/2.
    pub fn is_http2(self) -> bool {
        self.text.starts_with(b"HTTP/2 ")
    }

    /// Returns the value of the first field `name`, as [`Head::fields`] does.
    pub fn field(self, name: &str) -> Option<&'a [u8]> {
        self.fields(name).next()
    }

    /// Returns the values of all fields `name`, ignoring case, in their order and trimmed. A folded value (RFC 9112
    /// section 5.2) still contains its line ends.
    pub fn fields(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let ends = memchr::memchr_iter(b'\n', self.text);
        let within = ends.take_while(|end| !matches!(self.text.get(end + 1), Some(b'\r' | b'\n')));
        within.filter_map(move |end_of_line| {
            // A line begins with the name, and the colon follows directly (RFC 9112 section 5.1), so checking one byte
            // excludes most lines.
            let line = &self.text[end_of_line + 1..];
            if line.get(name.len()) != Some(&b':')
                || !line[..name.len()].eq_ignore_ascii_case(name.as_bytes())
            {
                return None;
            }
            let value = &line[name.len() + 1..];
            Some(value[..folded_end(value)].trim_ascii())
        })
    }
}

/// Returns the end of the value that begins here: the first line end that is not followed by a space.
fn folded_end(value: &[u8]) -> usize {
    let ends = memchr::memchr_iter(b'\n', value);
    let mut last = ends.filter(|end| !matches!(value.get(end + 1), Some(b' ' | b'\t')));
    last.next().unwrap_or(value.len())
}

//! The head of an answer, asked for by names of fields.

/// The final head of an answer, read where it lies. Its text is HTTP/1.1's (RFC 9112), from the status line to
/// the empty line, whatever the answer came by: what reads fields needs one way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head<'a> {
    text: &'a [u8],
}

impl<'a> Head<'a> {
    /// `text` is empty where no head came, or nobody asked for it.
    pub const fn new(text: &'a [u8]) -> Self {
        Self { text }
    }

    pub const fn text(self) -> &'a [u8] {
        self.text
    }

    /// The value of the first field called `name`, see [`Head::fields`].
    pub fn field(self, name: &str) -> Option<&'a [u8]> {
        self.fields(name).next()
    }

    /// The values of all fields called `name` (in any case), in their order, without the space around them. The line
    /// ends of a folded value (RFC 9112 section 5.2) are still in it.
    pub fn fields(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let ends = memchr::memchr_iter(b'\n', self.text);
        let within = ends.take_while(|end| !matches!(self.text.get(end + 1), Some(b'\r' | b'\n')));
        within.filter_map(move |end_of_line| {
            // The name stands right at the begin of the line and the colon right behind it (RFC 9112 section 5.1), so
            // that one look at a byte passes most lines.
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

/// Where the value that begins here ends: at a line end that no space follows.
fn folded_end(value: &[u8]) -> usize {
    let ends = memchr::memchr_iter(b'\n', value);
    let mut last = ends.filter(|end| !matches!(value.get(end + 1), Some(b' ' | b'\t')));
    last.next().unwrap_or(value.len())
}

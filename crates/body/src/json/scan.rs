//! Scans a JSON text once: validates all of it, and finds the place of one value. It builds no tree and allocates
//! nothing, because most checks need one member of a response.
//!
//! It accepts the same JSON as `serde_json`, so that all paths behave alike: RFC 8259, UTF-8, at most [`DEPTH_MAX`]
//! levels, numbers in the range of `f64`, and the last of equal keys. A byte order mark is skipped.

use crate::number::Form;
use std::borrow::Cow;

/// Maximum nesting of arrays and objects.
pub const DEPTH_MAX: u8 = 127;

/// One step of a singular path (RFC 9535 section 2.3.5.1).
#[derive(Debug, Clone, PartialEq)]
pub enum Step<'p> {
    Name(Cow<'p, str>),
    /// Negative indexes count from the end.
    Index(i64),
}

/// The text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson;

/// The place of a value; for a string, without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub begin: usize,
    pub end: usize,
    /// Whether it is a string with escapes, which needs [`super::text::unescape`].
    pub escaped: bool,
}

/// Removes a byte order mark, which RFC 8259 section 8.1 lets a reader ignore.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Finds the value of a path in `text`, which must have no byte order mark.
///
/// # Errors
/// Returns an error if any part of the text is not JSON.
pub fn locate(text: &[u8], path: &[Step<'_>]) -> Result<Option<Span>, NotJson> {
    let mut scan = Scan::new(text).ok_or(NotJson)?;
    let found = scan.find(path).ok_or(NotJson)?;
    scan.end().ok_or(NotJson)?;
    Ok(found)
}

/// A position in a JSON text. Methods return `None` if the text is not JSON.
#[derive(Clone)]
pub(super) struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    depth: u8,
}

impl<'t> Scan<'t> {
    /// Returns the position of the first value of the text.
    pub fn new(text: &'t [u8]) -> Option<Scan<'t>> {
        // Only strings contain non-ASCII characters, so one check of the whole text is enough.
        std::str::from_utf8(text).ok()?;
        let mut scan = Scan { text, at: 0, depth: 0 };
        scan.blank();
        Some(scan)
    }

    /// Checks that only white space is left.
    pub fn end(&mut self) -> Option<()> {
        self.blank();
        (self.at == self.text.len()).then_some(())
    }

    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn blank(&mut self) {
        // Most texts have no white space, so this is usually one comparison.
        while let Some(byte @ 0..=b' ') = self.peek() {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return;
            }
            self.at += 1;
        }
    }

    pub fn piece(&self, span: Span) -> &'t [u8] {
        // proof: spans consist of positions in the text.
        &self.text[span.begin..span.end]
    }

    fn find(&mut self, path: &[Step<'_>]) -> Option<Option<Span>> {
        let Some((step, rest)) = path.split_first() else { return self.value().map(Some) };
        let mut found = None;
        match (self.peek()?, step) {
            (b'{', Step::Name(name)) => self.members(|scan, key| {
                if scan.names(key, name) {
                    // The last of equal keys applies, even if the path ends there.
                    found = scan.find(rest)?;
                    return Some(());
                }
                scan.skip()
            })?,
            (b'[', Step::Index(index)) => {
                let wanted = match u64::try_from(*index) {
                    Ok(index) => index,
                    Err(_) => {
                        let mut count = 0;
                        self.clone().elements(|scan, _| {
                            count += 1;
                            scan.skip()
                        })?;
                        // Wraps to an index beyond any array if there are too few elements.
                        u64::wrapping_sub(count, index.unsigned_abs())
                    }
                };
                self.elements(|scan, number| {
                    if number == wanted {
                        found = scan.find(rest)?;
                        return Some(());
                    }
                    scan.skip()
                })?;
            }
            _ => self.skip()?,
        }
        Some(found)
    }

    fn names(&self, key: Span, name: &str) -> bool {
        let key_text = self.piece(key);
        if key.escaped { super::text::unescaped_is(key_text, name) } else { key_text == name.as_bytes() }
    }

    /// Skips one value of any kind, and returns its place.
    pub fn value(&mut self) -> Option<Span> {
        if self.peek() == Some(b'"') {
            return self.string();
        }
        let begin = self.at;
        self.skip()?;
        Some(Span { begin, end: self.at, escaped: false })
    }

    fn skip(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'{' => self.members(|scan, _| scan.skip()),
            b'[' => self.elements(|scan, _| scan.skip()),
            _ => self.scalar(),
        }
    }

    /// Skips a number, `true`, `false`, or `null`.
    pub fn scalar(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        let word: &[u8] = match rest.first()? {
            b't' => b"true",
            b'f' => b"false",
            b'n' => b"null",
            _ => {
                let form = Form::of(rest)?;
                // Only such a number may exceed an `f64`, so it needs a closer check.
                if form.whole_end as i64 + form.exponent > 290 {
                    serde_json::from_slice::<f64>(&rest[..form.end]).ok()?;
                }
                self.at += form.end;
                return Some(());
            }
        };
        self.at += word.len();
        rest.starts_with(word).then_some(())
    }

    /// Skips an object. `each` is called at every value and must skip it.
    pub fn members(&mut self, mut each: impl FnMut(&mut Self, Span) -> Option<()>) -> Option<()> {
        self.inside(b'}', |scan, _| {
            let key = scan.string()?;
            scan.blank();
            (scan.peek()? == b':').then_some(())?;
            scan.at += 1;
            scan.blank();
            each(scan, key)
        })
    }

    /// Skips an array. `each` is called at every value with its index, and must skip it.
    pub fn elements(&mut self, each: impl FnMut(&mut Self, u64) -> Option<()>) -> Option<()> {
        self.inside(b']', each)
    }

    /// Skips the items between brackets, separated by commas.
    #[inline]
    fn inside(&mut self, close: u8, mut item: impl FnMut(&mut Self, u64) -> Option<()>) -> Option<()> {
        (self.depth < DEPTH_MAX).then_some(())?;
        self.depth += 1;
        self.at += 1;
        self.blank();
        if self.peek()? == close {
            self.at += 1;
            self.depth -= 1;
            return Some(());
        }
        for number in 0.. {
            item(self, number)?;
            self.blank();
            let sign = self.peek()?;
            self.at += 1;
            if sign == close {
                break;
            }
            (sign == b',').then_some(())?;
            self.blank();
        }
        self.depth -= 1;
        Some(())
    }

    /// Skips a string, and returns the place between its quotes.
    #[inline]
    pub fn string(&mut self) -> Option<Span> {
        (self.peek()? == b'"').then_some(())?;
        let begin = self.at + 1;
        let mut at = begin;
        let mut escaped = false;
        loop {
            // Eight bytes at a time, because strings are most of a text.
            while let Some(eight) = self.text[at..].first_chunk::<8>() {
                let sharp = sharp(u64::from_le_bytes(*eight));
                if sharp != 0 {
                    at += (sharp.trailing_zeros() / 8) as usize;
                    break;
                }
                at += 8;
            }
            match *self.text.get(at)? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    at += super::text::escape(&self.text[at..])?.1;
                }
                0..=0x1f => return None,
                // Fewer than eight bytes are left.
                _ => at += 1,
            }
        }
        self.at = at + 1;
        Some(Span { begin, end: at, escaped })
    }
}

/// Returns the high bit of each byte that ends a run of plain bytes: `"`, `\`, and control characters. The result is
/// exact up to the first such byte (Mycroft's test for zero bytes, whose carries only go upwards).
#[inline]
fn sharp(eight: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let below = |bytes: u64, limit: u64| bytes.wrapping_sub(ONES * limit) & !bytes;
    let quote = below(eight ^ (ONES * b'"' as u64), 1);
    let slash = below(eight ^ (ONES * b'\\' as u64), 1);
    (quote | slash | below(eight, 0x20)) & (ONES << 7)
}

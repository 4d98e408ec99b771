//! The most recent heads. A server under load keeps sending the same head, except for the Date once per second:
//! comparing bytes is about fifteen times cheaper than parsing them.

use super::head::{DATE_BYTES, Parsed};
use super::{Limits, Malformed};

/// Four templates, so that a mix of endpoints (or a 103 before each response) still hits.
const TEMPLATES: usize = 4;

#[derive(Debug)]
pub(super) struct Heads {
    templates: [Parsed; TEMPLATES],
    /// Index of the template that matched last: tried first, and never replaced next.
    recent: usize,
    /// Index where the search for a template to replace begins.
    next: usize,
}

impl Default for Heads {
    fn default() -> Heads {
        Heads { templates: [const { Parsed::EMPTY }; TEMPLATES], recent: 0, next: 0 }
    }
}

impl Heads {
    /// Returns the template that `bytes` starts with, if there is one.
    #[inline]
    pub fn recognise(&mut self, bytes: &[u8]) -> Option<&Parsed> {
        if !same(&self.templates[self.recent].bytes, bytes) {
            self.recent = self.search(bytes)?;
        }
        Some(&self.templates[self.recent])
    }

    /// Parses a head and keeps it as a template. Returns `None` if the head continues after `bytes`.
    #[inline(never)]
    pub fn learn(&mut self, bytes: &[u8], limits: &Limits) -> Result<Option<&Parsed>, Malformed> {
        if self.next == self.recent {
            self.next = (self.next + 1) % TEMPLATES;
        }
        if !self.templates[self.next].refill(bytes, limits)? {
            return Ok(None);
        }
        self.recent = self.next;
        self.next = (self.next + 1) % TEMPLATES;
        Ok(Some(&self.templates[self.recent]))
    }

    /// Searches all templates, this time without comparing the Date.
    #[inline(never)]
    fn search(&mut self, bytes: &[u8]) -> Option<usize> {
        (0..TEMPLATES).map(|step| (self.recent + step) % TEMPLATES).find(|&index| {
            let template = &mut self.templates[index];
            same(&template.bytes, bytes) || same_but_date(template, bytes)
        })
    }
}

#[inline]
fn same(template: &[u8], bytes: &[u8]) -> bool {
    !template.is_empty() && bytes.starts_with(template)
}

/// Returns whether only the value of Date differs; the template takes the new value, so that the next comparison is one
/// piece again. The new value must be plain text without surrounding spaces: a line end in it would be an unparsed
/// header, and the parser would trim the spaces.
fn same_but_date(template: &mut Parsed, bytes: &[u8]) -> bool {
    let Some(date) = template.date else { return false };
    let Some(head) = bytes.get(..template.bytes.len()) else { return false };
    let (from, to) = (date.at as usize, date.at as usize + DATE_BYTES);
    let same = head[..from] == template.bytes[..from]
        && head[to..] == template.bytes[to..]
        && head[from..to].iter().all(|byte| (b' '..=b'~').contains(byte))
        && head[from] != b' '
        && head[to - 1] != b' ';
    if same {
        template.bytes[from..to].copy_from_slice(&head[from..to]);
    }
    same
}

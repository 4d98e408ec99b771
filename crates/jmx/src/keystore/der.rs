//! Values in the Distinguished Encoding Rules (X.690), as far as key stores use them.

/// The tags of the values in key stores.
pub const INTEGER: u8 = 0x02;
pub const OCTETS: u8 = 0x04;
pub const NAME: u8 = 0x06;
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;
/// A value within `[0]`, and text within `[0]`.
pub const EXPLICIT_0: u8 = 0xa0;
pub const IMPLICIT_0: u8 = 0x80;

/// Reads values one after another; `None` means that the bytes are not what they should be.
#[derive(Debug, Clone, Copy)]
pub struct Der<'a>(pub &'a [u8]);

impl<'a> Der<'a> {
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Returns the tag and the content of the next value.
    pub fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            // Longer lengths do not fit in the largest file; 0x80 is a length of the Basic Encoding Rules.
            0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// Returns the content of the next value, which must have this tag.
    pub fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }

    /// Returns the values in the next value, which must have this tag.
    pub fn inside(&mut self, tag: u8) -> Option<Der<'a>> {
        self.take(tag).map(Der)
    }

    /// Returns a whole number from 0 to 2³² - 1.
    pub fn number(&mut self) -> Option<u32> {
        let bytes = self.take(INTEGER)?;
        let number = bytes
            .iter()
            .try_fold(0u64, |number, byte| number.checked_mul(256).map(|number| number + u64::from(*byte)));
        number.and_then(|number| u32::try_from(number).ok())
    }
}

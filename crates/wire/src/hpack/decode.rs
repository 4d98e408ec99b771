//! The decoder of header blocks (RFC 7541 sections 3.2 and 6).

use super::table::{STATIC, STATIC_FIELDS, TABLE_BYTES_MAX, Table};
use super::{huffman, integer};
use std::fmt;

/// The reason why a header block was refused. The table of the connection is lost with it (RFC 9113 section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    /// The block ends within a field.
    Truncated,
    /// An integer of more than four bytes after its prefix.
    Integer,
    /// An index of 0, or of no field in the table.
    Index,
    /// The code for the end of a string within a string.
    EndOfString,
    /// A string that ends with eight or more bits of padding, or with bits other than ones.
    Padding,
    /// A new table size that is above the limit or after a field, or no new size although the limit was lowered.
    TableSize,
    /// The caller refused a field: the block decodes to more than the limit.
    TooLarge,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Truncated => "the header block ends within a field",
            Error::Integer => "an integer in the header block has too many bytes",
            Error::Index => "the header block refers to a field that is not in the table",
            Error::EndOfString => "a string contains the code for its end",
            Error::Padding => "a string ends with invalid padding",
            Error::TableSize => "invalid change of the table size",
            Error::TooLarge => "the header block decodes to more than the limit",
        })
    }
}

impl std::error::Error for Error {}

/// Buffers for the strings of one field, shared by all decoders of a thread.
#[derive(Debug, Default)]
pub struct Scratch {
    name: Vec<u8>,
    value: Vec<u8>,
}

/// The decoder of one connection's header blocks.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// The largest size that the peer may set.
    limit: u32,
}

impl Decoder {
    /// Creates a decoder with an empty table. Until [`Decoder::set_limit`], the table has 4,096 bytes, and the peer may
    /// set at most `limit` or 4,096, whichever is larger: it may not have received the setting yet.
    pub fn new(limit: u32) -> Decoder {
        Decoder { table: Table::new(4096), limit: limit.clamp(4096, TABLE_BYTES_MAX) }
    }

    /// Sets the largest table size: the peer has acknowledged SETTINGS_HEADER_TABLE_SIZE. If the table is larger, the
    /// next block must begin with a new size (section 4.2). At most 65,536.
    pub fn set_limit(&mut self, limit: u32) {
        self.limit = limit.min(TABLE_BYTES_MAX);
    }

    /// Returns whether the next block must begin with a new size.
    #[inline]
    pub fn must_shrink(&self) -> bool {
        self.table.max() > self.limit
    }

    /// Returns a number that differs after every change of the table: equal blocks between two equal numbers mean the
    /// same.
    #[inline]
    pub fn changes(&self) -> u64 {
        self.table.changes()
    }

    /// Passes each field of a complete header block to `field`, which returns false to refuse the rest.
    ///
    /// # Errors
    /// Returns an error for the first invalid field. The decoder cannot be used any further.
    pub fn decode(
        &mut self,
        block: &[u8],
        scratch: &mut Scratch,
        mut field: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Error> {
        let mut at = self.resize(block)?;
        if self.must_shrink() && at < block.len() {
            return Err(Error::TableSize);
        }
        while let Some(&first) = block.get(at) {
            let goes_on = if first & 0x80 != 0 {
                let (index, after) = integer::read(block, at, 7)?;
                at = after;
                let (name, value) = self.table.get(index).ok_or(Error::Index)?;
                field(name, value)
            } else if first & 0xe0 == 0x20 {
                return Err(Error::TableSize);
            } else {
                let inserts = first & 0x40 != 0;
                let (index, after) = integer::read(block, at, if inserts { 6 } else { 4 })?;
                let (name, after) = match index {
                    0 => string(block, after, &mut scratch.name)?,
                    1..=STATIC_FIELDS => (STATIC[index - 1].0.as_bytes(), after),
                    _ => {
                        // A copy, because inserting may move or evict the entry that has the name.
                        let (name, _) = self.table.get(index).ok_or(Error::Index)?;
                        scratch.name.clear();
                        scratch.name.extend_from_slice(name);
                        (&scratch.name[..], after)
                    }
                };
                let (value, after) = string(block, after, &mut scratch.value)?;
                at = after;
                let goes_on = field(name, value);
                if inserts {
                    self.table.insert(name, value);
                }
                goes_on
            };
            if !goes_on {
                return Err(Error::TooLarge);
            }
        }
        Ok(())
    }

    /// Applies the new sizes at the front of the block; returns the position after them.
    fn resize(&mut self, block: &[u8]) -> Result<usize, Error> {
        let mut at = 0;
        while let Some(first) = block.get(at)
            && first & 0xe0 == 0x20
        {
            let (max, after) = integer::read(block, at, 5)?;
            if max > self.limit as usize {
                return Err(Error::TableSize);
            }
            self.table.set_max(max as u32);
            at = after;
        }
        Ok(at)
    }
}

/// Reads a string literal (section 5.2): a slice of the block, or decoded into `scratch`.
#[inline]
fn string<'a>(block: &'a [u8], at: usize, scratch: &'a mut Vec<u8>) -> Result<(&'a [u8], usize), Error> {
    let (len, after) = integer::read(block, at, 7)?;
    let end = after + len;
    let bytes = block.get(after..end).ok_or(Error::Truncated)?;
    if block[at] & 0x80 == 0 {
        return Ok((bytes, end));
    }
    scratch.clear();
    huffman::decode(bytes, scratch)?;
    Ok((scratch, end))
}

//! The decoder of header blocks (RFC 7541 sections 3.2 and 6).

use super::table::{ENTRY_OVERHEAD, STATIC, STATIC_FIELDS, TABLE_BYTES_MAX, Table};
use super::{huffman, integer};
use std::fmt;
use std::sync::Arc;

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
    traits: Traits,
}

impl Scratch {
    /// Returns the traits of the last block that was decoded with it.
    #[inline]
    pub(crate) fn traits(&self) -> Traits {
        self.traits
    }
}

/// The dependence of a block on the table of its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits {
    /// It refers to an inserted field, or changes the size of the table.
    pub uses_table: bool,
    /// The size of the fields that it inserts, whether or not the table had room.
    pub inserted_bytes: u32,
}

/// A block that does not use the table, and inserts into it.
#[derive(Debug)]
pub(crate) struct Inserting {
    pub block: Vec<u8>,
    /// Above 0.
    pub inserted_bytes: u32,
}

/// The same block, some times one after another.
#[derive(Debug)]
struct Repeated {
    inserting: Arc<Inserting>,
    times: u32,
}

impl Repeated {
    /// Returns how many of these repetitions a table of `max` bytes can hold a part of.
    fn times_seen(&self, max: u32) -> u32 {
        self.times.min(max / self.inserting.inserted_bytes.max(1) + 1)
    }
}

/// The decoder of one connection's header blocks.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// The largest size that the peer may set.
    limit: u32,
    /// Blocks whose fields are not inserted yet, because no block has used the table since. nginx inserts the fields of
    /// every response and never refers to one.
    #[allow(clippy::box_collection)] // Small where there are none.
    deferred: Option<Box<Vec<Repeated>>>,
}

impl Decoder {
    /// Creates a decoder with an empty table. Until [`Decoder::set_limit`], the table has 4,096 bytes, and the peer may
    /// set at most `limit` or 4,096, whichever is larger: it may not have received the setting yet.
    pub fn new(limit: u32) -> Decoder {
        Decoder { table: Table::new(4096), limit: limit.clamp(4096, TABLE_BYTES_MAX), deferred: None }
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

    /// Does what a known block does to the table, at the next block that uses it: until then, only the last fields that
    /// fit are of interest. The block must be valid, and [`Decoder::must_shrink`] must be false.
    #[inline]
    pub(crate) fn defer(&mut self, inserting: &Arc<Inserting>) {
        self.table.note_change();
        if let Some(deferred) = &mut self.deferred
            && let Some(last) = deferred.last_mut()
            && Arc::ptr_eq(&last.inserting, inserting)
        {
            last.times = last.times.saturating_add(1);
            return;
        }
        self.defer_another(inserting);
    }

    #[inline(never)]
    fn defer_another(&mut self, inserting: &Arc<Inserting>) {
        self.forget_evicted();
        let deferred = self.deferred.get_or_insert_default();
        // Nearly always the only one.
        deferred.reserve_exact(1);
        deferred.push(Repeated { inserting: Arc::clone(inserting), times: 1 });
    }

    /// Forgets the deferred blocks all of whose fields later ones evict.
    fn forget_evicted(&mut self) {
        let (Some(deferred), max) = (&mut self.deferred, u64::from(self.table.max())) else { return };
        let mut bytes = 0;
        let mut kept = 0;
        for repeated in deferred.iter().rev() {
            if kept > 0 && bytes >= max {
                break;
            }
            kept += 1;
            bytes += u64::from(repeated.inserting.inserted_bytes) * u64::from(repeated.times);
        }
        deferred.drain(..deferred.len() - kept);
    }

    /// Inserts the fields of the deferred blocks.
    #[inline(never)]
    fn catch_up(&mut self, scratch: &mut Scratch) {
        self.forget_evicted();
        let max = self.table.max();
        let Some(mut deferred) = self.deferred.take() else { return };
        for repeated in deferred.drain(..) {
            for _ in 0..repeated.times_seen(max) {
                // An error cannot occur: the block was decoded before, and does not depend on the table.
                let _ = self.run(&repeated.inserting.block, scratch, |_, _| true);
            }
        }
        self.deferred = Some(deferred);
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
        field: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Error> {
        if self.deferred.as_ref().is_some_and(|deferred| !deferred.is_empty()) {
            self.catch_up(scratch);
        }
        self.run(block, scratch, field)
    }

    fn run(
        &mut self,
        block: &[u8],
        scratch: &mut Scratch,
        mut field: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Error> {
        let mut at = self.resize(block)?;
        scratch.traits = Traits { uses_table: at > 0, inserted_bytes: 0 };
        if self.must_shrink() && at < block.len() {
            return Err(Error::TableSize);
        }
        while let Some(&first) = block.get(at) {
            let goes_on = if first & 0x80 != 0 {
                let (index, after) = integer::read(block, at, 7)?;
                at = after;
                scratch.traits.uses_table |= index > STATIC_FIELDS;
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
                        scratch.traits.uses_table = true;
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
                    let bytes = (name.len() + value.len() + ENTRY_OVERHEAD) as u32;
                    scratch.traits.inserted_bytes = scratch.traits.inserted_bytes.saturating_add(bytes);
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

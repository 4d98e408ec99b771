//! Header blocks that mean the same on every connection of a worker: those that do not use the table of their
//! connection. nginx sends nothing else, and repeats each block until its clock shows the next second.
//!
//! Such a block may still insert fields. The connection's decoder defers that ([`Decoder::defer`]), so a repeated block
//! is a comparison.

use super::head::Facts;
use crate::hpack::{Decoder, Inserting};
use std::sync::Arc;

/// Longest header block that is remembered.
pub(super) const BLOCK_BYTES_MAX: usize = 1024;

/// Number of remembered blocks, a power of two; the place of a block follows from its length and its last byte.
const PLACES: usize = 8;

/// The blocks that were read last.
#[derive(Debug, Default)]
pub(super) struct Memo {
    places: [Option<Known>; PLACES],
}

#[derive(Debug)]
struct Known {
    /// Shared with the decoders that owe its insertions.
    inserting: Arc<Inserting>,
    facts: Facts,
}

fn place(block: &[u8]) -> usize {
    (block.len() ^ usize::from(block.last().copied().unwrap_or(0))) & (PLACES - 1)
}

impl Memo {
    /// Returns the meaning of a block if it is known; its insertions are then deferred. The decoder must not wait for a
    /// new size of the table.
    #[inline]
    pub fn read(&self, block: &[u8], decoder: &mut Decoder) -> Option<&Facts> {
        // proof: the mask keeps the place below the length
        let known = self.places[place(block)].as_ref().filter(|known| *known.inserting.block == *block)?;
        if known.inserting.inserted_bytes > 0 {
            decoder.defer(&known.inserting);
        }
        Some(&known.facts)
    }

    /// Remembers the meaning of a block that does not use the table.
    pub fn put(&mut self, block: &[u8], facts: Facts, inserted_bytes: u32) {
        let known = &mut self.places[place(block)];
        // If no decoder needs the old one, it is reused: a server that never repeats a block costs no allocations.
        if let Some(Known { inserting, facts: of }) = known
            && let Some(inserting) = Arc::get_mut(inserting)
        {
            inserting.block.clear();
            inserting.block.extend_from_slice(block);
            (inserting.inserted_bytes, *of) = (inserted_bytes, facts);
            return;
        }
        let inserting = Arc::new(Inserting { block: block.to_vec(), inserted_bytes });
        *known = Some(Known { inserting, facts });
    }
}

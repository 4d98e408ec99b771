//! Adding encoded tallies without decoding them first: no allocation, and only the cells that they contain. For a
//! process that adds up the seconds of a thousand others.

use super::codec::{Budget, TALLY_VERSION, WITHOUT_LASTS};
use super::{Last, Layout, Tally, grow};
use crate::{Error, Hist, varint};

impl Tally {
    /// Adds the tally at the front of `bytes`, as [`Tally::merge`] does after [`Tally::decode`].
    ///
    /// # Errors
    /// Returns the errors of [`Tally::decode`]. A part may then have been added already.
    pub fn merge_encoded(&mut self, bytes: &mut &[u8]) -> Result<(), Error> {
        self.merge_encoded_within(bytes, &mut Budget::new()).map(|_| ())
    }

    /// Adds a tally as one part of a larger value; returns its layout, and whether it was empty.
    pub(crate) fn merge_encoded_within(
        &mut self,
        bytes: &mut &[u8],
        budget: &mut Budget,
    ) -> Result<(Layout, bool), Error> {
        let found = varint::take_byte(bytes)?;
        if !matches!(found, WITHOUT_LASTS | TALLY_VERSION) {
            return Err(Error::UnknownVersion { what: "tally", found, known: TALLY_VERSION });
        }
        let mut used = 0;
        let sums = merge_numbers(&mut self.sums, bytes, budget, &mut used, 0, u64::saturating_add)?;
        let peaks = merge_numbers(&mut self.peaks, bytes, budget, &mut used, 0, u64::max)?;
        let floors = merge_numbers(&mut self.floors, bytes, budget, &mut used, u64::MAX, u64::min)?;
        let hists = merge_cells(
            &mut self.hists,
            bytes,
            budget,
            &mut used,
            Hist::on_demand,
            |mine, bytes, budget| {
                mine.merge_encoded_within(bytes, |buckets| budget.take_buckets(buckets))
                    .map(|is_used| !is_used)
            },
        )?;
        let lasts = match found {
            WITHOUT_LASTS => 0,
            _ => merge_cells(&mut self.lasts, bytes, budget, &mut used, Last::default, |mine, bytes, _| {
                let last = Last { at: varint::take_u64(bytes)?, value: varint::take_u64(bytes)? };
                *mine = last.max(*mine);
                Ok(last == Last::default())
            })?,
        };
        if found == TALLY_VERSION && lasts == 0 {
            return Err(Error::Malformed { what: "a list of last values is empty" });
        }
        Ok((Layout { sums, peaks, floors, hists, lasts }, used == 0))
    }

    /// Ensures at least the cells of a layout.
    pub(crate) fn reach(&mut self, layout: Layout) {
        grow(&mut self.sums, layout.sums, || 0);
        grow(&mut self.peaks, layout.peaks, || 0);
        grow(&mut self.floors, layout.floors, || u64::MAX);
        grow(&mut self.hists, layout.hists, Hist::on_demand);
        grow(&mut self.lasts, layout.lasts, Last::default);
    }
}

/// Adds cells with one number each.
fn merge_numbers(
    cells: &mut Box<[u64]>,
    bytes: &mut &[u8],
    budget: &mut Budget,
    total_used: &mut u64,
    empty: u64,
    join: impl Fn(u64, u64) -> u64,
) -> Result<usize, Error> {
    merge_cells(
        cells,
        bytes,
        budget,
        total_used,
        || empty,
        |mine, bytes, _| {
            let n = varint::take_u64(bytes)?;
            *mine = join(*mine, n);
            Ok(n == empty)
        },
    )
}

/// Adds one kind of cells; returns how many there are. `add` returns whether the encoded cell is empty, which is never
/// listed as used.
fn merge_cells<T>(
    cells: &mut Box<[T]>,
    bytes: &mut &[u8],
    budget: &mut Budget,
    total_used: &mut u64,
    empty: impl FnMut() -> T,
    add: impl Fn(&mut T, &mut &[u8], &mut Budget) -> Result<bool, Error>,
) -> Result<usize, Error> {
    let (len, used) = super::codec::take_counts::<T>(bytes, budget)?;
    *total_used += used;
    grow(cells, len, empty);
    let mut next = 0usize;
    for _ in 0..used {
        let gap = varint::take_u64(bytes)?;
        let index = usize::try_from(gap).ok().and_then(|gap| next.checked_add(gap)).filter(|at| *at < len);
        let Some((index, cell)) = index.and_then(|index| Some((index, cells.get_mut(index)?))) else {
            return Err(Error::Malformed { what: "a cell is past the last one" });
        };
        if add(cell, bytes, budget)? {
            return Err(Error::Malformed { what: "an empty cell is listed as used" });
        }
        next = index + 1;
    }
    Ok(len)
}

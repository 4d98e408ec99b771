//! The sparse encoding of a tally.
//!
//! ```text
//! tally:   1  sums  peaks  floors  hists          without last values
//!          2  sums  peaks  floors  hists  lasts
//! each:    cells  used  (gap value)...      gap = empty cells since the last used one
//! ```
//!
//! A value is a LEB128 number, two of them (a time and a value), or a histogram in its own encoding. Only cells that
//! differ from their identity are written, so the hundreds of counters that stay at zero cost nothing.
//!
//! A [`Budget`] limits the memory that a few bytes may expand to, because the dense form is thousands of times larger
//! than the sparse one, and the bytes may come from a damaged file or another machine.

use super::{Last, Layout, Tally};
use crate::{Error, Hist, varint};

/// First byte of an encoded tally with last values. Never 0: an interval uses that for "empty".
pub const TALLY_VERSION: u8 = 2;

/// First byte of a tally without last values, the only one in early versions.
pub(super) const WITHOUT_LASTS: u8 = 1;

/// The most memory for cells that one call of a decoder allocates, in bytes: 64 MiB. A thousand series of a thousand
/// counters need 8.
pub const CELL_BYTES_MAX: usize = 64 << 20;

/// The most memory for buckets of used histograms that one call of a decoder allocates, in bytes: 512 MiB, enough for
/// 13,000 histograms.
pub const BUCKET_BYTES_MAX: usize = 512 << 20;

/// The memory that one decoding may still allocate.
pub(crate) struct Budget {
    cell_bytes: usize,
    bucket_bytes: usize,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Budget { cell_bytes: CELL_BYTES_MAX, bucket_bytes: BUCKET_BYTES_MAX }
    }

    /// Reserves `count` cells of type `T` before they are allocated.
    pub(crate) fn take_cells<T>(&mut self, count: u64) -> Result<usize, Error> {
        let found = count.saturating_mul(size_of::<T>() as u64);
        take(&mut self.cell_bytes, "bytes of cells", found)?;
        // A count that fits the budget fits a usize.
        Ok(count as usize)
    }

    /// Reserves buckets of one histogram.
    pub(super) fn take_buckets(&mut self, count: usize) -> Result<(), Error> {
        take(&mut self.bucket_bytes, "bytes of buckets", (count * size_of::<u64>()) as u64)
    }

    /// Reserves the cells of an empty tally.
    pub(crate) fn take_layout(&mut self, layout: Layout) -> Result<(), Error> {
        for count in [layout.sums, layout.peaks, layout.floors] {
            self.take_cells::<u64>(count as u64)?;
        }
        self.take_cells::<Last>(layout.lasts as u64)?;
        self.take_cells::<Hist>(layout.hists as u64).map(|_| ())
    }
}

fn take(left: &mut usize, what: &'static str, found: u64) -> Result<(), Error> {
    let limit = *left as u64;
    let rest = limit.checked_sub(found).ok_or(Error::TooLarge { what, found, limit })?;
    *left = rest as usize;
    Ok(())
}

impl Tally {
    /// Appends the sparse encoding: 9 or a few more bytes if empty. The encoding is canonical: equal tallies give equal
    /// bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(if self.lasts.is_empty() { WITHOUT_LASTS } else { TALLY_VERSION });
        let number = |out: &mut Vec<u8>, n: &u64| varint::put(out, (*n).into());
        put_cells(out, &self.sums, |n| *n == 0, number);
        put_cells(out, &self.peaks, |n| *n == 0, number);
        put_cells(out, &self.floors, |n| *n == u64::MAX, number);
        put_cells(out, &self.hists, Hist::is_empty, |out, hist| hist.encode(out));
        if !self.lasts.is_empty() {
            put_cells(out, &self.lasts, is_never, |out, last| {
                varint::put(out, last.at.into());
                varint::put(out, last.value.into());
            });
        }
    }

    /// Decodes one tally from the front of `bytes`.
    ///
    /// # Errors
    /// Returns an error if the bytes end early, were written by an unknown version, are contradictory, or would expand
    /// to more than [`CELL_BYTES_MAX`] or [`BUCKET_BYTES_MAX`].
    pub fn decode(bytes: &mut &[u8]) -> Result<Tally, Error> {
        Self::decode_within(bytes, &mut Budget::new())
    }

    /// Decodes a tally as one part of a larger value.
    pub(crate) fn decode_within(bytes: &mut &[u8], budget: &mut Budget) -> Result<Tally, Error> {
        let found = varint::take_byte(bytes)?;
        if !matches!(found, WITHOUT_LASTS | TALLY_VERSION) {
            return Err(Error::UnknownVersion { what: "tally", found, known: TALLY_VERSION });
        }
        let number = |bytes: &mut &[u8], _: &mut Budget| varint::take_u64(bytes);
        Ok(Tally {
            sums: take_cells(bytes, budget, || 0, |n| *n == 0, number)?,
            peaks: take_cells(bytes, budget, || 0, |n| *n == 0, number)?,
            floors: take_cells(bytes, budget, || u64::MAX, |n| *n == u64::MAX, number)?,
            hists: take_cells(bytes, budget, Hist::on_demand, Hist::is_empty, |bytes, budget| {
                Hist::decode_within(bytes, |buckets| budget.take_buckets(buckets))
            })?,
            lasts: match found {
                WITHOUT_LASTS => Box::default(),
                _ => take_lasts(bytes, budget)?,
            },
        })
    }
}

fn is_never(last: &Last) -> bool {
    *last == Last::default()
}

fn take_lasts(bytes: &mut &[u8], budget: &mut Budget) -> Result<Box<[Last]>, Error> {
    let lasts = take_cells(bytes, budget, Last::default, is_never, |bytes, _| {
        Ok(Last { at: varint::take_u64(bytes)?, value: varint::take_u64(bytes)? })
    })?;
    // Only the shorter form is allowed for this: equal tallies have equal bytes.
    if lasts.is_empty() {
        Err(Error::Malformed { what: "a list of last values is empty" })
    } else {
        Ok(lasts)
    }
}

fn put_cells<T>(
    out: &mut Vec<u8>,
    cells: &[T],
    is_empty: impl Fn(&T) -> bool,
    put: impl Fn(&mut Vec<u8>, &T),
) {
    varint::put(out, cells.len() as u128);
    varint::put(out, cells.iter().filter(|cell| !is_empty(cell)).count() as u128);
    let mut next = 0;
    for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| !is_empty(cell)) {
        varint::put(out, (index - next) as u128);
        put(out, cell);
        next = index + 1;
    }
}

/// Decodes the number of cells of one kind, and of those that follow.
pub(super) fn take_counts<T>(bytes: &mut &[u8], budget: &mut Budget) -> Result<(usize, u64), Error> {
    let len = varint::take_u64(bytes)?;
    let len = budget.take_cells::<T>(len)?;
    let used = varint::take_u64(bytes)?;
    if used > len as u64 {
        return Err(Error::Malformed { what: "more used cells than cells exist" });
    }
    // Every used cell takes at least two bytes: check that before the cells are allocated.
    if used > bytes.len() as u64 / 2 {
        return Err(Error::Truncated);
    }
    Ok((len, used))
}

fn take_cells<T>(
    bytes: &mut &[u8],
    budget: &mut Budget,
    empty: impl FnMut() -> T,
    is_empty: impl Fn(&T) -> bool,
    take: impl Fn(&mut &[u8], &mut Budget) -> Result<T, Error>,
) -> Result<Box<[T]>, Error> {
    let (len, used) = take_counts::<T>(bytes, budget)?;
    let mut cells: Vec<T> = std::iter::repeat_with(empty).take(len).collect();
    let mut next = 0usize;
    for _ in 0..used {
        let gap = varint::take_u64(bytes)?;
        let index = usize::try_from(gap).ok().and_then(|gap| next.checked_add(gap));
        let Some((index, cell)) = index.and_then(|index| Some((index, cells.get_mut(index)?))) else {
            return Err(Error::Malformed { what: "a cell is past the last one" });
        };
        *cell = take(bytes, budget)?;
        if is_empty(cell) {
            return Err(Error::Malformed { what: "an empty cell is listed as used" });
        }
        next = index + 1;
    }
    Ok(cells.into())
}

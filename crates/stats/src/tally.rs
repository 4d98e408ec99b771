//! A set of numbers with ids: counters, peaks, floors, last values, and histograms.
//!
//! There are five kinds because these five ways of merging are associative and commutative and have an identity (0, 0,
//! none, none, empty). Every number of a run must be one of them; otherwise, it cannot be merged correctly.

mod codec;
mod merge_encoded;

pub(crate) use codec::Budget;
pub use codec::{BUCKET_BYTES_MAX, CELL_BYTES_MAX, TALLY_VERSION};

use crate::Hist;

/// The number of cells of each kind in a tally.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// Counters; merged by adding.
    pub sums: usize,
    /// Largest values; merged by taking the larger one.
    pub peaks: usize,
    /// Smallest values; merged by taking the smaller one.
    pub floors: usize,
    /// Distributions; merged bucket by bucket.
    pub hists: usize,
    /// Values with their times; merged by taking the later one.
    pub lasts: usize,
}

/// A value and the time when it was set; the default: never. Of two values at the same time, the larger counts as the
/// later, so that the order of merging makes no difference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Last {
    /// Any number that rises with time; 0 only if there is no value.
    pub at: u64,
    pub value: u64,
}

impl Layout {
    /// Creates a layout from sums, peaks, floors, histograms, and last values, in the order of the metric tables.
    pub const fn of([sums, peaks, floors, hists, lasts]: [usize; 5]) -> Self {
        Layout { sums, peaks, floors, hists, lasts }
    }
}

/// The cells of one [`Layout`]. The fields are public for reading; write through the methods.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tally {
    /// Totals; 0 = nothing counted.
    pub sums: Box<[u64]>,
    /// Largest values; 0 = none.
    pub peaks: Box<[u64]>,
    /// Smallest values; `u64::MAX` = none.
    pub floors: Box<[u64]>,
    /// Distributions.
    pub hists: Box<[Hist]>,
    /// Last values.
    pub lasts: Box<[Last]>,
}

impl Tally {
    /// Creates an empty tally with storage for every cell: later counting never allocates.
    pub fn new(layout: Layout) -> Self {
        Tally {
            sums: vec![0; layout.sums].into(),
            peaks: vec![0; layout.peaks].into(),
            floors: vec![u64::MAX; layout.floors].into(),
            hists: (0..layout.hists).map(|_| Hist::new()).collect(),
            lasts: vec![Last::default(); layout.lasts].into(),
        }
    }

    /// Creates a tally like [`Tally::new`], but each histogram allocates at its first value: for many series, some of
    /// which stay idle. For a worker, this trades one allocation per histogram and run for 38 KiB each.
    pub fn on_demand(layout: Layout) -> Self {
        Tally {
            hists: (0..layout.hists).map(|_| Hist::on_demand()).collect(),
            ..Tally::new(Layout { hists: 0, ..layout })
        }
    }

    /// Creates a tally like [`Tally::on_demand`], but its histograms use only the memory that their values need, and
    /// allocate when these spread: for thousands of series.
    pub fn compact(layout: Layout) -> Self {
        Tally {
            hists: (0..layout.hists).map(|_| Hist::compact()).collect(),
            ..Tally::new(Layout { hists: 0, ..layout })
        }
    }

    /// Returns the number of cells of each kind.
    pub fn layout(&self) -> Layout {
        Layout {
            sums: self.sums.len(),
            peaks: self.peaks.len(),
            floors: self.floors.len(),
            hists: self.hists.len(),
            lasts: self.lasts.len(),
        }
    }

    /// Adds `n` to counter `id`, saturating.
    ///
    /// # Panics
    /// Panics if the layout has no such cell, as do the four methods below: ids come from the table that created the
    /// layout, never from input.
    #[inline]
    pub fn add(&mut self, id: usize, n: u64) {
        self.sums[id] = self.sums[id].saturating_add(n);
    }

    /// Raises peak `id` to at least `value`.
    #[inline]
    pub fn peak(&mut self, id: usize, value: u64) {
        self.peaks[id] = self.peaks[id].max(value);
    }

    /// Lowers floor `id` to at most `value`.
    #[inline]
    pub fn floor(&mut self, id: usize, value: u64) {
        self.floors[id] = self.floors[id].min(value);
    }

    /// Sets last value `id`, unless a later one exists.
    #[inline]
    pub fn last(&mut self, id: usize, last: Last) {
        // Values of one owner come in their order, also within one instant.
        if last.at >= self.lasts[id].at {
            self.lasts[id] = last;
        }
    }

    /// Records `value` in histogram `id`.
    #[inline]
    pub fn record(&mut self, id: usize, value: u64) {
        self.hists[id].record(value);
    }

    /// Adds `other` to this tally, cell by cell. `other` may come from an older or newer version and have fewer or more
    /// cells: missing cells change nothing, additional ones are added.
    pub fn merge(&mut self, other: &Tally) {
        self.reach(other.layout());
        for (mine, theirs) in self.sums.iter_mut().zip(&other.sums) {
            *mine = mine.saturating_add(*theirs);
        }
        for (mine, theirs) in self.peaks.iter_mut().zip(&other.peaks) {
            *mine = (*mine).max(*theirs);
        }
        for (mine, theirs) in self.floors.iter_mut().zip(&other.floors) {
            *mine = (*mine).min(*theirs);
        }
        for (mine, theirs) in self.hists.iter_mut().zip(&other.hists) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.lasts.iter_mut().zip(&other.lasts) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Empties every cell and keeps the storage.
    pub fn clear(&mut self) {
        self.sums.fill(0);
        self.peaks.fill(0);
        self.floors.fill(u64::MAX);
        self.hists.iter_mut().for_each(Hist::clear);
        self.lasts.fill(Last::default());
    }

    /// Returns whether every cell is at its identity.
    pub fn is_empty(&self) -> bool {
        self.sums.iter().all(|n| *n == 0)
            && self.peaks.iter().all(|n| *n == 0)
            && self.floors.iter().all(|n| *n == u64::MAX)
            && self.hists.iter().all(Hist::is_empty)
            && self.lasts.iter().all(|last| *last == Last::default())
    }
}

/// Lengthens `cells` to at least `len`; never shortens.
fn grow<T>(cells: &mut Box<[T]>, len: usize, empty: impl FnMut() -> T) {
    if cells.len() < len {
        let mut longer = std::mem::take(cells).into_vec();
        longer.resize_with(len, empty);
        *cells = longer.into();
    }
}

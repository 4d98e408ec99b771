//! A set of numbers under ids: counters, high-water marks, low-water marks and histograms.
//!
//! Four kinds, because these four ways of adding up are associative and commutative and have an identity
//! (0, 0, none, empty). Whatever is counted in a run is one of them, or it cannot be merged honestly.

mod codec;

pub(crate) use codec::Budget;
pub use codec::{BUCKET_BYTES_MAX, CELL_BYTES_MAX, TALLY_VERSION};

use crate::Hist;

/// How many cells of each kind a tally has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// Counters; merged by adding.
    pub sums: usize,
    /// Largest values seen; merged by taking the larger.
    pub peaks: usize,
    /// Smallest values seen; merged by taking the smaller.
    pub floors: usize,
    /// Distributions; merged bucket by bucket.
    pub hists: usize,
}

/// The cells of one [`Layout`]. The fields are open for reading; write through the methods.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tally {
    /// Totals; 0 = nothing counted.
    pub sums: Box<[u64]>,
    /// Largest values; 0 = none seen.
    pub peaks: Box<[u64]>,
    /// Smallest values; `u64::MAX` = none seen.
    pub floors: Box<[u64]>,
    /// Distributions.
    pub hists: Box<[Hist]>,
}

impl Tally {
    /// An empty tally with storage for every cell: nothing that is counted later allocates.
    pub fn new(layout: Layout) -> Self {
        Tally {
            sums: vec![0; layout.sums].into(),
            peaks: vec![0; layout.peaks].into(),
            floors: vec![u64::MAX; layout.floors].into(),
            hists: (0..layout.hists).map(|_| Hist::new()).collect(),
        }
    }

    /// Like [`Tally::new`], but each histogram allocates at its first value: for many series of which some stay
    /// idle. On a worker this trades one allocation per histogram and run for 38 KiB each.
    pub fn on_demand(layout: Layout) -> Self {
        Tally {
            hists: (0..layout.hists).map(|_| Hist::on_demand()).collect(),
            ..Tally::new(Layout { hists: 0, ..layout })
        }
    }

    /// How many cells of each kind there are.
    pub fn layout(&self) -> Layout {
        Layout {
            sums: self.sums.len(),
            peaks: self.peaks.len(),
            floors: self.floors.len(),
            hists: self.hists.len(),
        }
    }

    /// Adds `n` to counter `id`, saturating.
    ///
    /// # Panics
    /// When the layout has no such cell, as do the three below: ids come from the table that made the layout,
    /// never from input.
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

    /// Records `value` in histogram `id`.
    #[inline]
    pub fn record(&mut self, id: usize, value: u64) {
        self.hists[id].record(value);
    }

    /// Adds up `other` into this, cell by cell. `other` may come from an older or newer version and have
    /// fewer or more cells: missing cells change nothing, additional ones are taken over.
    pub fn merge(&mut self, other: &Tally) {
        grow(&mut self.sums, other.sums.len(), || 0);
        grow(&mut self.peaks, other.peaks.len(), || 0);
        grow(&mut self.floors, other.floors.len(), || u64::MAX);
        grow(&mut self.hists, other.hists.len(), Hist::on_demand);
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
    }

    /// Empties every cell and keeps the storage.
    pub fn clear(&mut self) {
        self.sums.fill(0);
        self.peaks.fill(0);
        self.floors.fill(u64::MAX);
        self.hists.iter_mut().for_each(Hist::clear);
    }

    /// True when every cell is at its identity.
    pub fn is_empty(&self) -> bool {
        self.sums.iter().all(|n| *n == 0)
            && self.peaks.iter().all(|n| *n == 0)
            && self.floors.iter().all(|n| *n == u64::MAX)
            && self.hists.iter().all(Hist::is_empty)
    }
}

/// Lengthens `cells` to at least `len`; never shortens.
pub(crate) fn grow<T>(cells: &mut Box<[T]>, len: usize, empty: impl FnMut() -> T) {
    if cells.len() < len {
        let mut longer = std::mem::take(cells).into_vec();
        longer.resize_with(len, empty);
        *cells = longer.into();
    }
}

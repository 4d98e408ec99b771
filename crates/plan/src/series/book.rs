//! The series that one worker, or a whole run, has opened: found by family, name, and labels, and numbered in order.

use super::{Family, SeriesKey};
use crate::program::RequestId;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Longest name, label name, and label value, in bytes: anything longer is data, not a name.
pub const NAME_BYTES: usize = 256;

/// Maximum number of labels of one series.
pub const LABELS: usize = 32;

/// Series without labels that may be opened above the limit, to count values of series that exceed it.
const SPARE: usize = 64;

/// A book of opened series. The default has space for none.
#[derive(Debug, Default)]
pub struct SeriesBook {
    /// Number of the first opened series, after those of the plan.
    first: u32,
    /// Maximum number of series to open.
    most: usize,
    opened: Vec<Arc<SeriesKey>>,
    /// Indexes into `opened`, by hash.
    places: HashMap<u64, Vec<u32>>,
    hasher: RandomState,
    refused: u64,
}

impl SeriesBook {
    /// Returns an empty book. `first` is the number of series of the plan, and `most` the maximum number to open.
    pub fn new(first: usize, most: u64) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        // A plan has far fewer than 2^32 series.
        SeriesBook { first: first as u32, most, ..SeriesBook::default() }
    }

    /// Returns the number of a series, and opens it if it is new; only that allocates. If there are too many series, it
    /// returns that of the same family and name without labels, or `None` if there are too many of those as well. Both
    /// are counted; see [`SeriesBook::take_refused`].
    pub fn find(&mut self, family: Family, name: &str, labels: &[(&str, &str)]) -> Option<RequestId> {
        let hash = self.hash(family, name, labels);
        let found = self.places.get(&hash).into_iter().flatten().find(|at| {
            // Indexes and entries are always added together.
            let key = &self.opened[**at as usize];
            key.family == family && key.name == name && has(key, labels)
        });
        match found {
            Some(at) => Some(self.first + at),
            None => self.open(hash, SeriesKey::new(family, name, labels), labels.len()),
        }
    }

    /// Returns the opened series, in the order of their numbers.
    pub fn opened(&self) -> &[Arc<SeriesKey>] {
        &self.opened
    }

    /// Returns the family of an opened series.
    pub fn family(&self, series: RequestId) -> Option<Family> {
        let at = series.checked_sub(self.first)?;
        self.opened.get(at as usize).map(|key| key.family)
    }

    /// Returns the number of rejected lookups since the last call.
    pub fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.refused)
    }

    /// Returns the number of rejected lookups since [`SeriesBook::take_refused`] was called.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    #[cold]
    fn open(&mut self, hash: u64, key: SeriesKey, given: usize) -> Option<RequestId> {
        if key.labels.len() < given {
            // A label occurred twice, so the key has a different hash.
            let labels: Vec<(&str, &str)> =
                key.labels.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            return self.find(key.family, &key.name, &labels);
        }
        let is_short = |text: &String| text.len() <= NAME_BYTES;
        let fits = is_short(&key.name)
            && key.labels.len() <= LABELS
            && key.labels.iter().all(|(name, value)| is_short(name) && is_short(value));
        let spare = if key.labels.is_empty() { SPARE } else { 0 };
        if !fits || self.opened.len() >= self.most.saturating_add(spare) {
            self.refused += 1;
            let base = !key.labels.is_empty() && is_short(&key.name);
            return if base { self.without_labels(key.family, &key.name) } else { None };
        }
        let at = u32::try_from(self.opened.len()).ok()?;
        let number = self.first.checked_add(at)?;
        self.places.entry(hash).or_default().push(at);
        self.opened.push(Arc::new(key));
        Some(number)
    }

    /// Finds the series without labels. A rejection here is not counted a second time.
    fn without_labels(&mut self, family: Family, name: &str) -> Option<RequestId> {
        let refused = self.refused;
        let base = self.find(family, name, &[]);
        self.refused = refused;
        base
    }

    /// Returns a hash that does not depend on the order of labels: their hashes are added up, without allocation.
    fn hash(&self, family: Family, name: &str, labels: &[(&str, &str)]) -> u64 {
        let own = self.hasher.hash_one((family, name));
        labels.iter().fold(own, |all, label| all.wrapping_add(self.hasher.hash_one(label)))
    }
}

/// Returns whether these are exactly the labels of a key.
fn has(key: &SeriesKey, labels: &[(&str, &str)]) -> bool {
    key.labels.len() == labels.len() && labels.iter().all(|(name, value)| key.label(name) == Some(value))
}

//! The series that one worker, or a whole run, has opened: found by family, name and labels, numbered in their order.

use super::{Family, SeriesKey};
use crate::program::RequestId;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Longest name, name of a label and value of a label, bytes: what is longer is data, and no name.
pub const NAME_BYTES: usize = 256;

/// Most labels of one series.
pub const LABELS: usize = 32;

/// Series beyond the limit that are opened all the same, if they have no labels: what finds no place under its own
/// labels is counted there.
const SPARE: usize = 64;

/// See the module. The default has room for none.
#[derive(Debug, Default)]
pub struct SeriesBook {
    /// Number of the first one: behind those of the plan.
    first: u32,
    /// Most that may be opened.
    most: usize,
    opened: Vec<Arc<SeriesKey>>,
    /// By hash: places in `opened`.
    places: HashMap<u64, Vec<u32>>,
    hasher: RandomState,
    refused: u64,
}

impl SeriesBook {
    /// Empty. `first`: series of the plan; `most`: series that may be opened.
    pub fn new(first: usize, most: u64) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        // A plan has far fewer than 2^32 series.
        SeriesBook { first: first as u32, most, ..SeriesBook::default() }
    }

    /// The number of a series, opened when it is new: only that allocates. When there are too many, that of
    /// the series of the same family and name without labels; `None` when there are even too many of those.
    /// Either is counted, see [`SeriesBook::take_refused`].
    pub fn find(&mut self, family: Family, name: &str, labels: &[(&str, &str)]) -> Option<RequestId> {
        let hash = self.hash(family, name, labels);
        let found = self.places.get(&hash).into_iter().flatten().find(|at| {
            // Places are made together with what they point at.
            let key = &self.opened[**at as usize];
            key.family == family && key.name == name && has(key, labels)
        });
        match found {
            Some(at) => Some(self.first + at),
            None => self.open(hash, SeriesKey::new(family, name, labels), labels.len()),
        }
    }

    /// All that were opened, in the order of their numbers.
    pub fn opened(&self) -> &[Arc<SeriesKey>] {
        &self.opened
    }

    /// The family of one that was opened.
    pub fn family(&self, series: RequestId) -> Option<Family> {
        let at = series.checked_sub(self.first)?;
        self.opened.get(at as usize).map(|key| key.family)
    }

    /// How often a series was asked for and found no place of its own, since this was asked.
    pub fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.refused)
    }

    #[cold]
    fn open(&mut self, hash: u64, key: SeriesKey, given: usize) -> Option<RequestId> {
        if key.labels.len() < given {
            // A name stood there twice, and the key is not known by this hash.
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

    /// Not counted a second time when there is no room for it either.
    fn without_labels(&mut self, family: Family, name: &str) -> Option<RequestId> {
        let refused = self.refused;
        let base = self.find(family, name, &[]);
        self.refused = refused;
        base
    }

    /// The same for labels in any order, and without memory: their hashes are added up.
    fn hash(&self, family: Family, name: &str, labels: &[(&str, &str)]) -> u64 {
        let own = self.hasher.hash_one((family, name));
        labels.iter().fold(own, |all, label| all.wrapping_add(self.hasher.hash_one(label)))
    }
}

/// Whether these are all the labels of a key.
fn has(key: &SeriesKey, labels: &[(&str, &str)]) -> bool {
    key.labels.len() == labels.len() && labels.iter().all(|(name, value)| key.label(name) == Some(value))
}

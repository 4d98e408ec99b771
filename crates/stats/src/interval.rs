//! The data that one worker hands over at every tick: the numbers of the run as a whole, and of each series.

use crate::tally::{Budget, Layout, Tally};
use crate::{Error, varint};

/// First byte of an encoded interval.
pub const INTERVAL_VERSION: u8 = 1;

/// Replaces a series' tally that is empty and has the layout of the previous tally.
const EMPTY_LIKE_BEFORE: u8 = 0;

/// Everything counted between two ticks. Its owner defines what a series is (a scenario, a request name).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interval {
    /// The tick of the run at which this interval ends, counted by the owner.
    pub tick: u32,
    /// The run as a whole.
    pub run: Tally,
    /// One tally for each series, by its index.
    pub series: Vec<Tally>,
}

impl Interval {
    /// Creates an empty interval at tick 0 that counts without allocating. All series share one layout.
    pub fn new(run: Layout, series: Layout, series_count: usize) -> Self {
        Interval {
            tick: 0,
            run: Tally::new(run),
            series: (0..series_count).map(|_| Tally::new(series)).collect(),
        }
    }

    /// Creates an empty interval at tick 0, with a separate layout for each series. Its histograms allocate memory at
    /// their first value.
    pub fn on_demand(run: Layout, series: impl IntoIterator<Item = Layout>) -> Self {
        Interval {
            tick: 0,
            run: Tally::on_demand(run),
            series: series.into_iter().map(Tally::on_demand).collect(),
        }
    }

    /// Adds `other` to this interval, which keeps its tick. Series that only `other` has are added.
    pub fn merge(&mut self, other: &Interval) {
        self.run.merge(&other.run);
        self.reach(other.series.len());
        for (mine, theirs) in self.series.iter_mut().zip(&other.series) {
            mine.merge(theirs);
        }
    }

    /// Merges like [`Interval::merge`], but the series of `other` at `first` and above go to the indexes in `places`,
    /// in order; those with `None` are left out.
    pub fn merge_placed(&mut self, other: &Interval, first: usize, places: &[Option<u32>]) {
        let (fixed, moved) = other.series.split_at(first.min(other.series.len()));
        self.run.merge(&other.run);
        self.reach(fixed.len());
        for (mine, theirs) in self.series.iter_mut().zip(fixed) {
            mine.merge(theirs);
        }
        for (place, theirs) in places.iter().zip(moved) {
            let Some(place) = place.map(|place| place as usize) else { continue };
            self.reach(place + 1);
            self.series[place].merge(theirs);
        }
    }

    /// Adds the interval at the front of `bytes`, as [`Interval::merge_placed`] does after [`Interval::decode`].
    /// Returns its number of series.
    ///
    /// # Errors
    /// Returns the errors of [`Interval::decode`]. A part may then have been added already.
    pub fn merge_encoded(
        &mut self,
        bytes: &mut &[u8],
        first: usize,
        places: &[Option<u32>],
    ) -> Result<usize, Error> {
        take_tick(bytes)?;
        let mut budget = Budget::new();
        let (mut before, _) = self.run.merge_encoded_within(bytes, &mut budget)?;
        let count = take_count(bytes, &mut budget)?;
        self.reach(first.min(count));
        // What has no place is only checked.
        let mut unplaced = Tally::on_demand(Layout::default());
        for index in 0..count {
            let place = match index.checked_sub(first) {
                None => Some(index),
                Some(opened) => places.get(opened).copied().flatten().map(|place| place as usize),
            };
            if let Some(place) = place {
                self.reach(place + 1);
            }
            let mine = place.map_or(&mut unplaced, |place| &mut self.series[place]);
            if bytes.first() == Some(&EMPTY_LIKE_BEFORE) {
                *bytes = &bytes[1..];
                budget.take_layout(before)?;
                mine.reach(before);
                continue;
            }
            let (layout, is_empty) = mine.merge_encoded_within(bytes, &mut budget)?;
            if is_empty && layout == before {
                return Err(Error::Malformed { what: "an empty series is not in its short form" });
            }
            before = layout;
        }
        Ok(count)
    }

    /// Returns the tick of the interval at the front of `bytes`.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn tick_of(mut bytes: &[u8]) -> Result<u32, Error> {
        take_tick(&mut bytes)
    }

    /// Ensures at least this many series.
    fn reach(&mut self, series: usize) {
        if self.series.len() < series {
            self.series.resize_with(series, || Tally::on_demand(Layout::default()));
        }
    }

    /// Empties every cell and keeps the storage and the tick.
    pub fn clear(&mut self) {
        self.run.clear();
        self.series.iter_mut().for_each(Tally::clear);
    }

    /// Returns the sum of all series.
    pub fn series_total(&self) -> Tally {
        let mut total = Tally::on_demand(Layout::default());
        self.series.iter().for_each(|one| total.merge(one));
        total
    }

    /// Appends the sparse encoding: version, tick, the run's tally, the number of series, their tallies. An empty
    /// series costs one byte.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(INTERVAL_VERSION);
        varint::put(out, self.tick.into());
        self.run.encode(out);
        varint::put(out, self.series.len() as u128);
        let mut before = self.run.layout();
        for one in &self.series {
            if one.is_empty() && one.layout() == before {
                out.push(EMPTY_LIKE_BEFORE);
            } else {
                one.encode(out);
            }
            before = one.layout();
        }
    }

    /// Decodes one interval from the front of `bytes`.
    ///
    /// # Errors
    /// Returns the same errors as [`Tally::decode`]; the memory limit applies to the interval as a whole.
    pub fn decode(bytes: &mut &[u8]) -> Result<Interval, Error> {
        let tick = take_tick(bytes)?;
        let mut budget = Budget::new();
        let run = Tally::decode_within(bytes, &mut budget)?;
        let count = take_count(bytes, &mut budget)?;
        let mut series = Vec::with_capacity(count);
        let mut before = run.layout();
        for _ in 0..count {
            series.push(take_series(bytes, &mut budget, &mut before)?);
        }
        Ok(Interval { tick, run, series })
    }
}

fn take_tick(bytes: &mut &[u8]) -> Result<u32, Error> {
    let found = varint::take_byte(bytes)?;
    if found != INTERVAL_VERSION {
        return Err(Error::UnknownVersion { what: "interval", found, known: INTERVAL_VERSION });
    }
    u32::try_from(varint::take_u64(bytes)?)
        .map_err(|_| Error::Malformed { what: "the tick is wider than 32 bits" })
}

/// Decodes the number of series.
fn take_count(bytes: &mut &[u8], budget: &mut Budget) -> Result<usize, Error> {
    let count = varint::take_u64(bytes)?;
    // Each takes at least a byte, so the number of bytes also limits the series.
    if count > bytes.len() as u64 {
        return Err(Error::Truncated);
    }
    budget.take_cells::<Tally>(count)
}

fn take_series(bytes: &mut &[u8], budget: &mut Budget, before: &mut Layout) -> Result<Tally, Error> {
    if bytes.first() == Some(&EMPTY_LIKE_BEFORE) {
        *bytes = &bytes[1..];
        budget.take_layout(*before)?;
        return Ok(Tally::on_demand(*before));
    }
    let one = Tally::decode_within(bytes, budget)?;
    if one.is_empty() && one.layout() == *before {
        return Err(Error::Malformed { what: "an empty series is not in its short form" });
    }
    *before = one.layout();
    Ok(one)
}

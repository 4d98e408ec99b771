//! What one worker hands over at every tick: the numbers of the run as a whole, and of each series.

use crate::tally::{Budget, Layout, Tally};
use crate::{Error, varint};

/// First byte of an encoded interval.
pub const INTERVAL_VERSION: u8 = 1;

/// In place of a series' tally: it is empty and has the layout of the tally before it.
const EMPTY_LIKE_BEFORE: u8 = 0;

/// Everything counted between two ticks. What a series is (a scenario, a request name) its owner knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interval {
    /// Which tick of the run this ends at, counted by the owner.
    pub tick: u32,
    /// The run as a whole.
    pub run: Tally,
    /// One tally for each series, by its index.
    pub series: Vec<Tally>,
}

impl Interval {
    /// An empty interval at tick 0, ready to count without allocating. All series share one layout.
    pub fn new(run: Layout, series: Layout, series_count: usize) -> Self {
        Interval {
            tick: 0,
            run: Tally::new(run),
            series: (0..series_count).map(|_| Tally::new(series)).collect(),
        }
    }

    /// An empty interval at tick 0 of series with a layout each. Its histograms take memory at their first value.
    pub fn on_demand(run: Layout, series: impl IntoIterator<Item = Layout>) -> Self {
        Interval {
            tick: 0,
            run: Tally::on_demand(run),
            series: series.into_iter().map(Tally::on_demand).collect(),
        }
    }

    /// Adds up `other` into this; the tick stays this one's own. Series that only `other` has are taken over.
    pub fn merge(&mut self, other: &Interval) {
        self.run.merge(&other.run);
        self.reach(other.series.len());
        for (mine, theirs) in self.series.iter_mut().zip(&other.series) {
            mine.merge(theirs);
        }
    }

    /// As [`Interval::merge`], but the series of `other` from number `first` on go where `places` says, one
    /// by one; where it says nothing they are left out.
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

    /// At least so many series.
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

    /// All series added up.
    pub fn series_total(&self) -> Tally {
        let mut total = Tally::on_demand(Layout::default());
        self.series.iter().for_each(|one| total.merge(one));
        total
    }

    /// Appends the sparse form: version, tick, the run's tally, the number of series, their tallies. A series in
    /// which nothing happened costs one byte.
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

    /// Takes one interval off the front of `bytes`.
    ///
    /// # Errors
    /// As [`Tally::decode`]; the memory limit holds for the interval as a whole.
    pub fn decode(bytes: &mut &[u8]) -> Result<Interval, Error> {
        let found = varint::take_byte(bytes)?;
        if found != INTERVAL_VERSION {
            return Err(Error::UnknownVersion { what: "interval", found, known: INTERVAL_VERSION });
        }
        let tick = u32::try_from(varint::take_u64(bytes)?)
            .map_err(|_| Error::Malformed { what: "a tick wider than 32 bits" })?;
        let mut budget = Budget::new();
        let run = Tally::decode_within(bytes, &mut budget)?;
        let count = varint::take_u64(bytes)?;
        // Each takes at least a byte, so this many bytes also bound the vector below.
        if count > bytes.len() as u64 {
            return Err(Error::Truncated);
        }
        let mut series = Vec::with_capacity(budget.take_cells::<Tally>(count)?);
        let mut before = run.layout();
        for _ in 0..count {
            series.push(take_series(bytes, &mut budget, &mut before)?);
        }
        Ok(Interval { tick, run, series })
    }
}

fn take_series(bytes: &mut &[u8], budget: &mut Budget, before: &mut Layout) -> Result<Tally, Error> {
    if bytes.first() == Some(&EMPTY_LIKE_BEFORE) {
        *bytes = &bytes[1..];
        budget.take_layout(*before)?;
        return Ok(Tally::on_demand(*before));
    }
    let one = Tally::decode_within(bytes, budget)?;
    if one.is_empty() && one.layout() == *before {
        return Err(Error::Malformed { what: "an empty series written in full" });
    }
    *before = one.layout();
    Ok(one)
}

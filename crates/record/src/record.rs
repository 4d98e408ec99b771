//! A run of one machine or several. Records are merged by [`RunRecord::merge`], a union keyed by origin and tick, so
//! order and grouping do not matter and a file that is given twice counts once.

mod encoded_tick;
mod gatherer;
mod opened;
mod served;
mod side_totals;
mod tick_row;
mod total;
mod watched;

pub use encoded_tick::EncodedTick;
pub use gatherer::Gatherer;
pub use opened::Opened;
pub use served::Served;
pub use side_totals::{SideTotals, Sizes, windowed};
pub use tick_row::TickRow;
pub(crate) use tick_row::widened;
pub use total::{requests_of, requests_total, total_of};
pub use watched::{CHANNELS_KEPT, Channel, LAPSES_KEPT, Watched};

use crate::event::{Ending, Note, Opening, OriginOpened, SeriesOpened, Tick, WorkerTimes};
use crate::run_file::Error;
use plimsoll_plan::failure_example::{EXAMPLES_MAX, FailureExample};
use plimsoll_plan::series::{REQUESTS_CELLS, RUN_CELLS};
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::{Layout, Tally};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// Cells of the run-wide tally in this version. Older records are widened when they are read, so that every id of
/// `plan::metric` is a valid index.
pub const RUN_LAYOUT: Layout = Layout::of(RUN_CELLS);

/// Cells of all requests together, including streams; see [`RUN_LAYOUT`].
pub const SERIES_LAYOUT: Layout = Layout::of(REQUESTS_CELLS);

/// A run with one entry per machine, keyed by the origin's name. The default is the empty run, which changes nothing
/// when merged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunRecord {
    pub generators: BTreeMap<String, GeneratorRecord>,
}

/// The run of one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorRecord {
    pub opening: Arc<Opening>,
    /// Series that programs opened during the run, in order of their numbers.
    pub opened: Vec<Opened>,
    /// Origins that were found during the run, in order of their numbers. The outline lists them, too.
    pub found: Vec<OriginOpened>,
    /// Ticks by number, including the warm-up.
    pub ticks: BTreeMap<u32, TickRow>,
    /// Sum over all ticks outside the warm-up, per series; exact even if rows of `ticks` are missing. Its own tick
    /// number is always 0.
    pub totals: Interval,
    /// By worker, all ticks outside the warm-up.
    pub workers: Vec<WorkerTimes>,
    /// `None` if the run was cut off.
    pub ending: Option<Ending>,
    pub notes: Vec<Note>,
    /// Examples of failures in order of occurrence; see [`GeneratorRecord::keep_sample`].
    pub failure_examples: Vec<FailureExample>,
    /// Data of the monitors.
    pub watched: Watched,
}

/// Maximum number of failure examples per machine; each takes up to a kilobyte.
pub const SAMPLES_KEPT: usize = 300;

impl RunRecord {
    /// Merges two runs. Associative, commutative, and idempotent, with the empty record as identity. Does not check
    /// whether the two belong together (same target, same plan); the summary raises a caution if they do not.
    ///
    /// # Errors
    /// Returns [`Error::Conflict`] if both contain the same origin with different contents, because parts of it would
    /// be counted twice.
    pub fn merge(a: RunRecord, b: RunRecord) -> Result<RunRecord, Error> {
        let mut merged = a;
        for (name, theirs) in b.generators {
            match merged.generators.entry(name) {
                Entry::Vacant(free) => {
                    free.insert(theirs);
                }
                Entry::Occupied(mine) => {
                    if let Some(what) = mine.get().differs_in(&theirs) {
                        let host = theirs.opening.environment.host.clone();
                        return Err(Error::Conflict { origin: mine.key().clone(), host, what });
                    }
                }
            }
        }
        Ok(merged)
    }
}

impl GeneratorRecord {
    /// Returns the record of a run before its first event.
    pub fn new(opening: Arc<Opening>) -> Self {
        let totals = Interval::on_demand(RUN_LAYOUT, opening.layouts());
        let (opened, found, workers, notes, samples, watched) = Default::default();
        Self {
            opening,
            opened,
            found,
            ticks: BTreeMap::new(),
            totals,
            workers,
            ending: None,
            notes,
            failure_examples: samples,
            watched,
        }
    }

    /// Adds an opened series; returns false if it is known already, or if its predecessor is missing.
    pub fn open(&mut self, opened: &SeriesOpened) -> bool {
        let is_next = opened.series as usize == self.opening.series_count() + self.opened.len();
        if is_next {
            self.totals.series.push(Tally::on_demand(Layout::of(opened.key.family.cells())));
            self.opened.push(Opened::new(opened.series, Arc::clone(&opened.key)));
        }
        is_next
    }

    /// Adds an origin that was found, also to the opening; returns false if it is known already, or if its predecessor
    /// is missing.
    pub fn open_origin(&mut self, found: &OriginOpened) -> bool {
        if self.found.iter().any(|known| known.number == found.number) {
            return false;
        }
        // A copy of a record has it in its outline.
        let is_listed =
            self.opening.outline.all_origins().get(usize::from(found.number)) == Some(&found.origin);
        let opening = Arc::make_mut(&mut self.opening);
        let is_next = is_listed || opening.outline.add_origin(found.number, found.origin.clone());
        if is_next {
            opening.environment.is_same_machine |= found.way.is_same_machine;
            self.found.push(found.clone());
        }
        is_next
    }

    /// Returns the layouts of all series: those of the opening, then those opened later.
    pub(crate) fn layouts(&self) -> impl Iterator<Item = Layout> + '_ {
        let opened = self.opened.iter().map(|one| Layout::of(one.key.family.cells()));
        self.opening.layouts().chain(opened)
    }

    /// Keeps an example unless there are enough of its kind (the same request and check) or in total; each worker
    /// sends its first few. Returns whether it was kept.
    pub fn keep_sample(&mut self, sample: &FailureExample) -> bool {
        let is_identical = |one: &&FailureExample| one.request == sample.request && one.check == sample.check;
        let is_wanted = self.failure_examples.len() < SAMPLES_KEPT
            && self.failure_examples.iter().filter(is_identical).count() < EXAMPLES_MAX as usize;
        if is_wanted {
            self.failure_examples.push(sample.clone());
        }
        is_wanted
    }

    /// Adds a tick to `totals` and `workers` unless it belongs to the warm-up. Leaves `ticks` unchanged, because the
    /// caller decides where to keep rows (in memory or in a file).
    pub fn count(&mut self, tick: &Tick) {
        if self.opening.outline.is_warmup(tick.interval.tick) {
            return;
        }
        self.totals.merge(&tick.interval);
        add_pulses(&mut self.workers, &tick.pulses);
    }

    /// Adds an encoded tick like [`GeneratorRecord::count`].
    ///
    /// # Errors
    /// Returns an error if the interval is damaged; a part of it may have been added.
    pub(crate) fn count_encoded(&mut self, tick: &EncodedTick) -> Result<(), plimsoll_stats::Error> {
        if self.opening.outline.is_warmup(tick.number()) {
            return Ok(());
        }
        add_pulses(&mut self.workers, &tick.pulses);
        self.totals.merge_encoded(&mut tick.interval(), usize::MAX, &[]).map(|_| ())
    }

    fn differs_in(&self, other: &GeneratorRecord) -> Option<&'static str> {
        let differences = [
            ("openings", self.opening != other.opening),
            ("series", self.opened != other.opened),
            ("origins", self.found != other.found),
            ("endings", self.ending != other.ending),
            ("ticks", self.ticks != other.ticks),
            ("totals", self.totals != other.totals || self.workers != other.workers),
            ("notes", self.notes != other.notes),
            ("failure examples", self.failure_examples != other.failure_examples),
            ("monitors", self.watched != other.watched),
        ];
        differences.into_iter().find(|(_, differ)| *differ).map(|(what, _)| what)
    }
}

/// Adds by worker number, including workers that only `more` contains.
pub(crate) fn add_pulses(sum: &mut Vec<WorkerTimes>, more: &[WorkerTimes]) {
    if sum.len() < more.len() {
        sum.resize(more.len(), WorkerTimes::default());
    }
    for (mine, theirs) in sum.iter_mut().zip(more) {
        mine.add(theirs);
    }
}

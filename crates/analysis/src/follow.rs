//! Follows a run in progress, second by second, with the code of the timeline applied to a few ticks at a time, so
//! that a live view and the report agree on every second.

use super::cells::Cells;
use super::facts::Facts;
use super::timeline::{Standing, moments_from};
use crate::summary::Second;
use plimsoll_plan::Fault;
use plimsoll_record::event::{Ending, MonitorSample, Note, Opening, WorkerTimes};
use plimsoll_record::run_file::Tail;
use plimsoll_record::{Error, RunRecord};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What is new in a run.
#[derive(Debug, Clone, Default)]
pub struct Fresh {
    /// The first time that it is there; of several machines that of the first.
    pub opening: Option<Arc<Opening>>,
    /// In order of time, summed over all machines. The last second of a run appears twice if the ending, which is
    /// written after it, says that it was shorter.
    pub seconds: Vec<Second>,
    /// By second: failures of each class that occurred.
    pub failures: Vec<Vec<(Fault, u64)>>,
    /// New ones, and those whose text has changed (a gap that grows).
    pub notes: Vec<Note>,
    /// What monitors saw.
    pub sights: Vec<MonitorSample>,
    /// By worker of the first machine: its use of time since the look before; empty while nothing was measured.
    pub pulses: Vec<WorkerTimes>,
    /// Once: the run has ended. A run that was killed never says so.
    pub ending: Option<Ending>,
}

/// Follows a run file.
pub struct Follow {
    tail: Tail,
    /// Open requests before and after the ticks of `last`.
    before: Standing,
    behind: Standing,
    /// The last second as it was read, in case that it comes again.
    last: RunRecord,
}

impl Follow {
    /// Begins to follow `path`, which may have been made just now.
    ///
    /// # Errors
    /// As [`Tail::open`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let tail = Tail::open(path)?;
        let (before, behind) = Default::default();
        Ok(Self { tail, before, behind, last: RunRecord::default() })
    }

    /// What is new.
    ///
    /// # Errors
    /// As [`Tail::more`].
    pub fn more(&mut self) -> Result<Fresh, Error> {
        let had_ended = self.tail.has_ended();
        let new = self.tail.more()?;
        let Seconds { seconds, failures } = self.count(new.ticks, had_ended);
        let (opening, notes, sights) = (new.opening, new.notes, new.sights);
        Ok(Fresh { opening, seconds, failures, notes, sights, pulses: new.pulses, ending: new.ending })
    }

    /// Whether the ending has been told.
    pub fn has_ended(&self) -> bool {
        self.tail.has_ended()
    }

    fn count(&mut self, record: RunRecord, had_ended: bool) -> Seconds {
        let last_ns = |record: &RunRecord| {
            let ends = record.generators.values().filter_map(|origin| {
                let (tick, _) = origin.ticks.last_key_value()?;
                Some(origin.opening.outline.tick_bounds_ns(*tick).1)
            });
            ends.max()
        };
        if last_ns(&record).is_none() {
            // Nothing but an ending: was the last second as long as it was taken for?
            let end_ns = record.generators.values().filter_map(|o| Some(o.ending.as_ref()?.elapsed_ns)).max();
            let is_shorter = !had_ended && end_ns < last_ns(&self.last) && end_ns.is_some();
            if !is_shorter {
                return Seconds::default();
            }
            for (name, origin) in record.generators {
                if let Some(last) = self.last.generators.get_mut(&name) {
                    last.ending = origin.ending;
                }
            }
            return seconds(&self.last, &mut self.before.clone());
        }
        // All but the last tick first: what stood open before that one is needed when it comes again.
        let newest = record.generators.values().filter_map(|o| o.ticks.keys().next_back().copied()).max();
        let (mut first, mut last) = (record.clone(), record);
        for origin in first.generators.values_mut() {
            origin.ticks.retain(|tick, _| Some(*tick) != newest);
        }
        for origin in last.generators.values_mut() {
            origin.ticks.retain(|tick, _| Some(*tick) == newest);
        }
        let mut all = seconds(&first, &mut self.behind);
        self.before = self.behind;
        let end = seconds(&last, &mut self.behind);
        all.seconds.extend(end.seconds);
        all.failures.extend(end.failures);
        self.last = last;
        all
    }
}

#[derive(Default)]
struct Seconds {
    seconds: Vec<Second>,
    failures: Vec<Vec<(Fault, u64)>>,
}

/// The seconds of the ticks that `record` holds; `open` is what stood open before them.
fn seconds(record: &RunRecord, open: &mut Standing) -> Seconds {
    let moments = moments_from(&Facts::new(record), open);
    let seconds: Vec<Second> = moments.into_iter().map(|moment| moment.second).collect();
    let failures = seconds.iter().map(|second| failures(record, second.tick)).collect();
    Seconds { seconds, failures }
}

fn failures(record: &RunRecord, tick: u32) -> Vec<(Fault, u64)> {
    let mut found: BTreeMap<usize, u64> = BTreeMap::new();
    for row in record.generators.values().filter_map(|origin| origin.ticks.get(&tick)) {
        let all = row.all();
        for (at, fault) in Fault::ALL.iter().enumerate() {
            let sum = found.entry(at).or_default();
            *sum = sum.saturating_add(all.fault(*fault));
        }
    }
    found.into_iter().filter(|(_, n)| *n > 0).map(|(at, n)| (Fault::ALL[at], n)).collect()
}

//! Gathers the events of a run into its record in memory.

use super::{GeneratorRecord, RunRecord, TickRow};
use crate::event::{RunEvent, Sink};
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// A sink that keeps the totals, and each tick in its encoded form of a few kilobytes.
#[derive(Debug, Default)]
pub struct Gatherer {
    origin: Option<GeneratorRecord>,
}

impl Gatherer {
    /// Returns the record; empty if the run never opened.
    pub fn into_record(self) -> RunRecord {
        let origins = self.origin.map(|origin| (origin.opening.origin.clone(), origin));
        RunRecord { generators: origins.into_iter().collect() }
    }
}

impl Sink for Gatherer {
    /// Starts over at an opening. Ignores events before it, and a second report of the same tick, which would count
    /// its requests twice.
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Opened(opening) = event {
            self.origin = Some(GeneratorRecord::new(Arc::clone(opening)));
        }
        let Some(origin) = &mut self.origin else { return };
        match event {
            RunEvent::Opened(_) => {}
            RunEvent::SeriesOpened(opened) => {
                // A known series changes nothing.
                let _ = origin.open(opened);
            }
            RunEvent::OriginOpened(found) => {
                // A known origin changes nothing.
                let _ = origin.open_origin(found);
            }
            RunEvent::Ticked(tick) => {
                if let Entry::Vacant(free) = origin.ticks.entry(tick.interval.tick) {
                    free.insert(TickRow::of(&tick.interval, &origin.opening.outline, &origin.opened));
                    origin.count(tick);
                }
            }
            RunEvent::Noted(note) => origin.notes.push(note.clone()),
            RunEvent::FailureRecorded(sample) => {
                // A full list of examples is not an error.
                let _ = origin.keep_sample(sample);
            }
            RunEvent::MonitorSampled(sight) => origin.watched.sight(sight),
            RunEvent::Learnt(fact) => origin.watched.learn(fact),
            RunEvent::SampleMissed(lapse) => origin.watched.lapse(lapse),
            RunEvent::Ended(ending) => origin.ending = Some(ending.clone()),
        }
    }
}

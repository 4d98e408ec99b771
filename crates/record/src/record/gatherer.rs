//! Gathers the events of a run into its record, in memory.

use super::{GeneratorRecord, RunRecord, TickRow};
use crate::event::{RunEvent, Sink};
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// A sink that remembers: totals, and each tick in its encoded form of a few kilobytes.
#[derive(Debug, Default)]
pub struct Gatherer {
    origin: Option<GeneratorRecord>,
}

impl Gatherer {
    /// What has been gathered; the empty record when the run was never opened.
    pub fn into_record(self) -> RunRecord {
        let origins = self.origin.map(|origin| (origin.opening.origin.clone(), origin));
        RunRecord { generators: origins.into_iter().collect() }
    }
}

impl Sink for Gatherer {
    /// An opening starts afresh. Whatever comes before it belongs to no run and is left out, and so is a second
    /// report of the same tick: it would count its requests twice.
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Opened(opening) = event {
            self.origin = Some(GeneratorRecord::new(Arc::clone(opening)));
        }
        let Some(origin) = &mut self.origin else { return };
        match event {
            RunEvent::Opened(_) => {}
            RunEvent::SeriesOpened(opened) => {
                // One that is known already changes nothing.
                let _ = origin.open(opened);
            }
            RunEvent::Ticked(tick) => {
                if let Entry::Vacant(free) = origin.ticks.entry(tick.interval.tick) {
                    free.insert(TickRow::of(&tick.interval, &origin.opening.outline, &origin.opened));
                    origin.count(tick);
                }
            }
            RunEvent::Noted(note) => origin.notes.push(note.clone()),
            RunEvent::FailureRecorded(sample) => {
                // Whether there was room for it is no matter here.
                let _ = origin.keep_sample(sample);
            }
            RunEvent::MonitorSampled(sight) => origin.watched.sight(sight),
            RunEvent::Learnt(fact) => origin.watched.learn(fact),
            RunEvent::SampleMissed(lapse) => origin.watched.lapse(lapse),
            RunEvent::Ended(ending) => origin.ending = Some(ending.clone()),
        }
    }
}

//! Ticks of a run in progress, added up into one row of the timeline with the code of the timeline, so that the
//! terminal and the report agree on every second.

use super::cells::Cells;
use super::timeline::{Standing, Sum, moment};
use crate::summary::Second;
use plimsoll_plan::{Fault, Outline};
use plimsoll_record::event::Tick;

/// See the module. One machine, ticks in their order.
#[derive(Debug, Default)]
pub struct TickWindow {
    sum: Option<Sum>,
}

impl TickWindow {
    pub fn clear(&mut self) {
        self.sum = None;
    }

    pub fn is_empty(&self) -> bool {
        self.sum.is_none()
    }

    /// Adds a tick of a run that ended at `elapsed_ns`; `u64::MAX` for a run in progress.
    pub fn add(&mut self, plan: &Outline, tick: &Tick, elapsed_ns: u64) {
        let next = Sum::of_tick(plan, tick, elapsed_ns);
        match &mut self.sum {
            Some(sum) => sum.then(&next),
            None => self.sum = Some(next),
        }
    }

    /// The row; `None` while there is no tick. `open` goes from one window to the next.
    pub fn second(&self, plan: &Outline, open: &mut Standing) -> Option<Second> {
        self.sum.as_ref().map(|sum| moment(plan, sum, open).second)
    }

    /// The classes of failures that occurred, the most frequent first.
    pub fn failures(&self) -> Vec<(Fault, u64)> {
        let Some(sum) = &self.sum else { return Vec::new() };
        let counts = Fault::ALL.iter().map(|fault| (*fault, sum.all.fault(*fault)));
        let mut all: Vec<(Fault, u64)> = counts.filter(|(_, n)| *n > 0).collect();
        all.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        all
    }
}

//! The ticks of a run that were written.

use std::collections::BTreeSet;

/// A set of ticks in memory that does not grow as long as they come in order.
#[derive(Default)]
pub struct SeenTicks {
    /// All ticks below this number are in the set.
    below: u32,
    /// Those above it.
    above: BTreeSet<u32>,
}

impl SeenTicks {
    /// Adds a tick; returns whether it is new.
    pub fn insert(&mut self, tick: u32) -> bool {
        let is_new = tick >= self.below && self.above.insert(tick);
        while self.above.remove(&self.below) {
            self.below += 1;
        }
        is_new
    }
}

//! Rates of increasing counters: the difference between two samples divided by the time between them.

use super::probe::Moment;
use std::collections::HashMap;

/// Values of the previous sample, by name.
#[derive(Debug, Default)]
pub struct Counters {
    before: HashMap<String, (Moment, f64)>,
}

impl Counters {
    /// Returns the increase since the last sample and the seconds between them. Returns `None` for a new counter and
    /// for one that decreased, because it was reset and its value before the reset is unknown.
    pub fn growth(&mut self, name: &str, at: Moment, value: f64) -> Option<(f64, f64)> {
        let before = match self.before.get_mut(name) {
            Some(before) => std::mem::replace(before, (at, value)),
            None => {
                self.before.insert(name.to_owned(), (at, value));
                return None;
            }
        };
        let growth = value - before.1;
        (growth >= 0.0).then(|| (growth, at.since_s(before.0)))
    }

    /// Returns the increase per second.
    pub fn rate(&mut self, name: &str, at: Moment, value: f64) -> Option<f64> {
        self.growth(name, at, value).map(|(growth, over_s)| growth / over_s)
    }

    /// Drops all values, because another process responds now and its counters are unrelated.
    pub fn forget(&mut self) {
        self.before.clear();
    }
}

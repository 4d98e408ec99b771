//! Rates of what a server only counts up: the difference between two looks over the time between them.

use super::probe::Moment;
use std::collections::HashMap;

/// Readings of the look before, by name.
#[derive(Debug, Default)]
pub struct Counters {
    before: HashMap<String, (Moment, f64)>,
}

impl Counters {
    /// Growth since this counter was last read, and over how many seconds. Nothing for one that is new, or that
    /// fell: it was reset, and how far it had come before that nobody knows.
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

    /// Growth per second.
    pub fn rate(&mut self, name: &str, at: Moment, value: f64) -> Option<f64> {
        self.growth(name, at, value).map(|(growth, over_s)| growth / over_s)
    }

    /// Another process answers now: its counters have nothing to do with those seen before.
    pub fn forget(&mut self) {
        self.before.clear();
    }
}

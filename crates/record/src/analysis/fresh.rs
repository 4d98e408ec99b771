//! Seconds of a run that is still going on: the timeline's own code, a few ticks at a time, so that a live view and the
//! report say the same of a second.

use super::cells::Cells;
use super::facts::Facts;
use super::timeline::{Standing, moments_from};
use crate::record::RunRecord;
use crate::summary::Second;
use plimsoll_plan::Fault;
use std::collections::BTreeMap;

/// Seconds, and what failed in each.
pub(crate) struct Seconds {
    pub seconds: Vec<Second>,
    /// By second: the classes that occurred.
    pub failures: Vec<Vec<(Fault, u64)>>,
}

/// The seconds of the ticks that `record` holds; `open` is what stood open before them.
pub(crate) fn seconds(record: &RunRecord, open: &mut Standing) -> Seconds {
    let moments = moments_from(&Facts::new(record), open);
    let seconds: Vec<Second> = moments.into_iter().map(|moment| moment.second).collect();
    let failures = seconds.iter().map(|second| failures(record, second.tick)).collect();
    Seconds { seconds, failures }
}

fn failures(record: &RunRecord, tick: u32) -> Vec<(Fault, u64)> {
    let mut found: BTreeMap<usize, u64> = BTreeMap::new();
    for row in record.origins.values().filter_map(|origin| origin.ticks.get(&tick)) {
        let all = row.all();
        for (at, fault) in Fault::ALL.iter().enumerate() {
            let sum = found.entry(at).or_default();
            *sum = sum.saturating_add(all.fault(*fault));
        }
    }
    found.into_iter().filter(|(_, n)| *n > 0).map(|(at, n)| (Fault::ALL[at], n)).collect()
}

//! Data of one machine's monitors: numbers over time, facts, and missed samples.

use crate::event::{Fact, MissedSample, MonitorSample, Reading};
use plimsoll_plan::watch::Unit;
use std::collections::BTreeMap;

/// Monitor data. The default is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Watched {
    /// In order of appearance.
    pub channels: Vec<Channel>,
    /// The newest value of each name of a monitor.
    pub facts: Vec<Fact>,
    /// The first [`LAPSES_KEPT`] of each monitor.
    pub lapses: Vec<MissedSample>,
    /// Number of missed samples by monitor.
    pub lapsed: BTreeMap<u32, u64>,
}

/// One number of one monitor over the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Index in the outline's `watches`.
    pub monitor: u32,
    /// Part of the system; empty for the whole.
    pub part: String,
    pub metric: String,
    pub unit: Unit,
    /// The newest limit.
    pub limit: Option<f64>,
    /// Time (since the start of the run, ns) and value, in chronological order.
    pub points: Vec<(u64, f64)>,
}

/// Missed samples of each monitor that are kept with their reason, because a failing monitor repeats it every second.
pub const LAPSES_KEPT: usize = 100;

/// Maximum number of channels per machine, because a service that starts a process per request would create ever
/// more.
pub const CHANNELS_KEPT: usize = 1_000;

impl Watched {
    /// Adds a sample, except for non-finite values and values that are not newer than the last.
    pub fn sight(&mut self, sight: &MonitorSample) {
        for reading in sight.readings.iter().filter(|reading| reading.value.is_finite()) {
            let Some(at) = self.channel(sight.monitor, reading) else { continue };
            let points = &mut self.channels[at].points;
            if points.last().is_none_or(|(last_ns, _)| *last_ns < sight.at_ns) {
                points.push((sight.at_ns, reading.value));
            }
        }
    }

    /// Returns the index of the reading's channel, created if new, and updates its limit. Returns `None` if there are
    /// too many, which a fact then reports.
    pub fn channel(&mut self, monitor: u32, reading: &Reading) -> Option<usize> {
        let is_it = |channel: &Channel| {
            channel.monitor == monitor && channel.metric == reading.metric && channel.part == reading.part
        };
        if let Some(at) = self.channels.iter().position(is_it) {
            self.channels[at].limit = reading.limit.filter(|x| x.is_finite()).or(self.channels[at].limit);
            return Some(at);
        }
        if self.channels.len() >= CHANNELS_KEPT {
            let value = format!("only the first {CHANNELS_KEPT} different metrics of the run are kept");
            self.learn(&Fact { monitor, name: "left out".into(), value });
            return None;
        }
        self.channels.push(Channel {
            monitor,
            part: reading.part.clone(),
            metric: reading.metric.clone(),
            unit: reading.unit,
            limit: reading.limit.filter(|x| x.is_finite()),
            points: Vec::new(),
        });
        Some(self.channels.len() - 1)
    }

    pub fn learn(&mut self, fact: &Fact) {
        match self.facts.iter_mut().find(|known| known.monitor == fact.monitor && known.name == fact.name) {
            Some(known) => known.value.clone_from(&fact.value),
            None => self.facts.push(fact.clone()),
        }
    }

    pub fn lapse(&mut self, lapse: &MissedSample) {
        let before = self.lapsed.entry(lapse.monitor).or_default();
        if *before < LAPSES_KEPT as u64 {
            self.lapses.push(lapse.clone());
        }
        *before += 1;
    }
}

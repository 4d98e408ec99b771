//! What the monitors of one machine saw: numbers over time, facts, and the samples that failed.

use crate::event::{Fact, MissedSample, MonitorSample, Reading};
use plimsoll_plan::watch::Unit;
use std::collections::BTreeMap;

/// See the module. The default is nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Watched {
    /// In the order in which they were first seen.
    pub channels: Vec<Channel>,
    /// One value for each name of a monitor, the newest.
    pub facts: Vec<Fact>,
    /// The first [`LAPSES_KEPT`] of each monitor.
    pub lapses: Vec<MissedSample>,
    /// All lapses, by monitor.
    pub lapsed: BTreeMap<u32, u64>,
}

/// One number of one monitor over the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Index in the outline's `watches`.
    pub monitor: u32,
    /// Empty: the whole.
    pub part: String,
    pub metric: String,
    pub unit: Unit,
    /// The newest that was told.
    pub limit: Option<f64>,
    /// When (from the start of the run, ns) and what, rising in time.
    pub points: Vec<(u64, f64)>,
}

/// Lapses of each monitor that are kept with their reason: a monitor that fails does so each second, and says the same.
pub const LAPSES_KEPT: usize = 100;

/// Channels that are kept of each machine. Whatever starts a process for each request would make new ones without end.
pub const CHANNELS_KEPT: usize = 1_000;

impl Watched {
    /// Takes a sample. Values that are no numbers, and those that do not come behind the last, are left out.
    pub fn sight(&mut self, sight: &MonitorSample) {
        for reading in sight.readings.iter().filter(|reading| reading.value.is_finite()) {
            let Some(at) = self.channel(sight.monitor, reading) else { continue };
            let points = &mut self.channels[at].points;
            if points.last().is_none_or(|(last_ns, _)| *last_ns < sight.at_ns) {
                points.push((sight.at_ns, reading.value));
            }
        }
    }

    /// The number of the channel that a reading belongs to, made when it is new, with the newest limit; `None` when
    /// there are too many, which a fact then tells.
    pub fn channel(&mut self, monitor: u32, reading: &Reading) -> Option<usize> {
        let is_it = |channel: &Channel| {
            channel.monitor == monitor && channel.metric == reading.metric && channel.part == reading.part
        };
        if let Some(at) = self.channels.iter().position(is_it) {
            self.channels[at].limit = reading.limit.filter(|x| x.is_finite()).or(self.channels[at].limit);
            return Some(at);
        }
        if self.channels.len() >= CHANNELS_KEPT {
            let value = format!("only the first {CHANNELS_KEPT} different numbers of the run are kept");
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

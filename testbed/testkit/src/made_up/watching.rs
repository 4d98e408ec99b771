//! Monitors of generated runs.

use super::{Random, opening};
use plimsoll_plan::watch::{MonitorOutline, Unit};
use plimsoll_record::event::{Fact, MissedSample, MonitorSample, Opening, Reading, RunEvent};

pub fn watched_opening(origin: &str, monitors: &[&str]) -> Opening {
    let mut opening = opening(origin, 1);
    let outline = |name: &&str| MonitorOutline {
        name: (*name).into(),
        kind: "process".into(),
        target: "port 4110".into(),
        agent: None,
    };
    opening.outline.monitors = monitors.iter().map(outline).collect();
    opening
}

pub fn reading(part: &str, metric: &str, unit: Unit, limit: Option<f64>, value: f64) -> Reading {
    Reading { part: part.into(), metric: metric.into(), unit, limit, value }
}

pub fn sight(at_ns: u64, monitor: u32, readings: Vec<Reading>) -> RunEvent {
    RunEvent::MonitorSampled(MonitorSample { at_ns, monitor, readings })
}

pub fn learnt(monitor: u32, name: &str, value: &str) -> RunEvent {
    RunEvent::Learnt(Fact { monitor, name: name.into(), value: value.into() })
}

pub fn lapse(at_ns: u64, monitor: u32, why: &str) -> RunEvent {
    RunEvent::SampleMissed(MissedSample { at_ns, monitor, why: why.into() })
}

/// Returns one second of `monitors` monitors with `channels` values each.
pub fn seconds(second: u32, monitors: u32, channels: u32, random: &mut Random) -> Vec<RunEvent> {
    let at_ns = (u64::from(second) + 1) * 1_000_000_000;
    let mut one = |monitor: u32| {
        let readings = (0..channels).map(|k| {
            reading("", &format!("metric {k}"), Unit::Count, Some(1e6), random.below(1_000_000) as f64 / 7.0)
        });
        sight(at_ns + u64::from(monitor) * 1_000, monitor, readings.collect())
    };
    (0..monitors).map(&mut one).collect()
}

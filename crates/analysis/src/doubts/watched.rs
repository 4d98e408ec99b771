//! What monitors saw that puts the result in another light, or that explains it.

use super::Inputs;
use crate::caution::evidence::{
    DescriptorUse, FailedMonitor, FirstMissedSample, GrownMemory, ListenerOverflow, ThrottledGroup,
};
use crate::caution::{Evidence, Kind};
use crate::cells::Cells;
use crate::facts::Machine;
use crate::summary::{Caution, MonitorRow};
use crate::watched::{REFUSED, counted, growth, is_listening, is_throttling, resource, short_name};
use plimsoll_plan::load::Load;
use plimsoll_plan::metric::RunHist;
use plimsoll_plan::watch::{MonitorOutline, Unit};
use plimsoll_record::record::Channel;

/// Named one by one; the others are counted.
const NAMED: usize = 3;

pub(super) fn watched(e: &Inputs, into: &mut Vec<Caution>) {
    into.extend(failed(e));
    into.extend(memory(e));
    let overflowed = overflowed(e);
    let is_ours = overflowed.is_some() && was_before_us(e);
    into.extend(at_once(e, is_ours || into.iter().any(|c| c.kind == Kind::SynRetransmits)));
    into.extend(overflowed);
    into.extend(descriptors(e));
    into.extend(throttled(e));
}

/// With those that are named, and the number of the others.
fn raised<T>(mut found: Vec<T>, evidence: impl FnOnce(Vec<T>, u64) -> Evidence) -> Option<Caution> {
    let more_count = found.len().saturating_sub(NAMED) as u64;
    found.truncate(NAMED);
    (!found.is_empty()).then(|| evidence(found, more_count).raise())
}

/// One sample a second was asked for; a second at either end may be cut.
fn failed(e: &Inputs) -> Option<Caution> {
    let seconds = (e.facts.measured_s() - 1.0).floor().max(0.0);
    let one = |monitor: &MonitorRow| {
        let missing = seconds - monitor.samples as f64;
        let nothing = monitor.samples == 0 && (seconds >= 1.0 || monitor.missed_samples > 0);
        if !nothing && missing <= (e.limits.monitor_missing * seconds).max(1.0) {
            return None;
        }
        let first = monitor.first_missed_sample.as_ref();
        Some(FailedMonitor {
            monitor: monitor.name.clone(),
            samples_count: monitor.samples,
            measured_s: e.facts.measured_s().round() as u64,
            first_missed_sample: first
                .map(|lapse| FirstMissedSample { at_s: lapse.at_s, reason: lapse.reason.clone() }),
        })
    };
    raised(e.seen.monitors.iter().filter_map(one).collect(), |monitors, more_count| {
        Evidence::MonitorsFailed { monitors, more_count }
    })
}

fn memory(e: &Inputs) -> Option<Caution> {
    let mut found: Vec<GrownMemory> = Vec::new();
    for monitor in &e.seen.monitors {
        // The total contains its parts, and each process is reported by one of its sizes.
        let own = monitor
            .rows
            .iter()
            .filter(|row| row.part.is_empty() || monitor.rows.iter().all(|r| !r.part.is_empty()));
        let worst = own
            .filter_map(|row| Some((growth(row, e.facts.measured_s())?, row)))
            .filter(|(share, _)| *share > e.limits.memory_growth)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((share, row)) = worst
            && let Some(slope) = &row.slope
        {
            found.push(GrownMemory {
                monitor: monitor.name.clone(),
                part: row.part.clone(),
                metric: short_name(&row.metric),
                slope_bytes_per_h: slope.bytes_per_h,
                slope_low_bytes_per_h: slope.low_bytes_per_h,
                slope_high_bytes_per_h: slope.high_bytes_per_h,
                growth_ratio: share,
                last: row.last,
                unit: row.unit,
            });
        }
    }
    found.sort_by(|a, b| b.growth_ratio.total_cmp(&a.growth_ratio));
    raised(found, |memories, more_count| Evidence::MemoryGrew { memories, more_count })
}

/// All channels of all machines, with their monitors. Connections are made and refused in the warm-up, too.
fn channels<'a>(e: &'a Inputs) -> impl Iterator<Item = (&'a MonitorOutline, &'a Channel)> {
    e.facts.machines.iter().flat_map(|machine: &'a Machine<'a>| {
        let watches = &machine.origin.opening.outline.monitors;
        let of = |channel: &'a Channel| Some((watches.get(channel.monitor as usize)?, channel));
        machine.origin.watched.channels.iter().filter_map(of)
    })
}

/// Whether the run's own connections agree that it was their server.
fn was_before_us(e: &Inputs) -> bool {
    e.seen.pressure.iter().any(|told| is_listening(&told.kind, &told.metric))
}

/// Each overflow is a drop as well, so the larger of a monitor's counters is reported.
fn overflowed(e: &Inputs) -> Option<Caution> {
    let mut found: Vec<(f64, ListenerOverflow)> = Vec::new();
    for (watch, channel) in channels(e).filter(|(watch, channel)| is_listening(&watch.kind, &channel.metric))
    {
        let n = counted(channel);
        let one = ListenerOverflow {
            monitor: watch.name.clone(),
            metric: short_name(&channel.metric),
            overflows_count: n.round() as u64,
        };
        match found.iter_mut().find(|(_, known)| known.monitor == watch.name) {
            _ if n < REFUSED => {}
            Some(known) if known.0 < n => *known = (n, one),
            Some(_) => {}
            None => found.push((n, one)),
        }
    }
    let is_own_server = was_before_us(e);
    raised(found.into_iter().map(|(_, one)| one).collect(), |listeners, more_count| {
        Evidence::ListenersOverflowed { listeners, more_count, is_own_server }
    })
}

/// For each monitor, the one closest to its limit: the only process of a tree appears twice, once as the total.
fn descriptors(e: &Inputs) -> Option<Caution> {
    let mut found: Vec<(&str, f64, DescriptorUse)> = Vec::new();
    let names = ["fds", "fds_share"];
    for (watch, channel) in channels(e).filter(|(_, channel)| names.contains(&channel.metric.as_str())) {
        let Some(limit) = channel.limit.filter(|limit| *limit > 0.0) else { continue };
        let peak = channel.points.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
        let Some((at_ns, most)) = peak.filter(|(_, most)| *most >= e.limits.descriptors * limit) else {
            continue;
        };
        let is_share = channel.unit == Unit::Share;
        let one = DescriptorUse {
            resource: resource(&watch.name, &watch.kind, &channel.part, &channel.metric),
            used_ratio: if is_share { most } else { most / limit },
            used_count: (!is_share).then_some(most as u64),
            limit_count: (!is_share).then_some(limit as u64),
            at_ns: (at_ns as f64 / 1e8).round() as u64 * 100_000_000,
        };
        match found.iter_mut().find(|(name, ..)| *name == watch.name) {
            Some(known) if known.1 >= most / limit => {}
            Some(known) => *known = (&watch.name, most / limit, one),
            None => found.push((&watch.name, most / limit, one)),
        }
    }
    raised(found.into_iter().map(|(.., one)| one).collect(), |resources, more_count| {
        Evidence::DescriptorsUsed { resources, more_count }
    })
}

fn throttled(e: &Inputs) -> Option<Caution> {
    let mut found = Vec::new();
    for monitor in &e.seen.monitors {
        for row in monitor.rows.iter().filter(|row| is_throttling(&monitor.kind, &row.metric, row.unit)) {
            if row.mean > e.limits.throttled {
                found.push(ThrottledGroup {
                    monitor: monitor.name.clone(),
                    mean_ratio: row.mean,
                    max_ratio: row.max,
                });
            }
        }
    }
    raised(found, |groups, more_count| Evidence::GroupsThrottled { groups, more_count })
}

/// Users of the closed model that all begin with the load. `lost`: connections were lost on the way or refused.
fn at_once(e: &Inputs, lost: bool) -> Option<Caution> {
    let Load::Closed { users } = &e.facts.plan.load else { return None };
    let begin: f64 = e
        .facts
        .machines
        .iter()
        .filter_map(|machine| match &machine.plan().load {
            Load::Closed { users } => Some(users.level_at(e.limits.at_once_ns)),
            Load::Open { .. } => None,
        })
        .sum();
    if !lost || begin < e.limits.at_once || users.peak() <= 0.0 {
        return None;
    }
    let times = e.facts.run.spread(RunHist::Connect);
    let evidence = Evidence::UsersAtOnce {
        users_count: begin.round() as u64,
        within_ns: e.limits.at_once_ns,
        late_count: times.count_above(500_000_000),
        connections_count: times.count(),
    };
    Some(evidence.raise())
}

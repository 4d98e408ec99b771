//! Saturated resources, with a table of what each limit means for which number.
//!
//! The utilization law bounds throughput by the resource with the highest demand (Denning & Buzen 1978, "The
//! operational analysis of queueing network models"): near 1 it is the bottleneck, and the others have room. A shared
//! or wide resource (a host's CPUs) is reported after a narrow one (one thread), which explains it.

use super::{AT_LIMIT, Values};
use crate::cells::Cells;
use crate::facts::Machine;
use crate::saturation::Saturation;
use crate::summary::SaturatedResource;
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::watch::{MonitorOutline, Unit, WATCH_NS};
use plimsoll_record::record::Channel;
use std::cmp::Ordering;

/// Share of the measured seconds at the limit from which a resource is saturated.
const HELD: f64 = 0.5;
/// Fewer refusals than this may be another program's: the host's counters are of the whole machine.
pub(crate) const REFUSED: f64 = 10.0;
/// Share of the periods (or of the time) in which a control group was held back.
const THROTTLED: f64 = 0.05;

/// What is looked at, the most telling first: refusals, then what was rationed, then the narrow, then the wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Listening,
    Descriptors,
    Connections,
    Throttled,
    Thread,
    Cpu,
    Disk,
    Other,
    HostCpu,
    // What is held is often held by right: caches fill it, and CPU explains more.
    Memory,
}

/// A part of a metric's name, the kinds of monitors that have it (none: all), and what it is.
type Named = (&'static str, &'static [&'static str], Class, &'static str);

const TABLE: &[Named] = &[
    ("listen_overflows", &[], Class::Listening, "the listen backlog"),
    ("listen_drops", &[], Class::Listening, "the listen backlog"),
    // Accepted and closed at once: no backlog was short.
    ("dropped", &["nginx"], Class::Connections, "`worker_connections`"),
    ("rejected_connections", &["redis"], Class::Connections, "connections that Redis refused"),
    ("throttled", &["cgroup"], Class::Throttled, "the CPU quota"),
    ("syn_queue_drops", &[], Class::Listening, "the listen backlog"),
    ("fds", &[], Class::Descriptors, "file descriptors"),
    ("eventloop_utilization", &[], Class::Thread, "the event loop"),
    ("busiest_thread", &[], Class::Thread, "the busiest thread"),
    ("main_thread", &[], Class::Thread, "the main thread"),
    ("connections", &[], Class::Connections, "connections"),
    ("clients", &["redis"], Class::Connections, "connections"),
    ("cpu", &["host"], Class::HostCpu, "the host's CPUs"),
    ("cpu", &[], Class::Cpu, "CPU"),
    ("rss", &[], Class::Memory, "memory"),
    ("heap", &[], Class::Memory, "the heap"),
    ("memory", &[], Class::Memory, "memory"),
    ("busy", &["host"], Class::Disk, "the disk"),
];

fn class(kind: &str, metric: &str) -> (Class, Option<&'static str>) {
    let is_it =
        |(name, kinds, ..): &&Named| metric.contains(name) && (kinds.is_empty() || kinds.contains(&kind));
    TABLE.iter().find(is_it).map_or((Class::Other, None), |(.., class, what)| (*class, Some(*what)))
}

/// Counts what was refused: that needs no limit, and no half of the time.
fn is_event(kind: &str, metric: &str) -> bool {
    is_listening(kind, metric)
        || metric.contains("rejected_connections")
        || kind == "nginx" && metric.contains("dropped")
}

pub(crate) fn is_listening(kind: &str, metric: &str) -> bool {
    class(kind, metric).0 == Class::Listening
}

/// One thread, which no more CPUs relieve.
pub(crate) fn is_thread(kind: &str, metric: &str) -> bool {
    class(kind, metric).0 == Class::Thread
}

/// The share of periods in which a control group was held back.
pub(crate) fn is_throttling(kind: &str, metric: &str, unit: Unit) -> bool {
    class(kind, metric).0 == Class::Throttled && matches!(unit, Unit::Share)
}

/// `api: the busiest thread`, `host: sda: the disk`.
pub(crate) fn resource(monitor: &str, kind: &str, part: &str, metric: &str) -> String {
    let what = class(kind, metric).1.map_or_else(|| short_name(metric), str::to_owned);
    let monitor = if part.is_empty() { monitor.to_owned() } else { format!("{monitor}: {part}") };
    format!("{monitor}: {what}")
}

/// A metric's name as a word of a sentence.
pub(crate) fn short_name(metric: &str) -> String {
    metric.replace('_', " ")
}

/// Returns the saturated resources of one monitor. `late`: some of the run's own connections took so long that their
/// first attempts may have been dropped.
pub(super) fn pressure(
    outline: &MonitorOutline,
    machine: &Machine,
    own: &[Values],
    late: bool,
) -> Vec<SaturatedResource> {
    let kind = outline.kind.as_str();
    let mut found: Vec<SaturatedResource> = Vec::new();
    for values in own {
        let Values { channel, points } = values;
        let metric = channel.metric.as_str();
        let told = if is_event(kind, metric) {
            // The host counts for all servers of the machine.
            let is_ours = !is_listening(kind, metric) || late && tried_meanwhile(machine, channel);
            if is_ours { refused(channel) } else { None }
        } else if is_throttling(kind, metric, channel.unit) {
            throttled(points)
        } else {
            at_limit(channel, points, machine, kind)
        };
        let Some((saturated_ratio, evidence)) = told else { continue };
        // The total already covers its parts, and several numbers may describe one resource.
        let same = |p: &SaturatedResource| {
            class(kind, &p.metric) == class(kind, metric) && class(kind, metric).1.is_some()
        };
        let told_before = |p: &SaturatedResource| same(p) && (p.part.is_empty() || p.part == channel.part);
        if found.iter().any(told_before) {
            continue;
        }
        let limit = channel.limit.filter(|limit| *limit > 0.0);
        let mean = points.iter().map(|(_, value)| value).sum::<f64>() / points.len().max(1) as f64;
        let peak = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        found.push(SaturatedResource {
            monitor: outline.name.clone(),
            kind: kind.into(),
            part: channel.part.clone(),
            metric: channel.metric.clone(),
            resource: resource(&outline.name, kind, &channel.part, metric),
            saturated_ratio,
            usage_mean_ratio: limit.map(|limit| mean / limit),
            usage_peak_ratio: limit.map(|limit| peak / limit),
            evidence,
        });
    }
    found
}

/// Warm-up included: connections are made then, and refused then.
fn refused(channel: &Channel) -> Option<(f64, Saturation)> {
    let n = counted(channel);
    if n < REFUSED {
        return None;
    }
    let some = channel.points.iter().filter(|(_, value)| *value > 0.0).count();
    let (at, most) = channel.points.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let seconds = channel.points.len();
    Some((
        some as f64 / seconds as f64,
        Saturation::Refusals {
            metric: short_name(&channel.metric),
            refused_count: n.round() as u64,
            held_s: some as u64,
            measured_s: seconds as u64,
            peak_per_s: most,
            peak_at_s: at as f64 / 1e9,
        },
    ))
}

/// Whether the run made connections in a second in which something was refused.
fn tried_meanwhile(machine: &Machine, channel: &Channel) -> bool {
    let plan = machine.plan();
    let refused = |from_ns: u64, to_ns: u64| {
        let is_in = |at_ns: u64| at_ns >= from_ns && at_ns <= to_ns.saturating_add(WATCH_NS);
        channel.points.iter().any(|(at_ns, n)| *n > 0.0 && is_in(*at_ns))
    };
    machine.origin.ticks.iter().any(|(tick, row)| {
        let (from_ns, to_ns) = plan.tick_bounds_ns(*tick);
        refused(from_ns, to_ns) && row.run().of(RunSum::ConnAttempts) > 0
    })
}

/// How many there were: of a rate over the time since the look before, of a count its rises.
pub(crate) fn counted(channel: &Channel) -> f64 {
    if channel.unit == Unit::Count {
        let rise = |pair: &[(u64, f64)]| (pair[1].1 - pair[0].1).max(0.0);
        return channel.points.windows(2).map(rise).sum();
    }
    let mut before_ns = 0;
    let mut sum = 0.0;
    for (at_ns, per_s) in &channel.points {
        // Looks that failed leave a gap; what happened in it is not known.
        let over_ns = at_ns.saturating_sub(before_ns).min(WATCH_NS);
        sum += per_s.max(0.0) * over_ns as f64 / 1e9;
        before_ns = *at_ns;
    }
    sum
}

/// Whether the resource was full before the load added anything to it, so that the load is not the cause.
fn was_full(channel: &Channel, limit: f64, kind: &str) -> bool {
    /// A rise by less than this share of the limit is nothing of the load's.
    const RISE: f64 = 0.05;
    // Threads and CPUs are full within the first second of a load; these are filled over time.
    if !matches!(class(kind, &channel.metric).0, Class::Memory | Class::Other) {
        return false;
    }
    let Some((_, first)) = channel.points.first() else { return false };
    let peak = channel.points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    *first >= AT_LIMIT * limit && peak - first < RISE * limit
}

fn throttled(points: &[(f64, f64)]) -> Option<(f64, Saturation)> {
    let mean = points.iter().map(|(_, share)| share).sum::<f64>() / points.len().max(1) as f64;
    let some = points.iter().filter(|(_, share)| *share > THROTTLED).count();
    (mean > THROTTLED).then(|| {
        let held = Saturation::Throttling {
            throttled_ratio: mean,
            held_s: some as u64,
            measured_s: points.len() as u64,
        };
        (some as f64 / points.len() as f64, held)
    })
}

fn at_limit(
    channel: &Channel,
    points: &[(f64, f64)],
    machine: &Machine,
    kind: &str,
) -> Option<(f64, Saturation)> {
    // Pages that were once moved out stay there until they are asked for: a full swap limits nothing by itself.
    let limit = channel.limit.filter(|limit| *limit > 0.0 && channel.metric != "swap_used")?;
    if was_full(channel, limit, kind) {
        return None;
    }
    let held = points.iter().filter(|(_, value)| *value >= AT_LIMIT * limit).count();
    let saturated_ratio = held as f64 / points.len().max(1) as f64;
    if points.is_empty() || saturated_ratio < HELD {
        return None;
    }
    let mean = points.iter().map(|(_, value)| value).sum::<f64>() / points.len() as f64;
    // The load generator's own share of this machine says nothing about the service.
    let is_shared =
        class(kind, &channel.metric).0 == Class::HostCpu && machine.opening().environment.is_same_machine;
    let busy_ns: u64 = machine.origin.workers.iter().map(|worker| worker.busy_ns).sum();
    let usage = Saturation::Usage {
        unit: channel.unit,
        mean,
        limit,
        reached_from_ratio: AT_LIMIT,
        held_s: held as u64,
        measured_s: points.len() as u64,
        load_generator_cores: is_shared.then(|| busy_ns as f64 / machine.measured_ns.max(1) as f64),
    };
    Some((saturated_ratio, usage))
}

/// The most telling first: by class, then by how much of the time and how high.
pub(crate) fn rank(all: &mut [SaturatedResource]) {
    let key = |p: &SaturatedResource| class(&p.kind, &p.metric).0;
    all.sort_by(|a, b| {
        let high = |p: &SaturatedResource| p.usage_mean_ratio.unwrap_or(p.saturated_ratio);
        let order = key(a).cmp(&key(b)).then(b.saturated_ratio.total_cmp(&a.saturated_ratio));
        if order == Ordering::Equal { high(b).total_cmp(&high(a)) } else { order }
    });
}

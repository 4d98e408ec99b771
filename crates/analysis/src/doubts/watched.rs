//! What monitors saw that puts the result in another light, or that explains it.

use super::Evidence;
use crate::caution::Kind;
use crate::cells::Cells;
use crate::facts::Machine;
use crate::summary::{Caution, MonitorRow};
use crate::watched::{REFUSED, counted, growth, is_listening, is_throttling, resource, short_name};
use plimsoll_plan::load::Load;
use plimsoll_plan::metric::RunHist;
use plimsoll_plan::phrase::{chosen_ns, count, counted as many, ratio as percent, watched as describe};
use plimsoll_plan::watch::{Unit, WatchOutline};
use plimsoll_record::record::Channel;

/// Named one by one; the others are counted.
const NAMED: usize = 3;

pub(super) fn watched(e: &Evidence, into: &mut Vec<Caution>) {
    into.extend(failed(e));
    into.extend(memory(e));
    let overflowed = overflowed(e);
    let is_ours = overflowed.is_some() && was_before_us(e);
    into.extend(at_once(e, is_ours || into.iter().any(|c| c.kind == Kind::LostSyns)));
    into.extend(overflowed);
    into.extend(descriptors(e));
    into.extend(throttled(e));
}

fn raised(kind: Kind, mut found: Vec<String>) -> Option<Caution> {
    let all = found.len();
    found.truncate(NAMED);
    let more = if all > NAMED { format!("; and {} more", all - NAMED) } else { String::new() };
    (all > 0).then(|| kind.raise(format!("{}{more}", found.join("; "))))
}

/// One sample a second was asked for; a second at either end may be cut.
fn failed(e: &Evidence) -> Option<Caution> {
    let seconds = (e.facts.measured_s() - 1.0).floor().max(0.0);
    let one = |monitor: &MonitorRow| {
        let missing = seconds - monitor.samples as f64;
        let nothing = monitor.samples == 0 && (seconds >= 1.0 || monitor.lapses > 0);
        if !nothing && missing <= (e.limits.monitor_missing * seconds).max(1.0) {
            return None;
        }
        let why = match &monitor.first_lapse {
            Some(lapse) if lapse.at_s > 0.0 => {
                format!(
                    ", at {} first: {}",
                    chosen_ns((lapse.at_s * 10.0).round() as u64 * 100_000_000),
                    lapse.why
                )
            }
            Some(lapse) => format!(", before the load already: {}", lapse.why),
            None => String::new(),
        };
        let samples = if nothing { "nothing".into() } else { many(monitor.samples, "sample") };
        Some(format!(
            "{} brought {samples} in {} s{why}",
            monitor.name,
            count(e.facts.measured_s().round() as u64)
        ))
    };
    raised(Kind::MonitorFailed, e.seen.monitors.iter().filter_map(one).collect())
}

fn memory(e: &Evidence) -> Option<Caution> {
    let mut found: Vec<(f64, String)> = Vec::new();
    for monitor in &e.seen.monitors {
        // The whole holds its parts, and each process is told by one of its sizes.
        let own = monitor
            .rows
            .iter()
            .filter(|row| row.part.is_empty() || monitor.rows.iter().all(|r| !r.part.is_empty()));
        let worst = own
            .filter_map(|row| Some((growth(row, e.facts.measured_s())?, row)))
            .filter(|(share, _)| *share > e.limits.memory_growth)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((share, row)) = worst {
            let slope = row.slope.as_ref().map(|slope| slope.sentence.clone()).unwrap_or_default();
            let name = if row.part.is_empty() {
                monitor.name.clone()
            } else {
                format!("{}: {}", monitor.name, row.part)
            };
            let text = format!(
                "{name}: {} {slope}, {} over the run, {} at its end",
                short_name(&row.metric),
                percent(share),
                describe(row.last, row.unit)
            );
            found.push((share, text));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    raised(Kind::MemoryGrows, found.into_iter().map(|(_, text)| text).collect())
}

/// All channels of all machines, with their monitors. Connections are made and refused in the warm-up, too.
fn channels<'a>(e: &'a Evidence) -> impl Iterator<Item = (&'a WatchOutline, &'a Channel)> {
    e.facts.machines.iter().flat_map(|machine: &'a Machine<'a>| {
        let watches = &machine.origin.opening.outline.watches;
        let of = |channel: &'a Channel| Some((watches.get(channel.monitor as usize)?, channel));
        machine.origin.watched.channels.iter().filter_map(of)
    })
}

/// Whether the run's own connections agree that it was their server.
fn was_before_us(e: &Evidence) -> bool {
    e.seen.pressure.iter().any(|told| is_listening(&told.kind, &told.metric))
}

/// Each overflow is a drop as well: the larger of a monitor's counters is told.
fn overflowed(e: &Evidence) -> Option<Caution> {
    let mut found: Vec<(&str, f64, String)> = Vec::new();
    for (watch, channel) in channels(e).filter(|(watch, channel)| is_listening(&watch.kind, &channel.metric))
    {
        let n = counted(channel);
        let text = format!("{}: {} {}", watch.name, count(n.round() as u64), short_name(&channel.metric));
        match found.iter_mut().find(|(name, ..)| *name == watch.name) {
            _ if n < REFUSED => {}
            Some(known) if known.1 < n => *known = (&watch.name, n, text),
            Some(_) => {}
            None => found.push((&watch.name, n, text)),
        }
    }
    let whose = if was_before_us(e) { "" } else { " on this machine, perhaps before another program" };
    raised(Kind::ListenOverflowed, found.into_iter().map(|(.., text)| text + whose).collect())
}

/// Of each monitor what came nearest to its limit: the only process of a tree is told twice, once as the whole.
fn descriptors(e: &Evidence) -> Option<Caution> {
    let mut found: Vec<(&str, f64, String)> = Vec::new();
    let names = ["fds", "fds_share", "descriptors"];
    for (watch, channel) in channels(e).filter(|(_, channel)| names.contains(&channel.metric.as_str())) {
        let Some(limit) = channel.limit.filter(|limit| *limit > 0.0) else { continue };
        let peak = channel.points.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
        let Some((at_ns, most)) = peak.filter(|(_, most)| *most >= e.limits.descriptors * limit) else {
            continue;
        };
        let at = chosen_ns((at_ns as f64 / 1e8).round() as u64 * 100_000_000);
        let name = resource(&watch.name, &watch.kind, &channel.part, &channel.metric);
        let text = match channel.unit {
            Unit::Share => format!("{name}: {} of a process's in use at {at}", percent(most)),
            Unit::Cores | Unit::Bytes | Unit::BytesPerS | Unit::PerS | Unit::Count | Unit::Seconds => {
                format!("{name}: {} of {} in use at {at}", count(most as u64), count(limit as u64))
            }
        };
        match found.iter_mut().find(|(name, ..)| *name == watch.name) {
            Some(known) if known.1 >= most / limit => {}
            Some(known) => *known = (&watch.name, most / limit, text),
            None => found.push((&watch.name, most / limit, text)),
        }
    }
    raised(Kind::DescriptorsShort, found.into_iter().map(|(.., text)| text).collect())
}

fn throttled(e: &Evidence) -> Option<Caution> {
    let mut found = Vec::new();
    for monitor in &e.seen.monitors {
        for row in monitor.rows.iter().filter(|row| is_throttling(&monitor.kind, &row.metric, row.unit)) {
            if row.mean > e.limits.throttled {
                found.push(format!(
                    "{}: {} of its periods, at most {}",
                    monitor.name,
                    percent(row.mean),
                    percent(row.max)
                ));
            }
        }
    }
    raised(Kind::Throttled, found)
}

/// Users of the closed model that all begin with the load. `lost`: connections were lost on the way or refused.
fn at_once(e: &Evidence, lost: bool) -> Option<Caution> {
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
    let late = times.count_above(500_000_000);
    Some(Kind::AllAtOnce.raise(format!(
        "{} users began within {}; {} of {} took longer than 500 ms to make",
        count(begin.round() as u64),
        chosen_ns(e.limits.at_once_ns),
        count(late),
        many(times.count(), "connection")
    )))
}

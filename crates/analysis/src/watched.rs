//! Monitor data compared with the load: saturated resources, the course of memory, and the correlation with p99. Pure
//! functions of the record; docs/explanation/analysis.md has the rules and their sources.

mod growth;
mod limits;
mod slope;
mod together;

pub(super) use growth::Growth;
pub(super) use limits::{
    REFUSED, counted, is_listening, is_thread, is_throttling, rank, resource, short_name,
};

use super::cells::Cells;
use super::facts::{Facts, Machine};
use super::timeline::Moment;
use crate::summary::{
    Bottleneck, Course, FactRow, MetricRow, MissedSampleRow, MonitorRow, SaturatedResource, SlopeVerdict,
    SystemUnderTestRow, TimeRange,
};
use plimsoll_plan::metric::RunHist;
use plimsoll_plan::phrase::{chosen_ns, utc};
use plimsoll_plan::watch::{Unit, WATCH_NS};
use plimsoll_record::record::Channel;

/// Everything about monitors in a summary.
pub(super) struct Seen {
    pub monitors: Vec<MonitorRow>,
    pub system_under_test: Vec<SystemUnderTestRow>,
    pub time_range: Option<TimeRange>,
    pub pressure: Vec<SaturatedResource>,
    pub bottleneck: Option<Bottleneck>,
    pub courses: Vec<Course>,
}

/// At or above this share of its limit a resource has no room to speak of.
pub(super) const AT_LIMIT: f64 = 0.9;

/// A connection that took longer may have lost its first attempt, ns.
const LATE_NS: u64 = 900_000_000;

/// A channel's values in the measured part.
struct Values<'a> {
    channel: &'a Channel,
    /// Seconds from the start of the run.
    points: Vec<(f64, f64)>,
}

pub(super) fn watched(facts: &Facts, moments: &[Moment]) -> Seen {
    let mut seen = Seen {
        monitors: Vec::new(),
        system_under_test: facts
            .plan
            .system_under_test
            .iter()
            .map(|(name, value)| system_row(name, value, None))
            .collect(),
        time_range: time_range(facts),
        pressure: Vec::new(),
        bottleneck: None,
        courses: Vec::new(),
    };
    // The kernel sends a first SYN again after a second (RFC 6298): nothing faster can have been dropped.
    let late = facts.run.spread(RunHist::Connect).count_above(LATE_NS) > 0;
    for (origin, machine) in (0..).zip(&facts.machines) {
        let told = &machine.origin.watched;
        for (number, outline) in (0u32..).zip(&machine.plan().monitors) {
            let of_monitor = told.channels.iter().filter(|channel| channel.monitor == number);
            let mut own: Vec<Values> = of_monitor.map(|channel| measured(machine, channel)).collect();
            own.retain(|values| !values.channel.points.is_empty());
            let first = told.lapses.iter().find(|lapse| lapse.monitor == number);
            let facts_of: Vec<FactRow> = told
                .facts
                .iter()
                .filter(|fact| fact.monitor == number)
                .map(|fact| FactRow { name: fact.name.clone(), value: fact.value.clone() })
                .collect();
            for fact in &facts_of {
                seen.system_under_test.push(system_row(&fact.name, &fact.value, Some(outline.name.clone())));
            }
            seen.pressure.extend(limits::pressure(outline, machine, &own, late));
            seen.courses.extend(own.iter().map(|values| Course {
                generator: origin,
                monitor: outline.name.clone(),
                kind: outline.kind.clone(),
                part: values.channel.part.clone(),
                metric: values.channel.metric.clone(),
                unit: values.channel.unit,
                limit: values.channel.limit,
                points: values.channel.points.iter().map(|(at, value)| (*at as f64 / 1e9, *value)).collect(),
            }));
            let rows: Vec<MetricRow> = own.iter().filter_map(row).collect();
            seen.monitors.push(MonitorRow {
                generator: origin,
                agent: outline.agent.clone(),
                name: outline.name.clone(),
                kind: outline.kind.clone(),
                target: outline.target.clone(),
                samples: samples(&own),
                missed_samples: told.lapsed.get(&number).copied().unwrap_or(0),
                first_missed_sample: first.map(|lapse| MissedSampleRow {
                    at_s: lapse.at_ns as f64 / 1e9,
                    reason: lapse.why.clone(),
                }),
                facts: facts_of,
                rows,
            });
        }
    }
    limits::rank(&mut seen.pressure);
    together::p99_correlation(&mut seen.monitors, &seen.courses, moments);
    seen.bottleneck = Bottleneck::of(&seen.monitors, &seen.pressure);
    seen
}

fn system_row(name: &str, value: &str, monitor: Option<String>) -> SystemUnderTestRow {
    SystemUnderTestRow { name: name.into(), value: value.into(), monitor }
}

/// The values of the measured part. A sample covers the second before it, and the middle of that second decides.
fn measured<'a>(machine: &Machine, channel: &'a Channel) -> Values<'a> {
    let from_ns = machine.plan().warmup_ns;
    let is_measured = |at_ns: u64| {
        let middle = at_ns.saturating_sub(WATCH_NS / 2);
        middle >= from_ns && middle <= machine.elapsed_ns
    };
    let points = channel.points.iter().filter(|(at, _)| is_measured(*at));
    Values { channel, points: points.map(|(at, value)| (*at as f64 / 1e9, *value)).collect() }
}

/// Different instants at which the monitor brought something.
fn samples(own: &[Values]) -> u64 {
    let mut times: Vec<u64> =
        own.iter().flat_map(|values| &values.points).map(|(at, _)| (at * 1e6) as u64).collect();
    times.sort_unstable();
    times.dedup();
    times.len() as u64
}

fn row(values: &Values) -> Option<MetricRow> {
    let Values { channel, points } = values;
    let last = points.last()?.1;
    let n = points.len() as f64;
    let mean = points.iter().map(|(_, value)| value).sum::<f64>() / n;
    let (max_at_s, max) = points.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let min = points.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
    let limit = channel.limit.filter(|limit| *limit > 0.0);
    let usage = |value: f64| limit.map(|limit| value / limit);
    let at_limit = |limit: f64| points.iter().filter(|(_, value)| *value >= AT_LIMIT * limit).count() as f64;
    Some(MetricRow {
        part: channel.part.clone(),
        metric: channel.metric.clone(),
        unit: channel.unit,
        samples: points.len() as u64,
        min,
        mean,
        max,
        max_at_s,
        last,
        limit,
        usage_mean_ratio: usage(mean),
        usage_peak_ratio: usage(max),
        at_limit_ratio: limit.map(|limit| at_limit(limit) / n),
        slope: is_memory(channel).then(|| slope::slope(points)).flatten(),
        p99_correlation: None,
    })
}

/// Memory that something holds: other bytes (a database, a disk) grow because they are meant to.
fn is_memory(channel: &Channel) -> bool {
    const WORDS: [&str; 5] = ["rss", "heap", "memory", "resident", "external"];
    let is_bytes = channel.unit == Unit::Bytes;
    let other = ["available", "free", "limit", "total", "swap", "cache"];
    let has = |words: &[&str]| words.iter().any(|word| channel.metric.contains(word));
    is_bytes && has(&WORDS) && !has(&other)
}

/// The part's share of its run over which it grew, when a slope says that it does.
pub(super) fn growth(row: &MetricRow, measured_s: f64) -> Option<f64> {
    let slope = row.slope.as_ref().filter(|slope| slope.verdict == SlopeVerdict::Grows)?;
    (row.mean > 0.0).then(|| slope.bytes_per_h * measured_s / 3_600.0 / row.mean)
}

fn time_range(facts: &Facts) -> Option<TimeRange> {
    let started_ns = facts.machines.iter().map(|m| m.opening().started_unix_ns).min()?;
    let warmup_ns = facts.plan.warmup_ns;
    let end_ns = facts.machines.iter().map(|m| m.elapsed_ns).max()?.max(warmup_ns);
    let [from_unix_ns, to_unix_ns] = [warmup_ns, end_ns].map(|ns| started_ns.saturating_add(ns));
    let tenths = |ns: u64| match (ns as f64 / 1e8).round() as u64 {
        // The start of the run; the other end is in seconds.
        0 => "0 s".into(),
        tenths => chosen_ns(tenths * 100_000_000),
    };
    let sentence = format!(
        "measurement period: {} to {} of the run, {} to {}",
        tenths(warmup_ns),
        tenths(end_ns),
        utc(from_unix_ns),
        utc(to_unix_ns)
    );
    let [from_s, to_s] = [warmup_ns, end_ns].map(|ns| ns as f64 / 1e9);
    Some(TimeRange { from_s, to_s, from_unix_ns, to_unix_ns, sentence })
}

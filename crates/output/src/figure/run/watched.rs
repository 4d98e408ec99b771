//! What was watched beside the load, on the time axis of the run: CPU and memory of everything, and of each monitor its
//! other numbers, those with a limit and those that moved with p99 first.

use super::super::plain;
use super::over_time;
use crate::chart::{Axis, Chart, Form, Limit, Panel, Series, Unit};
use crate::format::counted;
use plimsoll_plan::watch::{self, WATCH_NS};
use plimsoll_record::analysis::digest::{CPU_NAMES, MEMORY_NAMES};
use plimsoll_record::phrase::watched;
use plimsoll_record::picture::Picture;
use plimsoll_record::summary::{Course, Summary};

/// Lines of a panel, and panels of a chart.
const LINES: usize = 7;
const PANELS: usize = 6;
/// Samples further apart than so many seconds have a gap between them.
const GAP_S: f64 = 2.5;

pub fn monitors(s: &Summary, p: &Picture) -> Vec<Chart> {
    let mut names: Vec<&str> = Vec::new();
    for course in &s.courses {
        if !names.contains(&course.monitor.as_str()) {
            names.push(&course.monitor);
        }
    }
    let mut out = Vec::new();
    let sizes = [("monitors-cpu", "CPU of what was watched", "CPU", &CPU_NAMES[..])];
    let memory = [("monitors-memory", "memory of what was watched", "memory", &MEMORY_NAMES[..])];
    for (id, title, label, metrics) in sizes.into_iter().chain(memory) {
        let mut series = Vec::new();
        let mut unit = watch::Unit::Count;
        for (at, monitor) in names.iter().enumerate() {
            // One line for each monitor: the first of the names that it has, as tables show it.
            let own = || s.courses.iter().filter(|c| c.part.is_empty() && c.monitor == *monitor);
            let found = metrics.iter().find_map(|metric| own().find(|c| c.metric == *metric));
            let Some(course) = found.filter(|_| series.len() < LINES) else { continue };
            unit = course.unit;
            series.push(line(course, monitor, at));
        }
        if !series.is_empty() {
            let mut chart = over_time(id, title, s, p);
            chart.subtitle = counted(series.len() as u64, "monitor");
            let unit = axis_unit(unit);
            chart.panels.push(Panel::new(label, Axis::new(label, unit), series));
            out.push(chart);
        }
    }
    out.extend(names.iter().filter_map(|monitor| others(s, p, monitor)));
    out
}

/// The other numbers of a monitor.
fn others(s: &Summary, p: &Picture, monitor: &str) -> Option<Chart> {
    let is_size =
        |c: &Course| c.part.is_empty() && CPU_NAMES.iter().chain(&MEMORY_NAMES).any(|n| c.metric == *n);
    let own: Vec<&Course> = s.courses.iter().filter(|c| c.monitor == monitor && !is_size(c)).collect();
    let mut metrics: Vec<&str> = Vec::new();
    for course in &own {
        // What never was anything else than 0 tells nothing.
        let tells = course.points.iter().any(|(_, value)| *value != 0.0);
        if tells && !metrics.contains(&course.metric.as_str()) {
            metrics.push(&course.metric);
        }
    }
    let row = |metric: &str| {
        let rows = s.monitors.iter().filter(|row| row.name == monitor).flat_map(|row| &row.rows);
        rows.filter(|row| row.metric == metric).max_by(|a, b| {
            let usage = |row: &plimsoll_record::summary::MetricRow| row.usage_peak.unwrap_or(-1.0);
            usage(a).total_cmp(&usage(b))
        })
    };
    let weight = |metric: &&str| {
        let row = row(metric);
        let together = row.and_then(|row| row.with_p99.as_ref()).map_or(0.0, |with| with.rho.abs());
        let usage = row.and_then(|row| row.usage_peak).unwrap_or(0.0);
        -(together.max(usage))
    };
    metrics.sort_by(|a, b| weight(a).total_cmp(&weight(b)));
    let left_out = metrics.len().saturating_sub(PANELS);
    let mut chart = over_time(&format!("monitors-{}", plain(monitor)), format!("{monitor}, watched"), s, p);
    for metric in metrics.into_iter().take(PANELS) {
        let courses: Vec<&&Course> = own.iter().filter(|c| c.metric == metric).collect();
        let unit = courses.first()?.unit;
        let name = |c: &Course| if c.part.is_empty() { metric.to_owned() } else { c.part.clone() };
        let series = courses.iter().take(LINES).enumerate().map(|(at, c)| line(c, &name(c), at)).collect();
        let mut panel =
            Panel::new(&plain(metric), Axis::new(metric.replace('_', " "), axis_unit(unit)), series);
        if let [one] = courses.as_slice() {
            let limit = one.limit.filter(|limit| limit.is_finite() && *limit > 0.0);
            panel.limits.extend(limit.map(|limit| Limit {
                value: in_base(limit, unit),
                word: format!("limit {}", watched(limit, unit)),
                met: None,
            }));
            // The panel's label says it.
            panel.series[0].name = panel.y.label.clone();
        }
        chart.panels.push(panel);
    }
    if left_out > 0 {
        chart.subtitle = format!("{} more numbers are in the table", left_out);
    }
    (!chart.panels.is_empty()).then_some(chart)
}

/// How a live row names the values of a course.
pub fn series_id(course: &Course) -> String {
    plain(&course.key())
}

fn line(course: &Course, name: &str, colour: usize) -> Series {
    // A sample tells of the second before it, as a second of the load does.
    let half_s = WATCH_NS as f64 / 2e9;
    let (mut x, mut y): (Vec<f64>, Vec<Option<f64>>) = (Vec::new(), Vec::new());
    for (at, value) in &course.points {
        let at = (at - half_s).max(0.0);
        if let Some(last) = x.last().copied().filter(|last| at - last > GAP_S) {
            x.push((last + at) / 2.0);
            y.push(None);
        }
        x.push(at);
        y.push(Some(in_base(*value, course.unit)).filter(|y| y.is_finite()));
    }
    Series::new(&series_id(course), name, (colour % LINES) as u8, Form::Line, y).at(x)
}

/// Charts have one unit for times.
pub fn in_base(value: f64, unit: watch::Unit) -> f64 {
    if unit == watch::Unit::Seconds { value * 1e9 } else { value }
}

pub fn axis_unit(unit: watch::Unit) -> Unit {
    match unit {
        watch::Unit::Cores => Unit::Cores,
        watch::Unit::Share => Unit::Ratio,
        watch::Unit::Bytes => Unit::Bytes,
        watch::Unit::BytesPerS => Unit::BytesPerSecond,
        watch::Unit::PerS => Unit::PerSecond,
        watch::Unit::Count => Unit::Count,
        watch::Unit::Seconds => Unit::Nanoseconds,
    }
}

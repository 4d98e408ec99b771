//! Monitored metrics on the time axis of the run: CPU and memory of all monitors, and for each monitor its other
//! metrics, those with a limit and those correlated with p99 first.

use super::super::plain;
use super::{Rows, over_time};
use crate::format::{chosen_s, counted};
use plimsoll_analysis::digest::{CPU_NAMES, MEMORY_NAMES};
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::{Course, Summary};
use plimsoll_chart::{Axis, Chart, Form, Limit, Panel, Scale, Series, Unit};
use plimsoll_plan::phrase::watched;
use plimsoll_plan::watch::{self, WATCH_NS};

/// Maximum numbers of lines per panel, and of panels per chart.
const LINES: usize = 7;
const PANELS: usize = 6;
/// Maximum number of named metrics that are correlated with p99.
const TOLD: usize = 4;
/// If p99 varies by this factor, its axis is logarithmic.
const LOG_FROM: f64 = 8.0;
/// Points of p99 below them: it only serves as a comparison and is shown in full in the timeline of the run.
const TIMES: usize = 300;
/// Samples further apart than this, in s, have a gap between them.
const GAP_S: f64 = 2.5;
/// Points of a line: more are invisible and would dominate the page of a long run.
const POINTS: usize = 900;

pub fn monitors(s: &Summary, p: &Picture) -> Vec<Chart> {
    let mut names: Vec<&str> = Vec::new();
    for course in &s.courses {
        if !names.contains(&course.monitor.as_str()) {
            names.push(&course.monitor);
        }
    }
    let stretch_s = stretch_s(s);
    let mut out = Vec::new();
    let sizes = [("monitors-cpu", "Monitored CPU", "CPU", &CPU_NAMES[..])];
    let memory = [("monitors-memory", "Monitored memory", "memory", &MEMORY_NAMES[..])];
    for (id, title, label, metrics) in sizes.into_iter().chain(memory) {
        let mut series = Vec::new();
        let mut shown: Vec<&Course> = Vec::new();
        let mut unit = watch::Unit::Count;
        let mut left_out = 0;
        for (at, monitor) in names.iter().enumerate() {
            // One line for each monitor: its first metric among these names, as in tables.
            let own = || s.courses.iter().filter(|c| c.part.is_empty() && c.monitor == *monitor);
            let found = metrics.iter().find_map(|metric| own().find(|c| c.metric == *metric));
            let Some(course) = found else { continue };
            if series.len() == 2 * LINES {
                left_out += 1;
                continue;
            }
            unit = course.unit;
            let mut line = line(course, monitor, at, stretch_s);
            // There are as many colors as LINES: the eighth repeats the first with a different form.
            line.form = if series.len() < LINES { Form::Line } else { Form::Dashed };
            series.push(line);
            shown.push(course);
        }
        if !series.is_empty() {
            let mut chart = over_time(id, title, s, p);
            let more =
                if left_out > 0 { format!(", {left_out} more are in the table") } else { String::new() };
            chart.subtitle = pair([counted(series.len() as u64, "monitor") + &more, pooled(stretch_s)]);
            let unit = axis_unit(unit);
            chart.panels.push(Panel::new(label, Axis::new(label, unit), series));
            beside_p99(&mut chart, s, p, &shown, |course| course.monitor.clone());
            out.push(chart);
        }
    }
    out.extend(names.iter().filter_map(|monitor| others(s, p, monitor, stretch_s)));
    out
}

/// Name fragments that exist.
fn pair(parts: [String; 2]) -> String {
    let all: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    all.join("; ")
}

/// Returns the other metrics of a monitor.
fn others(s: &Summary, p: &Picture, monitor: &str, stretch_s: f64) -> Option<Chart> {
    let is_size =
        |c: &Course| c.part.is_empty() && CPU_NAMES.iter().chain(&MEMORY_NAMES).any(|n| c.metric == *n);
    let own: Vec<&Course> = s.courses.iter().filter(|c| c.monitor == monitor && !is_size(c)).collect();
    let mut metrics: Vec<&str> = Vec::new();
    for course in &own {
        // A metric that was always 0 is omitted.
        let tells = course.points.iter().any(|(_, value)| *value != 0.0);
        if tells && !metrics.contains(&course.metric.as_str()) {
            metrics.push(&course.metric);
        }
    }
    let row = |metric: &str| {
        let rows = s.monitors.iter().filter(|row| row.name == monitor).flat_map(|row| &row.rows);
        rows.filter(|row| row.metric == metric).max_by(|a, b| {
            let usage = |row: &plimsoll_analysis::summary::MetricRow| row.usage_peak_ratio.unwrap_or(-1.0);
            usage(a).total_cmp(&usage(b))
        })
    };
    let weight = |metric: &&str| {
        let row = row(metric);
        let together = row.and_then(|row| row.p99_correlation.as_ref()).map_or(0.0, |with| with.rho.abs());
        let usage = row.and_then(|row| row.usage_peak_ratio).unwrap_or(0.0);
        -(together.max(usage))
    };
    metrics.sort_by(|a, b| weight(a).total_cmp(&weight(b)));
    let left_out = metrics.len().saturating_sub(PANELS);
    let mut drawn: Vec<&Course> = Vec::new();
    let mut chart = over_time(&format!("monitors-{}", plain(monitor)), format!("Monitor {monitor}"), s, p);
    for metric in metrics.into_iter().take(PANELS) {
        let courses: Vec<&&Course> = own.iter().filter(|c| c.metric == metric).collect();
        drawn.extend(courses.iter().take(LINES).copied().copied());
        let unit = courses.first()?.unit;
        let name = |c: &Course| {
            // Several machines may monitor the same target: their names distinguish the lines.
            let is_alone = courses.iter().filter(|other| other.part == c.part).count() == 1;
            let host =
                s.generators.get(c.generator as usize).filter(|_| !is_alone).map(|row| row.host.as_str());
            match (c.part.as_str(), host) {
                ("", None) => metric.to_owned(),
                ("", Some(host)) => host.to_owned(),
                (part, None) => part.to_owned(),
                (part, Some(host)) => format!("{part}, {host}"),
            }
        };
        let shown = courses.iter().take(LINES).enumerate();
        let series = shown.map(|(at, c)| line(c, &name(c), at, stretch_s)).collect();
        let mut panel =
            Panel::new(&plain(metric), Axis::new(metric.replace('_', " "), axis_unit(unit)), series);
        if let [one] = courses.as_slice() {
            let limit = one.limit.filter(|limit| limit.is_finite() && *limit > 0.0);
            panel.limits.extend(limit.map(|limit| Limit {
                value: in_base(limit, unit),
                word: format!("limit {}", watched(limit, unit)),
                met: None,
            }));
            // The panel's label contains it.
            panel.series[0].name = panel.y.label.clone();
        }
        chart.panels.push(panel);
    }
    let more = if left_out > 0 { format!("{left_out} more metrics are in the table") } else { String::new() };
    chart.subtitle = pair([more, pooled(stretch_s)]);
    if chart.panels.is_empty() {
        return None;
    }
    let name = |course: &Course| {
        let part = if course.part.is_empty() { String::new() } else { format!("{}: ", course.part) };
        format!("{part}{}", course.metric.replace('_', " "))
    };
    beside_p99(&mut chart, s, p, &drawn, name);
    Some(chart)
}

/// Adds p99 in its own panel if one of the metrics below it was correlated with it. Two scales in one plot would make
/// lines cross where nothing meets.
fn beside_p99(
    chart: &mut Chart,
    s: &Summary,
    p: &Picture,
    shown: &[&Course],
    name: impl Fn(&Course) -> String,
) {
    let with = |course: &&&Course| {
        let own = s.monitors.iter().filter(|row| row.name == course.monitor).flat_map(|row| &row.rows);
        own.filter(|row| row.metric == course.metric && row.part == course.part)
            .any(|row| row.p99_correlation.is_some())
    };
    let moving: Vec<&&Course> = shown.iter().filter(with).collect();
    if moving.is_empty() {
        return;
    }
    let rows = if p.rows.is_empty() { &s.timeline } else { &p.rows };
    let at = Rows::of(rows);
    let (times, xs) = (at.values(|row| row.p99_ns.map(|ns| ns as f64)), at.xs());
    let width = times.len().div_ceil(TIMES).max(1);
    // The worst second of each section is drawn; a section without any response stays empty.
    let highest = |part: &[Option<f64>]| part.iter().flatten().copied().reduce(f64::max);
    let middle = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (x, y) = (xs.chunks(width).map(middle).collect(), times.chunks(width).map(highest).collect());
    let label = "response time p99";
    let line = Series::new("response_p99", label, 1, Form::Line, y).at(x).highest();
    let mut axis = Axis::new(label, Unit::Nanoseconds);
    let highest = line.y.iter().flatten().copied().fold(0.0, f64::max);
    // One bad second would flatten the others.
    if s.response_time.p99_ns.is_some_and(|ns| ns > 0 && highest > LOG_FROM * ns as f64) {
        axis.scale = Scale::Log;
    }
    chart.panels.push(Panel::new("response-p99", axis, vec![line]));
    let names: Vec<String> = moving.iter().take(TOLD).map(|course| name(course)).collect();
    let text = format!("correlated with p99 (not necessarily the cause): {}", names.join(", "));
    chart.subtitle = pair([std::mem::take(&mut chart.subtitle), text]);
}

/// Returns the name by which a live row refers to the values of a metric.
pub fn series_id(course: &Course) -> String {
    plain(&course.key())
}

fn line(course: &Course, name: &str, color: usize, stretch_s: f64) -> Series {
    let gap_s = GAP_S.max(1.5 * stretch_s);
    let (mut x, mut y): (Vec<f64>, Vec<Option<f64>>) = (Vec::new(), Vec::new());
    for (at, value) in points(course, stretch_s) {
        if let Some(last) = x.last().copied().filter(|last| at - last > gap_s) {
            x.push((last + at) / 2.0);
            y.push(None);
        }
        x.push(at);
        y.push(Some(in_base(value, course.unit)).filter(|y| y.is_finite()));
    }
    Series::new(&series_id(course), name, (color % LINES) as u8, Form::Line, y).at(x)
}

/// Returns times and values: each sample, or the mean of the samples in each section, at its center, so that lines
/// share their x.
fn points(course: &Course, stretch_s: f64) -> Vec<(f64, f64)> {
    // A sample describes the second before it, as a second of the load does.
    let half_s = WATCH_NS as f64 / 2e9;
    let placed = course.points.iter().map(|(at, value)| ((at - half_s).max(0.0), *value));
    if stretch_s == 0.0 {
        // In milliseconds: samples are not more precise.
        return placed.map(|(at, value)| ((at * 1e3).round() / 1e3, value)).collect();
    }
    let placed: Vec<(f64, f64)> = placed.map(|(at, value)| ((at / stretch_s).floor(), value)).collect();
    let mean = |part: &[(f64, f64)]| part.iter().map(|(_, value)| value).sum::<f64>() / part.len() as f64;
    let one = |part: &[(f64, f64)]| part.first().map(|(slot, _)| ((slot + 0.5) * stretch_s, mean(part)));
    placed.chunk_by(|(a, _), (b, _)| a == b).filter_map(one).collect()
}

/// Returns the whole seconds that become one point of a long run; 0 if each sample is one.
fn stretch_s(s: &Summary) -> f64 {
    let end_s = s.courses.iter().filter_map(|c| c.points.last()).map(|(at, _)| *at).fold(0.0, f64::max);
    let samples = s.courses.iter().map(|c| c.points.len()).max().unwrap_or(0);
    if samples > POINTS { (end_s / POINTS as f64).ceil() } else { 0.0 }
}

/// Returns which section a point averages; empty if none.
fn pooled(stretch_s: f64) -> String {
    if stretch_s > 0.0 { format!("each point is the mean of {}", chosen_s(stretch_s)) } else { String::new() }
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

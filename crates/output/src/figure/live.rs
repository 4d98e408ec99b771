//! Charts of a running test: the same charts without values, and the values of each second for them.

use super::run::course::{self, Shape};
use super::run::{Rows, middle_s, per_s, watched};
use plimsoll_analysis::digest::{CPU_NAMES, MEMORY_NAMES};
use plimsoll_analysis::summary::{Course, Second};
use plimsoll_chart::{Axis, Chart, Form, Panel, Series, Unit};
use plimsoll_plan::Outline;
use serde::Serialize;
use std::collections::BTreeMap;

/// One second for the charts of [`live`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Position on the axis of the charts, in s from the start of the run.
    pub x: f64,
    /// By chart, then by series; unknown values are omitted.
    pub values: BTreeMap<&'static str, BTreeMap<String, f64>>,
}

/// Returns the charts of a run that just started. `classes` are the failures so far, by name; `courses` are the
/// monitored metrics, with or without points. When either grows, the charts must be created again.
pub fn live(outline: &Outline, classes: &[&str], courses: &[Course]) -> Vec<Chart> {
    let is_open = outline.load.is_open();
    let shape = Shape {
        has_offer: is_open,
        counts_iterations: !outline.workloads.is_empty() || outline.requests.len() > 1,
        has_users: !is_open,
        has_errors: true,
        is_over: false,
    };
    let at = Rows::default();
    let mut chart = over_time("timeline", "Timeline");
    chart.panels = vec![course::rate(&shape, &at), course::latency(&at)];
    chart.panels.extend(course::iterations(&shape, &at));
    chart.panels.extend([course::in_flight(&shape, &at), course::connections(&at)]);
    chart.panels.push(course::opened(&at));
    if !classes.is_empty() {
        chart.panels.push(course::errors(classes, &|_, _| None, &at));
    }
    chart.panels.push(course::bytes(&at));
    if is_open {
        chart.panels.push(course::schedule_lag(&at));
    }
    let mut out = vec![chart];
    for (id, label, metrics) in SIZES {
        let own = courses.iter().filter(|course| is_shown(course, courses, metrics));
        let series: Vec<Series> = own
            .enumerate()
            .map(|(at, course)| {
                let id = watched::series_id(course);
                Series::new(&id, course.monitor.clone(), (at % 7) as u8, Form::Line, Vec::new())
            })
            .collect();
        if series.is_empty() {
            continue;
        }
        let mut chart = over_time(id, &format!("Monitored {label}"));
        let unit = if id == "monitors-cpu" { Unit::Cores } else { Unit::Bytes };
        chart.panels.push(Panel::new(label, Axis::new(label, unit), series));
        out.push(chart);
    }
    out
}

/// A sample older than this, in s, does not apply to a second.
pub const SIGHT_AGE_MAX_S: f64 = 2.5;

/// Returns the values of a second. `failures` are counts by class name; `courses` are monitored metrics by time, each
/// of which contributes its newest value at that time.
pub fn live_row(row: &Second, failures: &[(&str, u64)], courses: &[Course]) -> Row {
    let ns = |time: Option<u64>| time.map(|ns| ns as f64);
    let all = [
        ("offered", row.offered_rate_per_s),
        ("achieved", Some(row.achieved_rate_per_s)),
        ("good", Some(row.good_rate_per_s)),
        ("p50", ns(row.quantile(0.5).value_ns())),
        ("p90", ns(row.quantile(0.9).value_ns())),
        ("p99", ns(row.quantile(0.99).value_ns())),
        ("max", ns(row.max_ns)),
        ("in_flight", Some(row.in_flight)),
        ("users", Some(row.users)),
        ("open", Some(row.connections_open as f64)),
        ("opened", per_s(row.connections_opened, row)),
        ("bytes_in", per_s(row.bytes_in, row)),
        ("bytes_out", per_s(row.bytes_out, row)),
        ("schedule_lag_p99", ns(row.schedule_lag_p99_ns)),
    ];
    let known = |(id, value): (&str, Option<f64>)| Some((id.to_owned(), value.filter(|y| y.is_finite())?));
    let mut timeline: BTreeMap<String, f64> = all.into_iter().filter_map(known).collect();
    timeline.extend(failures.iter().filter_map(|(class, n)| known((class, per_s(*n, row)))));
    let mut values = BTreeMap::from([("timeline", timeline)]);
    let end_s = row.from_s + row.length_s;
    for (id, _, metrics) in SIZES {
        let own = courses.iter().filter(|course| is_shown(course, courses, metrics));
        let last = own.filter_map(|course| Some((watched::series_id(course), seen_at(course, end_s)?)));
        let last: BTreeMap<String, f64> = last.filter(|(_, y)| y.is_finite()).collect();
        if !last.is_empty() {
            values.insert(id, last);
        }
    }
    Row { x: middle_s(row), values }
}

fn seen_at(course: &Course, end_s: f64) -> Option<f64> {
    // A viewer that opens a long run requests each of its seconds.
    let behind = course.points.partition_point(|(at_s, _)| *at_s <= end_s);
    let (at_s, value) = course.points.get(behind.checked_sub(1)?)?;
    (end_s - at_s <= SIGHT_AGE_MAX_S).then_some(*value)
}

const SIZES: [(&str, &str, &[&str]); 2] =
    [("monitors-cpu", "CPU", &CPU_NAMES), ("monitors-memory", "memory", &MEMORY_NAMES)];

/// Returns the first of these metrics that the monitor has.
fn is_shown(course: &Course, all: &[Course], metrics: &[&str]) -> bool {
    let own = |metric: &str| {
        all.iter().any(|c| c.part.is_empty() && c.monitor == course.monitor && c.metric == metric)
    };
    course.part.is_empty() && metrics.iter().find(|metric| own(metric)) == Some(&course.metric.as_str())
}

fn over_time(id: &str, title: &str) -> Chart {
    let axis = Axis::new("time from the start of the run", Unit::Seconds);
    Chart { group: "time".into(), ..Chart::new(id, title, axis) }
}

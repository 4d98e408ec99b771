//! A sweep: rate and response times over its numeric axis, a line for each curve, with the intervals of the table.

use super::chart::{Chart, Dot, Form, LINES, Panel, Series};
use super::plain;
use super::scale::{Scale, bytes, times};
use crate::format::counted;
use plimsoll_record::analysis::Seen;
use plimsoll_record::analysis::study::{AxisKind, CellRow, Curve, Estimate, Study, settings_text};

/// One picture for each axis that curves go over; more curves than can be told apart make several.
pub fn figures(study: &Study) -> Vec<(String, String)> {
    let mut axes: Vec<&str> = Vec::new();
    for curve in &study.curves {
        if !axes.contains(&curve.axis.as_str()) {
            axes.push(&curve.axis);
        }
    }
    let mut out = Vec::new();
    for axis in axes {
        let curves: Vec<&Curve> = study.curves.iter().filter(|curve| curve.axis == axis).collect();
        let pages = curves.len().div_ceil(LINES);
        for (at, page) in curves.chunks(LINES).enumerate() {
            let number = if pages > 1 { format!("-{}", at + 1) } else { String::new() };
            out.push((format!("over-{}{number}", plain(axis)), figure(study, page)));
        }
    }
    out
}

fn figure(study: &Study, curves: &[&Curve]) -> String {
    let axis = curves.first().map_or("", |curve| curve.axis.as_str());
    let kind = curves.first().map_or(AxisKind::Other, |curve| curve.kind);
    let mut levels: Vec<f64> = curves.iter().flat_map(|c| &c.points).map(|p| p.x).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let x = Scale::levels(&levels);
    let lines = |of: &dyn Fn(&CellRow) -> Estimate, by: f64| -> Vec<Series> {
        curves.iter().enumerate().map(|(at, curve)| line(study, curve, at, of, by)).collect()
    };
    let top = |of: &dyn Fn(&CellRow) -> Estimate| most(&lines(of, 1.0));
    let mut panels = vec![panel("requests per second", lines(&|row| row.rate_per_s, 1.0))];
    for (name, of) in [("p50", (|row| row.p50_ns) as fn(&CellRow) -> Estimate), ("p99", |row| row.p99_ns)] {
        let shown = times(top(&of));
        panels.push(panel(&format!("response time {name}, {}", shown.unit), lines(&of, shown.by)));
    }
    if study.table.iter().any(|row| row.errors > 0) {
        let share = |row: &CellRow| row.error_ratio;
        panels.push(panel("errors, % of requests", lines(&share, 0.01)));
    }
    for (label, metric) in [("CPU peak, cores", "cpu"), ("memory peak", "rss")] {
        panels.extend(peaks(study, curves, label, metric));
    }
    let unit = match kind {
        AxisKind::Concurrency => axis.to_owned(),
        AxisKind::Rate => format!("{axis}, arrivals per second"),
        AxisKind::Other => format!("{axis} (setting of the experiment)"),
    };
    let chart = Chart {
        title: study.name.clone(),
        subtitle: format!(
            "{}, {}; bars are 95 % intervals{}",
            counted(study.runs as u64, "run"),
            counted(study.table.len() as u64, "cell"),
            if x.is_log() { "; the axis below is logarithmic" } else { "" }
        ),
        x_label: unit,
        x,
        panels,
    };
    chart.draw()
}

fn line(study: &Study, curve: &Curve, at: usize, of: &dyn Fn(&CellRow) -> Estimate, by: f64) -> Series {
    let dot = |x: f64, estimate: Estimate| {
        let y = estimate.value.filter(|y| y.is_finite())? / by;
        let interval = estimate.low.zip(estimate.high).map(|(low, high)| (low / by, high / by));
        Some(Dot {
            x,
            y,
            interval: interval.filter(|(l, h)| l.is_finite() && h.is_finite()),
            is_joined: true,
        })
    };
    let points = curve.points.iter().filter_map(|p| dot(p.x, of(study.table.get(p.cell)?)));
    Series { name: settings_text(&curve.fixed), colour: at, form: Form::Marked, points: points.collect() }
}

/// What each process took at most, where there are few enough of them.
fn peaks(study: &Study, curves: &[&Curve], label: &str, metric: &str) -> Option<Panel> {
    let rows = || curves.iter().flat_map(|c| &c.points).filter_map(|p| study.table.get(p.cell));
    let is_it = |seen: &&Seen| seen.kind == "process" && seen.part.is_empty() && seen.metric == metric;
    let mut monitors: Vec<&str> =
        rows().flat_map(|row| &row.watched).filter(is_it).map(|s| &*s.monitor).collect();
    monitors.sort_unstable();
    monitors.dedup();
    let lines = monitors.len() * curves.len();
    if !(1..=LINES).contains(&lines) {
        return None;
    }
    let most = rows().flat_map(|row| &row.watched).filter(is_it).map(|seen| seen.peak).fold(0.0, f64::max);
    let shown = bytes(most);
    let (by, label) = match metric {
        "rss" => (shown.by, format!("{label}, {}", shown.unit)),
        _ => (1.0, label.to_owned()),
    };
    let mut series = Vec::new();
    for curve in curves {
        for monitor in &monitors {
            let peak = |row: &CellRow| {
                let seen = row.watched.iter().filter(is_it).find(|seen| seen.monitor == *monitor);
                Estimate { value: seen.map(|seen| seen.peak), ..Estimate::default() }
            };
            let mut one = line(study, curve, series.len(), &peak, by);
            // The value comes first: it tells the lines apart where the legend has no room for all of it.
            let values: Vec<&str> = curve.fixed.iter().map(|setting| setting.value.as_str()).collect();
            one.name = [values.join(" "), monitor.to_string()].join(": ").trim_start_matches(": ").to_owned();
            series.push(one);
        }
    }
    Some(panel(&label, series))
}

fn panel(label: &str, series: Vec<Series>) -> Panel {
    let y = Scale::from_zero(most(&series), 4);
    Panel { label: label.into(), y, series, stretches: Vec::new(), bands: Vec::new() }
}

/// The highest point; an interval may reach above it, but one without end must not flatten all the others.
fn most(series: &[Series]) -> f64 {
    let dots = || series.iter().flat_map(|one| &one.points);
    let highest = dots().map(|dot| dot.y).fold(0.0, f64::max);
    dots().filter_map(|dot| dot.interval).map(|(_, high)| high.min(1.5 * highest)).fold(highest, f64::max)
}

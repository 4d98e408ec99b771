//! A sweep over its numeric axes: rate, times, errors, and monitored metrics, with a line for each curve and the
//! intervals of the table. If the axis is one of load, adds the capacity over it.

mod capacity;

use super::plain;
use super::run::watched::{axis_unit, in_base};
use crate::format::counted;
use crate::study;
use plimsoll_analysis::Seen;
use plimsoll_chart::{Axis, Chart, Form, Panel, Scale, Series, Unit};
use plimsoll_experiment::study::{AxisKind, CellRow, Curve, Estimate, Study, settings_text};

/// Maximum number of distinguishable lines in one panel.
const LINES: usize = 7;

/// Returns the charts of each axis of the curves; too many curves for one chart make several.
pub fn figures(study: &Study) -> Vec<Chart> {
    let mut axes: Vec<&str> = Vec::new();
    for curve in &study.curves {
        if !axes.contains(&curve.parameter.as_str()) {
            axes.push(&curve.parameter);
        }
    }
    let mut out = Vec::new();
    for axis in axes {
        let curves: Vec<&Curve> = study.curves.iter().filter(|curve| curve.parameter == axis).collect();
        let pages = curves.len().div_ceil(LINES);
        for (at, page) in curves.chunks(LINES).enumerate() {
            let number = if pages > 1 { format!("-{}", at + 1) } else { String::new() };
            let page = Page { study, curves: page, stem: format!("{}{number}", plain(axis)) };
            out.extend(capacity::figures(&page));
            out.push(over(&page));
        }
    }
    out
}

/// Curves that are drawn together.
struct Page<'a> {
    study: &'a Study,
    curves: &'a [&'a Curve],
    stem: String,
}

type Of = fn(&CellRow) -> Estimate;

impl Page<'_> {
    fn chart(&self, id: &str, title: &str) -> Chart {
        let mut levels: Vec<f64> =
            self.curves.iter().flat_map(|c| &c.points).map(|p| p.parameter_value).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        let axis = self.curves.first().map_or("", |curve| curve.parameter.as_str());
        let kind = self.curves.first().map_or(AxisKind::Other, |curve| curve.kind);
        let x = match kind {
            AxisKind::Concurrency => Axis::new(axis, Unit::Plain),
            AxisKind::Rate => Axis::new(format!("{axis}, arrivals"), Unit::PerSecond),
            AxisKind::Other => Axis::new(format!("{axis} (setting)"), Unit::Plain),
        };
        let title = match self.study.name.as_str() {
            "" => title.to_owned(),
            name => format!("{name}: {title}"),
        };
        let mut chart = Chart::new(&format!("{id}-{}", self.stem), title, over_levels(x, &levels));
        let (runs, cells) = (self.study.runs as u64, self.study.table.len() as u64);
        chart.subtitle = format!("{}, {}", counted(runs, "run"), counted(cells, "combination"));
        chart
    }

    fn lines(&self, id: &str, of: Of) -> Vec<Series> {
        let line = |(at, curve): (usize, &&Curve)| {
            self.line(&format!("{id}-{}", at + 1), settings_text(&curve.settings), at as u8, curve, &of)
        };
        self.curves.iter().enumerate().map(line).collect()
    }

    fn line(
        &self,
        id: &str,
        name: String,
        color: u8,
        curve: &Curve,
        of: &dyn Fn(&CellRow) -> Estimate,
    ) -> Series {
        let rows = curve.points.iter().map(|p| self.study.table.get(p.row).map(of).unwrap_or_default());
        let rows: Vec<Estimate> = rows.collect();
        let finite = |y: Option<f64>| y.filter(|y| y.is_finite());
        // A bound alone is not an interval, and one as wide as the value would hide the others.
        let both =
            |row: &Estimate| finite(row.low).zip(finite(row.high)).filter(|_| !study::says_nothing(row));
        Series::new(id, name, color, Form::Marked, rows.iter().map(|row| finite(row.value)).collect())
            .at(curve.points.iter().map(|p| p.parameter_value).collect())
            .within(
                rows.iter().map(|row| both(row).map(|(low, _)| low)).collect(),
                rows.iter().map(|row| both(row).map(|(_, high)| high)).collect(),
            )
    }
}

/// Intervals of few repeats may be many times the values: they are truncated, or nothing else would be visible.
const REACH: f64 = 2.0;

/// Returns a panel that starts at 0 and keeps the points distinguishable.
fn panel(id: &str, y: Axis, series: Vec<Series>) -> Panel {
    let most = |of: fn(&Series) -> &Vec<Option<f64>>| {
        series.iter().flat_map(of).flatten().copied().fold(0.0_f64, f64::max)
    };
    let (highest, reach) = (most(|one| &one.y), most(|one| &one.high));
    let y = if reach > REACH * highest && highest > 0.0 { y.between(0.0, REACH * highest) } else { y };
    Panel::new(id, y, series)
}

fn has_intervals(chart: &Chart) -> bool {
    let ends = chart.panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.low);
    ends.flatten().next().is_some()
}

/// Returns whether a series with intervals has a point without one.
fn has_bare_points(chart: &Chart) -> bool {
    let series = || chart.panels.iter().flat_map(|panel| &panel.series);
    series().any(|one| {
        let has_any = one.low.iter().any(Option::is_some);
        has_any && one.y.iter().zip(&one.low).any(|(y, low)| y.is_some() && low.is_none())
    })
}

/// Adds the meaning of the bars, if there are any.
fn describe_intervals(chart: &mut Chart) {
    let said = match has_intervals(chart) {
        true if has_bare_points(chart) => {
            "bars are 95% intervals; points without one vary too much between repeats"
        }
        true => "bars are 95% intervals",
        false => study::NO_INTERVALS,
    };
    chart.subtitle = format!("{}; {said}", chart.subtitle);
}

/// Levels that span a factor of twenty use a logarithmic axis, with marks at the levels themselves.
fn over_levels(mut axis: Axis, levels: &[f64]) -> Axis {
    let (Some(least), Some(most)) = (levels.first().copied(), levels.last().copied()) else { return axis };
    axis.ticks = if levels.len() <= 14 { levels.to_vec() } else { Vec::new() };
    if least > 0.0 && most / least >= 20.0 {
        let margin = (most / least).powf(0.03);
        return axis.scaled(Scale::Log).between(least / margin, most * margin);
    }
    let margin = if most > least { 0.03 * (most - least) } else { 0.5 };
    let from = if least >= 0.0 && least < 0.4 * most { 0.0 } else { least - margin };
    axis.between(from, most + margin)
}

fn over(page: &Page) -> Chart {
    let axis = page.curves.first().map_or("", |curve| curve.parameter.as_str());
    let mut chart = page.chart("over", &format!("Results by {axis}"));
    let panel =
        |id: &str, label: &str, unit: Unit, of: Of| panel(id, Axis::new(label, unit), page.lines(id, of));
    chart.panels = vec![
        panel("rate", "requests", Unit::PerSecond, |row| row.rate_per_s),
        panel("p50", "response time p50", Unit::Nanoseconds, |row| row.p50_ns),
        panel("p99", "response time p99", Unit::Nanoseconds, |row| row.p99_ns),
    ];
    if page.study.table.iter().any(|row| row.errors > 0) {
        chart.panels.push(panel("errors", "failed requests", Unit::Ratio, |row| row.error_ratio));
    }
    chart.panels.extend(
        [("CPU peak", "cpu"), ("memory peak", "rss")]
            .into_iter()
            .filter_map(|(label, metric)| peaks(page, label, metric)),
    );
    describe_intervals(&mut chart);
    chart
}

/// Returns the peaks of each process, if there are few enough of them.
fn peaks(page: &Page, label: &str, metric: &str) -> Option<Panel> {
    let points = page.curves.iter().flat_map(|c| &c.points);
    let rows = points.filter_map(|p| page.study.table.get(p.row));
    let is_it = |seen: &&Seen| seen.kind == "process" && seen.part.is_empty() && seen.metric == metric;
    let seen: Vec<&Seen> = rows.flat_map(|row| &row.monitor_metrics).filter(is_it).collect();
    let unit = seen.first()?.unit;
    let mut monitors: Vec<&str> = seen.iter().map(|seen| &*seen.monitor).collect();
    monitors.sort_unstable();
    monitors.dedup();
    if !(1..=LINES).contains(&(monitors.len() * page.curves.len())) {
        return None;
    }
    let mut series = Vec::new();
    for curve in page.curves {
        for monitor in &monitors {
            let peak = |row: &CellRow| {
                let seen = row.monitor_metrics.iter().filter(is_it).find(|seen| seen.monitor == *monitor);
                Estimate { value: seen.map(|seen| in_base(seen.peak, unit)), ..Estimate::default() }
            };
            let values: Vec<&str> = curve.settings.iter().map(|setting| setting.value.as_str()).collect();
            let name = [values.join(" "), monitor.to_string()].join(": ").trim_start_matches(": ").to_owned();
            let id = format!("{metric}-{}", series.len() + 1);
            series.push(page.line(&id, name, series.len() as u8, curve, &peak));
        }
    }
    Some(Panel::new(metric, Axis::new(label, axis_unit(unit)), series))
}
